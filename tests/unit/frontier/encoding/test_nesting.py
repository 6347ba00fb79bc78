"""I9: what would end the process in msgpack's C code is found before it is decoded."""

from __future__ import annotations

import contextlib
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_seine.errors import DecodeError, EncodeError
from scrapy_seine.frontier.encoding.codec import MOST_BYTES, VERSION, decode, encode
from scrapy_seine.frontier.encoding.nesting import MOST_DEPTH, MOST_VALUES, check_depth
from tests.bad_requests import deep
from tests.measuring import within_cpu

LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats()
LEAVES |= st.text(max_size=40) | st.binary(max_size=40)
LEAVES |= st.binary(max_size=300).map(lambda data: msgpack.ExtType(9, data))


def depth_of(value: Any) -> int:
    """Containers inside each other; an empty one holds nothing that could be nested."""
    if isinstance(value, dict):
        return 1 + max((depth_of(x) for pair in value.items() for x in pair), default=-1)
    return 1 + max(map(depth_of, value), default=-1) if isinstance(value, list) else 0


@given(
    st.recursive(
        LEAVES,
        lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=9), inner),
        max_leaves=20,
    ),
    st.integers(0, 80),
)
def test_the_scan_finds_the_depth_that_a_value_has(value: Any, wrapped: int) -> None:
    for n in range(wrapped):
        value = {"a": 1, "b": value} if n % 2 else ["x" * n, value, 1.5]
    packed = msgpack.packb(value)
    if depth_of(value) <= MOST_DEPTH:
        check_depth(packed)
    else:
        with pytest.raises(ValueError, match="nested deeper"):
            check_depth(packed)


@pytest.mark.parametrize("kind", [1, 2])
@pytest.mark.parametrize("n", [33, 65, 200, 1000, 20_000])
def test_tuples_and_sets_inside_each_other_are_refused_not_decoded(n: int, kind: int) -> None:
    with pytest.raises(DecodeError, match=r"nested deeper|cannot be read|bytes"):
        decode(VERSION + deep(n, kind))


def test_what_cannot_be_read_back_is_refused_when_it_is_stored() -> None:
    value: Any = 1
    for _ in range(MOST_DEPTH + 1):
        value = [value]
    with pytest.raises(EncodeError, match="nested deeper"):
        encode({"url": "u", "meta": {"v": value}})
    with pytest.raises(EncodeError, match="bytes"):
        encode({"url": "u", "body": b"x" * (MOST_BYTES + 1)})


@given(st.binary(max_size=400), st.integers(0, 60))
def test_no_bytes_make_the_scan_fail_otherwise_or_hang(noise: bytes, cut: int) -> None:
    for data in (noise, deep(40)[:-cut] + noise if cut else noise):
        with contextlib.suppress(ValueError):
            check_depth(data)


def test_the_largest_request_that_is_scanned_takes_a_bounded_time() -> None:
    data = msgpack.packb([[] for _ in range(MOST_VALUES + 9)])
    with within_cpu(2.5), pytest.raises(ValueError, match="values"):
        check_depth(data)


def test_as_many_values_as_are_allowed_pass_and_one_more_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("scrapy_seine.frontier.encoding.nesting.MOST_VALUES", 3)
    check_depth(msgpack.packb([1, 2]))
    with pytest.raises(ValueError, match="more than 3 values"):
        check_depth(msgpack.packb([1, 2, 3]))
