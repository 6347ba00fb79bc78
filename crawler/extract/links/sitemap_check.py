"""Whether a shop's sitemap lists all products to which the shop's pages link. Pure and bounded.

Pages of other kinds are fetched after all products and listings. Where the sitemap has each product
that these link to, such pages lead to no further product: articles, legal pages, brands.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from crawler.extract.address_kinds import is_front, is_reading, leads_aside, without_origin
from crawler.extract.limited_dict import Newest
from crawler.extract.links.choice import Link
from crawler.extract.links.fingerprints import url_checksum
from scrapy_seine.attrs_bases import Record
from scrapy_seine.urls import domain_of_tidy

#: Products to which pages link before a sitemap without a gap is trusted.
MIN_LINKED = 10
#: As a share of the sitemap's addresses: a worker of a fleet sees few of the pages.
_MIN_SHARE = 0.3
#: Addresses that are remembered of a sitemap and of links, and sites. Of a larger shop's pages the
#: other ones are few.
_MAX_ADDRESSES, _MAX_SITES = 5_000, 50


@attrs.define(eq=False, repr=False)
class _Site(Record):
    listed: set[int] = attrs.Factory(set)
    """Checksums of the sitemaps' addresses."""
    linked: dict[int, int] = attrs.Factory(dict)
    """Checksums of the products to which pages link: as linked, and without parameters."""
    is_unknown: bool = False
    """It has too many addresses to compare them."""
    is_dated: bool = False
    """A product has an address like an article's."""
    is_logged: bool = False

    def forget(self) -> None:
        """Give up the comparison."""
        self.is_unknown = True
        self.listed.clear()
        self.linked.clear()

    @property
    def is_complete(self) -> bool:
        """Whether the sitemaps have all products to which pages link."""
        return len(self.linked) >= max(MIN_LINKED, len(self.listed) * _MIN_SHARE) and all(
            linked in self.listed or bare in self.listed for linked, bare in self.linked.items()
        )


@attrs.define(eq=False, repr=False)
class SitemapCheck(Record):
    """Compares, for each job and host, the sitemap with the links to products."""

    _sites: Newest[_Site] = attrs.Factory(lambda: Newest(_Site, _MAX_SITES))

    def note_listed(self, url: str, job: str = "") -> None:
        """Remember an address of a sitemap."""
        site = self._sites[_key(job, domain_of_tidy(url))]
        if not site.is_unknown:
            site.listed.add(url_checksum(url))
            if len(site.listed) > _MAX_ADDRESSES:
                site.forget()

    def has_listed(self, url: str) -> bool:
        """Whether a sitemap listed pages of an address's host, in no job."""
        site = self._sites.get(domain_of_tidy(url))
        return site is not None and (site.is_unknown or bool(site.listed))

    def note_links(self, page_url: str, links: Iterable[Link], job: str = "") -> None:
        """Remember a page's links to products of its host."""
        host = domain_of_tidy(page_url)
        products = [x.url for x in links if x.kind == "product" and domain_of_tidy(x.url) == host]
        if not products or (site := self._sites[_key(job, host)]).is_unknown:
            return
        for url in products:
            checksum = url_checksum(url)
            if checksum not in site.linked:
                site.linked[checksum] = url_checksum(_bare(url))
                site.is_dated = site.is_dated or is_reading(without_origin(url))
        if len(site.linked) > _MAX_ADDRESSES:
            site.forget()

    def leaves_out(self, url: str, job: str = "") -> bool:
        """Whether a page of another kind leads to no product that the sitemap lacks."""
        site = self._sites.get(_key(job, domain_of_tidy(url)))
        if site is None or not site.listed or not site.is_complete:
            return False
        if url_checksum(url) not in site.listed:
            return True
        path = without_origin(url)
        return leads_aside(path) or (not site.is_dated and is_reading(path))

    def is_first(self, url: str, job: str = "") -> bool:
        """Whether no page of this site was left out before; the first one is logged."""
        site = self._sites[_key(job, domain_of_tidy(url))]
        first, site.is_logged = not site.is_logged, True
        return first


def _key(job: str, host: str) -> str:
    return f"{job} {host}" if job else host


def _bare(url: str) -> str:
    """Return an address without its parameters, which a visit may add; a front page's with them."""
    bare, _, query = url.partition("?")
    return url if query and is_front(bare) else bare
