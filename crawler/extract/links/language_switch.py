"""The links by which a shop lets visitors choose its language, where no alternate tells of it.

Such a box names the page's own language, at the front page of the host or at the page itself, and
others beside it, each with the front page of its folder, and leads nowhere else: `TR`, `EN` (`/en/`),
`العربية` (`/ar/`). Only a page that sells something outside of these folders tells of copies, because
a front page without goods may lead to the only shop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import islice
from typing import Any

from crawler.extract.links.other_languages import is_market_front, market_folder
from crawler.extract.links.pagination import split_url
from crawler.extract.page.page import Element, Page, short_text

#: What languages are called in themselves, without case.
_OWN_NAMES = {
    "ar": "العربية", "az": "azərbaycan azərbaycanca", "be": "беларуская", "bg": "български",
    "bn": "বাংলা", "bs": "bosanski", "ca": "català", "cs": "čeština česky", "da": "dansk",
    "de": "deutsch", "el": "ελληνικά", "en": "english", "es": "español castellano", "et": "eesti",
    "eu": "euskara", "fa": "فارسی", "fi": "suomi", "fr": "français", "gl": "galego", "he": "עברית",
    "hi": "हिन्दी हिंदी", "hr": "hrvatski", "hu": "magyar", "hy": "հայերեն", "id": "indonesia",
    "is": "íslenska", "it": "italiano", "ja": "日本語", "ka": "ქართული", "kk": "қазақша қазақ",
    "ko": "한국어", "lt": "lietuvių", "lv": "latviešu latviski", "mk": "македонски", "mn": "монгол",
    "ms": "melayu", "nb": "norsk", "nl": "nederlands", "no": "norsk", "pl": "polski",
    "pt": "português", "ro": "română", "ru": "русский", "sk": "slovenčina slovensky",
    "sl": "slovenščina", "sq": "shqip", "sr": "српски srpski", "sv": "svenska", "th": "ไทย ภาษาไทย",
    "tr": "türkçe", "uk": "українська", "ur": "اردو", "uz": "oʻzbekcha o'zbek", "vi": "việt",
    "zh": "中文 简体中文 繁體中文 繁体中文 简体 繁體",
}  # fmt: skip
#: Regions whose copies have folders of their own: `/zh-tw/`.
_REGIONS = ("zh-tw", "zh-cn", "zh-hk", "pt-br", "pt-pt", "en-us", "en-gb", "en-eu", "es-mx")
#: Boxes around such a link, elements of the box that names the languages, characters of a name.
_MAX_BOXES, _MAX_ELEMENTS, _MAX_LABEL = 3, 120, 30


#: Paths of the front pages that copies in other languages may have.
_FRONTS = [
    f"/{folder}{end}"
    for folder in (*_OWN_NAMES, *_REGIONS, *(f"{code}-{code}" for code in _OWN_NAMES))
    for end in ("", "/")
]


@lru_cache(maxsize=64)
def fronts_of(origin: str) -> frozenset[str]:
    """Return the addresses that front pages of an origin's copies in other languages may have."""
    return frozenset(map(origin.__add__, _FRONTS))


def leave_out_copies(
    page: Page,
    links: dict[str, Any],
    fronts: Iterable[str],
    url_of: Callable[[str], str | None],
) -> list[tuple[str, str]]:
    """Delete the links into folders of other languages that a page's switch leads to.

    *links* are the page's links by their addresses, *fronts* those of them that may be a copy's front
    page. The page itself must be in no language's folder. Return the deleted links, each with the
    folder.
    """
    if not _sells(page, links):
        return []
    wanted, folders = set(fronts), set()
    for anchor in page.anchors:
        url = url_of(anchor.get("href") or "#")
        if url in wanted:
            wanted.discard(url)
            folder = url.rstrip("/").rpartition("/")[2].lower()
            if _leads_to_other(anchor, folder, page, url_of):
                folders.add(folder)
    found = [
        (folder, url)
        for url in (links if folders else ())
        if (folder := market_folder(split_url(url)[1])) in folders
    ]
    for folder, url in found:
        page.other_languages.setdefault(folder, []).append(url)
        del links[url]
    return found


def _sells(page: Page, links: dict[str, Any]) -> bool:
    """Whether a page shows goods, or leads to some that are in no language's folder."""
    return (
        page.shows_product
        or bool(page.tile_amounts)
        or any(
            link.kind == "product" and not market_folder(split_url(url)[1])
            for url, link in links.items()
        )
    )


def _leads_to_other(
    anchor: Element, folder: str, page: Page, url_of: Callable[[str], str | None]
) -> bool:
    language = folder[:2]
    if language == page.lang[:2].lower() or not _names(anchor, language, folder):
        return False
    return _stands_beside_own(anchor, page, url_of)


def _names(element: Element, language: str, folder: str) -> bool:
    """Whether an element's text, or the one of its picture, names a language."""
    picture = next(element.iter("img"), None)
    texts = (
        short_text(element, _MAX_LABEL),
        element.get("title") or "",
        "" if picture is None else picture.get("alt") or "",
    )
    names = _OWN_NAMES.get(language, "").split()
    return any(
        len(text) <= _MAX_LABEL
        and (text in {language, folder} or not set(names).isdisjoint(text.split()))
        for text in (text.strip(" ()[]|·•").casefold() for text in texts)
        if text
    )


def _stands_beside_own(anchor: Element, page: Page, url_of: Callable[[str], str | None]) -> bool:
    """Whether the smallest box that names the page's own language beside a link is a switch.

    A link of that name must lead to the host's front page or to the page, and the others to such
    of folders.
    """
    lang = page.lang[:2].lower()
    for box in islice(anchor.iterancestors(), _MAX_BOXES):
        inner = [*islice(box.iterdescendants(), _MAX_ELEMENTS)]
        own = next((x for x in inner if x is not anchor and _is_named(x, lang)), None)
        if own is None:
            continue
        link = next(own.iter("a"), next(own.iterancestors("a"), own))
        return _is_front(link, page, url_of) and all(
            each is link or is_market_front(_path_of(each, url_of))
            for each in inner
            if each.tag == "a"
        )
    return False


def _is_named(element: Element, lang: str) -> bool:
    return isinstance(element.tag, str) and len(element) <= 1 and _names(element, lang, lang)


def _is_front(link: Element, page: Page, url_of: Callable[[str], str | None]) -> bool:
    """Whether a link leads to its host's front page, to the page or nowhere."""
    path = _path_of(link, url_of)
    return path in {"", "/", split_url(page.url)[1]} or path.startswith("/index.")


def _path_of(link: Element, url_of: Callable[[str], str | None]) -> str:
    url = url_of(link.get("href") or "#")
    return "" if url is None or link.get("href") is None else split_url(url)[1]
