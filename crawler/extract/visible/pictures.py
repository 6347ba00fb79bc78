"""A product's pictures, as its page shows them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from crawler.extract.page.page import LONGEST, Element, Page
from crawler.extract.words import finder

#: Pictures of a page that are looked at.
_MOST_IMAGES = 120
#: Boxes around the heading in which its picture is looked for, and pixels of a picture's side.
_MOST_AROUND, _SMALLEST = 4, 80
#: Boxes behind a heading that stands in none.
_MOST_BEHIND = 10
_FRAMES = frozenset({"header", "nav", "footer", "aside"})
_SIGN = finder(
    r"logo|icon|sprite|placeholder|pixel|spacer|blank\.|flag|badge|payment|\.svg|ribbon|sticker|banner"
    r"|(?:^|/)(?:btn|button|ico)[_-]|(?:^|[/_-])(?:sale|new|hot|sold-?out|soldout|label|btn|button|star|arrow|bg)s?[\d_-]{0,3}\.\w{3,4}(?:[?#]|$)"
)
#: Attributes in which templates keep the address of the picture to zoom into.
_ZOOMED = ("data-large_image", "data-zoom-image", "data-zoom", "data-full-image", "data-full")
_IS_PICTURE = re.compile(r"[^\s?#]{1,500}\.(?:jpe?g|png|webp|avif|gif)(?:[?#]|$)", re.I).match


def named_pictures(page: Page, name: str | None) -> list[str]:
    """Pictures whose description is the product's name."""
    alike = (name or "").casefold()
    if not alike:
        return []
    found = []
    for image in islice(page.root.iter("img"), _MOST_IMAGES):
        alt = (image.get("alt") or image.get("title") or "").casefold().strip()
        if not alt or not (alt in alike or alike in alt):
            continue
        source = _largest(image)
        if source and not source.startswith("data:"):
            found.append(source)
    return list(dict.fromkeys(found))


def _largest(image: Element) -> str:
    """Where the largest copy of a picture is: the one to zoom into, or the one that it links to."""
    for name in _ZOOMED:
        if source := image.get(name):
            return str(source)
    link = next((box for box in islice(image.iterancestors(), 2) if box.tag == "a"), None)
    if link is not None and _IS_PICTURE(href := (link.get("href") or "")[:LONGEST]):
        return str(href)
    return str(image.get("data-src") or image.get("src") or "")


def picture_beside(heading: Element | None) -> list[str]:
    """The first picture in the smallest box that holds the heading and pictures.

    Small ones are signs: only those without a size, or with one that shows something, count.
    """
    if heading is None:
        return []
    inner, here = heading, heading.getparent()
    for _ in range(_MOST_AROUND):
        if here is None or here.tag in {"body", "html"}:
            break
        if found := _shown(here.iter("img")):
            return found
        inner, here = here, here.getparent()
    if here is None or here.tag != "body":
        return []
    if inner is heading:  # right in the body
        near = [inner, *islice(inner.itersiblings(), _MOST_BEHIND)]
    else:  # the columns of a page that has no box around them
        near = [box for box in (inner.getprevious(), inner.getnext()) if box is not None]
    shown = (box for box in near if box.tag not in _FRAMES)
    return _shown(image for box in shown for image in box.iter("img"))


def _shown(images: Iterable[Element]) -> list[str]:
    """The first of some pictures that is no sign."""
    for image in islice(images, _MOST_IMAGES):
        source = _largest(image)
        sizes = [image.get(name) or "" for name in ("width", "height")]
        small = any(size.isdecimal() and int(size[:6]) < _SMALLEST for size in sizes)
        if source and not small and not source.startswith("data:") and not _SIGN(source):
            return [source]
    return []
