"""Packed requests: what was packed comes out again, and damage is noticed or harmless."""

from __future__ import annotations

import tracemalloc
import zlib
from contextlib import suppress
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_seine.errors import DecodeError
from scrapy_seine.frontier.encoding.codec import PACKED, decode, encode
from scrapy_seine.frontier.encoding.packing import (
    MOST_DICTIONARY,
    MOST_PACKED,
    Dictionary,
    made_of,
    read_dictionary,
)
from scrapy_seine.frontier.encoding.seal import Seal


def blob(n: int, callback: str = "parse_product") -> bytes:
    meta = {"task_id": f"{n:032x}", "title": "a product's name as it stands in the list"}
    return encode({"url": f"https://a.example/p/{n}", "callback": callback, "meta": meta})


DICTIONARY = Dictionary(blob(1) + blob(2))
START = 5


def deflated(data: bytes, dictionary: bytes = DICTIONARY.text) -> bytes:
    """What somebody else may write: *data* under the dictionary's id."""
    made = zlib.compressobj(9, zlib.DEFLATED, -11, 9, zlib.Z_DEFAULT_STRATEGY, dictionary)
    return PACKED + DICTIONARY.id + made.compress(data) + made.flush()


@given(data=st.binary(max_size=MOST_PACKED + 10), common=st.binary(min_size=1, max_size=1500))
def test_what_is_packed_comes_out_again(data: bytes, common: bytes) -> None:
    for made in (Dictionary(common), Dictionary(data[:MOST_DICTIONARY] or b"x")):
        packed = made.pack(data)
        assert len(packed) <= len(data)
        assert packed == data or made.unpack(packed) == data
        assert made.pack(data) == packed, "one request leaves nothing behind for the next"


@given(text=st.binary(max_size=300), at=st.integers(START, 60), to=st.integers(0, 255))
def test_damage_is_a_decode_error_or_another_request(text: bytes, at: int, to: int) -> None:
    """Whatever stands in Redis, no other error leaves, and no more than a packed request comes."""
    packed = bytearray(DICTIONARY.pack(blob(7) + text))
    packed[min(at, len(packed) - 1)] = to
    for damaged in (bytes(packed), PACKED + DICTIONARY.id + text, packed[:at]):
        with suppress(DecodeError):
            assert len(DICTIONARY.unpack(bytes(damaged))) <= MOST_PACKED


@pytest.mark.parametrize("cut", [1, 2, 10])
def test_what_is_cut_off_or_goes_on_is_refused(cut: int) -> None:
    packed = DICTIONARY.pack(blob(3))
    for wrong in (packed[:-cut], packed + b"x" * cut):
        with pytest.raises(DecodeError, match="damaged"):
            DICTIONARY.unpack(wrong)


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = deflated(bytes(200_000_000))
    assert len(bomb) < 400_000
    tracemalloc.start()
    with pytest.raises(DecodeError, match="too large"):
        DICTIONARY.unpack(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * len(bomb)
    assert DICTIONARY.unpack(deflated(bytes(MOST_PACKED))) == bytes(MOST_PACKED)


def test_requests_that_are_alike_take_a_quarter_at_most() -> None:
    made = made_of([blob(n) for n in range(8)], [blob(n) for n in range(70, 78)])
    assert made is not None
    assert len(made.pack(blob(999))) < len(blob(999)) / 4


def test_a_dictionary_holds_each_kind_of_request_and_no_other() -> None:
    """A request that shares nothing with others would take the place of those that do."""
    alone = blake2b(b"alone").digest() * 20
    other = bytes(range(200))
    kinds = [one for n in range(3) for one in (alone + b"%d" % n, blob(n), other)]
    made = made_of(kinds, [blob(70), other, blob(71), other, blob(72), other])
    assert made is not None
    assert other in made.text
    assert b"parse_product" in made.text
    assert alone not in made.text
    assert made_of(kinds, [blake2b(b"%d" % n).digest() for n in range(4)]) is None


def test_nothing_is_made_of_large_requests() -> None:
    large = bytes(MOST_PACKED + 1)
    assert made_of([bytes(MOST_DICTIONARY + 1)], [bytes(100)]) is None
    assert DICTIONARY.pack(large) == large


@pytest.mark.parametrize("text", [None, b"", b"other", DICTIONARY.text + b"x", bytes(5000), 7])
def test_another_text_under_an_id_is_none(text: object) -> None:
    assert read_dictionary(DICTIONARY.id, text) is None
    assert read_dictionary(None, text) is None
    found = read_dictionary(DICTIONARY.id, DICTIONARY.text)
    assert found is not None
    assert found.text == DICTIONARY.text


def test_what_could_not_be_unpacked_says_so() -> None:
    packed = DICTIONARY.pack(blob(3))
    with pytest.raises(DecodeError, match=f"the dictionary {DICTIONARY.id.hex()} .* is not in"):
        decode(packed)
    with pytest.raises(DecodeError, match="cannot be unpacked"):
        Seal("c", ["s" * 32]).check(b"4000 a.example\n" + packed)
