"""Skip a shop's copies in other languages: `/fr/vins` beside `/de/weine`.

A shop in several languages sells the same products in each, so one copy is enough. The page's own
folder, its language and its alternates (`hreflang`) show which folders are other languages'.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from functools import lru_cache

import attrs

from crawler.extract.links.pagination import Address
from crawler.extract.page.page import Page
from crawler.extract.words import full_matcher

_FOLDER = re.compile(r"/([a-z]{2})(?:[-_]([a-z]{2}))?(?=/|$)", re.I).match
_CODES = (
    "ar az be bg bn bs ca cs da de el en es et eu fa fi fr gl he hi hr hu hy id is it ja ka kk ko lt"
    " lv mk mn ms nb nl nn no pl pt ro ru sk sl sq sr sv sw th tr uk ur uz vi zh"
)
_LANGUAGES = frozenset(_CODES.split())
_MAX_ALTERNATES = 60
#: Names of parameters that choose the language of a page.
_LANGUAGE_PARAMETER = full_matcher(
    r"lang|language|locale|hl|lng|idioma|sprache|langue|lingua|language_id"
)
#: Letters of the shortest of these names whose number may be a language's: `hl=2` turns a page.
_MIN_NUMBERED = 4

#: Language copies that are logged, at most, because more lines help nobody.
_MAX_LOGGED = 10_000


@attrs.define(eq=False, repr=False)
class Copies:
    """The language copies of shops that were logged, and those that are left out everywhere."""

    logged_folders: set[tuple[str, str]] = attrs.Factory(set)
    left_out: set[tuple[str, str]] = attrs.Factory(set)
    """Those of which no page was read since: two copies of a shop call each other a copy."""

    def is_new(self, site_id: str, folder: str) -> bool:
        """Whether a site's folder was not logged yet; mark the folder as logged."""
        if (site_id, folder) in self.logged_folders or len(self.logged_folders) >= _MAX_LOGGED:
            return False
        self.logged_folders.add((site_id, folder))
        self.left_out.add((site_id, folder))
        return True


@lru_cache(maxsize=256)
def language_folder(path: str) -> str:
    """Return the first folder of a path if it may name a language, else ''.

    >>> language_folder("/fr/vins"), language_folder("/de-CH"), language_folder("/ch-de/wein"), language_folder("/tv/samsung")
    ('fr', 'de-ch', 'ch-de', '')
    """
    match = _FOLDER(path)
    if match is None:
        return ""
    parts = [part.lower() for part in match.groups() if part]
    return "-".join(parts) if _LANGUAGES.intersection(parts) else ""


@lru_cache(maxsize=256)
def market_folder(path: str) -> str:
    """Return the first folder of a path if it may name a language or a country, else ''.

    >>> market_folder("/ie/lamps"), market_folder("/en-GB/"), market_folder("/lamps")
    ('ie', 'en-gb', '')
    """
    match = _FOLDER(path)
    return "" if match is None else "-".join(part.lower() for part in match.groups() if part)


def is_market_front(path: str) -> bool:
    """Whether a path is only a folder that may name a language or a country.

    >>> is_market_front("/ie/"), is_market_front("/en-GB"), is_market_front("/ie/lamps")
    (True, True, False)
    """
    folder = market_folder(path)
    return bool(folder) and path.strip("/").lower().replace("_", "-") == folder


def names_language(folder: str, lang: str) -> bool:
    """Whether a folder names this language.

    >>> names_language("ch-de", "de"), names_language("fr", "de")
    (True, False)
    """
    return lang[:2] in folder.split("-")


def alternate_folders(page: Page, path: str) -> frozenset[str]:
    """Return the folders of a page's alternates in other languages; none if it is in such a folder.

    Alternates in the page's own language count too (they are for other countries) if the page
    itself is listed among its alternates.
    """
    lang, own_folder = page.lang[:2].lower(), market_folder(path)
    if not lang or (own_folder and names_language(own_folder, lang)):
        return frozenset()
    foreign_folders: set[str] = set()
    same_language_folders: set[str] = set()
    has_own = False
    for link in page.links[:_MAX_ALTERNATES]:
        hreflang = (link.get("hreflang") or "")[:2].lower()
        if hreflang in {"", "x-"}:
            continue
        target = page.resolve(link.get("href") or "") or ""
        has_own = has_own or target == page.url
        folder = _folder_of(target)
        (same_language_folders if hreflang == lang else foreign_folders).add(folder)
    return frozenset(
        (foreign_folders | same_language_folders if has_own else foreign_folders) - {"", own_folder}
    )


