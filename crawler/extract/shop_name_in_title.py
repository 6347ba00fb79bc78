"""The shop's name in a page's title, and the product's name without it."""

from __future__ import annotations

from urllib.parse import unquote

from crawler.extract import lazy_patterns
from crawler.extract.page.page import Page, short_text

#: Characters up to which a title's last part is too short to be the host's name.
_MAX_UNSURE_HOST = 2
_BARS = lazy_patterns.pattern(r"(?<!\s)\s++[|»·•]\s++")
_DIVIDERS = lazy_patterns.pattern(r"(?<!\s)\s++[|–—·•:»-]\s++")
_HOST = lazy_patterns.pattern(r"https?://([^/?#]*+)")
_WWW_HOST = lazy_patterns.pattern(r"https?://(?:www\.)?([^/?#:]*+)")
_NON_WORD = lazy_patterns.pattern(r"\W")
_WORDS = lazy_patterns.pattern(r"[^\W_]+")


def is_shop_name(name: str, page: Page) -> bool:
    """Return whether og:title is the shop's part of the page's title, as it is on all its pages.

    It is where another part is the main heading, and more of that part's words are in the address.
    Some shops write a slogan for it that the title does not contain, or have one title for all pages.
    """
    if name not in page.title:
        return bool(page.title) and _is_slogan(name, page)
    if len(name) == len(page.title):
        heading = page.headings[0] if page.headings else None
        if heading is None or heading.text == name or heading.tag != "h1":
            return False
        return _is_of_others(_words(name), _main_headings(page), page.url)
    parts = [part.casefold() for part in _DIVIDERS.split(page.title)]
    if len(parts) < 2 or name.casefold() not in parts:
        return False
    address = _words(unquote(page.url))

    def words_in_address(text: str) -> int:
        return len(address & _words(text))

    return any(
        text in parts and words_in_address(text) > words_in_address(name)
        for text in _main_headings(page)
    )


def _is_slogan(name: str, page: Page) -> bool:
    """Return whether a name has no word of the heading that the title and the address name."""
    title, words = page.title.casefold(), _words(name)
    headings = [text for text in _main_headings(page) if text in title]
    return _is_of_others(words, headings, page.url)


def _is_of_others(words: set[str], headings: list[str], url: str) -> bool:
    """Whether the address ends with words of a heading, and neither has one of a name's words."""
    if not headings or any(words & _words(text) for text in headings):
        return False
    last_part = _words(unquote(url).rstrip("/").rpartition("/")[2])
    return not words & last_part and any(last_part & _words(text) for text in headings)


def _main_headings(page: Page) -> list[str]:
    return [text for h in page.headings if h.tag == "h1" and (text := short_text(h).casefold())][:2]


def _words(text: str) -> set[str]:
    return set(_WORDS.findall(text.casefold()))


def without_site_name(title: str, site: str | None) -> str:
    """Return a title without the shop's name at its end.

    >>> without_site_name("Lamp 12 | My Shop", "My Shop"), without_site_name("Lamp - red", None)
    ('Lamp 12', 'Lamp - red')
    """
    if not site:
        return title
    parts = list(_DIVIDERS.finditer(title))
    if parts and title[parts[-1].end() :].casefold() == site.casefold():
        return title[: parts[-1].start()].strip()
    return title


def names_shop(text: str, page: Page | None) -> bool:
    """Whether a text is the shop's name: it ends the page's title, or is the host's or the site's.

    >>> from crawler.extract import parse
    >>> page = parse("<title>Lamp 12 | My Shop</title>", "https://lamps-and-co.example/12")
    >>> names_shop("My Shop", page), names_shop("Lamps and Co", page), names_shop("Acme", page)
    (True, True, False)
    """
    if page is None or without_site_name(page.title, text) != page.title:
        return page is not None
    return begins_with_host(text, page.url) or text == page.meta("og:site_name")


def ending_behind(heading: str, name: str) -> str:
    """Return what a name has behind the heading and a divider; '' where it is not the heading.

    >>> ending_behind("Lamp 12", "Lamp 12 — Studio"), ending_behind("Lamp 12", "Lamp 123")
    ('Studio', '')
    """
    divider = _DIVIDERS.match(name, len(heading)) if heading and name.startswith(heading) else None
    return "" if divider is None else name[divider.end() :]


def begins_with_host(text: str, url: str) -> bool:
    """Whether a text is the host's name, or begins with it and a sign: `A Shop: Lamps`.

    >>> begins_with_host("A Shop: Lamps", "https://a-shop.example/1"), begins_with_host("A", "")
    (True, False)
    """
    first_part = _NON_WORD.sub("", text.partition(":")[0]).lower()
    return len(first_part) > _MAX_UNSURE_HOST and first_part in _names_of_host(url)


def parts(title: str) -> list[str]:
    """Return the parts of a title that bars, dashes and colons divide."""
    return _DIVIDERS.split(title)


def is_divided(title: str) -> bool:
    """Return whether bars, dashes or colons divide a title."""
    return _DIVIDERS.search(title) is not None


def is_first_part(heading: str, title: str) -> bool:
    """Return whether a title begins with the heading and a bar behind it.

    A dash is no bar, because a colour often follows it.

    >>> is_first_part("Lamp 12", "Lamp 12 | Best price"), is_first_part("Lamp", "Lamp 12 | Best")
    (True, False)
    """
    ending = title[len(heading) :]
    return title.casefold().startswith(heading.casefold()) and _BARS.match(ending) is not None


def without_host(title: str, url: str) -> str:
    """Return a title without its last part, if that is the host's name.

    >>> without_host("Lamp 12 | a-shop.co.uk", "https://www.a-shop.co.uk/12")
    'Lamp 12'
    >>> without_host("Lamp 12 - A Shop", "https://a-shop.example/12"), without_host("Lamp", "")
    ('Lamp 12', 'Lamp')
    """
    dividers = list(_DIVIDERS.finditer(title))
    if not dividers:
        return title
    last_part = _NON_WORD.sub("", title[dividers[-1].end() :]).lower()
    return (
        title[: dividers[-1].start()].strip()
        if len(last_part) > _MAX_UNSURE_HOST and last_part in _names_of_host(url)
        else title
    )


def _names_of_host(url: str) -> set[str]:
    """Return a host's name with and without its domain, of letters and figures alone."""
    host_match = _WWW_HOST.match(url)
    host = host_match[1].lower() if host_match else url.lower()
    return {_NON_WORD.sub("", name) for name in (host, host.partition(".")[0])}


def name_from_title(title: str, url: str) -> str | None:
    """Return the first part of a title that is not the shop's name, for pages without another name.

    >>> name_from_title("My Shop | Lamp 12 | Lamps", "https://myshop.example/12"), name_from_title("Lamp - A", "")
    ('Lamp 12', 'Lamp')
    """
    host_match = _HOST.match(url)
    host = host_match[1].lower() if host_match else url.lower()
    parts = [part.strip() for part in _DIVIDERS.split(title)]
    return next((p for p in parts if p and _NON_WORD.sub("", p).lower() not in host), None)
