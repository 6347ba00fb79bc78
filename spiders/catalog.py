"""The catalogue spider: any shop, from any of its pages, to all of its products."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from scrapy import Request
from scrapy.http import Response

from crawler.catalogue.jobs.model import Plan
from crawler.extract import Found, Link, Page
from crawler.extract.links.choice import PRIORITY, shelf_of
from crawler.extract.links.dead_ends import ENOUGH, DeadEnds
from crawler.extract.links.other_languages import Copies
from crawler.extract.links.registered_domain import same_site
from crawler.extract.links.visits import ALIKE, Visits
from crawler.extract.listing import announced, probing
from crawler.extract.listing.further_pages import further_pages
from crawler.extract.page.page import tidied
from crawler.extract.site import Site
from crawler.extract.sites_without_products import HELP, Fruitless
from crawler.extract.template import Book, Drift, Judgement, Look, know_unpriced
from crawler.items import Missing, Product
from scrapy_seine import meta as m
from scrapy_seine.engine.headers import header
from scrapy_seine.engine.stored.serializer import own_address
from scrapy_seine.errors import ConfigError
from scrapy_seine.printable import printable
from spiders import which_site
from spiders.page_count_search import FurtherPages
from spiders.page_reading import SHELF, job_of, site_id_of
from spiders.sitemaps import Sitemaps

_LONGEST_SCOPE = 500
#: The priority of pages whose second look decides what is believed of others.
_AT_ONCE = PRIORITY["product"] + 20
#: Jobs that name each page they want: a link of such a page is no part of them.
_NO_LINKS = frozenset({"recrawl", "news", "check"})


class CatalogSpider(Sitemaps, FurtherPages):
    """Reads each page once: a product becomes an item, links become requests by their worth.

    `-a url=…` seeds with addresses, `-a site=NAME` with a site file's seeds.
    """

    name = "catalog"
    #: What -a may set; another name is refused, because a misspelt one would wait for seeds.
    arguments = ("url", "site")

    def __init__(self, *args: Any, site: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: What is known of each site's template; the storage loads and keeps it.
        self.book = Book(self._note_drift)
        #: Shapes of addresses that led nowhere; `middlewares.dead_ends` leaves them out.
        self.dead_ends = DeadEnds()
        #: Parameters that name a visit: what is known but for them is left out there, too.
        self.visits = Visits()
        #: What each site showed: where it is nothing, that is said.
        self.fruitless = Fruitless()
        #: Shops' copies in other languages, which are left out.
        self.copies = Copies()
        if site:
            known = which_site.wanted(site)
            if not known.seeds and not self.seed_urls:
                raise ConfigError(
                    f'-a site={site}: its file names no seeds; add seeds = ("https://…",) to it,'
                    " or -a url=https://… here"
                )
            self.seed_urls += known.seeds

    def make_request_from_data(self, data: bytes) -> Request:
        """Read one seed; what it does not say about its way comes from the site file.

        Raises:
            BadSeed: saying what is wrong with it.
        """
        request = super().make_request_from_data(data)
        for key, value in which_site.find(request.url).way.items():
            request.meta.setdefault(key, value)
        return request

    @staticmethod
    def site_of(url: str) -> Site:
        """The site file for a URL, or the default; commands ask for it too."""
        return which_site.find(url)

    def limits_of(self, url: str) -> tuple[int | None, int | None]:
        """What the site file asks for, across the fleet."""
        site = which_site.find(url)
        return site.delay_ms, site.concurrency

    @classmethod
    def identities(cls) -> set[str]:
        """As whom the site files want their sites to be asked."""
        return {site.identity for site in which_site.load().values() if site.identity}

    @classmethod
    def fetch_options(cls) -> list[tuple[str, str | None, str | None]]:
        """Site, lane and pool of proxies that each site file asks for."""
        found = dict.fromkeys(which_site.load().values())
        return [(site.name or site.domains[0], site.lane, site.proxy_pool) for site in found]

    @classmethod
    def plans(cls) -> list[Plan]:
        """What the site files ask of the coordinator."""
        return which_site.plans()

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Product | Missing | Request]:
        """Read a page, whatever it is; what raises here makes it a dead letter with its reason."""
        if self._left_site(response):
            self._count("offsite_redirects")
            asked = str(response.meta["redirect_urls"][0])
            site_id = str(response.meta.get(m.SITE_ID) or which_site.site_id(asked))
            self._tell_of_gate(site_id, self.fruitless.left(site_id, response.url))
            yield from self._not_shown(response, None)
            return
        site = which_site.find(response.url)
        page = self._page(response)
        if not page.is_html:
            self._count("not_html")
            return
        found = site.extract(page)
        know_unpriced(self.book, site_id_of(response), found)
        self._count(found.kind)
        for source, error in found.unread.items():
            self._count(f"unread/{source}")
            self.logger.warning("%s: its %s is left out: %s", response.url, source, error)
        shown: list[Hashable] = []
        given = response.meta.get(m.SITE_ID)
        site_id = given or which_site.site_id(response.url)
        judged = self._judge(found, site_id)
        yield from self._again(found, site_id, site, job_of(response))
        for item in site.products(page, found):
            shown.append((item.name, str(item.price), item.sku, item.gtin, str(item.images)))
            item.site_id = given or item.site_id or site_id
            if judged is not None and item.sources is found.sources:
                item.confidence = dict(judged.confidence)
                item.doubts = {name: [d.kind, d.reason] for name, d in judged.doubts.items()}
            item.job_id = item.job_id or response.meta.get(m.JOB_ID)
            yield item
        if not shown:
            yield from self._not_shown(response, found)
        self._note_fruit(response, found, bool(shown))
        if response.meta.get(m.JOB_TYPE) in _NO_LINKS:
            return
        links = site.links(page, header(response, "X-Robots-Tag"))
        self._tell_of_languages(page, site_id)
        self._learn_shape(response, found, bool(shown), links)
        self._learn_visits(response, shown, links)
        yield from self._follow(response, site, page, links, announced.has_list(found.kind, links))
        yield from self._look_for_sitemaps(response)

    def _judge(self, found: Found, site_id: str) -> Judgement | None:
        """Hold a product's page against its site's template; None where that is not possible."""
        if found.kind != "product":
            return None
        try:
            judged = self.book.judge(site_id, found)
        except Exception:  # the values are those of the page all the same
            self._count("unjudged")
            self.logger.exception("%s: it is not held against its template", found.page.url)
            return None
        for field, doubt in judged.doubts.items():
            self._count(f"doubtful/{field}")
            self.logger.debug("%s: %s is doubtful: %s", found.page.url, field, doubt.reason)
        return judged

    def _again(self, found: Found, site_id: str, site: Site, job: str) -> Iterator[Request]:
        """Ask for pages again whose template was learned since; once for each of its versions."""
        if found.kind != "product":
            return
        unpriced = self.book.addresses.note(site_id, found.page.url)
        for url, version in [*self.book.again(site_id), *((url, "unpriced") for url in unpriced)]:
            self._count("read_again")
            request = self._request(Link(url, "product", "its template is known now"), site, None)
            request.meta[m.SCOPE] = f"{job} again {version} {url}"[:_LONGEST_SCOPE]
            yield request
        for look in self.book.tenders.looks(site_id):
            self._count("looked_again")
            request = self._request(Link(look.url, "product", "its currency"), site, None)
            request.meta[m.SCOPE] = f"{job} {look.scope}"[:_LONGEST_SCOPE]
            told = {"site_id": site_id, "told": look.currency, "held": look.held}
            yield request.replace(priority=_AT_ONCE, callback=self.parse_look, cb_kwargs=told)

    def parse_look(
        self, response: Response, site_id: str, told: str, held: list[list[str]]
    ) -> Iterator[Product | Missing | Request]:
        """Read a page again that told another currency than the doubtful pages after it."""
        pages = [(str(url), str(currency)) for url, currency in held]
        url = tidied(response.url) or response.url
        self.book.tenders.expect(site_id, Look(url, told, pages))
        yield from self.parse(response)

    def _note_drift(self, drift: Drift) -> None:
        self._count("template_changes")
        self.logger.warning(
            "site %s: %s %s: %s",
            printable(drift.site_id),
            drift.said,
            *(printable(text) for text in (drift.url, drift.reason)),
        )

    @staticmethod
    def _not_shown(response: Response, found: Found | None) -> Iterator[Product | Missing]:
        """Say of a known product's own page that it shows none, or that it cannot be had."""
        known = response.meta.get(m.KNOWN)
        if known is None or response.request is None or (found is not None and found.unread):
            return  # what was left out of a page may be its product
        url, site_id = own_address(response.request), str(response.meta.get(m.SITE_ID) or "")
        moved = "redirect_urls" in response.meta
        item = None if moved or found is None else found.unavailable()
        if item is None:
            yield Missing(url, site_id)
        elif known:  # of several products at one address nobody can tell which one is meant
            item.external_id, item.name = known["id"], known["name"]
            item.site_id, item.job_id = site_id, response.meta.get(m.JOB_ID)
            yield item

    def _follow(
        self, response: Response, site: Site, page: Page, links: list[Link], is_listing: bool
    ) -> Iterator[Request]:
        job = job_of(response)
        # Only a listing's pages are told apart by what they show; most pages are of none.
        paged = SHELF in response.meta or any(link.kind == "pagination" for link in links)
        shelf = shelf_of(links) if paged else None
        further = further_pages(page, links)
        links = links + [
            Link(url, "pagination", "the listing's page count")
            for url in further
            if site.follows(url, page.url)
        ]
        if not further and (search := probing.begin(page, links, shelf)) is not None:
            yield from self._probe(search, site, page.url)
        elif is_listing and not further and (told := announced.announced(page, links)) is not None:
            yield from self._look_beyond(told, announced.begin(page, links, told), site, page.url)
        # A listing that goes on for ever shows the same things again; its next page is no news.
        repeated = shelf is not None and shelf == response.meta.get(SHELF)
        for link in links:
            if not self.knows(link.url, job) and not (repeated and link.kind == "pagination"):
                yield self._request(link, site, shelf)

    def _note_fruit(self, response: Response, found: Found, shown: bool) -> None:
        """Say of a site that page after page shows nothing."""
        meta, site_id = response.meta, site_id_of(response)
        asked = str((meta.get("redirect_urls") or (response.url,))[0])
        seed = not (meta.get(m.DEPTH) or meta.get(m.JOB_ID) or m.KNOWN in meta)
        said = self.fruitless.note(site_id, found, asked, shown=shown, seed=seed)
        self._tell_of_gate(site_id, said)

    def _tell_of_gate(self, site_id: str, said: str | None) -> None:
        if said is not None:
            self._count("fruitless_sites")
            self.logger.warning("site %s: %s; %s", printable(site_id), printable(said), HELP)

    def closed(self, reason: str) -> None:
        """Say at the end of a crawl which sites showed nothing."""
        if reason == "finished":
            for site_id, said in self.fruitless.ends():
                self._tell_of_gate(site_id, said)

    def _learn_shape(
        self, response: Response, found: Found, shown: bool, links: list[Link]
    ) -> None:
        """Learn which pages lead nowhere: the middleware for dead ends asks for no more of them."""
        site_id = site_id_of(response)
        asked = str((response.meta.get("redirect_urls") or (response.url,))[0])
        if shown or found.kind != "other":
            self.dead_ends.lead_on(site_id, asked)
        elif not found.unread and (shape := self.dead_ends.note(site_id, asked, links)) is not None:
            self._count("dead_ends")
            self.logger.info(
                "%s: pages of this shape are left out, because %d of them led to nothing",
                printable(shape),
                ENOUGH,
            )

    def _learn_visits(self, response: Response, shown: list[Hashable], links: list[Link]) -> None:
        """Learn which parameters name a visit: the middleware for dead ends asks for them once."""
        if "?" not in response.url or "redirect_urls" in response.meta:
            return
        name = self.visits.note(job_of(response), response.url, shown, [x.url for x in links])
        if name is not None:
            self._count("visits")
            self.logger.info(
                "site %s: pages that differ in the parameter %s alone are left out, because %s",
                *(printable(site_id_of(response)), printable(name), ALIKE),
            )

    def _tell_of_languages(self, page: Page, site_id: str) -> None:
        """Count the links that lead to a shop's copies in other languages; name each copy once."""
        for folder, urls in page.other_languages.items():
            self._count("other_languages", len(urls))
            if not self.copies.is_new(site_id, folder):
                continue
            self.logger.info(
                "site %s: links into /%s/ are left out, because it is the shop in another language"
                " (the first one: %s)",
                printable(site_id),
                printable(folder),
                printable(urls[0]),
            )

    @staticmethod
    def _left_site(response: Response) -> bool:
        """Whether a link of the site led to another one. A seed may lead anywhere."""
        way, meta = response.meta.get("redirect_urls"), response.meta
        bound = meta.get(m.DEPTH) or m.KNOWN in meta
        return bool(way and bound and not same_site(str(way[0]), response.url))
