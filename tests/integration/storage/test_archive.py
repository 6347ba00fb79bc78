"""The archive: pages come back as they were, from a folder and from S3, and none is half there."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response

from crawler.stores.archive.batches import PageTable, index
from crawler.stores.archive.object_storage import Folder, ObjectMissing, ObjectStore, open_store
from crawler.stores.archive.replay import Reader, response_of
from crawler.stores.archive.warc import Page, pack, unpack
from middlewares.archive import headers_of
from scrapy_seine.errors import ConfigError, StoreUnreachable
from scrapy_seine.sinks.postgres.batches import Limits, Report
from scrapy_seine.sinks.postgres.writer import Writer
from tests.helpers import wait_until
from tests.integration.storage.kit import T0, rows_of, s3_bucket

URL = "https://shop.example/p/1?a=b&c=ü"
BODY = gzip.compress("<html><body>Ünique</body></html>".encode())


def page(url: str = URL, *, body: bytes = BODY, minutes: int = 0, **fields: Any) -> Page:
    made: dict[str, Any] = {
        "url": url,
        "at": T0 + timedelta(minutes=minutes, microseconds=123),
        "status": 200,
        "headers": [
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Encoding", "gzip"),
            ("Transfer-Encoding", "chunked"),
            ("Set-Cookie", "a=1"),
            ("Set-Cookie", "b=%C3%BC"),
        ],
        "body": body,
    }
    return Page(**{**made, **fields})


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    with s3_bucket() as place:
        yield place


@pytest.fixture
def s3(bucket: str) -> str:
    """A place of each test's own, because an object that another test left is counted too."""
    return f"{bucket}/{uuid.uuid4().hex[:8]}"


