"""Pages become WARC records (ISO 28500), each a gzip member of its own, and pages again."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import attrs

from scrapy_seine.attrs_bases import Value

if TYPE_CHECKING:  # where it is used: most workers have no archive
    from warcio.recordloader import ArcWarcRecord

#: Largest unpacked record in bytes, where the caller sets no other limit.
MAX_RECORD_BYTES = 64 << 20
_MAX_HEADER_BYTES = 256 << 10
#: As in an answer of a site: 999 is one, too.
_LOWEST, _HIGHEST = 100, 999
Headers = list[tuple[str, str]]
#: Headers that are dropped, because the body is stored unchunked.
_FRAMING = {"transfer-encoding", "content-length", "connection", "keep-alive"}


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Page(Value):
    """A response as the server sent it; a compressed body stays compressed."""

    url: str
    at: datetime
    status: int
    headers: Headers
    body: bytes
    reason: str = ""
    site_id: str | None = None
    job_id: str | None = None


@attrs.frozen(eq=False, repr=False)
class Place(Value):
    """The position of a record in its file, in bytes."""

    start: int
    length: int


def pack(pages: Sequence[Page], name: str) -> tuple[bytes, list[Place]]:
    """Write a WARC file; returns it with the place of each page.

    Raises:
        ValueError: a header is malformed.
    """
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    buffer = io.BytesIO()
    writer = WARCWriter(buffer, gzip=True)
    about = {"software": "Seine", "format": "WARC File Format 1.1"}
    writer.write_record(writer.create_warcinfo_record(name, about))
    places = []
    for page in pages:
        start = buffer.tell()
        headers = [(key, value) for key, value in page.headers if key.lower() not in _FRAMING]
        headers.append(("Content-Length", str(len(page.body))))
        line = f"{page.status} {page.reason}".strip()
        record = writer.create_warc_record(
            page.url,
            "response",
            payload=io.BytesIO(page.body),
            length=len(page.body),
            http_headers=StatusAndHeaders(line, headers, protocol="HTTP/1.1"),
            warc_headers_dict={"WARC-Date": page.at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")},
        )
        writer.write_record(record)
        places.append(Place(start, buffer.tell() - start))
    return buffer.getvalue(), places


class _HeaderLines:
    """Reads lines for warcio's parser, which would join a line of any length, in quadratic time."""

    def __init__(self, readline: Callable[[int], bytes]) -> None:
        self.readline = readline
        self.left = _MAX_HEADER_BYTES
        """Bytes that the headers of the current record may still have."""

    def __call__(self, length: int | None = None) -> bytes:
        most = self.left + 1
        line = self.readline(most if length is None else min(length, most))
        self.left -= len(line)
        if self.left < 0:
            raise ValueError("the record's headers do not end")
        return line


def places_of(data: bytes) -> Iterator[tuple[str, datetime, int, Place]]:
    """Yield the URL, time, status and position of each response in a WARC file.

    Raises:
        ValueError: it is no WARC file, or one of its records is malformed.
    """
    from warcio.archiveiterator import ArchiveIterator

    records = ArchiveIterator(io.BytesIO(data))
    lines = records.reader.readline = _HeaderLines(records.reader.readline)
    try:
        for record in records:
            lines.left = _MAX_HEADER_BYTES
            if record.rec_type != "response" or record.http_headers is None:
                continue
            url = record.rec_headers.get_header("WARC-Target-URI")
            fetched_at = datetime.fromisoformat(record.rec_headers.get_header("WARC-Date"))
            status = int(record.http_headers.get_statuscode())
            start = records.get_record_offset()
            yield url, fetched_at, status, Place(start, records.get_record_length())
    except Exception as error:  # the parser raises errors of any type for a malformed file
        raise ValueError(f"no WARC file: {error}") from None


def unpack(data: bytes, max_bytes: int = MAX_RECORD_BYTES) -> Page:
    """Read one record, gzipped or plain. A hostile record costs at most *max_bytes* of memory.

    Raises:
        ValueError: the record is malformed, is truncated, unpacks to more than *max_bytes*, or has
            a wrong length.
    """
    from warcio.archiveiterator import ArchiveIterator

    plain = _plain(data, max_bytes)
    _check_headers(plain)
    try:
        record = next(iter(ArchiveIterator(io.BytesIO(plain))), None)
        if record is None or record.rec_type != "response" or record.http_headers is None:
            raise ValueError("no response record")
        return _page(record)
    except ValueError:
        raise
    except Exception as error:  # as above
        raise ValueError(f"no response record: {type(error).__name__}: {error}") from None


def _page(record: ArcWarcRecord) -> Page:
    code, _, reason = record.http_headers.statusline.partition(" ")
    status = int(code)
    if not _LOWEST <= status <= _HIGHEST:
        raise ValueError(f"{status} is no status")
    body = record.raw_stream.read()
    if record.raw_stream.limit:
        raise ValueError(f"the record is cut off: {record.raw_stream.limit} bytes are missing")
    return Page(
        url=record.rec_headers.get_header("WARC-Target-URI"),
        at=datetime.fromisoformat(record.rec_headers.get_header("WARC-Date")),
        status=status,
        headers=list(record.http_headers.headers),
        body=body,
        reason=reason,
    )


def _plain(data: bytes, max_bytes: int) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data[:max_bytes]
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        plain = unpacker.decompress(data, max_bytes + 1)
    except zlib.error as error:
        raise ValueError(f"the record cannot be unpacked: {error}") from None
    if len(plain) > max_bytes:
        raise ValueError(f"the record unpacks to more than {max_bytes} bytes")
    if not unpacker.eof:
        raise ValueError("the record is cut off")
    return plain


def _check_headers(plain: bytes) -> None:
    """Refuse endless headers, because their parser reads lines without a limit."""
    end = 0
    for _ in range(2):
        end = plain.find(b"\r\n\r\n", end, end + _MAX_HEADER_BYTES) + 4
        if end < 4:  # noqa: PLR2004  # nothing was found
            raise ValueError("the record's headers do not end")
