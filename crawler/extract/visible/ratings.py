"""Read a product's rating: the stars by a class or a text, and the number of reviews."""

from __future__ import annotations

import re
from functools import lru_cache

from crawler.extract import lazy_patterns
from crawler.extract.fields import Fields
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Lines
from crawler.extract.page.page import MAX_TEXT_LENGTH, Element, short_text, squashed
from crawler.extract.words import CachedRule, any_of, finder

_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "zero": 0}
_OUT_OF = lazy_patterns.pattern(
    rf"(\d(?:[.,]\d{{1,8}})?)\s*(?:/|{any_of('rating', 'of')}|{any_of('rating', 'stars')})\s*"
    r"(?:max\.?\s*)?(5|10)?\b",
    re.I,
)
_COUNT = finder(
    r"(?<![\d.,])(\d[\d.,]{0,12})\s*(?:customer |user |global |verified )?"
    rf"(?:{any_of('rating', 'reviews')})\b"
)
#: Characters of an element with a rating, and lines from the heading to a number of reviews.
_MAX_TEXT, _MAX_DISTANCE = 200, 60


def take_rating(walk: Lines, fields: Fields) -> None:
    """Put the stars and the number of reviews into *fields*."""
    for element in walk.ratings[:20]:
        if "rating" in fields and "review_count" in fields:
            return
        text = element.get("aria-label") or element.get("title") or short_text(element)
        text = squashed(text[: 2 * MAX_TEXT_LENGTH])[:_MAX_TEXT] if text else ""
        value = _stars(element, text) if "rating" not in fields else None
        if value is not None and value <= 5:
            fields["rating"] = value
        count = _reviews(text) if text and "review_count" not in fields else None
        if count is not None:
            fields["review_count"] = count
    if "review_count" not in fields and walk.heading >= 0:
        line_flags = _lines.DIGIT | _lines.ELSEWHERE
        for line in walk.lines[walk.heading : walk.heading + _MAX_DISTANCE]:
            if line.flags & line_flags != _lines.DIGIT or len(line.text) >= 60:
                continue
            if (count := _reviews(line.text)) is not None:
                fields["review_count"] = count
                break


def _stars(element: Element, text: str) -> float | None:
    """Return the number of stars by a class or a text: `star-rating Three`, `4,5/5`."""
    value = _STARS[element.get("class") or ""]
    return _stars_of_text(text) if value is None and text else value


@lru_cache(maxsize=512)
def _stars_of_text(text: str) -> float | None:
    match = _OUT_OF.search(text)
    if match is None:
        return None
    value = float(match[1].replace(",", "."))
    return value / 2 if match[2] == "10" else value


#: The number of stars by a class: `star-rating Three`.
_STARS = CachedRule(
    lambda words: next((float(_NUMBERS[w]) for w in words.lower().split() if w in _NUMBERS), None)
)


@lru_cache(maxsize=512)
def _reviews(text: str) -> int | None:
    """Return the number of reviews that a text names."""
    count = _COUNT(text)
    return int(re.sub(r"\D", "", count[1])) if count else None
