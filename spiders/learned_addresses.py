"""Learns which addresses lead to nothing further, for the dead-ends middleware."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from scrapy import Request
from scrapy.http import Response

from crawler.extract import Found, Link, Page
from crawler.extract.links.dead_ends import DeadEnds, is_below
from crawler.extract.links.narrowings import NARROWS, Narrowings, root_of
from crawler.extract.links.visit_parameters import (
    FOLDERS,
    IRRELEVANT_REASON,
    QUERY,
    Visits,
    may_have_visit,
    name_of_part,
)
from crawler.extract.page.page import tidied
from crawler.extract.sites_without_products import SitesWithoutProducts, loads_own_list
from crawler.requested_address import requested_url
from scrapy_seine.printable import printable
from spiders.page_reading import SHELF, PageReading, job_of, site_id_of

#: What a log line calls the parts of addresses that change no product.
_NAMES_OF_PARTS = {FOLDERS: "their folders", QUERY: "their parameters"}


class LearnedAddresses(PageReading):
    """Shapes, parameters and places of addresses, and sites whose pages show no product."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: Shapes of URLs that led to nothing; `middlewares.dead_ends` skips them.
        self.dead_ends = DeadEnds()
        #: Session parameters: the same middleware skips URLs that differ from known ones in these.
        self.visits = Visits()
        #: Facets, tags and brands that show no further product; the same middleware skips others.
        self.narrowings = Narrowings()
        #: Pages without a product, by site, for a warning about sites without products.
        self.fruitless = SitesWithoutProducts()

    def _learn_addresses(
        self, response: Response, result: Found, shown: list[Hashable], links: list[Link]
    ) -> None:
        """Learn which addresses lead to nothing further, for the dead-ends middleware."""
        self._learn_shape(response, result, bool(shown), links)
        self._learn_visits(response, result.page, shown, links)
        self._learn_narrowing(response, result.page, bool(shown), links)

    def _learn_shape(
        self, response: Response, result: Found, shown: bool, links: list[Link]
    ) -> None:
        """Learn the shapes of URLs that lead to nothing, for the dead-ends middleware.

        Also count the listings that lead to no product, for a warning.
        """
        site_id = site_id_of(response)
        if not shown and (result.verdict.listing > 0 or loads_own_list(result.page)):
            self.fruitless.note_listing(site_id, result.page, links)
        requested = requested_url(response)
        canonical = result.page.canonical
        is_variant = (
            shown
            and is_below(requested, canonical)
            and self.knows(str(canonical), job_of(response))
        )
        if (shown or result.kind != "other") and not is_variant:
            self.dead_ends.note_useful(site_id, requested)
            return
        is_part = is_variant or result.page.is_part
        if is_part:  # its link to the product's page is another way, unless the page is known
            links = [link for link in links if not self.knows(link.url, job_of(response))]
        if (
            not result.unread
            and (
                shape := self.dead_ends.note(
                    site_id, requested, links, is_part=is_part, is_variant=is_variant
                )
            )
            is not None
        ):
            self._count("dead_ends")
            self.logger.info(
                "%s: pages of this shape are left out, because the first ones led to nothing",
                printable(shape),
            )

    def _learn_visits(
        self, response: Response, page: Page, shown: list[Hashable], links: list[Link]
    ) -> None:
        """Learn session parameters and categories' folders, for the dead-ends middleware."""
        if not (shown or may_have_visit(response.url)) or "redirect_urls" in response.meta:
            return
        if shown and page.canonical:
            self.visits.note_canonical(job_of(response), response.url, page.canonical)
        name = self.visits.note(job_of(response), response.url, shown, [x.url for x in links])
        if name is not None:
            self._count("visits")
            self.logger.info(
                "site %s: pages that differ in %s alone are left out, because %s",
                printable(site_id_of(response)),
                _NAMES_OF_PARTS.get(name) or name_of_part(name),
                IRRELEVANT_REASON,
            )

    def _learn_narrowing(
        self, response: Response, page: Page, shows: bool, links: list[Link]
    ) -> None:
        """Learn which facets, tags and brands show no further product, for the same middleware."""
        url = tidied(requested_url(response))
        if url is None:
            return
        place = self.narrowings.note(
            job_of(response),
            url,
            links,
            shows=shows,
            root=str(response.meta.get(NARROWS) or ""),
            is_later=SHELF in response.meta,
        )
        if place is not None:
            self._count("narrowings")
            self.logger.info(
                "%s: further pages of this place are left out, because the last ones showed only"
                " products that other listings show",
                printable(place),
            )

    @staticmethod
    def _narrowed(response: Response, page: Page, links: list[Link]) -> str:
        """Return the address of the listing that the pages below this one narrow; "": none."""
        root = response.meta.get(NARROWS) or (
            "" if page.shows_product else root_of(page.url, links)
        )
        return str(root)

    @staticmethod
    def _note_narrowing(request: Request, link: Link, root: str) -> None:
        """Store in a request which listing its page narrows, for all workers of the fleet."""
        if root and link.kind in {"listing", "other"} and link.url.startswith(f"{root}/"):
            request.meta[NARROWS] = root
