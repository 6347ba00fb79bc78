"""`.ci/digests`: a digest is printed only where its manifest was read."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.helpers import patient, serving

ROOT = Path(__file__).parents[3]
MANIFEST = json.dumps({"schemaVersion": 2, "manifests": []}).encode()
DIGEST = f"sha256:{hashlib.sha256(MANIFEST).hexdigest()}"


def digests(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "digests"), *args],
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )


class Registry(BaseHTTPRequestHandler):
    """A registry that gives everybody a token, and some answers that are none."""

    def do_GET(self) -> None:
        path, said = urlsplit(self.path).path, DIGEST
        if path == "/token":
            return self._answer(b'{"token": "t"}', "")
        if self.headers.get("Authorization") != "Bearer t":
            realm = f'Bearer realm="http://{self.headers["Host"]}/token",service="r",scope="s"'
            return self._answer(b"{}", "", 401, realm)
        body = {"/v2/a/good/manifests/1": MANIFEST, "/v2/a/page/manifests/1": b"<html>"}.get(path)
        if path == "/v2/a/other/manifests/1":
            body, said = b'{"schemaVersion": 2}', DIGEST
        if path == "/v2/a/none/manifests/1":
            body, said = b"{}", ""
        if path == "/v2/a/page/manifests/1":
            said = ""
        return self._answer(body or b"{}", said, 200 if body else 404)

    def _answer(self, body: bytes, digest: str, status: int = 200, realm: str = "") -> None:
        self.send_response(status)
        if digest:
            self.send_header("Docker-Content-Digest", digest)
        if realm:
            self.send_header("WWW-Authenticate", realm)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def registry() -> Iterator[str]:
    with serving(Registry) as base:
        yield base.removeprefix("http://")


def test_a_digest_is_that_of_the_manifest_that_was_read(registry: str) -> None:
    done = digests(f"BASE={registry}/a/good:1", f"PINNED={registry}/a/good:1@sha256:old")
    assert (done.returncode, done.stderr) == (0, "")
    image = f"{registry}/a/good:1@{DIGEST}"
    assert done.stdout == f"BASE={image}\nPINNED={image}\n"


@pytest.mark.parametrize("name", ["other:1", "page:1", "none:1", "missing:1", "good:2", "good"])
def test_what_was_not_read_is_not_written(registry: str, name: str) -> None:
    done = digests(f"GOOD={registry}/a/good:1", f"BASE={registry}/a/{name}")
    assert (done.returncode, done.stdout) == (1, ""), "all, or nothing"
    assert done.stderr.startswith(f"{registry}/a/{name}: its digest cannot be read: ")
    assert done.stderr.count("\n") == 1


def test_a_registry_that_does_not_answer_is_one_line() -> None:
    done = digests("BASE=127.0.0.1:1/a/b:1", "OTHER=127.0.0.1:1/a/c:1")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
