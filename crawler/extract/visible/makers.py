"""The maker's name where no label tells it: in the heading, in a link to its page, on its logo."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from unicodedata import normalize

from crawler.extract import lazy_patterns
from crawler.extract.page.page import Element, short_text
from crawler.extract.page.places import maker_led_to
from crawler.extract.visible.facts import MAX_BRAND, names_maker
from crawler.extract.words import Marks

#: Boxes around the heading that are looked through, and links and pictures in one.
_MOST_AROUND, _MOST_LINKS = 4, 150
#: Whether a class names a box for makers.
_IS_MAKERS = Marks(lambda words: names_maker(words[:1000].lower()) is not None)
_LETTERS = lazy_patterns.pattern(r"[^\W_]+")


def maker_beside(heading: Element) -> str | None:
    """The one maker that is named in the smallest box around a heading that names any."""
    here, own = heading.getparent(), short_text(heading).casefold()
    inside = heading.iter("a", "span", "strong", "b", "div") if len(heading) else ()
    for inner in islice(inside, _MOST_AROUND):
        if inner is not heading and _IS_MAKERS[inner.get("class") or ""]:
            return _fit(short_text(inner))
    linked = heading.iter("a") if len(heading) or heading.tag == "a" else ()
    for link in islice(linked, _MOST_AROUND):
        text = short_text(link)
        parts = (link.get("href") or "").split("/")
        leads = len(text) < len(own) and _is_named(_letters(text), map(_letters, parts))
        if text and leads and own.startswith(text.casefold()):
            return _fit(text)
    silent: set[Element] = set()
    for _ in range(_MOST_AROUND):
        if here is None or here.tag == "html":
            return None
        told = {name.casefold(): name for name in _named_in(here, own, silent)}
        if told:
            return told.popitem()[1] if len(told) == 1 else None
        here = here.getparent()
    return None


def _named_in(box: Element, own: str, silent: set[Element]) -> Iterator[str]:
    """The makers that a box names; *silent* are links and pictures that name none, found so far."""
    for element in islice(box.iter("a", "img"), _MOST_LINKS):
        if element in silent:
            continue
        name = _on_logo(element, own) if element.tag == "img" else _of_link(element)
        if name:
            yield name
        else:
            silent.add(element)


def _on_logo(image: Element, own: str) -> str | None:
    """The text of a picture that stands in a box for makers.

    Or of one in a link whose address ends in the same, with which the product's *own* name begins.
    """
    text = (image.get("alt") or "").strip()
    if not text:
        return None
    boxes = (image, *islice(image.iterancestors(), 2))
    if own.startswith(f"{text.casefold()} "):
        link = next((box for box in boxes if box.tag == "a"), None)
        address = "" if link is None else link.get("href") or ""
        if _letters(address.rstrip("/").rpartition("/")[2]) == _letters(text):
            return _fit(text)
    return _fit(text) if any(_IS_MAKERS[box.get("class") or ""] for box in boxes) else None


def _of_link(link: Element) -> str | None:
    """The text of a link, or of the picture in it, whose address says the same."""
    named = maker_led_to(link)
    if named is None:
        return None
    image = next(link.iter("img"), None)
    text = short_text(link) or ("" if image is None else image.get("alt") or "")
    return _fit(text) if _letters(text) == _letters(named) else None


def _is_named(name: str, parts: Iterable[str]) -> bool:
    """Whether a part of an address is a name, or begins with one: `/mavi-x-b12`.

    >>> _is_named("mavi", ["", "mavixb12"]), _is_named("mavi", ["", "mavis"]), _is_named("", [""])
    (True, False, False)
    """
    if not name:
        return False
    return any(part == name or (part.startswith(name) and part[-1].isdigit()) for part in parts)


def _letters(text: str) -> str:
    """A name's letters and figures, without accents and cases: `L'Oréal Paris` is `l-oreal-paris`."""
    return "".join(_LETTERS.findall(normalize("NFKD", text))).casefold()


def _fit(text: str) -> str | None:
    return text if text and len(text) <= MAX_BRAND and ":" not in text else None
