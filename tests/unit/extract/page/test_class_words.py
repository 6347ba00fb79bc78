"""Words of classes and ids: which kinds a value has, and what is known of the next numbered one."""

from __future__ import annotations

import re
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.extract.page import class_words
from crawler.extract.page.class_words import _GROUPS, by_shape, kinds

PATTERNS = [pattern for _, patterns in _GROUPS for pattern in patterns]


@pytest.mark.parametrize(("letters", "pattern"), [(g, p) for g, ps in _GROUPS for p in ps])
def test_what_a_pattern_finds_has_the_letters_by_which_its_group_is_chosen(
    letters: str, pattern: str
) -> None:
    """Else a box would lose its kind in silence."""

    @given(st.from_regex(re.compile(pattern), alphabet=f" -_{ascii_lowercase}eéç"))
    def check(value: str) -> None:
        assert re.search(letters, value)

    check()


@given(st.lists(st.sampled_from([
    "price", "old", "was", "pret", "amount", "--", "-", "_", " ", "card", "product", "review", "s",
    "unit", "base", "sidebar", "buy", "shipping", "stock", "avail", "able", "label", "hidden", "d-none",
    "sku", "brand", "description", "cart", "x", "line-through", "title", "box", "harga", "tsena", "gia",
]), max_size=7))  # fmt: skip
def test_a_value_has_just_the_kinds_whose_patterns_are_found_in_it(parts: list[str]) -> None:
    value = "".join(parts)
    found = [pattern for pattern in PATTERNS if re.search(pattern, f" {value}")]
    assert list(kinds(value)) == found


@pytest.mark.parametrize(("value", "kind"), [
    ("old", class_words.OLD_MARK), ("price--old", class_words.OLD_MARK),
    ("regularprice", class_words.OLD_PRICE), ("price-was", class_words.OLD_PRICE),
    ("line-through", class_words.OLD_STRUCK), ("reviews", class_words.ELSEWHERE),
    ("left-sidebar", class_words.ELSEWHERE), ("unit-price", class_words.ELSEWHERE),
    ("preview", None), ("product-sidebar", None), ("card", class_words.CARD), ("postcard", None),
    ("label", class_words.LABEL), ("pret", class_words.PRICE), ("pretty", None), ("gia", class_words.PRICE),
    ("region", None), ("availability", class_words.STOCK), ("available", class_words.STOCK),
    ("avail", class_words.STOCK), ("hide", class_words.HIDDEN), ("hideous", None),
])  # fmt: skip
def test_words_count_within_their_edges(value: str, kind: str | None) -> None:
    assert kind in kinds(value) if kind else not [*kinds(value)]


def test_the_next_numbered_box_is_known_from_the_one_before() -> None:
    read: list[str] = []
    rule = by_shape(lambda words: read.append(words) or "post" in words)  # type: ignore[func-returns-value]
    assert [rule[value] for value in ("Post-12 h2", "post-3456 h3", "post-12")] == [True] * 3
    assert read == ["post-0 h0", "post-0"]
