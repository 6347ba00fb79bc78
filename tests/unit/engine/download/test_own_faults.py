"""Which failures of a download are this machine's or its network's, and not the site's."""

from __future__ import annotations

import errno
import json
import shutil
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.exceptions import CannotResolveHostError, DownloadFailedError
from scrapy.utils.test import get_crawler

from scrapy_seine.engine.download.own_faults import own_fault
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.frontier.model import Lease
from scrapy_seine.middlewares.retry import Retry


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "number"),
    [
        (caused(DownloadFailedError("no"), OSError(errno.EMFILE, "")), errno.EMFILE),
        (caused(DownloadFailedError("no"), OSError(errno.ENETUNREACH, "")), errno.ENETUNREACH),
        (OSError(errno.EADDRNOTAVAIL, ""), errno.EADDRNOTAVAIL),
        (
            caused(CannotResolveHostError("no"), socket.gaierror(socket.EAI_AGAIN, "")),
            socket.EAI_AGAIN,
        ),
        (caused(CannotResolveHostError("no"), socket.gaierror(socket.EAI_NONAME, "")), 0),
        (caused(DownloadFailedError("no"), OSError(errno.EHOSTUNREACH, "")), 0),
        (ConnectionResetError(errno.ECONNRESET, ""), 0),
        (caused(DownloadFailedError("no"), ssl.SSLError(ssl.SSL_ERROR_SSL, "no TLS")), 0),
        (caused(DownloadFailedError("no"), PermissionError(errno.EPERM, "")), errno.EPERM),
        (DownloadFailedError("no"), 0),
    ],
)
def test_a_fault_is_this_machines_by_its_number(error: Exception, number: int) -> None:
    assert own_fault(error) == number


@pytest.mark.parametrize(("meta", "outcome"), [({}, "retry"), ({"dont_retry": True}, "")])
def test_a_fault_of_this_machine_is_no_try_of_the_page(
    meta: dict[str, object], outcome: str
) -> None:
    """I10: as many faults as a minute without network has bury no page."""
    crawler = get_crawler(settings_dict={"RETRY_TIMES": 0})
    inflight, retry = worker_of(crawler).inflight, Retry.from_crawler(crawler)
    inflight.connect(lambda entry: None, lambda *_: None)
    request = Request("http://shop.example/", meta=meta)
    lease = Lease(id="1", token="1", slot_ms=0, delay_ms=0, deliveries=0, stored=b"")
    entry = inflight.begin(request, lease)
    error = caused(DownloadFailedError("no connection"), OSError(errno.ENETUNREACH, ""))
    copy = retry.process_exception(request, error)
    assert entry.outcome == outcome
    assert (copy is None) is bool(meta)


_OWN = ["unshare", "--map-root-user", "--mount", "--net"]
"""A network and a table of mounts of its own, without being root outside."""


def _can_have_own() -> bool:
    if not all(map(shutil.which, ("unshare", "mount", "ip"))):
        return False
    return subprocess.run([*_OWN, "true"], capture_output=True, check=False).returncode == 0


def _in_own_network(script: str, tmp_path: Path) -> object:
    """Run a script of this folder where it is the name server; returns what it prints."""
    servers = tmp_path / "resolv.conf"
    servers.write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    command = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'
    module = f"{__name__.rpartition('.')[0]}.{script}"
    args = [*_OWN, "sh", "-c", command, str(servers), sys.executable, "-m", module]
    done = subprocess.run(args, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(not _can_have_own(), reason="the system gives nobody a network of his own")
def test_what_one_name_alone_suffers_from_is_that_sites_fault(tmp_path: Path) -> None:
    """One domain with dead name servers held the end of a crawl for 15 minutes."""
    assert _in_own_network("one_sites_fault", tmp_path) == {
        "only one name": "machine",  # nothing to compare with
        "a good name": "nobody",
        "one of two names": "site",
        "no name server": "machine",
        "IPv6 only, no network": "machine",
        "IPv6 only, IPv4 network": "site",
    }


@pytest.mark.skipif(not _can_have_own(), reason="the system gives nobody a network of his own")
def test_a_host_is_reached_at_any_of_its_addresses_and_where_it_moved(tmp_path: Path) -> None:
    """Scrapy's default resolver has one address of a host, and keeps it for ever."""
    assert _in_own_network("hosts_of_many_addresses", tmp_path) == {
        "its first address is dead": "127.0.0.4",
        "before it moves": "127.0.0.4",
        "it moved": "DownloadConnectionRefusedError",
        "it moved, the next try": "127.0.0.5",
        "the name server fails": "127.0.0.5",
        "the name server is silent": "127.0.0.5",
        "its name is gone": "127.0.0.5",
        "its server is gone": "DownloadConnectionRefusedError",
        "both are gone": "CannotResolveHostError",
        "it hangs up at 1 of 2": "page",
        "it hangs up at 2 of 2": "page",
    }
