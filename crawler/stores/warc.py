"""Pages become WARC records (ISO 28500), each a gzip member of its own, and pages again."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from datetime import datetime

import attrs
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

Headers = list[tuple[str, str]]
#: The body is stored as one piece, whatever pieces it came in.
_FRAMING = {"transfer-encoding", "content-length", "connection", "keep-alive"}


@attrs.frozen(kw_only=True)
class Page:
    """An answer as the server sent it: compressed where it was."""

    url: str
    at: datetime
    status: int
    headers: Headers
    body: bytes
    reason: str = ""
    site_id: str | None = None
    job_id: str | None = None


@attrs.frozen
class Place:
    """Where a record is in its file, in bytes."""

    start: int
    length: int


def pack(pages: Sequence[Page], name: str) -> tuple[bytes, list[Place]]:
    """Write a WARC file; returns it with the place of each page.

    Raises:
        ValueError: a header is none.
    """
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


def places_of(data: bytes) -> Iterator[tuple[str, datetime, int, Place]]:
    """Find each answer of a WARC file: its URL, time, status and place.

    Raises:
        ValueError: it is no WARC file.
    """
    records = ArchiveIterator(io.BytesIO(data))
    try:
        for record in records:
            if record.rec_type != "response" or record.http_headers is None:
                continue
            url = record.rec_headers.get_header("WARC-Target-URI")
            at = datetime.fromisoformat(record.rec_headers.get_header("WARC-Date"))
            status = int(record.http_headers.get_statuscode())
            start = records.get_record_offset()
            yield url, at, status, Place(start, records.get_record_length())
    except ArchiveLoadFailed as error:
        raise ValueError(f"no WARC file: {error}") from None


def unpack(data: bytes) -> Page:
    """Read one record.

    Raises:
        ValueError: it is none.
    """
    for record in ArchiveIterator(io.BytesIO(data)):
        if record.rec_type == "response" and record.http_headers is not None:
            code, _, reason = record.http_headers.statusline.partition(" ")
            return Page(
                url=record.rec_headers.get_header("WARC-Target-URI"),
                at=datetime.fromisoformat(record.rec_headers.get_header("WARC-Date")),
                status=int(code),
                headers=list(record.http_headers.headers),
                body=record.raw_stream.read(),
                reason=reason,
            )
    raise ValueError("no response record")
