"""Requests as bytes: one version byte, then msgpack. Nothing read back is executed (I9).

Version 2 has a seal between the version and the msgpack, see scrapy_seine.frontier.encoding.seal.
Version 3 is one of these as Redis keeps it, see scrapy_seine.frontier.encoding.packing. Readers
unpack it first, so a version 3 request that reaches `decode` could not be unpacked.

msgpack decodes nested tuples and sets by recursion, with 40 kB of the C stack for each level: 200
levels crash the process. So size and nesting are checked before decoding.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Mapping
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum
from functools import cache
from sysconfig import get_path
from types import NoneType
from typing import Any

import msgpack

from scrapy_seine.errors import DecodeError, EncodeError
from scrapy_seine.frontier.encoding.nesting import MOST_DEPTH, check_depth

VERSION = b"\x01"
SEALED = b"\x02"
PACKED = b"\x03"
#: Bytes of a seal: the key's id, then the signature.
SEAL_BYTES = 4 + 16
#: Bytes that name the dictionary of a packed request.
DICTIONARY_ID_BYTES = 4
#: Bytes of one stored request, at most.
MOST_BYTES = 4 << 20
#: First bytes of msgpack's maps, arrays and extensions.
_CONTAINERS = bytes(
    [*range(0x80, 0xA0), *range(0xC7, 0xCA), *range(0xD4, 0xD9), *range(0xDC, 0xE0)]
)
#: Types whose subclasses are stored as the type itself where they add nothing to its value.
_PLAIN: tuple[Any, ...] = (str, int, float, bytes)
#: Initial buffer, bytes. With msgpack's own 256 KiB the kernel allocates and frees memory for each
#: request, which takes longer than packing. The buffer grows for larger requests.
_USUAL_BYTES = 1024
_TUPLE, _SET, _DECIMAL, _DATETIME, _DATE = range(1, 6)


def _pack(value: Any) -> bytes:
    data = msgpack.packb(value, default=_extend, strict_types=True, buf_size=_USUAL_BYTES)
    return bytes(data)


def _unpack(data: bytes) -> Any:
    return msgpack.unpackb(data, ext_hook=_restore, strict_map_key=False)


def _adds_names(kind: type[Any], plain: type[Any]) -> bool:
    """Say whether a subclass has methods or attributes that the plain type lacks."""
    bases = kind.__mro__[: kind.__mro__.index(plain)]
    return any(not name.startswith("_") for base in bases for name in vars(base))


@cache
def _is_installed(module: str) -> bool:
    path = getattr(sys.modules.get(module), "__file__", None) or ""
    return path.startswith((get_path("purelib"), get_path("platlib")))


def _is_value_alone(value: Any, plain: type) -> bool:
    """Say whether the plain type's value is all that a callback reads of an instance.

    It is for the texts that lxml and bs4 find in a page and for numpy's numbers, as for each class
    of an installed package; a class of the project's own is there for its methods.
    """
    kind = type(value)
    if _is_installed(kind.__module__):
        return True
    own = getattr(value, "__dict__", None)
    return not (own or _adds_names(kind, plain))


def _extend(value: Any) -> Any:
    """Pack what msgpack lacks.

    A named tuple, a defaultdict, an Enum member, a text or a number of a class with methods of its
    own, or a time of a zone with rules would lose its attributes, its missing keys, its name, its
    methods or its rules, so it is refused, and its request stays in the worker.
    """
    kind = type(value)
    if kind is tuple:
        return msgpack.ExtType(_TUPLE, _pack(list(value)))
    if kind is set:
        return msgpack.ExtType(_SET, _pack(list(value)))
    if kind is Decimal:
        return msgpack.ExtType(_DECIMAL, str(value).encode())
    if kind is datetime and type(value.tzinfo) in (NoneType, timezone):
        return msgpack.ExtType(_DATETIME, value.isoformat().encode())
    if kind is date:
        return msgpack.ExtType(_DATE, value.isoformat().encode())
    if kind is OrderedDict:
        return dict(value)
    for plain in _PLAIN:
        if (
            isinstance(value, plain)
            and not isinstance(value, Enum)
            and _is_value_alone(value, plain)
        ):
            return plain(value)
    raise TypeError(f"{kind.__module__}.{kind.__qualname__} is not plain data")


def _restore(code: int, data: bytes) -> Any:
    if code == _TUPLE:
        return tuple(_unpack(data))
    if code == _SET:
        return set(_unpack(data))
    if code == _DECIMAL:
        return Decimal(data.decode())
    if code == _DATETIME:
        return datetime.fromisoformat(data.decode())
    if code == _DATE:
        return date.fromisoformat(data.decode())
    raise ValueError(f"unknown extension {code}")


def check_shape(data: bytes) -> None:
    """Check that msgpack can be decoded safely.

    The fast check counts bytes that may begin a container: 0.4 us for a usual request. Only where
    there are many, the values are walked one by one.

    Raises:
        ValueError: it is too large, or nested too deep.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"{len(data)} bytes, {MOST_BYTES} at most")
    if len(data) - len(data.translate(None, _CONTAINERS)) > MOST_DEPTH:
        check_depth(data)


def _culprit(fields: Mapping[str, Any]) -> str:
    """Name the innermost field that cannot be packed: `meta['page']`."""
    for name, value in fields.items():
        inner = value if isinstance(value, dict) else {None: value}
        for key, part in inner.items():
            try:
                _pack({key: part})
            except (TypeError, ValueError, OverflowError, RecursionError):
                return name if key is None else f"{name}[{key!r}]"
    return "request"


def encode(fields: dict[str, Any]) -> bytes:
    """Pack the fields of a request.

    Raises:
        EncodeError: a field, which it names, is not plain data.
    """
    try:
        data = _pack(fields)
        check_shape(data)
        return VERSION + data
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        field = _culprit(fields)
        raise EncodeError(f"{fields.get('url')}: {field} cannot be stored: {error}") from None


def unknown_version(blob: bytes) -> DecodeError:
    """Return the error for a stored request whose version cannot be read."""
    version = blob[:1]
    if version == PACKED:
        return DecodeError(
            "packed request cannot be unpacked: it is damaged, or the dictionary "
            f"{blob[1 : 1 + DICTIONARY_ID_BYTES].hex()} that it was packed with is not in Redis"
        )
    return DecodeError(f"stored request of unknown version {version!r}")


def decode(blob: bytes) -> dict[str, Any]:
    """Unpack the fields of a request.

    Raises:
        DecodeError: the bytes are not of this version, are cut off, or are no mapping with a url.
    """
    version = blob[:1]
    if version not in (VERSION, SEALED):
        raise unknown_version(blob)
    data = blob[1:] if version == VERSION else blob[1 + SEAL_BYTES :]
    try:
        check_shape(data)
        fields = _unpack(data)
    except Exception as error:
        raise DecodeError(
            f"stored request cannot be read: {type(error).__name__}: {error}"
        ) from None
    if not isinstance(fields, dict) or not isinstance(fields.get("url"), str):
        raise DecodeError("stored request has no url")
    return fields
