"""Which pages of a site are of one make: a signature of the boxes around the main heading."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from itertools import islice

from crawler.extract.page import Page
from crawler.extract.places import place

#: Boxes around the heading that count.
_MOST_BOXES = 8


def signature(page: Page) -> str:
    """A page's make: the same for pages whose main heading stands in the same boxes.

    Classes with figures are left out, because systems number their pages there (`postid-12`).
    """
    headings = page.headings
    here = next((h for h in headings if h.tag == "h1"), headings[0] if headings else None)
    parts: list[str] = []
    while here is not None and len(parts) < _MOST_BOXES:
        parts.append(place(here))
        here = here.getparent()
    body = next(page.root.iterchildren("body"), None)
    if body is not None:
        parts.append(place(body))
    return _digest(" ".join(parts))


def broad_signature(page: Page) -> str:
    """The same by the tags alone, for sites that write each page's name into its classes."""
    headings = page.headings
    here = next((h for h in headings if h.tag == "h1"), headings[0] if headings else None)
    boxes = [] if here is None else [here, *islice(here.iterancestors(), _MOST_BOXES - 1)]
    return _digest("tags " + " ".join(str(box.tag) for box in boxes))


@lru_cache(maxsize=1024)
def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
