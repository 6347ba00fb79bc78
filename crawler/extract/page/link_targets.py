"""The link around an element, and where it leads: to a page, a maker's, the cart, a picture."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from urllib.parse import unquote

from crawler.extract import lazy_patterns
from crawler.extract.page.page import Element

#: Names of the folder above a maker's own page; `bodega` and `cantina` are also aisles, of all wines.
_MAKERS = frozenset(
    f"{word}{end}"
    for word, ends in {
        "brand": ("", "s", "i", "y"), "mark": ("e", "en", "a", "alar"), "marque": ("", "s"), "marca": ("", "s"),
        "march": ("e", "io", "i"), "merk": ("", "en", "e", "er", "ki", "it"), "manufacturer": ("", "s"), "vendor": ("", "s"),
        "hersteller": ("",), "nach-hersteller": ("",), "znack": ("a", "y"), "vyrobc": ("e", "i", "a", "ovia"), "producent": ("", "s", "i"),
        "producer": ("", "s"), "proizvoditel": ("", "i"), "brend": ("", "i", "y"),
        "gyarto": ("", "k"), "producator": ("", "i"), "tillverkare": ("",),
        "varumarke": ("", "n"), "maerke": ("", "r"), "designer": ("", "s"),
        "fabricante": ("", "s"), "merek": ("",), "maker": ("", "s"), "mærke": ("", "r"),
        "produttor": ("e", "i"), "produttric": ("i",), "producteur": ("", "s"), "tootja": ("", "d"),
        "proizvodac": ("", "i"), "proizvođač": ("", "i"), "editeur": ("", "s"), "verlag": ("", "e"),
        "uitgever": ("", "s"), "kiado": ("", "k"), "wydawnictwo": ("",), "forlag": ("",),
        "produzent": ("", "en"), "valmistaja": ("", "t"), "razotaj": ("s", "i"),
        "gamintoj": ("as", "ai"), "znamk": ("a", "e"), "virobnik": ("", "i"), "vyrobnyk": ("", "y"),
        "bodega": ("s",), "winer": ("y", "ies"), "weing": ("ut", "ueter"),
        "cantin": ("e",), "brewer": ("y", "ies"), "brauerei": ("", "en"), "destillerie": ("", "n"),
        "distiller": ("y", "ies", "ie"), "pivovar": ("", "y"),
    }.items()
    for end in ends
)  # fmt: skip
#: The address by which one shop system lists a maker's products.
_VENDOR_QUERY = "/vendors?q="
#: Characters of the longest reference that is remembered.
_MAX_CACHED = 300
#: The parameter by which other systems name the maker.
_MAKER_IN_QUERY = lazy_patterns.pattern(
    r"(?:^|&)(?:id_|field-|filter=)?(?:manufacturer|brand|marke|hersteller|marca|marque|merk)s?"
    r"(?:(?:_?id|textbin)?=|:)([^&:]+)",
    re.I,
)
_CHECKS_OUT = re.compile(
    r"/(?:checkout|cart|basket|order|buy|warenkorb|winkelwagen|panier|carrello|carrito|carrinho"
    r"|kosz(?:yk)?|kos[ií]k|kosar|kosarica|sepet|korzina|cos|kurv|varukorg|ostoskori)(?=[/?#.]|$)"
).search
_IS_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif)(?:\?|\Z)", re.I).search


def maker_led_to(link: Element) -> str | None:
    """Return the maker whose page a link leads to, as the address names the maker, or None.

    >>> maker_led_to({"href": "/brands/l-oreal/"}), maker_led_to({"href": "/p/l-oreal"})
    ('l-oreal', None)
    >>> maker_led_to({"href": "brand.asp?b=12"}), maker_led_to({"href": "/?manufacturers_id=3"})
    ('12', '3')
    """
    reference = link.get("href")
    if not reference:
        return None
    if len(reference) > _MAX_CACHED:
        return _maker_in.__wrapped__(reference)
    return _maker_in(reference)


# Cached, because all pages of a site have its menu.
@lru_cache(maxsize=1024)
def _maker_in(reference: str) -> str | None:
    address, _, query = reference.partition("?")
    parts = address.rstrip("/").rsplit("/", 2)
    if len(parts) > 1 and parts[-2].lower() in _MAKERS:
        return unquote(parts[-1])
    if query and (_VENDOR_QUERY in reference or _is_makers_script(parts[-1])):
        return unquote(query.partition("=")[2].partition("&")[0].replace("+", " "))
    named = _MAKER_IN_QUERY.search(query) if query else None
    return None if named is None else unquote(named[1].replace("+", " "))


def _is_makers_script(file: str) -> bool:
    """Whether a file is the script that shows a maker's page: `brand.asp`."""
    stem, dot, _ = file.partition(".")
    return dot != "" and stem.lower() in _MAKERS


def leads_away(element: Element) -> bool:
    """Whether a box that is called a product's card links to a page, as a listing's cards do."""
    if element.tag == "a":
        reference = element.get("href")
    else:
        links = element.iter("a")
        reference = next((href for link in links if (href := link.get("href")) is not None), "")
    return bool(reference) and not reference.startswith(("#", "javascript:", "tel:", "mailto:"))


def link_around(element: Element, levels: int) -> Element | None:
    """Return the link that an element is, or that is among so many boxes around it."""
    boxes = (element, *islice(element.iterancestors(), levels))
    return next((box for box in boxes if box.tag == "a"), None)


def checks_out(link: Element) -> bool:
    """Whether a link leads to the cart or the checkout."""
    # The slash is put first, because a pattern that begins with one letter is found fastest.
    return _CHECKS_OUT(f"/{link.get('href') or ''}") is not None


def is_of_picture(link: Element) -> bool:
    """Whether a link leads to a picture, because such a link enlarges the product's own."""
    return _IS_PICTURE(link.get("href") or "") is not None


def shows_several(links: Iterable[Element]) -> bool:
    """Whether links hold pictures of several pages: tiles, or the colours of a product."""
    return len({a.get("href") for a in links if next(a.iter("img"), None) is not None}) > 1
