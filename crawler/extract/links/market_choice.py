"""Choose among the copies of a shop for countries or in languages that a front page links to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from crawler.extract.links.other_languages import (
    is_market_front,
    language_folder,
    market_folder,
    names_language,
)
from crawler.extract.links.pagination import split_url

if TYPE_CHECKING:
    from crawler.extract.links.choice import Link
    from crawler.extract.page.page import Page

#: Other links of a front page that only lets visitors choose a language: imprint, contact; and
#: countries of a page that lets them choose one.
MAX_BESIDE_CHOICE, _MIN_MARKETS = 6, 2


def one_market_first(links: list[Link], lang: str) -> list[Link]:
    """Let one of the countries of which a page lets choose one be read before the others."""
    fronts = [link for link in links if is_market_front(split_url(link.url)[1])]
    if len(fronts) < _MIN_MARKETS or len(links) - len(fronts) > MAX_BESIDE_CHOICE:
        return links
    own = (x for x in fronts if names_language(market_folder(split_url(x.url)[1]), lang))
    first = next(own, fronts[0]) if lang else fronts[0]
    others = [link for link in links if link is not first]
    chosen = attrs.evolve(first, kind="listing", reason="it is the shop in one country")
    return [chosen, *others]


def in_own_language(page: Page, links: list[Link]) -> list[Link]:
    """Drop links into other languages' folders if the front page links to its own language's."""
    lang = page.lang[:2].lower()
    folders = [language_folder(split_url(link.url)[1]) for link in links]
    if not any(folder and names_language(folder, lang) for folder in folders):
        return links
    own_links = []
    for link, folder in zip(links, folders, strict=True):
        if not folder or names_language(folder, lang):
            own_links.append(link)
        else:
            page.other_languages.setdefault(folder, []).append(link.url)
    return own_links
