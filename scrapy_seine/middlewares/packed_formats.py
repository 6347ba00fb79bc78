"""Unpacks bodies completely, or refuses them with the reason.

A page with a missing or wrong part looks like any other: it would become a row, and its last links
would be lost. So a body passes only if its data is complete and its checksum is right, as with
curl; browsers show the unpacked part.

Data after the end is ignored, as in browsers, unless it begins another member: some servers send a
page in several. A gzip body may lack its checksum, or have zlib's in its place, because
hand-written scripts send such bodies; the data marks its own end.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from importlib import import_module

#: Bytes of a packed body that are unpacked at once: zlib may return a thousand times as many.
_PIECE = 16_384
#: Bytes that brotli and zstd return at once, because their ratio is unlimited.
_MADE = 65_536
#: First bytes of a gzip body.
GZIP = b"\x1f\x8b\x08"
#: Bytes of gzip's head without its optional parts, of the checksum at its end, and of checksum and
#: length.
_HEAD, _CRC, _SUM = 10, 4, 8
#: gzip's flags (RFC 1952, 2.3.1): a checksum of the head, extra fields, a name, a comment.
_FHCRC, _FEXTRA, _NAMES = 2, 4, (8, 16)
#: zstd's frames, and skippable frames (RFC 8878, 3.1).
_ZSTD = (b"\x28\xb5\x2f\xfd", *(bytes((n, 0x2A, 0x4D, 0x18)) for n in range(0x50, 0x60)))


#: Frames of a zstd body, at most: one takes 10 µs however small it is, 8 MB of empty ones 10 s.
_MOST_FRAMES = 10_000


class Damaged(Exception):
    """A packed body is incomplete or wrong; the text continues a sentence about the body."""


class TooLarge(Exception):
    """A body is larger than allowed once it is unpacked; its text is the number of bytes so far."""


def unpack(body: bytes, kind: str, limit: int = 0, *, first: int = 0) -> bytes:
    """Unpack one layer of a body; *kind* is a key of `UNPACKERS`, *limit* in bytes, 0: no limit.

    With *first*, that many bytes are unpacked at most, and a body that was cut there is no error.

    Raises:
        Damaged: it is truncated, or cannot be unpacked.
        TooLarge: it makes more bytes than *limit*.
        ImportError: there is no module for its kind.

    >>> unpack(zlib.compress(b"a page"), "deflate")
    b'a page'
    >>> unpack(zlib.compress(b"a page")[:-6], "deflate")
    Traceback (most recent call last):
    scrapy_seine.middlewares.packed_formats.Damaged: is cut off
    """
    output = _Output(first or limit)
    try:
        if body:
            UNPACKERS[kind](body, output)
    except (Damaged, TooLarge, ImportError):
        if not first or max(len(body), output.size) < first:
            raise
    except _Refused:
        raise Damaged("is damaged") from None
    except Exception as error:  # zlib, brotli and zstd have their own exception classes
        raise Damaged(f"cannot be unpacked: {type(error).__name__}: {error}") from None
    return output.all()[: first or None]


class _Output:
    """The unpacked bytes of a body, with their limit."""

    def __init__(self, limit: int) -> None:
        self.max_bytes, self.size = limit, 0
        self.pieces: list[bytes] = []

    def add(self, piece: bytes) -> None:
        self.size += len(piece)
        self.pieces.append(piece)
        if self.max_bytes and self.size > self.max_bytes:
            raise TooLarge(f"{self.size}")

    def restart(self) -> None:
        self.size = 0
        self.pieces.clear()

    def all(self) -> bytes:
        return b"".join(self.pieces)


def _gunzip(body: bytes, output: _Output) -> None:
    offset = 0
    while offset == 0 or body.startswith(GZIP, offset):
        since = len(output.pieces)
        offset = _inflate(body, _data_of(body, offset), -zlib.MAX_WBITS, output)
        _check(body[offset : offset + _SUM], output.pieces[since:])
        offset += _SUM


def _data_of(body: bytes, offset: int) -> int:
    """Return where the data of the gzip member at *offset* begins."""
    if not body.startswith(GZIP, offset):
        raise Damaged("is no gzip")
    if len(body) < offset + _HEAD:
        raise Damaged("is cut off")
    flags, offset = body[offset + 3], offset + _HEAD
    if flags & _FEXTRA:
        offset += 2 + int.from_bytes(body[offset : offset + 2], "little")
    for name in _NAMES:
        if flags & name:
            offset = body.find(b"\0", offset) + 1 or len(body)
    return offset + 2 if flags & _FHCRC else offset


def _check(trailer: bytes, pieces: list[bytes]) -> None:
    """Compare a member with its checksum; not with the length, which some servers write wrong."""
    if len(trailer) < _CRC:
        return
    crc, adler = 0, 1
    for piece in pieces:
        crc = zlib.crc32(piece, crc)
    if crc == int.from_bytes(trailer[:_CRC], "little"):
        return
    for piece in pieces:
        adler = zlib.adler32(piece, adler)
    if adler != int.from_bytes(trailer[:_CRC], "big"):
        raise Damaged("is damaged: its checksum is wrong")


def _deflated(body: bytes, output: _Output) -> None:
    """Unpack zlib's format, or the bare data that some servers send under its name."""
    try:
        _inflate(body, 0, zlib.MAX_WBITS, output)
    except zlib.error:
        if output.pieces:
            raise
        _inflate(body, 0, -zlib.MAX_WBITS, output)


