"""The possible values of a page's texts, by their places.

A place is the path of boxes around a text, the number of earlier texts with that path, and the way
in which the value is read from the text. It is the same on all pages of one template, so that a
place with the stored values of many products is the template's place of the field.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import islice
from typing import Any

import attrs

from crawler.extract.money.amounts import find_prices, parse_price
from crawler.extract.page import lines
from crawler.extract.page.page import Page, short_text
from crawler.extract.page.places import path
from crawler.extract.price.struck_below import is_labelled
from crawler.extract.visible.page_currency import local_currency_of
from crawler.extract.visible.product_heading import heading_of
from crawler.extract.visible.titles import title_parts
from scrapy_seine.attrs_bases import Value

#: Fields whose place is searched.
PLACED = ("name", "price", "sku")
#: Texts of a page that are kept, and characters of a text.
_MAX_TEXTS, _MAX_TEXT_LENGTH = 400, 200
#: Factors of a price: the template may show it in cents, or without the decimal sign.
FACTORS = (1, 100)
_MIN_NAME_LENGTH = 3
#: The names of the parts of a text between the first and the last one.
_MIDDLE_PARTS = ("second", "third", "fourth")


@attrs.frozen(eq=False, repr=False)
class Text(Value):
    """A text of a page."""

    path: str
    text: str
    amounts: tuple[Decimal, ...]
    struck: bool
    """It is marked as the regular price."""
    labelled: bool
    """Words precede its amount, in the same line or in the line before."""
    bare: bool = False
    """Its amount has no currency, so that it may be any number."""


def texts_of(page: Page) -> list[Text]:
    """Return the title and the visible texts of a page."""
    local, texts = (
        local_currency_of(page),
        [Text("title", page.title[:_MAX_TEXT_LENGTH], (), struck=False, labelled=False)],
    )
    page_lines = lines.read_all(page, heading_of(page))
    for line in page_lines.lines:
        if len(texts) > _MAX_TEXTS:
            break
        if line.flags & lines.HIDDEN or len(line.text) > _MAX_TEXT_LENGTH:
            continue
        amounts, bare = _amounts(line.text, local)
        labelled = bool(amounts) and (_has_words(line.text, local) or is_labelled(page_lines, line))
        struck = bool(line.flags & lines.OLD)
        texts.append(Text(path(line.element), line.text, amounts, struck, labelled, bare))
    return texts


def values(field: str, texts: Sequence[Text]) -> Iterator[tuple[str, Any, Text]]:
    """Yield each possible value of *field* on a page: its place, the value and the text."""
    counts: Counter[str] = Counter()
    for text in texts:
        for form, value in _FORMS[field](text):
            key = f"{form} {text.path}"
            yield f"{counts[key]} {key}", value, text
            counts[key] += 1


def value_at(field: str, place: str, texts: Sequence[Text]) -> Any:
    """Return the value of *field* at a place; None if the page has none there."""
    return next(
        (value for value_place, value, _ in values(field, texts) if value_place == place), None
    )


def heading_at(place: str, page: Page) -> str | None:
    """Return the whole heading at a place; reading all texts of a page costs as much as parsing it."""
    number, _, where = place.split(" ", 2)
    headings = (each for each in page.root.iter(where[:2]) if path(each) == where)
    heading = next(islice(headings, int(number), None), None)
    return None if heading is None else short_text(heading) or None


def _amounts(text: str, local: str | None) -> tuple[tuple[Decimal, ...], bool]:
    """Return the amounts of a text, and whether it is a bare number."""
    if not any(map(str.isdigit, text)):
        return (), False
    amounts = [money.value for money in find_prices(text, local)][:10]
    bare = not amounts
    if bare and len(text) < 20 and (money := parse_price(text, local)) is not None:
        amounts = [money.value]
    return tuple(value for value in amounts if value), bare


def _has_words(text: str, local: str | None) -> bool:
    return any(any(map(str.isalpha, text[: m.start])) for m in find_prices(text, local))


def _prices(text: Text) -> Iterator[tuple[str, Any]]:
    # Bare numbers are counted apart, because lists of facts have more or fewer of them.
    kind = "bare" if text.bare else ""
    for amount in text.amounts:
        for factor in FACTORS:
            yield f"{kind}{factor}", amount / factor


def _names(text: Text) -> Iterator[tuple[str, Any]]:
    if len(text.text) >= _MIN_NAME_LENGTH:
        yield "whole", text.text
        parts = title_parts(text.text)
        if len(parts) > 1:
            yield "first", parts[0]
            yield "last", parts[-1]
            yield from zip(_MIDDLE_PARTS, parts[1:-1], strict=False)


def _numbers(text: Text) -> Iterator[tuple[str, Any]]:
    if any(map(str.isdigit, text.text)):
        yield "whole", text.text
        words = text.text.split()
        if len(words) > 1:
            yield "last", words[-1]


_FORMS = {"price": _prices, "name": _names, "sku": _numbers}