@pytest.fixture(params=["folder", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    place = request.getfixturevalue("s3") if request.param == "s3" else str(tmp_path / "archive")
    return open_store(place)


def test_a_page_comes_back_byte_for_byte() -> None:
    odd = page(status=404, reason="Not Found", body=bytes(range(256)) * 100)
    data, places = pack([page(), odd, page("https://a.example/")], "name")
    for one, place in zip([page(), odd], places, strict=False):
        found = unpack(data[place.start : place.start + place.length])
        assert (found.url, found.status, found.reason, found.body) == (
            one.url, one.status, one.reason, one.body,
        )  # fmt: skip
        assert found.at == one.at
        kept = [(key, value) for key, value in one.headers if key != "Transfer-Encoding"]
        assert found.headers == [*kept, ("Content-Length", str(len(one.body)))]


def test_warcio_itself_finds_nothing_wrong(tmp_path: Path) -> None:
    file = tmp_path / "a.warc.gz"
    file.write_bytes(pack([page(), page(body=b"")], "a")[0])
    command = [sys.executable, "-m", "warcio.cli", "check", "-v", str(file)]
    check = subprocess.run(command, capture_output=True, text=True, check=False)
    assert check.returncode == 0
    assert "fail" not in check.stdout


@pytest.mark.postgres
def test_pages_are_found_again_the_newest_first(database: str, store: ObjectStore) -> None:
    stored: list[Any] = []

    def done(report: Report) -> None:
        stored.extend(report.stored)

    writer = Writer(
        database,
        {"pages": PageTable(store, lambda: "w")},
        on_report=done,
        on_pause=lambda on: None,
        replacement_of=lambda table, row, reason: None,
        limits=Limits(age_s=0.05),
    )
    writer.start()
    for number in range(50):
        writer.put("pages", page(f"https://a.example/{number}", minutes=number), 100, number)
    writer.put("pages", page("https://a.example/to/?utm_source=go", minutes=7), 100, "to")
    writer.put("pages", page(body=b"old", headers=[]), 100, "old")
    writer.put("pages", page(body=b"new", headers=[], minutes=5), 100, "new")
    wait_until(lambda: len(stored) == 53, 20, "all pages are kept")
    writer.close(10)
    reader = Reader(store, database)
    try:
        assert [reader.find(f"https://a.example/{n}").at for n in (0, 49)] == [  # type: ignore[union-attr]
            page().at, page(minutes=49).at,
        ]  # fmt: skip
        found = reader.find(URL)
        assert found is not None
        assert found.body == b"new"
        assert reader.find("https://a.example/none") is None
        # A replay may come by the redirect whose target the crawl had from the sitemap, or not.
        assert reader.find("https://a.example/49?utm_source=go").at == page(minutes=49).at  # type: ignore[union-attr]
        assert reader.find("https://a.example/to").at == page(minutes=7).at  # type: ignore[union-attr]
    finally:
        reader.close()
    counted = "SELECT count(DISTINCT (key, start)), count(DISTINCT key) < 10 FROM archive"
    assert rows_of(database, counted) == [(53, True)]


@pytest.mark.postgres
def test_an_archive_can_be_read_with_another_database(database: str, store: ObjectStore) -> None:
    known = set(store.names())
    store.put("2026/a.warc.gz", pack([page(), page(minutes=1, body=b"new", headers=[])], "a")[0])
    store.put("2026/b.warc.gz", b"nothing of the kind")
    done = index(store, database)
    assert (done["pages"] >= 2, done["bad"]) == (True, 1)
    again = index(store, database)
    assert (again["objects"], again["known"]) == (0, done["objects"])
    reader = Reader(store, database)
    found = reader.find(URL)
    reader.close()
    assert found is not None
    assert (found.body, set(store.names()) - known) == (
        b"new",
        {"2026/a.warc.gz", "2026/b.warc.gz"},
    )


@pytest.mark.postgres
def test_an_archive_that_is_away_loses_nothing(database: str, tmp_path: Path) -> None:
    root = tmp_path / "archive"
    root.write_text("in the way")  # the folder cannot be made
    stored: list[Any] = []
    pressed: list[bool] = []
    writer = Writer(
        database,
        {"pages": PageTable(Folder(root), lambda: "w")},
        on_report=lambda report: stored.extend(report.stored),
        on_pause=pressed.append,
        replacement_of=lambda table, row, reason: None,
        limits=Limits(age_s=0.01),
    )
    writer.start()
    writer.put("pages", page(), 100, "ticket")
    wait_until(lambda: pressed == [True], 10, "back-pressure")
    root.unlink()
    wait_until(lambda: stored == ["ticket"], 10, "the page is kept")
    writer.close(10)
    assert pressed == [True, False]
    assert [path.suffix for path in root.rglob("*") if path.is_file()] == [".gz"]


@pytest.mark.postgres
def test_an_object_that_is_gone_is_named_and_no_outage(database: str, store: ObjectStore) -> None:
    """A replay waited for it as for a store that is away."""
    stored: list[Any] = []
    table = PageTable(store, lambda: "w")
    writer = Writer(
        database,
        {"pages": table},
        on_report=lambda report: stored.extend(report.stored),
        on_pause=lambda on: None,
        replacement_of=lambda table, row, reason: None,
    )
    writer.start()
    for number in range(2):
        writer.put("pages", page(f"https://a.example/{number}"), 100, number)
        wait_until(lambda number=number: number in stored, 20, "the page is kept")
    writer.close(10)
    assert table.missing() == []
    ((key,),) = rows_of(database, "SELECT key FROM archive WHERE url = 'https://a.example/1'")
    if isinstance(store, Folder):
        (store.root / key).unlink()
    else:
        store.remove(key)  # type: ignore[attr-defined]
    assert table.missing() == [key]
    reader = Reader(store, database)
    try:
        with pytest.raises(ObjectMissing, match=key):
            reader.find("https://a.example/1")
        assert reader.find("https://a.example/0") is not None
    finally:
        reader.close()


def test_a_folder_in_which_nothing_is_may_be_a_disk_that_is_not_mounted(tmp_path: Path) -> None:
    for root in (tmp_path, tmp_path / "none"):
        with pytest.raises(StoreUnreachable, match="No such file"):
            Folder(root).get("2026/a.warc.gz", 0)


@pytest.mark.postgres
def test_an_archive_that_nobody_mends_is_reported_once(database: str, tmp_path: Path) -> None:
    root = tmp_path / "archive"
    root.write_text("in the way")  # the folder cannot be made
    reasons: list[str] = []
    writer = Writer(
        database,
        {"pages": PageTable(Folder(root), lambda: "w")},
        on_report=lambda report: None,
        on_pause=lambda on: None,
        replacement_of=lambda table, row, reason: None,
        on_table_closed=reasons.append,
        closed_limit_s=0.2,
        limits=Limits(age_s=0.01),
    )
    writer.start()
    writer.put("pages", page(), 100, "ticket")
    wait_until(lambda: bool(reasons), 10, "the wait is over")
    writer.close(1)
    assert reasons == [f"archive {root}: Not a directory"]


def test_a_response_is_made_as_the_downloader_made_it() -> None:
    made = response_of(page(), Request(URL))
    assert isinstance(made, Response)
    assert made.headers.getlist("Set-Cookie") == [b"a=1", b"b=%C3%BC"]
    assert "cached" in made.flags
    plain = response_of(page(body=b"<html>", headers=[("Content-Type", "text/html")]), Request(URL))
    assert isinstance(plain, HtmlResponse)


def test_headers_cannot_break_a_record() -> None:
    response = Response(URL, headers={"X-Odd": [b"a\r\nb", "/ü".encode()]})
    assert headers_of(response) == [("X-Odd", "a  b"), ("X-Odd", "/%C3%BC")]


def test_places_are_checked(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="credentials"):
        open_store("s3://key:secret@bucket/raw")
    with pytest.raises(ConfigError, match="neither"):
        open_store("ftp://host/raw")
    with pytest.raises(StoreUnreachable):
        Folder(tmp_path).get("none", 0, 1)


def test_an_s3_that_is_silent_is_named_within_a_minute(s3: str) -> None:
    config = open_store(s3)._client.meta.config  # type: ignore[attr-defined]
    assert config.read_timeout * config.retries["total_max_attempts"] <= 60


def test_credentials_of_a_file_may_end_in_a_line_break(
    s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Secret made by --from-file has it; boto3 sent it, and its error showed the signature."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL"):
        monkeypatch.setenv(name, os.environ[name] + "\r\n")
    store = open_store(s3)
    store.put("a", b"b")
    assert store.get("a", 0) == b"b"


def test_an_endpoint_that_is_none_is_one_clear_error(
    s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "nowhere")
    with pytest.raises(ConfigError, match="Invalid endpoint: nowhere"):
        open_store(s3)


def test_an_endpoint_that_is_away_gives_the_same_reason_for_each_object(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    variables = {
        "ENDPOINT_URL": "http://127.0.0.1:1",
        "ACCESS_KEY_ID": "a",
        "SECRET_ACCESS_KEY": "b",
    }
    for name, value in {**variables, "REGION": "us-east-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    store, reasons = open_store("s3://bucket/prefix"), set[str]()
    for key in ("one.warc.gz", "two.warc.gz"):
        with pytest.raises(StoreUnreachable) as caught:
            store.put(key, b"x")
        reasons.add(str(caught.value))
    assert len(reasons) == 1, reasons


def test_a_missing_bucket_is_one_clear_error(s3: str) -> None:
    other = open_store("s3://nobucket/raw")
    with pytest.raises(StoreUnreachable, match="NoSuchBucket"):
        other.put("a", b"b")
    with pytest.raises(ObjectMissing):
        open_store(s3).get("none", 0, 10)
