"""A real Scrapyd for tests, the project as scrapyd-deploy packs it, and a client for its API."""

from __future__ import annotations

import configparser
import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from tests.helpers import patient, wait_until

ROOT = Path(__file__).parents[2]
#: What a checkout holds beyond the files that are built from; copied files must not pack it.
_LEAVINGS = shutil.ignore_patterns(
    "__pycache__", ".git", ".venv", "build", "dist", "*.egg-info", ".seine", ".*_cache", "tests"
)
_CONFIG = """\
[scrapyd]
bind_address = 127.0.0.1
http_port = {port}
poll_interval = 0.2
max_proc = 4
items_dir = items
"""


def checkout(folder: Path) -> Path:
    """Copy what the project is built from; building writes into the folder it is run in."""
    shutil.copytree(ROOT, folder, ignore=_LEAVINGS)
    return folder


def build_egg(folder: Path, egg: Path) -> None:
    """Pack the checkout as scrapyd-deploy does."""
    _deploy_tool(folder, "--build-egg", str(egg))


@attrs.frozen
class Scrapyd:
    """A running Scrapyd."""

    url: str
    folder: Path

    def deploy(self, project: Path, version: str) -> None:
        """Run scrapyd-deploy in a checkout."""
        config = configparser.ConfigParser()
        config.read(project / "scrapy.cfg")
        config["deploy"]["url"] = self.url
        with (project / "scrapy.cfg").open("w") as file:
            config.write(file)
        _deploy_tool(project, "--version", version)

    def get(self, page: str, **query: str) -> dict[str, Any]:
        """Ask the API."""
        return self._call(f"{self.url}{page}.json?{urllib.parse.urlencode(query)}", None)

    def post(self, page: str, *fields: tuple[str, str]) -> dict[str, Any]:
        """Have the API do something."""
        body = urllib.parse.urlencode([("project", "seine"), *fields]).encode()
        return self._call(f"{self.url}{page}.json", body)

    def schedule(self, settings: dict[str, object], **arguments: str) -> str:
        """Schedule a job of the catalogue spider; returns its id."""
        fields = [("setting", f"{name}={value}") for name, value in settings.items()]
        return str(
            self.post("schedule", ("spider", "catalog"), *fields, *arguments.items())["jobid"]
        )

    def state(self, job: str) -> str:
        """Return `pending`, `running` or `finished`."""
        return str(self.get("status", job=job)["currstate"])

    def log(self, job: str) -> str:
        """Return what Scrapyd shows under a job's log link."""
        return self._read(f"logs/seine/catalog/{job}.log")

    def items(self, job: str) -> list[dict[str, Any]]:
        """Return what Scrapyd shows under a job's items link."""
        return [
            json.loads(line) for line in self._read(f"items/seine/catalog/{job}.jl").splitlines()
        ]

    def _read(self, path: str) -> str:
        with urllib.request.urlopen(self.url + path, timeout=patient(10)) as answer:
            return str(answer.read().decode())

    @staticmethod
    def _call(url: str, body: bytes | None) -> dict[str, Any]:
        with urllib.request.urlopen(url, body, timeout=patient(60)) as answer:
            said: dict[str, Any] = json.load(answer)
        assert said["status"] == "ok", said
        return said


@contextmanager
def scrapyd(folder: Path) -> Iterator[Scrapyd]:
    """Run Scrapyd in a folder of its own, away from the checkout: jobs see the egg only."""
    folder.mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (folder / "scrapyd.conf").write_text(_CONFIG.format(port=port))
    with (folder / "scrapyd.log").open("wb") as log:
        command = [sys.executable, "-W", "ignore", "-m", "scrapyd", "--pidfile="]
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=_environment(),
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
        )
    running = Scrapyd(f"http://127.0.0.1:{port}/", folder)
    try:
        wait_until(lambda: _answers(running, process), 60, "Scrapyd answers")
        yield running
    finally:
        process.terminate()
        process.wait(patient(30))


def _answers(running: Scrapyd, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, (running.folder / "scrapyd.log").read_text()
    try:
        return bool(running.get("daemonstatus"))
    except OSError:
        return False


def _deploy_tool(folder: Path, *arguments: str) -> None:
    command = [sys.executable, "-W", "ignore", "-m", "scrapyd_client.deploy", *arguments]
    done = subprocess.run(
        [*command, "--debug"],
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=patient(110),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _environment() -> dict[str, str]:
    """Return ours, without what points into the checkout or at another project."""
    gone = ("PYTHONPATH", "SCRAPY_PROJECT", "SCRAPY_SETTINGS_MODULE")
    return {name: value for name, value in os.environ.items() if name not in gone}
