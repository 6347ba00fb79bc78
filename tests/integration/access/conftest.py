"""Fetching with the project's lanes."""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import attrs
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests import started
from tests.helpers import patient, serving

Fetch = Callable[..., "Fetched"]


@attrs.frozen
class Fetched:
    """What a fetch brought."""

    answers: list[dict[str, Any]]
    """In the order of the requests."""
    log: str


@pytest.fixture
def fetch() -> Fetch:
    """Fetch requests (their fields) in a process of its own."""

    def run(*requests: Mapping[str, Any], timeout_s: float = 60, **settings: Any) -> Fetched:
        return fetch_all(requests, settings, timeout_s)

    return run


def fetch_all(
    requests: Sequence[Mapping[str, Any]], settings: Mapping[str, Any], timeout_s: float
) -> Fetched:
    """Run the fetching process and read what it printed."""
    task = json.dumps({"settings": dict(settings), "requests": list(requests)})
    done = started.run(
        [sys.executable, "-m", "tests.integration.access.fetch"],
        input=task,
        capture_output=True,
        text=True,
        timeout=patient(timeout_s),
        check=False,
        cwd=Path(__file__).parents[3],
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(requests), done.stderr[-4000:]
    return Fetched(sorted(answers, key=lambda a: a["number"]), done.stderr)


@pytest.fixture
def agents() -> Iterator[tuple[str, list[str]]]:
    """A site that notes how its visitors call themselves."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers.get("User-Agent", ""))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>Kettle</title><p>A sturdy kettle.</p>")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with serving(Handler) as base:
        yield f"{base}/", seen


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of localhost that nobody has signed, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("tls")
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return folder / "cert.pem", folder / "key.pem"
