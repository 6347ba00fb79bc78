"""A replay of records that lie, are cut off or unpack without end: each costs its page, no more."""

from __future__ import annotations

import gzip
import io
import tracemalloc
import zlib
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import psycopg2
import pytest

from crawler.stores.archive.batches import index
from crawler.stores.archive.object_storage import Folder, ObjectMissing
from crawler.stores.archive.replay import Reader
from crawler.stores.archive.warc import Page, pack, places_of, unpack
from scrapy_seine.errors import StoreUnreachable
from tests.measuring import within_cpu

URL = "https://a.example/1"


def page(url: str = URL, body: bytes = b"hello") -> Page:
    return Page(url=url, at=datetime(2026, 1, 1, tzinfo=UTC), status=200, headers=[], body=body)


def member(made: Page) -> bytes:
    data, (place,) = pack([made], "x")
    return data[place.start : place.start + place.length]


def changed(old: bytes, new: bytes, made: Page | None = None) -> bytes:
    plain = gzip.decompress(member(made or page()))
    assert old in plain
    return gzip.compress(plain.replace(old, new))


def bomb(size: int) -> bytes:
    out, packer = io.BytesIO(), zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    head = gzip.decompress(member(page())).split(b"hello")[0]
    out.write(packer.compress(head))
    for _ in range(size >> 20):
        out.write(packer.compress(bytes(1 << 20)))
    out.write(packer.flush())
    return out.getvalue()


HOSTILE = {
    "nothing": b"",
    "garbage": b"\x00\xff" * 500,
    "gzip of nothing": gzip.compress(b""),
    "half a member": member(page())[:-20],
    "damaged": member(page())[:40] + b"\xff" * 20 + member(page())[60:],
    "no type": changed(b"WARC-Type: response", b"WARC-Tyqe: response"),
    "another type": changed(b"WARC-Type: response", b"WARC-Type: metadata"),
    "no date": changed(b"WARC-Date:", b"WARC-Dote:"),
    "no status": changed(b"HTTP/1.1 200", b"HTTP/1.1 abc"),
    "an odd status": changed(b"HTTP/1.1 200", b"HTTP/1.1 99999"),
    "a length beyond the end": changed(b"\r\nContent-Length: ", b"\r\nContent-Length: 9"),
    "a negative length": changed(b"\r\nContent-Length: ", b"\r\nContent-Length: -"),
    "a length that is none": changed(b"\r\nContent-Length: ", b"\r\nContent-Length: x"),
    "headers without end": gzip.compress(b"WARC/1.1\r\n" + b"a: b\r\n" * 500_000),
    "one header without end": gzip.compress(b"WARC/1.1\r\na: " + b"b" * 4_000_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_record_that_cannot_be_read_is_one_error(name: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpack(HOSTILE[name])


def test_a_record_that_unpacks_without_end_is_not_unpacked() -> None:
    packed = bomb(512 << 20)
    assert len(packed) < 1 << 20
    tracemalloc.start()
    with within_cpu(5), pytest.raises(ValueError, match="more than"):
        unpack(packed, 4 << 20)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 32 << 20


@pytest.mark.parametrize("name", HOSTILE)
def test_the_index_of_an_archive_takes_such_a_file_for_bad(name: str) -> None:
    try:
        assert list(places_of(HOSTILE[name])) is not None
    except ValueError:
        return


@pytest.mark.parametrize(
    "start", [b"WARC/1.1\r\na: ", b"", b"WARC/1.1\r\nContent-Length: 0\r\n\r\n"]
)
def test_a_file_whose_lines_do_not_end_is_bad_at_once(start: bytes) -> None:
    """Its parser joined the pieces of a line in quadratic time: 1.5 MB took minutes."""
    data = gzip.compress(start + b"a" * (64 << 20), 1)
    tracemalloc.start()
    with within_cpu(5), pytest.raises(ValueError, match="do not end"):
        list(places_of(data))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 24 << 20


def test_a_whole_record_is_read_packed_or_not() -> None:
    assert unpack(member(page())).body == b"hello"
    assert unpack(gzip.decompress(member(page()))).body == b"hello"


def test_any_status_that_a_site_may_answer_is_read() -> None:
    """Some answer 999 to crawlers: the archive took such a page and did not give it back."""
    assert unpack(changed(b"HTTP/1.1 200", b"HTTP/1.1 999")).status == 999


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ((0, 0, "a.warc.gz"), ValueError),
        ((0, 2**31 - 1, "a.warc.gz"), ValueError),
        ((-5, 10, "a.warc.gz"), ValueError),
        ((10**12, 10, "a.warc.gz"), ValueError),
        ((0, 10, "../outside"), StoreUnreachable),
        ((0, 10, "/etc/hostname"), StoreUnreachable),
        ((0, 10, "none.warc.gz"), ObjectMissing),
    ],
)
def test_an_index_that_lies_reads_nothing_else(
    database: str, tmp_path: Path, place: tuple[int, int, str], kind: type[Exception]
) -> None:
    start, length, key = place
    (tmp_path / "outside").write_text("secret")
    store = Folder(tmp_path / "archive")
    store.put("a.warc.gz", member(page()))
    add(database, URL, key, start, length)
    with closing(Reader(store, database)) as reader, pytest.raises(kind):
        reader.find(URL)


@pytest.mark.postgres
def test_a_file_that_the_database_refuses_is_bad_and_the_others_are_indexed(
    database: str, tmp_path: Path
) -> None:
    """A NUL in one URL ended `scrapy archive`, and blamed DATABASE_URL."""
    store = Folder(tmp_path)
    store.put("a.warc.gz", changed(b"https://a.example/1", b"https://a.example/\0"))
    store.put("b.warc.gz", changed(b"HTTP/1.1 200", b"HTTP/1.1 99999"))
    store.put("c\udce9.warc.gz", member(page()))
    store.put("d.warc.gz", member(page()))
    assert index(store, database) == Counter(objects=1, known=0, pages=1, bad=3)
    with closing(Reader(store, database)) as reader:
        assert (found := reader.find(URL)) is not None
        assert found.body == b"hello"


@pytest.mark.postgres
def test_a_record_of_another_address_is_not_taken_for_the_page(
    database: str, tmp_path: Path
) -> None:
    store, data = Folder(tmp_path), member(page("https://a.example/other"))
    store.put("a.warc.gz", data)
    add(database, URL, "a.warc.gz", 0, len(data))
    with closing(Reader(store, database)) as reader, pytest.raises(ValueError, match="another"):
        reader.find(URL)


def add(database: str, url: str, key: str, start: int, length: int) -> None:
    with psycopg2.connect(database) as connection, connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO archive (url, at, status, key, start, length)"
            " VALUES (%s, now(), 200, %s, %s, %s)",
            (url, key, start, length),
        )
    connection.close()