def alternate_origins(page: Page, own_origin: str) -> frozenset[str]:
    """Return the scheme and host of a page's alternates in other languages: `https://fr.a.example`.

    Only those that hold no alternate in the page's own language, which may be for another country,
    and not the page's own host: themes say `lang=en` of shops in all languages.
    """
    lang = page.lang[:2].lower()
    if not lang:
        return frozenset()
    foreign_origins: set[str] = set()
    own_origins = {own_origin}
    for link in page.links[:_MAX_ALTERNATES]:
        hreflang = (link.get("hreflang") or "")[:2].lower()
        target = page.resolve(link.get("href") or "") if hreflang not in {"", "x-"} else None
        if target is not None:
            origins = own_origins if hreflang == lang else foreign_origins
            origins.add(target[: target.find("/", 8)] if target.find("/", 8) > 0 else target)
    own_host = _host_of(own_origin)
    return frozenset(o for o in foreign_origins - own_origins if _host_of(o) != own_host)


def _host_of(origin: str) -> str:
    return origin.partition("://")[2].removeprefix("www.").casefold()


def is_listed_copy(url: str, listed: Set[str]) -> bool:
    """Whether a sitemap lists a page in a language's folder, and the same page outside of it.

    >>> pages = {"https://a.example/lamp", "https://a.example/en/lamp", "https://a.example/en/vase"}
    >>> [is_listed_copy(page, pages) for page in sorted(pages)]
    [True, False, False]
    """
    start = url.find("/", 8)
    if start < 0 or not (folder := language_folder(url[start:].partition("?")[0])):
        return False
    return f"{url[:start]}{url[start + 1 + len(folder) :] or '/'}" in listed


def _folder_of(url: str) -> str:
    start = url.find("/", 8)
    return market_folder(url[start:]) if start > 0 else ""


def copies_beside(alternates: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Return the folders of copies of a shop whose own pages are in no language's folder.

    *alternates* are languages and addresses of its pages.

    >>> pages = [("en", "https://a.example/lamp"), ("fr-ca", "https://a.example/ca/lamp")]
    >>> copies_beside(pages), copies_beside(pages[1:]), copies_beside([*pages, ("en", "https://a.example/en/lamp")])
    (frozenset({'ca'}), frozenset(), frozenset({'ca'}))
    """
    languages: dict[str, set[str]] = {}
    for language, url in alternates:
        folder = _folder_of(url)
        if language != "x-default" and set(folder.split("-")) <= {"", *language.split("-")}:
            languages.setdefault(folder, set()).add(language)
    own_languages = languages.pop("", None)
    if not own_languages:
        return frozenset()
    return frozenset(folder for folder in languages if own_languages.isdisjoint(languages[folder]))


def leads_to_other_language(
    path: str, folder: str, foreign_folders: frozenset[str] = frozenset(), lang: str | None = None
) -> bool:
    """Whether a path lies in another language's folder than *folder*, or in a foreign folder.

    *lang* is the declared language of the page with the link: if *folder* names another language,
    the folders are not trusted. A sitemap declares none.

    >>> leads_to_other_language("/fr/vins", "de"), leads_to_other_language("/de/weine", "de")
    (True, False)
    >>> leads_to_other_language("/fr/vins", "de", lang="en"), leads_to_other_language("/fr", "", frozenset({"fr"}))
    (False, True)
    """
    if foreign_folders and market_folder(path) in foreign_folders:
        return True
    target_folder = language_folder(path)
    if not target_folder:
        return False
    if folder:
        return target_folder != folder and (lang is None or names_language(folder, lang))
    return target_folder in foreign_folders


def is_translation(target: Address, page_address: Address) -> bool:
    """Whether a link leads to the page itself in another language, by a language parameter.

    A front page is excluded, because it may serve only to choose a language.
    """
    if target[:2] != page_address[:2] or (target[1] == "/" and not page_address[2]):
        return False
    added, removed = set(target[2]) - set(page_address[2]), set(page_address[2]) - set(target[2])
    return bool(added) and all(
        _LANGUAGE_PARAMETER(name) and not (value.isdigit() and len(name) < _MIN_NUMBERED)
        for name, value in added | removed
    )
