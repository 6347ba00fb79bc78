"""Find the maker's name without a label: in the heading, in a link to its page, on its logo."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import looks_like_product
from crawler.extract.page.lines import Lines
from crawler.extract.page.link_targets import link_around, maker_led_to
from crawler.extract.page.page import Element, short_text
from crawler.extract.visible.fact_labels import label_of, maker_up_to_label
from crawler.extract.visible.fact_lines import MAX_BRAND
from crawler.extract.visible.fact_rows import row_pair
from crawler.extract.visible.fact_values import as_maker
from crawler.extract.visible.facts import names_maker
from crawler.extract.visible.home_links import leads_home
from crawler.extract.visible.linked_makers import (
    letters_of,
    maker_called,
    maker_of_link,
    maker_of_store,
    named_in_link,
    without_by,
)
from crawler.extract.visible_signs import Visible
from crawler.extract.words import CachedRule, entry_matcher

#: Boxes around the heading, and links and pictures in one.
_MAX_AROUND, _MAX_LINKS = 4, 150
#: Whether a class names a box for makers.
_IS_MAKERS = CachedRule(lambda words: names_maker(words[:1000].lower()) is not None)
_ENDS_IN_BRAND = re.compile(
    r"brand(?:[-_]?(?:name|link|logo|title|value|text|image|img))?(?=\s|$)"
).search
#: A label of the brand, which the manufacturer's own name need not be.
_NAMES_BRAND = entry_matcher("label", "trademark", 3)
_MAX_ROWS = 200
#: Boxes beside the product: what they name are other makers.
_ASIDE = frozenset({"footer", "aside"})
#: Characters of "by" and blanks, and folders of authors, artists, sellers and users.
_MAX_BY, _MAX_CALL = 20, 80
#: The folder of makers' stores within a marketplace; other links call to a shop's branch.
_STORES = "/stores/"
_OF_PERSONS = re.compile(
    r"aut(?:h?or|eur)|artist|forfatter|f[oö]rfatt|schrijver|writer|person|people|contrib|user|profil"
    r"|member|seller|sold|vend|shop|store|blog|\A[u@~]\Z",
    re.I,
).search
_LOGO = lazy_patterns.pattern(r"^logo:?\s+|(?<!\s)\s++logo$", re.I)


def prefer_brand(walk: Lines, signs: Visible) -> None:
    """Take the value in the row of the brand where a page has a row of its manufacturer as well."""
    if not any(field == "brand" for field, _ in signs.further_facts):
        return
    rows = map(row_pair, walk.rows[:_MAX_ROWS])
    values = (pair[1] for pair in rows if pair and _NAMES_BRAND(pair[0]))
    brands = (as_maker(maker_up_to_label(value)[0], value) for value in values)
    if brand := next(filter(None, map(_valid_maker, brands)), None):
        signs.fields["brand"] = brand


def maker_beside(heading: Element) -> str | None:
    """Return the maker in the smallest box around a heading with any; None if it names two."""
    box, product_name = heading.getparent(), short_text(heading).casefold()
    inside = heading.iter("a", "span", "strong", "b", "div") if len(heading) else ()
    for inner in islice(inside, _MAX_AROUND):
        if inner is not heading and _IS_MAKERS[inner.get("class") or ""]:
            text = maker_of_link(inner, short_text(inner))
            # Some templates call the name itself a brand's.
            return _valid_maker(text) if len(text) < len(product_name) else None
    links = heading.iter("a") if len(heading) or heading.tag == "a" else ()
    for link in islice(links, _MAX_AROUND):
        text = short_text(link)
        parts = (link.get("href") or "").split("/")
        is_linked = len(text) < len(product_name) and _is_named(
            letters_of(text), map(letters_of, parts)
        )
        if text and is_linked and product_name.startswith(text.casefold()):
            return _valid_maker(text)
    if box is not None and (maker := _maker_by(heading)):
        return maker
    unnamed: set[Element] = set()
    for _ in range(_MAX_AROUND):
        if box is None or box.tag == "html":
            return None
        around = [e for e in islice(box.iter("a", "img"), _MAX_LINKS) if e not in unnamed]
        named = filter(None, (_maker_of(element, product_name) for element in around))
        makers = {name.casefold(): name for name in named}
        if makers:
            return makers.popitem()[1] if len(makers) == 1 else None
        unnamed.update(around)
        box = box.getparent()
    return None


def _maker_by(heading: Element) -> str | None:
    """Return the maker of a box beside the heading that says `by <a href=/b/acme>Acme</a>`.

    The link's address ends in the name, and its folder is none of persons, shops or users; or it is
    a maker's by a number. A link may also call to the maker's store or goods: `Visit the Acme Store`.
    """
    for box in (_below(heading), _below(heading.getparent()), heading.getprevious()):
        link = None if box is None else next(box.iter("a"), None)
        if link is None:
            continue
        text, address = link.text, link.get("href") or ""
        if text and _STORES in address and (maker := maker_of_store(text[:_MAX_CALL].strip())):
            return _valid_maker(maker)
        if text and (maker := maker_called(text[:_MAX_CALL].strip(), address, short_text(heading))):
            return _valid_maker(maker)
        preceding = link.getprevious()
        if not (before := link.getparent().text if preceding is None else preceding.tail):
            continue
        if len(before) > _MAX_BY or without_by(f"{before.strip()} a") != "a":
            continue
        name = short_text(link, MAX_BRAND + 1)
        parts = address.partition("?")[0].rstrip("/").split("/")
        is_named = name != "" and (
            letters_of(parts[-1]) == letters_of(name) or (maker_led_to(link) or "").isdecimal()
        )
        is_person = len(parts) > 1 and _OF_PERSONS(parts[-2]) is not None
        return _valid_maker(name) if is_named and not is_person else None
    return None


def _below(element: Element) -> Element | None:
    """Return the box behind an element, without the breaks of lines between them."""
    following = element.getnext()
    while following is not None and following.tag == "br":
        following = following.getnext()
    return following


def _maker_of(element: Element, product_name: str) -> str | None:
    """Return the maker that a link or a picture names, unless it stands aside; None: none."""
    name = _logo_maker(element, product_name) if element.tag == "img" else _linked_maker(element)
    is_aside = name and any(around.tag in _ASIDE for around in element.iterancestors())
    return None if is_aside else name


def _logo_maker(image: Element, product_name: str) -> str | None:
    """Return the text of a picture in a box for makers.

    Or in a link whose address ends in the same text, if *product_name* begins with it.
    """
    text = _named_by_logo((image.get("alt") or "").strip())
    if not text:
        return None
    boxes = (image, *islice(image.iterancestors(), 2))
    if product_name.startswith(f"{text.casefold()} "):
        link = link_around(image, 2)
        address = "" if link is None else link.get("href") or ""
        if looks_like_product(address):
            return None  # the tile of a product whose name is shorter
        if letters_of(address.rstrip("/").rpartition("/")[2]) == letters_of(text):
            return _valid_maker(text)
    is_makers = any(_IS_MAKERS[box.get("class") or ""] for box in boxes)
    return _valid_maker(text) if is_makers and not leads_home(image) else None


def _linked_maker(link: Element) -> str | None:
    """Return the text of a link, or of the picture in it, if the link's address is that maker's."""
    address_part = maker_led_to(link)
    if address_part is None:
        return None
    image = next(link.iter("img"), None)
    text = short_text(link) or ("" if image is None else image.get("alt") or "")
    if address_part.isdecimal() and not _is_in_brand_box(link):
        return None
    return _valid_maker(named_in_link(text, address_part))


def _is_in_brand_box(link: Element) -> bool:
    """Whether a class of a link or of the box around it ends in "brand": `pbrand`, not `brand-menu`."""
    boxes = (link, *islice(link.iterancestors(), 1))
    return any(_ENDS_IN_BRAND((box.get("class") or "").lower()) for box in boxes)


def _named_by_logo(text: str) -> str:
    """Return the name in the text of a logo: `Acme Logo`, `Brand: Acme`."""
    label, colon, name = text.partition(":")
    if colon and label_of(label) == "brand":
        return name.strip()
    return _LOGO.sub("", text) if "ogo" in text else text


def _is_named(name: str, parts: Iterable[str]) -> bool:
    """Whether a part of an address is a name, or a name and a number: `/mavi-x-b12`.

    >>> _is_named("mavi", ["", "mavixb12"]), _is_named("mavi", ["", "mavis"]), _is_named("", [""])
    (True, False, False)
    """
    if not name:
        return False
    return any(part == name or (part.startswith(name) and part[-1].isdigit()) for part in parts)


def _valid_maker(text: str) -> str | None:
    return text if text and len(text) <= MAX_BRAND and ":" not in text else None
