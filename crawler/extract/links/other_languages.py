"""A shop's copies in other languages, which are not followed: `/fr/vins` beside `/de/weine`.

A shop in several languages sells each product once. Its copies are left out where the page's own
folder, its language or its alternates tell which ones they are.
"""

from __future__ import annotations

import re
from functools import lru_cache

import attrs

from crawler.extract.links.pagination import Address
from crawler.extract.page.page import Page
from crawler.extract.words import whole

_FOLDER = re.compile(r"/([a-z]{2})(?:[-_]([a-z]{2}))?(?=/|$)", re.I).match
_CODES = (
    "ar az be bg bn bs ca cs da de el en es et eu fa fi fr gl he hi hr hu hy id is it ja ka kk ko lt"
    " lv mk mn ms nb nl nn no pl pt ro ru sk sl sq sr sv sw th tr uk ur uz vi zh"
)
_LANGUAGES = frozenset(_CODES.split())
_MOST_ALTERNATES = 60
#: Parameters that choose the language of a page.
_CHOICE = whole(r"lang|language|locale|hl|lng|idioma|sprache|langue|lingua|language_id")


#: Copies of shops that are named, at most: a log with more tells no more.
_MOST_NAMED = 10_000


@attrs.define(eq=False, repr=False)
class Copies:
    """The copies of shops in other languages that the log has named."""

    named: set[tuple[str, str]] = attrs.Factory(set)

    def is_new(self, site_id: str, folder: str) -> bool:
        """Whether a site's folder was not named yet; it is from now on."""
        if (site_id, folder) in self.named or len(self.named) >= _MOST_NAMED:
            return False
        self.named.add((site_id, folder))
        return True


@lru_cache(maxsize=256)
def tongue(path: str) -> str:
    """The first folder of a path, if it may stand for a language; else ''.

    >>> tongue("/fr/vins"), tongue("/de-CH"), tongue("/ch-de/wein"), tongue("/tv/samsung")
    ('fr', 'de-ch', 'ch-de', '')
    """
    found = _FOLDER(path)
    if found is None:
        return ""
    parts = [part.lower() for part in found.groups() if part]
    return "-".join(parts) if _LANGUAGES.intersection(parts) else ""


def speaks(folder: str, lang: str) -> bool:
    """Whether a folder stands for a language.

    >>> speaks("ch-de", "de"), speaks("fr", "de")
    (True, False)
    """
    return lang[:2] in folder.split("-")


def others_of(page: Page, path: str) -> frozenset[str]:
    """The folders of the page's alternates in other languages than its own, whose folder is none.

    Those in its own language are for other countries, where the page itself is one of the alternates.
    """
    lang = page.lang[:2].lower()
    if not lang or tongue(path):
        return frozenset()
    others: set[str] = set()
    alike: set[str] = set()
    has_own = False
    for link in page.links[:_MOST_ALTERNATES]:
        told = (link.get("hreflang") or "")[:2].lower()
        if told in {"", "x-"}:
            continue
        target = page.resolve(link.get("href") or "") or ""
        has_own = has_own or target == page.url
        folder = tongue(target[target.find("/", 8) :]) if target.find("/", 8) > 0 else ""
        (alike if told == lang else others).add(folder)
    return frozenset((others | alike if has_own else others) - {""})


def leads_to_another(
    path: str, folder: str, others: frozenset[str] = frozenset(), lang: str | None = None
) -> bool:
    """Whether a path lies in another language's folder than *folder*, or in one of *others*.

    *lang* is the language that the page with the link tells: where *folder* stands for another
    one, nothing is known. A sitemap tells none.

    >>> leads_to_another("/fr/vins", "de"), leads_to_another("/de/weine", "de")
    (True, False)
    >>> leads_to_another("/fr/vins", "de", lang="en"), leads_to_another("/fr", "", frozenset({"fr"}))
    (False, True)
    """
    there = tongue(path)
    if not there:
        return False
    if folder:
        return there != folder and (lang is None or speaks(folder, lang))
    return there in others


def is_translation(there: Address, here: Address) -> bool:
    """Whether a link leads to the page itself, in another language.

    A front page may be the choice of a language alone.
    """
    if not there[2] or there[:2] != here[:2] or (there[1] == "/" and not here[2]):
        return False
    new, left = set(there[2]) - set(here[2]), set(here[2]) - set(there[2])
    return bool(new) and all(_CHOICE(name) for name, _ in new | left)
