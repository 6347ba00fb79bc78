"""The doctor tries places, lanes and ports, and leaves nothing behind."""

from __future__ import annotations

import importlib
import re
import socket
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from crawler.reads.catalogue_settings import TABLE
from crawler.reads.doctor.environment_checks import environment_findings
from scrapy_seine.engine.settings_check import wrong_values
from tests.helpers import serving

BASE = {
    name: value
    for name, value in vars(importlib.import_module("settings.base")).items()
    if name.isupper()
}


def texts(**change: Any) -> list[str]:
    return [f.text for f in environment_findings({**BASE, **change}, "catalog")]


def test_our_own_settings_are_found_well() -> None:
    assert texts() == []


def test_a_place_that_can_be_written_is_left_as_it_was(tmp_path: Path) -> None:
    assert texts(SEINE_ARCHIVE=str(tmp_path / "new" / "archive")) == []
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "page").touch()
    assert texts(SEINE_ARCHIVE=str(tmp_path)) == []
    assert [path.name for path in tmp_path.iterdir()] == ["page"]


def test_a_disk_that_is_nearly_full_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the folder is there or is to be made; a bucket lies on no disk."""
    full = SimpleNamespace(free=20 << 20)
    monkeypatch.setattr("crawler.reads.doctor.environment_checks.shutil.disk_usage", lambda _: full)
    for place in (tmp_path, tmp_path / "new" / "archive"):
        (found,) = texts(SEINE_ARCHIVE=str(place))
        assert found == f"SEINE_ARCHIVE={place} lies on a disk with 20.0 MiB of room left"


@pytest.mark.parametrize("name", ["SEINE_ARCHIVE", "FILES_STORE", "IMAGES_STORE"])
@pytest.mark.parametrize("place", ["/proc/archive", "/dev/null", "/dev/null/deep"])
def test_a_place_that_cannot_be_written_is_named(name: str, place: str) -> None:
    (found,) = texts(**{name: place})
    assert found.startswith(f"{name}={place} cannot be written: ")


def test_a_place_that_scrapy_alone_knows_is_left_to_it() -> None:
    assert texts(FILES_STORE="gs://bucket/files") == []


def test_pages_are_replayed_from_where_there_are_some(tmp_path: Path) -> None:
    assert "No such file" in texts(SEINE_REPLAY=str(tmp_path / "none"))[0]
    assert "nothing is kept there" in texts(SEINE_REPLAY=str(tmp_path))[0]
    (tmp_path / "pages.warc.gz").touch()
    assert texts(SEINE_REPLAY=str(tmp_path)) == []


def test_a_bucket_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "ENDPOINT_URL": "http://127.0.0.1:1",
        "ACCESS_KEY_ID": "id",
        "SECRET_ACCESS_KEY": "hunter2",
        "REGION": "us-east-1",
    }
    for name, value in given.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    (found,) = texts(SEINE_ARCHIVE="s3://bucket/pages")
    assert "SEINE_ARCHIVE=s3://bucket/pages cannot be written: " in found
    assert "hunter2" not in found


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("no.such.Thing", "No module named 'no'"),
        ("crawler.access.nope.Handler", "no module 'crawler.access.nope'"),
        ("crawler.access.browser.Nope", "crawler.access.browser has no 'Nope'"),
        ("Handler", "no module 'Handler'"),
    ],
)
def test_a_lane_without_a_handler_is_named(path: str, reason: str) -> None:
    (found,) = texts(SEINE_LANES={"fast": path})
    assert "lane 'fast'" in found
    assert reason in found


def test_a_port_that_is_taken_and_an_address_of_another_machine_are_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        (found,) = texts(SEINE_METRICS_PORT=str(taken.getsockname()[1]))
    assert "is in use" in found
    (found,) = texts(SEINE_METRICS_PORT="0", SEINE_METRICS_HOST="192.0.2.1")
    assert "SEINE_METRICS_HOST=192.0.2.1" in found


def test_a_doctor_beside_a_worker_finds_its_port_in_good_hands() -> None:
    """`kubectl exec deployment/worker -- scrapy doctor`: the worker of the pod has the port."""

    class Metrics(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'seine_worker_info{crawl="catalog"} 1\n')

        def log_message(self, *_: object) -> None:
            pass

    with serving(Metrics) as url:
        found = environment_findings(
            {**BASE, "SEINE_METRICS_PORT": url.rpartition(":")[2]}, "catalog"
        )
    assert [(f.level, f.subject) for f in found] == [("ok", "metrics")]


def test_settings_that_are_wrong_together_are_named() -> None:
    assert "SEINE_SECRET_PREVIOUS is set" in texts(SEINE_SECRET_PREVIOUS="x" * 40)[0]
    assert "SEINE_WEBHOOK_SECRET" in texts(SEINE_WEBHOOK_URL="https://me.test/hook")[0]


def test_a_wrong_value_is_said_once() -> None:
    wrong = {"SEINE_CRAWL": "my crawl", "CONCURRENT_REQUESTS": "many"}
    assert len(list(wrong_values({**BASE, **wrong}, TABLE))) == len(wrong)
    assert texts(**wrong) == []


def test_a_wrong_value_hides_nothing_that_is_wrong_together() -> None:
    wrong = {"CONCURRENT_REQUESTS": "many", "SEINE_SECRET": "short", "REDIS_URL": "127.0.0.1:1"}
    (found,) = texts(**wrong, SEINE_WEBHOOK_URL="https://me.test/hook")
    assert "SEINE_WEBHOOK_SECRET" in found


def test_each_setting_that_names_a_folder_or_a_bucket_is_tried() -> None:
    """All but the embedded servers' folder, whose start is the try, and Scrapy's own folders."""
    named = {
        name
        for name in TABLE
        if re.search(r"(_ARCHIVE|_REPLAY|^FILES_STORE|^IMAGES_STORE|_DIR)$", name)
    }
    assert {name for name in named if not TABLE[name].place} <= {
        "SEINE_DATA_DIR",
        "HTTPCACHE_DIR",
        "TEMPLATES_DIR",
    }
