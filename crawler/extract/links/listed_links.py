"""Choose the addresses of a shop's sitemap that are worth following."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from crawler.extract.address_kinds import is_beside, looks_like_product, without_origin
from crawler.extract.links.choice import Link, LinkKind
from crawler.extract.links.other_languages import (
    is_listed_copy,
    language_folder,
    leads_to_other_language,
)
from crawler.extract.links.traps import is_trap, may_be_category, names_goods
from crawler.extract.page.page import tidied

#: Pages below `/cookies` from which on these are goods, and parts of such addresses.
_MIN_OF_CATEGORY, _OF_CATEGORY = 5, ("/cookies", "/print")


def listed_links(
    urls: Iterable[str], origin: str, follows: Callable[[str, str], bool]
) -> Iterator[Link]:
    """Yield the links of a shop's sitemap that are worth following."""
    folder = language_folder(_path(origin))
    tidy_urls = [url for url in map(tidied, urls) if url is not None]
    goods = {url for url in tidy_urls if _is_of_category(url)}
    if len(goods) < _MIN_OF_CATEGORY:
        goods.clear()
    listed = frozenset(tidy_urls)
    for url in tidy_urls:
        path = _path(url)
        if leads_to_other_language(path, folder) if folder else is_listed_copy(url, listed):
            continue
        if (is_trap(url) and not names_goods(url) and url not in goods) or not follows(url, origin):
            continue
        path = without_origin(url) or "/"
        kind: LinkKind = "other" if is_beside(path) else "listing"
        kind = "product" if looks_like_product(path) else kind
        yield Link(url, kind, "a sitemap lists it")


def _is_of_category(url: str) -> bool:
    return any(part in url for part in _OF_CATEGORY) and may_be_category(_path(url))


def _path(url: str) -> str:
    return without_origin(url).partition("?")[0] or "/"
