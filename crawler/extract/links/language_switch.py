"""The links by which a shop lets visitors choose its language, where no alternate tells of it.

Such a box names the page's own language, without a folder, and others beside it, each with the front
page of its folder: `TR`, `EN` (`/en/`), `العربية` (`/ar/`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import islice
from typing import Any

from crawler.extract.links.other_languages import market_folder
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
    wanted, folders = set(fronts), set()
    for anchor in page.anchors:
        url = url_of(anchor.get("href") or "#")
        if url in wanted:
            wanted.discard(url)
            folder = url.rstrip("/").rpartition("/")[2].lower()
            if _leads_to_other(anchor, folder, page):
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


def _leads_to_other(anchor: Element, folder: str, page: Page) -> bool:
    language = folder[:2]
    if language == page.lang[:2].lower() or not _names(anchor, language, folder):
        return False
    return _stands_beside_own(anchor, page)


def _names(element: Element, language: str, folder: str) -> bool:
    """Whether an element's text, or the one of its picture, names a language."""
    picture = next(element.iter("img"), None)
    texts = (
        short_text(element, _MAX_LABEL),
        element.get("title") or "",
        "" if picture is None else picture.get("alt") or "",
    )
    words = {*_OWN_NAMES.get(language, "").split(), language, folder}
    return any(
        len(text) <= _MAX_LABEL
        and not words.isdisjoint({text.casefold(), *text.casefold().split()})
        for text in map(str.strip, texts)
    )


def _stands_beside_own(anchor: Element, page: Page) -> bool:
    """Whether the smallest box with something beside a link names the page's own language there.

    A link of that name must lead into no folder.
    """
    lang = page.lang[:2].lower()
    for box in islice(anchor.iterancestors(), _MAX_BOXES):
        inner = [*islice(box.iterdescendants(), _MAX_ELEMENTS)]
        others = [each for each in inner if each is not anchor and len(each) <= 1]
        for other in others:
            if isinstance(other.tag, str) and _names(other, lang, lang):
                link = other if other.tag == "a" else next(other.iterancestors("a"), other)
                own = split_url(page.resolve(link.get("href") or "") or "")[1]
                return not market_folder(own)
    return False
