"""Packed bodies: unpacked to their end, or refused with the reason.

A page of which a part is missing or wrong looks like others: it would become a row, and its last
links would be lost. So a body passes only where its packing reached its end and its checksum is
right, as with curl; browsers show what they could unpack.

What stands behind the end is passed over, as browsers do, unless it begins another member: some
servers write a page in several. A gzip body may lack its checksum, or have zlib's in its place,
because scripts that put gzip together by hand write such; the data has an end of its own.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from importlib import import_module

#: Bytes of a packed body that are unpacked in one go: zlib makes a thousand times as many of them.
_PIECE = 16_384
#: Bytes that brotli and zstd make in one go, because theirs can be any number.
_MADE = 65_536
#: How a gzip body begins.
GZIP = b"\x1f\x8b\x08"
#: Bytes of gzip's head without its optional parts, of the checksum at its end, and of that with the
#: length behind it.
_HEAD, _CRC, _SUM = 10, 4, 8
#: gzip's flags (RFC 1952, 2.3.1): a checksum of the head, extra fields, a name, a comment.
_FHCRC, _FEXTRA, _NAMES = 2, 4, (8, 16)
#: zstd's frames, and those that are to be passed over (RFC 8878, 3.1).
_ZSTD = (b"\x28\xb5\x2f\xfd", *(bytes((n, 0x2A, 0x4D, 0x18)) for n in range(0x50, 0x60)))


class Damaged(Exception):
    """A packed body that is not whole; the text goes on where a sentence names the body."""


class TooLarge(Exception):
    """A body is larger than allowed once it is unpacked; its text is the number of bytes so far."""


def unpack(body: bytes, kind: str, most: int = 0) -> bytes:
    """Unpack one layer of a body; *kind* is a key of `UNPACKERS`, *most* in bytes, 0: no limit.

    Raises:
        Damaged: it is cut off, or cannot be unpacked.
        TooLarge: it makes more bytes than *most*.
        ImportError: there is no module for its kind.

    >>> unpack(zlib.compress(b"a page"), "deflate")
    b'a page'
    >>> unpack(zlib.compress(b"a page")[:-6], "deflate")
    Traceback (most recent call last):
    scrapy_seine.middlewares.packed_formats.Damaged: is cut off
    """
    try:
        return UNPACKERS[kind](body, most) if body else b""
    except (Damaged, TooLarge, ImportError):
        raise
    except _Refused:
        raise Damaged("is damaged") from None
    except Exception as error:  # zlib, brotli and zstd have each a class of their own
        raise Damaged(f"cannot be unpacked: {type(error).__name__}: {error}") from None


class _Made:
    """The bytes that a body makes, within their limit."""

    def __init__(self, most: int) -> None:
        self.most, self.size = most, 0
        self.pieces: list[bytes] = []

    def add(self, piece: bytes) -> None:
        self.size += len(piece)
        if self.most and self.size > self.most:
            raise TooLarge(f"{self.size}")
        self.pieces.append(piece)

    def all(self) -> bytes:
        return b"".join(self.pieces)


def _gunzip(body: bytes, most: int) -> bytes:
    made, at = _Made(most), 0
    while at == 0 or body.startswith(GZIP, at):
        since = len(made.pieces)
        at = _inflate(body, _data_of(body, at), -zlib.MAX_WBITS, made)
        _check(body[at : at + _SUM], made.pieces[since:])
        at += _SUM
    return made.all()


def _data_of(body: bytes, at: int) -> int:
    """Where the data of a gzip member begins that begins at *at*."""
    if not body.startswith(GZIP, at):
        raise Damaged("is no gzip")
    if len(body) < at + _HEAD:
        raise Damaged("is cut off")
    flags, at = body[at + 3], at + _HEAD
    if flags & _FEXTRA:
        at += 2 + int.from_bytes(body[at : at + 2], "little")
    for name in _NAMES:
        if flags & name:
            at = body.find(b"\0", at) + 1 or len(body)
    return at + 2 if flags & _FHCRC else at


def _check(told: bytes, pieces: list[bytes]) -> None:
    """Hold a member against its checksum; the length is no better, and some write a wrong one."""
    if len(told) < _CRC:
        return
    crc, adler = 0, 1
    for piece in pieces:
        crc = zlib.crc32(piece, crc)
    if crc == int.from_bytes(told[:_CRC], "little"):
        return
    for piece in pieces:
        adler = zlib.adler32(piece, adler)
    if adler != int.from_bytes(told[:_CRC], "big"):
        raise Damaged("is damaged: its checksum is wrong")


def _deflated(body: bytes, most: int) -> bytes:
    """Unpack zlib's format, or the bare data that some servers send under its name."""
    made = _Made(most)
    try:
        _inflate(body, 0, zlib.MAX_WBITS, made)
    except zlib.error:
        if made.pieces:
            raise
        _inflate(body, 0, -zlib.MAX_WBITS, made)
    return made.all()


def _inflate(body: bytes, at: int, bits: int, made: _Made) -> int:
    """Inflate the data that begins at *at*; returns where it ends."""
    view, unpacker = memoryview(body), zlib.decompressobj(bits)
    while not unpacker.eof:
        if at >= len(body):
            raise Damaged("is cut off")
        made.add(unpacker.decompress(view[at : at + _PIECE]))
        at = min(at + _PIECE, len(body))
    return at - len(unpacker.unused_data)


def _unbrotli(body: bytes, most: int) -> bytes:
    try:
        return _unbrotli_by(body, len(body), most)
    except _Refused as refused:
        return _unbrotli_by(body, refused.at, most)


class _Refused(Exception):
    """brotli refuses a piece of a body."""

    def __init__(self, at: int) -> None:
        self.at = at


def _unbrotli_by(body: bytes, singly_from: int, most: int) -> bytes:
    """Unpack by pieces, and by single bytes from *singly_from* on.

    The module refuses a piece in which the data ends and something follows; nothing but a byte for
    itself tells that from data that is damaged.

    Raises:
        _Refused: a piece of more bytes than one was refused.
    """
    brotli = import_module("brotli")
    made, unpacker, at = _Made(most), brotli.Decompressor(), 0
    while not unpacker.is_finished():
        if at >= len(body):
            raise Damaged("is cut off")
        piece = body[at : at + 1 if at >= singly_from else min(at + _PIECE, singly_from)]
        try:
            text = unpacker.process(piece, output_buffer_limit=_MADE)
            while text:  # all that the piece makes, because what follows may be behind the end
                made.add(text)
                text = unpacker.process(b"", output_buffer_limit=_MADE)
        except brotli.error:
            if len(piece) == 1:
                raise
            raise _Refused(at) from None
        at += len(piece)
    return made.all()


def _unzstd(body: bytes, most: int) -> bytes:
    zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    made, at = _Made(most), 0
    while at == 0 or body.startswith(_ZSTD, at):
        unpacker = zstd.ZstdDecompressor()
        while not unpacker.eof:
            piece = b""
            if unpacker.needs_input:
                if at >= len(body):
                    raise Damaged("is cut off")
                piece = body[at : at + _PIECE]
                at += len(piece)
            made.add(unpacker.decompress(piece, _MADE))
        at -= len(unpacker.unused_data)
    return made.all()


UNPACKERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _deflated,
    "br": _unbrotli,
    "zstd": _unzstd,
}
