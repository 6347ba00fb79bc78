"""Buttons that are pictures: what they say stands in the picture's alternative text only."""

from __future__ import annotations

from itertools import islice

from crawler.extract.page.page import LONGEST, Element, Page
from crawler.extract.stock.availability import buys_in_short
from crawler.extract.visible_signs import Visible

#: Pictures of a page that are looked at, and characters of a button's text.
_MAX_PICTURES, _GLANCE = 200, 40


def take_drawn(page: Page, seen: Visible) -> None:
    """Take one such button, or two side by side, for the page's own; those of tiles are several."""
    drawn = _drawn(page)
    if len(drawn) == 1 or (len(drawn) == 2 and drawn[0].getparent() is drawn[1].getparent()):
        seen.buy_buttons, seen.fields["availability"] = 1, "InStock"


def _drawn(page: Page) -> list[Element]:
    """The links and buttons that hold a picture that says to buy, and nothing else."""
    found = []
    for picture in islice(page.root.iter("img"), _MAX_PICTURES):
        said = (picture.get("alt") or "")[:LONGEST].strip()
        around = picture.getparent()
        if not 1 < len(said) < _GLANCE or around.tag not in {"a", "button"} or len(around) != 1:
            continue
        alone = not (around.text or "").strip() and not (picture.tail or "").strip()
        if alone and buys_in_short(said):
            found.append(around)
    return found
