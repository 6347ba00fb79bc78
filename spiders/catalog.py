"""The catalogue spider: any shop, from any of its pages, to all of its products."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrapy import Request
from scrapy.http import Response

from crawler import meta as m
from crawler.engine.spider import FrontierSpider
from crawler.extract import parse
from crawler.extract.site import Site
from crawler.extract.sites import same_site
from crawler.items import Product
from spiders import sites


class CatalogSpider(FrontierSpider):
    """Reads each page once: a product becomes an item, links become requests by their worth.

    `-a url=…` seeds with addresses, `-a site=NAME` with a site file's seeds.
    """

    name = "catalog"

    def __init__(self, *args: Any, site: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if site:
            known = sites.named(site)
            if known is None:
                raise ValueError(f"there is no site file of the name {site!r}")
            self.seed_urls += known.seeds

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Product | Request]:
        """Read a page, whatever it is; what raises here makes it a dead letter with its reason."""
        if self._left_site(response):
            self._count("offsite_redirects")
            return
        site = sites.find(response.url)
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        page = parse(response.body, response.url, content_type)
        if not page.is_html:
            self._count("not_html")
            return
        found = site.extract(page)
        self._count(found.kind)
        for item in site.products(page, found):
            given = response.meta.get(m.SITE_ID)
            item.site_id = given or item.site_id or sites.site_id(response.url)
            item.job_id = item.job_id or response.meta.get(m.JOB_ID)
            yield item
        robots = (response.headers.get("X-Robots-Tag") or b"").decode("latin-1")
        for link in site.links(page, robots):
            if not self.knows(link.url):
                yield self._request(link.url, link.priority, site)

    @staticmethod
    def _request(url: str, priority: int, site: Site) -> Request:
        meta: dict[str, Any] = {m.PROXY_POOL: site.proxy_pool} if site.proxy_pool else {}
        return Request(url, priority=priority, meta=meta)

    @staticmethod
    def _left_site(response: Response) -> bool:
        """Whether a link of the site led to another one. A seed may lead anywhere."""
        way = response.meta.get("redirect_urls")
        return bool(way and response.meta.get(m.DEPTH) and not same_site(str(way[0]), response.url))

    def _count(self, what: str) -> None:
        self.crawler.stats.inc_value(f"extract/{what}")
