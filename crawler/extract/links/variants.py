"""Links to one product that differ by its options, and links to one page that shows all products."""

from __future__ import annotations

from collections.abc import Container
from functools import lru_cache

from crawler.extract.address_kinds import looks_like_product
from crawler.extract.links.facets import is_identity, is_script_path
from crawler.extract.links.pagination import Address, split_url

reads_product = lru_cache(maxsize=1024)(looks_like_product)
#: Links to one place that differ by a parameter, where that shows a product each.
_MIN_SHOWN = 3


class Variants:
    """The links to products of one page, by their addresses without parameters."""

    def __init__(self, page_address: Address) -> None:
        self._page_address = page_address
        self._places: set[str] = set()
        #: The links to a place to which an earlier one leads.
        self.by_shared_place: dict[str, list[str]] = {}

    def add(self, target: Address, url: str) -> bool:
        """Whether a link differs from the page, or from an earlier product link, by options alone."""
        if not reads_product(target[1]):
            return False
        if target[2] and any(is_identity(name) for name, _ in target[2]):
            return False
        if len(target[2]) == 1 and is_script_path(target[1]) and target[2][0][1].isdigit():
            return False  # one script shows all products
        place = target[0] + target[1]
        if place in self._places:
            self.by_shared_place.setdefault(place, []).append(url)
            return True
        self._places.add(place)
        return bool(target[2]) and target[:2] == self._page_address[:2]

    def products(self, links: Container[str]) -> list[str]:
        """Return the links that were taken for variants, where one page shows all products.

        Most links to products lead to that page alone, each by a value of the same parameters, and
        it is not the page with the links. Where several places are shared, or one is linked without
        parameters as well, as one of the page's *links*, these are colours and sizes of products.
        """
        if len(self.by_shared_place) != 1:
            return []
        ((place, urls),) = self.by_shared_place.items()
        names = {tuple(name for name, _ in split_url(url)[2]) for url in urls}
        is_own = place == "".join(self._page_address[:2])
        if is_own or place in links or len(names) > 1:
            return []
        return urls if len(urls) >= max(_MIN_SHOWN, len(self._places)) else []