def _inflate(body: bytes, offset: int, bits: int, output: _Output) -> int:
    """Inflate the data at *offset*; returns where it ends."""
    view, unpacker = memoryview(body), zlib.decompressobj(bits)
    while not unpacker.eof:
        if offset >= len(body):
            raise Damaged("is cut off")
        output.add(unpacker.decompress(view[offset : offset + _PIECE]))
        offset = min(offset + _PIECE, len(body))
    return offset - len(unpacker.unused_data)


def _unbrotli(body: bytes, output: _Output) -> None:
    try:
        _unbrotli_by(body, len(body), output)
    except _Refused as refused:
        output.restart()
        _unbrotli_by(body, refused.offset, output)


class _Refused(Exception):
    """brotli refuses a piece of a body."""

    def __init__(self, offset: int) -> None:
        self.offset = offset


def _unbrotli_by(body: bytes, singly_from: int, output: _Output) -> None:
    """Unpack by pieces, and by single bytes from *singly_from* on.

    The module refuses a piece in which the data ends and other bytes follow; only single bytes
    distinguish that from damaged data.

    Raises:
        _Refused: a piece of more bytes than one was refused.
    """
    brotli = import_module("brotli")
    unpacker, offset = brotli.Decompressor(), 0
    while not unpacker.is_finished():
        if offset >= len(body):
            raise Damaged("is cut off")
        piece = body[
            offset : offset + 1 if offset >= singly_from else min(offset + _PIECE, singly_from)
        ]
        try:
            text = unpacker.process(piece, output_buffer_limit=_MADE)
            while text:  # all output of the piece, because the data may end in it
                output.add(text)
                text = unpacker.process(b"", output_buffer_limit=_MADE)
        except brotli.error:
            if len(piece) == 1:
                raise
            raise _Refused(offset) from None
        offset += len(piece)


def _unzstd(body: bytes, output: _Output) -> None:
    zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    offset = frames = 0
    while offset == 0 or body.startswith(_ZSTD, offset):
        frames += 1
        if frames > _MOST_FRAMES:
            raise Damaged(f"has more than {_MOST_FRAMES} frames")
        unpacker = zstd.ZstdDecompressor()
        while not unpacker.eof:
            piece = b""
            if unpacker.needs_input:
                if offset >= len(body):
                    raise Damaged("is cut off")
                piece = body[offset : offset + _PIECE]
                offset += len(piece)
            output.add(unpacker.decompress(piece, _MADE))
        offset -= len(unpacker.unused_data)


UNPACKERS: dict[str, Callable[[bytes, _Output], None]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _deflated,
    "br": _unbrotli,
    "zstd": _unzstd,
}
