"""Saved pages with what must be read from them: one folder each, page.html and expected.json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import attrs

from crawler.extract import Found, parse
from spiders import which_site

HERE = Path(__file__).parent
#: Fields that a page of these designs does not have unless the folder says so.
ABSENT = ("regular_price",)


@attrs.frozen
class Case:
    """One saved page."""

    name: str
    body: bytes
    url: str
    content_type: str
    kind: str
    """What the page is: product, listing or other."""
    item: dict[str, Any]
    """The item's fields; those not named are not judged."""

    def found(self) -> Found:
        """What is read from it today."""
        page = parse(self.body, self.url, self.content_type)
        return which_site.find(self.url).extract(page)


def cases(folder: Path = HERE) -> Iterator[Case]:
    """Every folder with a page and an expectation, by name."""
    for place in sorted(folder.glob("*/expected.json")):
        told = json.loads(place.read_text(encoding="utf-8"))
        yield Case(
            name=place.parent.name,
            body=(place.parent / "page.html").read_bytes(),
            url=told["url"],
            content_type=told.get("content_type", "text/html"),
            kind=told.get("kind", "product"),
            item=told.get("item", {}),
        )


def same(field: str, expected: Any, value: Any) -> bool:
    """Whether a value read is the one expected: money as numbers, text but for white space."""
    if expected is None or value is None:
        return expected is value
    if field in {"price", "regular_price"}:
        return Decimal(str(value)) == Decimal(str(expected))
    if field in {"rating", "review_count"}:
        return abs(float(value) - float(expected)) < 0.01
    if isinstance(expected, str):
        return " ".join(str(value).split()) == " ".join(expected.split())
    if field == "images":
        return bool(value) and value[0] == expected[0]
    return bool(value == expected)


def judged(case: Case, found: Found) -> dict[str, tuple[Any, Any]]:
    """For each field that is judged: what was expected and what was read."""
    product = found.product()
    wanted = {name: None for name in ABSENT} | case.item if case.item else {}
    return {name: (value, getattr(product, name, None)) for name, value in wanted.items()}
