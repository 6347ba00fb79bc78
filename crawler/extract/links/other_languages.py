"""Copies of a shop in other languages, which are not followed: `/fr/vins` is `/de/weine` for other readers.

A shop in several languages sells each product once. Its copies are left out where the page's own
folder, its language or its alternates tell which ones they are.
"""

from __future__ import annotations

import re
from functools import lru_cache

from crawler.extract.page.page import Page

_FOLDER = re.compile(r"/([a-z]{2})(?:[-_]([a-z]{2}))?(?=/|$)", re.I).match
_CODES = (
    "ar az be bg bn bs ca cs da de el en es et eu fa fi fr gl he hi hr hu hy id is it ja ka kk ko lt"
    " lv mk mn ms nb nl nn no pl pt ro ru sk sl sq sr sv sw th tr uk ur uz vi zh"
)
_LANGUAGES = frozenset(_CODES.split())
_MOST_ALTERNATES = 60


@lru_cache(maxsize=1024)
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
    """The folders of the page's alternates in other languages than its own, whose folder is none."""
    lang = page.lang[:2].lower()
    if not lang or tongue(path):
        return frozenset()
    found = set()
    for link in page.links[:_MOST_ALTERNATES]:
        told = (link.get("hreflang") or "")[:2].lower()
        if told not in {"", lang, "x-"}:
            target = page.resolve(link.get("href") or "") or ""
            found.add(tongue(target[target.find("/", 8) :]) if target.find("/", 8) > 0 else "")
    return frozenset(found - {""})
