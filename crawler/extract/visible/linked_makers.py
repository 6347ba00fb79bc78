"""The maker's name among the words of a link whose address names the maker."""

from __future__ import annotations

from crawler.extract import lazy_patterns
from crawler.extract.page.link_targets import link_around, maker_led_to
from crawler.extract.page.page import Element
from crawler.extract.visible.fact_labels import label_of
from crawler.extract.words import entry_matcher
from crawler.normal_form import normal_form

#: Letters of a name that is searched in a link's text, and words of that text.
_MIN_NAME, _MAX_WORDS = 4, 8
_LETTERS = lazy_patterns.pattern(r"[^\W_]+")
#: The first word of a link to all products of a maker: "Shop Acme", "Alle Acme Lampen".
_CALLS = entry_matcher("makers", "calls", 0)
#: "By" before a maker; its case is told apart, because names begin with "De", "Von" and "Da".
_BY = lazy_patterns.pattern(r"(?:[Bb]y|BY|[Pp]ar|[Оо]т|von|de|da)\s+")
_MAX_AROUND = 2
#: A maker's number beside its name in an address, and the address's ending.
_NUMBER_OR_ENDING = lazy_patterns.pattern(r"\A\d{1,6}[-_]|[-_]\d{1,6}\Z|\.(?:html?|php|aspx?)\Z")
_MAX_NAME_WORDS = 4
#: The text of a link to a maker's own store within a marketplace.
_OF_STORE = lazy_patterns.pattern(
    r"(?:Visit the|Besuche den|Besuchen? Sie den|Bezoek de|Besök|Zobacz|Odwiedź sklep|Visiter la boutique"
    r"|Visita (?:lo [Ss]tore(?: di)?|la tienda de|a loja))\s([A-Z\d]\S{0,38}(?: \S{1,38}){0,3}?)"
    r"(?:[\s-](?:[Ss]tore|Shop|-winkel|butik(?:en)?|Sklep))?$"
)

#: The text of a link to all that a shop has of a maker.
_OF_ALL = lazy_patterns.pattern(
    r"\w{2,10}\s(?:all|alle|tous|todo|tutto|alles)\s([A-Z\d]\S{0,38}(?: \S{1,38}){0,3}?)"
)


def maker_of_store(text: str) -> str | None:
    """Return the maker to whose store a link calls, or None.

    >>> maker_of_store("Visit the Acme Works Store"), maker_of_store("Visit our store")
    ('Acme Works', None)
    """
    match = _OF_STORE.fullmatch(text) if " " in text else None
    return None if match is None else match[1]


def maker_called(text: str, address: str, product_name: str) -> str | None:
    """Return the maker to all of whose goods a link beside a name calls, or None.

    The link's address has the maker, too, and the product's name begins or ends with it, as it does
    with no category: `Red Lamp - Acme`.

    >>> maker_called("Shop all Acme", "/b/acme", "Red Lamp - Acme\u2122")
    'Acme'
    >>> maker_called("Shop all Lamps", "/c/lamps", "Two Lamps")
    """
    match = _OF_ALL.fullmatch(text) if _calls(text) else None
    if match is None:
        return None
    maker = match[1]
    begin, _, end = product_name.rpartition(" - ")
    is_named = end.rstrip("\u2122\u00ae") == maker if begin else False
    is_named = is_named or product_name.casefold().startswith(f"{maker.casefold()} ")
    parts = map(letters_of, address.partition("?")[0].split("/"))
    return maker if is_named and letters_of(maker) in parts else None


def maker_of_link(box: Element, text: str) -> str:
    """Return the maker in the *text* of a box that is the maker's by its class.

    It is the text without "by" before it. Where that calls to look at all that the link's address
    names, `Shop Acme`, it is the words of the address, which also tell that De Buyer has no "by".
    """
    if not _calls(text) and not _BY.match(text):
        return text
    link = link_around(box, _MAX_AROUND)
    if link is None:
        link = next(box.iter("a"), None)
    address_part = None if link is None else maker_led_to(link)
    name = "" if address_part is None else words_of(text, letters_of(address_part))
    return name or without_by(text)


def named_in_link(text: str, address_part: str) -> str:
    """Return the maker in the text of a link to its page, by that page's address; '' without one.

    Some shops number their makers, and have the number before or behind the name, or alone. Then the
    text is the name, unless it calls to look or has a word in small letters, which Arabic has not.

    >>> named_in_link("Acme", "12-acme"), named_in_link("Acme", "12"), named_in_link("All makers", "12")
    ('Acme', 'Acme', '')
    """
    name = words_of(text, letters_of(address_part))
    if name or not address_part.isascii():
        return name
    if not address_part.isdecimal():
        bare = _NUMBER_OR_ENDING.sub("", address_part)
        is_name = bare != address_part and _CALLS(text) is None
        return words_of(text, letters_of(bare)) if is_name else ""
    words = text.split(" ")
    is_name = text[:1].isupper() and not any(word[:1].islower() for word in words)
    is_name = is_name and len(words) <= _MAX_NAME_WORDS and not _calls(text)
    return text if is_name and not label_of(text) else ""


def without_by(text: str) -> str:
    """Return a maker's name without "by" before it; "De", "Von" and "Da" begin names.

    >>> without_by("by Acme"), without_by("De Buyer"), without_by("Fleur de Sel")
    ('Acme', 'De Buyer', 'Fleur de Sel')
    """
    by = _BY.match(text)
    return text if by is None else text[by.end() :]


def words_of(text: str, name: str) -> str:
    """Return the words of a text that have the letters of a maker's name, '' without them.

    Among other words, of which one is in small letters or the first calls to look, a name begins
    with no small letter. A text of names alone may be a longer name than that in the address:
    `/brands/acme` of Acme Works. The first word of a text has a capital letter whatever it is:
    `/marken/alle` of "Alle Marken ansehen".

    >>> words_of("All lamps by L'Oréal Paris", "lorealparis"), words_of("More lamps", "lamps")
    ("L'Oréal Paris", '')
    >>> words_of("Shop Acme", "acme"), words_of("Robert Acme", "acme"), words_of("Shop", "shop")
    ('Acme', '', 'Shop')
    """
    if letters_of(text) == name:
        return text
    calls = _calls(text)
    words = text.split(" ")[:_MAX_WORDS] if calls or len(name) >= _MIN_NAME else []
    if not calls and not any(word[:1].islower() for word in words):
        return ""
    for begin, first_word in enumerate(words):
        first_end = begin + 1 if begin else 2
        for end in range(first_end, len(words) + 1) if not first_word[:1].islower() else ():
            if letters_of(run := " ".join(words[begin:end])) == name:
                return run
    return ""


def _calls(text: str) -> bool:
    """Whether a text calls to look: at all products of a maker, or at its page."""
    return _CALLS(text.partition(" ")[0]) is not None


def letters_of(text: str) -> str:
    """Return a name's letters and figures without accents and case: `L'Oréal` is `loreal`."""
    return "".join(_LETTERS.findall(normal_form("NFKD", text))).casefold()
