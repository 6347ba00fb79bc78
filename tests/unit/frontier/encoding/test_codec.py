"""I8, I9: what can be stored comes back equal; what cannot is refused with its place."""

from __future__ import annotations

import contextlib
import pickle
from collections import Counter, OrderedDict, defaultdict
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html
from scrapy.http import Headers

from scrapy_seine.errors import DecodeError, EncodeError
from scrapy_seine.frontier.encoding.codec import PACKED, VERSION, decode, encode

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.decimals(allow_nan=False)
    | st.dates()
    | st.datetimes(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text() | st.integers(0, 99), inner)
        | st.lists(inner).map(tuple)
    ),
    max_leaves=15,
)


class Colour(IntEnum):
    RED = 1


class Size(StrEnum):
    SMALL = "s"


class Point(NamedTuple):
    x: int
    y: int


class Later(datetime):
    pass


class Amount(float):
    def rounded(self) -> float:
        return round(self)


class Noted(str):
    def __init__(self, text: str) -> None:
        self.note = text


class Words(str):
    __slots__ = ()


@given(st.dictionaries(st.text(), PLAIN))
def test_plain_data_comes_back_equal(meta: dict[str, Any]) -> None:
    fields = {"url": "http://a/", "meta": meta}
    assert decode(encode(fields)) == fields


@pytest.mark.parametrize(
    "value",
    [
        (1, ("a", b"b")),
        {1, 2},
        Decimal("1.10"),
        datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        date(2026, 1, 2),
        {"in": [{"deep": (Decimal(1),)}]},
    ],
)
def test_kinds_survive_not_only_values(value: Any) -> None:
    back = decode(encode({"url": "u", "meta": {"v": value}}))["meta"]["v"]
    assert back == value
    assert type(back) is type(value)


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (Words("x"), "x"),
        (html.fromstring("<a>x</a>").xpath("//a/text()")[0], "x"),
        (OrderedDict(a=1), {"a": 1}),
    ],
)
def test_what_is_used_for_its_value_alone_travels_as_plain_data(value: Any, stored: Any) -> None:
    assert decode(encode({"url": "u", "v": value}))["v"] == stored


@pytest.mark.parametrize(
    "value",
    [
        Point(1, 2),
        defaultdict(list, a=[1]),
        Counter("aab"),
        frozenset({1}),
        Colour.RED,
        Size.SMALL,
        Later(2026, 1, 2),
        datetime(2026, 1, 2, tzinfo=ZoneInfo("Europe/Paris")),
        Amount(1.5),
        Noted("x"),
        Headers({"A": "b"}),
    ],
)
def test_what_would_return_as_another_type_is_refused(value: Any) -> None:
    """The request stays in its worker instead, where a callback finds what it was given."""
    with pytest.raises(EncodeError, match=type(value).__name__):
        encode({"url": "u", "meta": {"v": value}})


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"meta": {"page": object()}}, r"meta\['page'\]"),
        ({"meta": {"f": lambda: None}}, r"meta\['f'\]"),
        ({"cb_kwargs": {"n": 2**70}}, r"cb_kwargs\['n'\]"),
        ({"callback": len}, "callback"),
        ({"meta": {"c": 1j}}, "complex"),
    ],
)
def test_a_refusal_names_the_place(fields: dict[str, Any], place: str) -> None:
    with pytest.raises(EncodeError, match=place) as caught:
        encode({"url": "http://a/", **fields})
    assert "http://a/" in str(caught.value)


def test_endless_data_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(EncodeError, match="meta"):
        encode({"url": "u", "meta": {"loop": loop}})


GOOD = encode({"url": "http://a/", "meta": {"k": "v"}})


@pytest.mark.parametrize(
    ("blob", "reason"),
    [
        (b"", "unknown version"),
        (b"\x04" + GOOD[1:], "unknown version"),
        (PACKED + GOOD[1:], "packed request cannot be unpacked"),
        (GOOD[:-3], "cannot be read"),
        (GOOD + b"x", "cannot be read"),
        (VERSION + msgpack.packb([1, 2]), "no url"),
        (VERSION + msgpack.packb({"meta": {}}), "no url"),
        (VERSION + msgpack.packb({"url": 7}), "no url"),
        (VERSION + msgpack.packb({"url": "u", "x": msgpack.ExtType(99, b"")}), "cannot be read"),
        (VERSION + msgpack.packb({"url": "u", "x": msgpack.ExtType(3, b"?")}), "cannot be read"),
        (pickle.dumps({"url": "u"}), "unknown version"),
    ],
)
def test_what_cannot_be_read_raises_a_reason_and_nothing_else(blob: bytes, reason: str) -> None:
    with pytest.raises(DecodeError, match=reason):
        decode(blob)


@given(st.binary(max_size=60))
def test_no_bytes_raise_anything_but_a_decode_error(noise: bytes) -> None:
    for blob in (noise, VERSION + noise):
        with contextlib.suppress(DecodeError):
            assert isinstance(decode(blob)["url"], str)
