"""The place of a text in a page's markup, which is the same on all pages of one template."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice

from crawler.extract.page.page import Element

#: Classes of an element that its place names, and characters of the class attribute that are read.
_MAX_CLASSES, _MAX_CLASS_LENGTH = 6, 200

#: An element's tag, and the characters of its class attribute that are read.
Box = tuple[str, str]


def box(element: Element) -> Box:
    """Return the tag and the class attribute of which an element's place is made."""
    return element.tag, (element.get("class") or "")[:_MAX_CLASS_LENGTH]


def place(box: Box) -> str:
    """Return an element's tag with its classes, except classes with figures."""
    return f"{box[0]}{_class_suffix(box[1])}"


def path(element: Element, levels: int = 3) -> str:
    """Return a text's path: the places of its element and of the boxes around that."""
    return _path((box(element), *map(box, islice(element.iterancestors(), levels - 1))))


@lru_cache(maxsize=1024)
def _path(boxes: tuple[Box, ...]) -> str:
    return "<".join(map(place, boxes))


@lru_cache(maxsize=4096)
def _class_suffix(classes: str) -> str:
    words = [word for word in classes.split() if not any(map(str.isdigit, word))]
    return "".join(f".{word}" for word in words[:_MAX_CLASSES])
