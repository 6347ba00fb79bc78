"""How a benchmark's site is reached: by TLS, over new connections, through a proxy."""

from __future__ import annotations

import datetime
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from crawler.demo.forward_proxies import Forward, forwarders

_UNENCRYPTED = serialization.NoEncryption()
_PEM = serialization.Encoding.PEM


def server_context() -> ssl.SSLContext:
    """Make TLS of a server with a new certificate that nobody has signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now - day, now + day)
        .sign(key, hashes.SHA256())
        .public_bytes(_PEM)
    )
    secret = key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, _UNENCRYPTED)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory(prefix="seine-bench-") as folder:
        both = Path(folder) / "both.pem"
        both.write_bytes(made + secret)
        context.load_cert_chain(both)
    return context


def trusting_context() -> ssl.SSLContext:
    """Make TLS of a client that takes any certificate."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


@contextmanager
def through_proxy() -> Iterator[Forward]:
    """Run a forward proxy, which the processes begun meanwhile use; its CPU is nobody's."""
    names = ("http_proxy", "https_proxy")
    with forwarders(Forward("http", "127.0.0.1")) as (proxy,), pytest.MonkeyPatch.context() as set_:
        for name in names:
            set_.setenv(name, proxy.url)
            set_.delenv(name.upper(), raising=False)
        for name in ("no_proxy", "NO_PROXY"):
            set_.delenv(name, raising=False)
        yield proxy
