"""The signature that clusters pages of one template: the boxes around the main heading."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from itertools import islice

from crawler.extract.page.page import Element, Page
from crawler.extract.page.places import Box, box, place

#: Boxes of a signature, from the heading outwards.
_MAX_BOXES = 8


def signature(page: Page) -> str:
    """Return a page's cluster, equal for pages whose main heading stands in the same boxes.

    Classes with digits are ignored, because shop systems number pages by them (`postid-12`).
    """
    boxes = [*_around_heading(page), *islice(page.root.iterchildren("body"), 1)]
    return _make_of(tuple(map(box, boxes)))


def broad_signature(page: Page) -> str:
    """Return the cluster by tags alone, for sites that write each page's name into its classes."""
    return _digest("tags " + " ".join(str(element.tag) for element in _around_heading(page)))


def _around_heading(page: Page) -> list[Element]:
    """Return the main heading and its ancestors, nearest first; nothing without a heading."""
    headings = page.headings
    main_heading = next((h for h in headings if h.tag == "h1"), headings[0] if headings else None)
    return (
        []
        if main_heading is None
        else [main_heading, *islice(main_heading.iterancestors(), _MAX_BOXES - 1)]
    )


# Cached, because nearly all pages of a template have the same boxes.
@lru_cache(maxsize=1024)
def _make_of(boxes: tuple[Box, ...]) -> str:
    return _digest(" ".join(map(place, boxes)))


@lru_cache(maxsize=1024)
def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
