"""Read a product's rating: the stars by a class or a text, and the number of reviews."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice, takewhile

from crawler.extract import lazy_patterns
from crawler.extract.fields import Fields
from crawler.extract.money.counts import count
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Lines
from crawler.extract.page.page import MAX_TEXT_LENGTH, Element, short_text, squashed
from crawler.extract.words import CachedRule, any_of, finder

_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "zero": 0}
_OUT_OF = lazy_patterns.pattern(
    rf"(?<![\d/.,])(\d(?:[.,]\d{{1,8}})?)\s*(?:(?:/|{any_of('rating', 'of')})\s*(?:max\.?\s*)?(5|10)\b"
    rf"|{any_of('rating', 'stars')}\b)",
    re.I,
)
#: A rating with a decimal before nothing, a number of reviews in brackets, or words: `4.8 (178)`.
_ALONE = re.compile(
    r"[\s(★☆⭐]{0,12}([0-5][.,]\d{1,2})[\s)★☆⭐]{0,12}"
    r"(?:$|\((\d[\d.,]{0,9})\)|[|·–(]|(?=(?:\d[\d.,]{0,9}\s)?[^\W\d_]))"
).match
_COUNT = finder(
    r"(?<![\d.,/])((?:\d{1,3}\s(?=\d{3}\b))?\d[\d.,]{0,12})\s*(?:customer |user |global |verified )?"
    rf"(?:{any_of('rating', 'reviews')})\b"
)
#: The most stars that there are, which may stand before a number of reviews.
_SCALES = frozenset({"5", "10"})
#: A whole number of stars as the only text, and classes of a number of reviews.
_BARE, _NAMES_COUNT = frozenset("12345"), re.compile(r"count|total|num|review", re.I).search
#: Characters of an element with a rating, and lines from the heading to a number of reviews.
_MAX_TEXT, _MAX_DISTANCE = 200, 60
#: Parts of such an element that are read before a form.
_MAX_PARTS = 20


def take_rating(walk: Lines, fields: Fields) -> None:
    """Put the stars and the number of reviews into *fields*."""
    for element in walk.ratings[:20]:
        if "rating" in fields and "review_count" in fields:
            return
        text = element.get("aria-label") or element.get("title") or _text_before_form(element)
        text = squashed(text[: 2 * MAX_TEXT_LENGTH])[:_MAX_TEXT] if text else ""
        value = _stars(element, text) if "rating" not in fields else None
        if value and value <= 5:  # without a review, templates show no star of five
            fields["rating"] = value
        reviews = _reviews(text) if text and "review_count" not in fields else None
        if reviews is not None:
            fields["review_count"] = reviews
    if "review_count" not in fields and walk.heading >= 0:
        _take_from_lines(walk, fields)


def _text_before_form(element: Element) -> str:
    """Return an element's text up to a form for a review, which names all numbers of stars."""
    if not len(element) or _form_in(element) is None:
        return short_text(element)
    parts = [element.text]
    for child in islice(takewhile(lambda child: _form_in(child) is None, element), _MAX_PARTS):
        parts += [short_text(child), child.tail]
    return " ".join(part[:MAX_TEXT_LENGTH] for part in parts if part)


def _form_in(element: Element) -> Element | None:
    asked = element.iter("select", "textarea", "input")
    return next(
        (each for each in asked if each.tag != "input" or each.get("type") == "radio"), None
    )


def _take_from_lines(walk: Lines, fields: Fields) -> None:
    """Put the number of reviews that a line names into *fields*, and the stars beside it.

    They stand before the number in its line, or alone in the line before.
    """
    shown = _lines.DIGIT
    line_flags = shown | _lines.ELSEWHERE
    near = walk.lines[walk.heading : walk.heading + _MAX_DISTANCE]
    for line in [line for line in near if line.flags & line_flags == shown]:
        if len(line.text) < 60 and (reviews := _reviews(line.text)) is not None:
            fields["review_count"] = reviews
            before = walk.lines[line.index - 1].text if line.index else ""
            stars = _ALONE(line.text) or (_ALONE(before) if before[-1:].isdecimal() else None)
            if reviews and stars is not None and "rating" not in fields:
                value = float(stars[1].replace(",", "."))
                if 1 <= value <= 5:
                    fields["rating"] = value
            break


def _stars(element: Element, text: str) -> float | None:
    """Return the number of stars by a class or a text: `star-rating Three`, `4,5/5`."""
    words = element.get("class") or ""
    value = _STARS[words]
    if value is not None or not text:
        return value
    if text in _BARE:
        return None if _NAMES_COUNT(words) else float(text)
    return _stars_of_text(text)


@lru_cache(maxsize=512)
def _stars_of_text(text: str) -> float | None:
    match = _OUT_OF.search(text)
    if match is None:
        alone = _ALONE(text)
        return float(alone[1].replace(",", ".")) if alone else None
    value = float(match[1].replace(",", "."))
    return value / 2 if match[2] == "10" else value


#: The number of stars by a class: `star-rating Three`.
_STARS = CachedRule(
    lambda words: next((float(_NUMBERS[w]) for w in words.lower().split() if w in _NUMBERS), None)
)


@lru_cache(maxsize=512)
def _reviews(text: str) -> int | None:
    """Return the number of reviews that a text names.

    >>> _reviews("4.8 out of 5 204 reviews"), _reviews("4.8 / 5 204 reviews")
    (204, 204)
    >>> _reviews("(1 204 reviews)"), _reviews("4.8 reviews")
    (1204, None)
    """
    named = _COUNT(text)
    if named is None:
        alone = _ALONE(text)
        return count(alone[2]) if alone is not None and alone[2] else None
    figures, place = named[1].rstrip(".,"), named.start(1)
    first, _, last = figures.partition(" ")
    if last and first in _SCALES and text[place - 1 : place] != "(":
        # The end of "4.8 out of 5" or "4.8 / 5", or thousands of reviews.
        sign = text[:place].rstrip()[-1:]
        return count(last) if sign == "/" or sign.isalpha() else None
    return count(figures)
