"""The catalogue spider: crawls a shop from any of its pages to all of its products."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.http import Response

from crawler.catalogue.jobs.model import Plan
from crawler.extract import Found, Link, Page
from crawler.extract.address_kinds import leads_aside, without_origin
from crawler.extract.links.choice import LOADED, PRIORITY, WHOLE
from crawler.extract.links.fingerprints import listing_fingerprint
from crawler.extract.links.link_header import next_page
from crawler.extract.links.mobile_copies import without_copy
from crawler.extract.links.other_languages import Copies, is_market_front, market_folder
from crawler.extract.links.pagination import is_next_page
from crawler.extract.links.registered_domain import same_site
from crawler.extract.listing import announced
from crawler.extract.listing.further_pages import further_pages
from crawler.extract.page.page import text_of, tidied
from crawler.extract.site import Site
from crawler.extract.sites_without_products import HELP
from crawler.extract.template import Book, Drift, Judgement, Look, know_unpriced, shown_by
from crawler.items import Missing, Product
from crawler.requested_address import requested_address, requested_url
from scrapy_seine import meta as m
from scrapy_seine.engine.headers import has_header
from scrapy_seine.errors import ConfigError
from scrapy_seine.printable import printable
from spiders import which_site
from spiders.asked_elsewhere import AskedElsewhere
from spiders.gates import Gates
from spiders.learned_addresses import LearnedAddresses
from spiders.page_count_search import COUNTED, FurtherPages
from spiders.page_reading import SEARCH, SHELF, job_of, moved_for_good, shows_another, site_id_of
from spiders.sitemaps import Sitemaps

#: What stands for unfollowed links among the folders of languages that were logged.
_UNFOLLOWED = "nofollow"
#: The priority of pages that are fetched again to decide on other pages' doubtful values.
_AT_ONCE = PRIORITY["product"] + 20
#: The priority of pages that are fetched again because an error may have passed until then.
_AT_LAST = PRIORITY["other"] - 1
#: Part of the scope of pages that are fetched again, because they show no price or no product.
_UNPRICED, _ALIKE = "unpriced", "alike"
#: Links that lead on from a page, so that it is no gate, and its legal pages are left out.
_MIN_LEADING = 3
#: Types of jobs whose pages' links are not followed, because these jobs list all their pages.
_NO_LINKS = frozenset({"recrawl", "news", "check"})


class CatalogSpider(Sitemaps, FurtherPages, Gates, AskedElsewhere, LearnedAddresses):
    """Reads each page once: products become items, links become requests with a priority.

    `-a url=…` gives seeds, `-a site=NAME` takes a site file's seeds.
    """

    name = "catalog"
    #: Valid names of -a; others are refused, because with a misspelt one a worker waits for seeds.
    arguments = ("url", "site")

    def __init__(self, *args: Any, site: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: Each site's templates; the storage loads and stores them.
        self.book = Book(self._note_drift)
        #: Shops' copies in other languages, which are skipped.
        self.copies = Copies()
        if site:
            site_file = which_site.require(site)
            if not site_file.seeds and not self.seed_urls:
                raise ConfigError(
                    f'-a site={site}: its file names no seeds; add seeds = ("https://…",) to it,'
                    " or -a url=https://… here"
                )
            self.seed_urls += site_file.seeds

    def make_request_from_data(self, data: bytes) -> Request:
        """Read one seed; the site file gives the missing meta keys (lane, proxy pool …).

        Raises:
            BadSeed: the seed is not valid.
        """
        request = super().make_request_from_data(data)
        for key, value in which_site.find(request.url).request_meta.items():
            request.meta.setdefault(key, value)
        return request

    @staticmethod
    def site_of(url: str) -> Site:
        """The site file for a URL, or the default; commands call it, too."""
        return which_site.find(url)

    def limits_of(self, url: str) -> tuple[int | None, int | None]:
        """The site file's delay (ms) and concurrency, across the fleet."""
        site = which_site.find(url)
        return site.delay_ms, site.concurrency

    @classmethod
    def identities(cls) -> set[str]:
        """The identities that the site files choose."""
        return {site.identity for site in which_site.load().values() if site.identity}

    @classmethod
    def fetch_options(cls) -> list[tuple[str, str | None, str | None]]:
        """Site, lane and proxy pool of each site file."""
        sites = dict.fromkeys(which_site.load().values())
        return [(site.name or site.domains[0], site.lane, site.proxy_pool) for site in sites]

    @classmethod
    def plans(cls) -> list[Plan]:
        """The site files' plans for the coordinator."""
        return which_site.plans()

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Product | Missing | Request]:
        """Read a page of any kind; an exception makes it a dead letter with a reason."""
        if self._left_site(response):
            self._count("offsite_redirects")
            site_id = str(
                response.meta.get(m.SITE_ID) or which_site.site_id(requested_url(response))
            )
            self._warn_fruitless(site_id, self.fruitless.note_redirect_away(site_id, response.url))
            yield from self._missing_items(response, None)
            return
        self._note_cookies(response)
        yield from self._refreshed(response)
        site = which_site.find(response.url)
        page = self._page(response)
        if not page.is_html:
            self._count("not_html")
            yield from self._ask_again(response, site, "no HTML")
            yield from self._ask_elsewhere(response, None, ())
            return
        result = site.extract(page)
        links = (
            self._links_of(response, site, result) if self._may_be_gate(response, result) else None
        )
        if links is not None and (passing := self._passing(response, site, result, links)):
            yield from passing
            return
        is_empty = know_unpriced(self.book, site_id_of(response), result)
        self._count(result.kind)
        for source, error in result.unread.items():
            self._count(f"unread/{source}")
            self.logger.warning("%s: its %s is left out: %s", response.url, source, error)
        products: list[Hashable] = []
        external_ids = set[str | None]()
        meta_site_id = response.meta.get(m.SITE_ID)
        site_id = meta_site_id or which_site.site_id(response.url)
        judgement = self._judge(result, site_id)
        yield from self._reread_requests(result, site_id, site, job_of(response))
        if result.kind != "product":
            shown = "" if is_empty else shown_by(result, "redirect_urls" in response.meta)
            yield from self._ask_again(response, site, shown, is_empty=is_empty)
        for item in site.products(page, result):
            products.append((item.name, str(item.price), item.sku, item.gtin, str(item.images)))
            external_ids.add(item.external_id)
            item.site_id = meta_site_id or item.site_id or site_id
            if judgement is not None and item.sources is result.sources:
                item.confidence = dict(judgement.confidence)
                item.doubts = {name: [d.kind, d.reason] for name, d in judgement.doubts.items()}
            item.job_id = item.job_id or response.meta.get(m.JOB_ID)
            yield item
        if shows_another(response, external_ids) if products else not self._is_doubtful(response):
            yield from self._missing_items(response, result)
        self._note_fruit(response, result, bool(products))
        if response.meta.get(m.JOB_TYPE) not in _NO_LINKS:
            links = self._links_of(response, site, result) if links is None else links
            self._learn_addresses(response, result, products, links)
            yield from self._follow_all(response, site, result, links)

    def _passing(
        self, response: Response, site: Site, result: Found, links: list[Link]
    ) -> list[Request]:
        """Return the requests that lead past a gate, and those of its links; none: it is no gate.

        Nothing is learned from a gate, because it takes the place of any page.
        """
        passing = self._pass_gate(response, result, links)
        if passing:
            self._note_fruit(response, result, False)
        if passing and response.meta.get(m.JOB_TYPE) not in _NO_LINKS:
            passing += self._follow_all(response, site, result, links)
        return passing

    def _links_of(self, response: Response, site: Site, result: Found) -> list[Link]:
        """Return the links of a page that lead on."""
        page = result.page
        links = site.links(page, self._robots_directives(response))
        if links and has_header(response, "Link"):
            links += self._next_in_header(response, site, page)
        links = self._without_redirects(response, links)
        links = self._without_copies(site_id_of(response), page, links)
        links = without_copy(links, page.url, page.canonical)
        self.handles.note(links)
        return _leading_on(links) + self._of_source(site, result, links)

    def _follow_all(
        self, response: Response, site: Site, result: Found, links: list[Link]
    ) -> Iterator[Request]:
        """Request what a page links to, and the sitemaps of a front page."""
        page, site_id = result.page, site_id_of(response)
        self.sitemap_check.note_links(page.url, links, job_of(response))
        self._log_language_copies(page, site_id)
        self._log_unfollowed(response, page, site_id, links)
        is_listing = announced.has_list(result.kind, page, links)
        yield from self._follow(response, site, page, links, is_listing)
        yield from self._look_for_sitemaps(response, links)
        yield from self._ask_elsewhere(response, result, links)

    def _judge(self, result: Found, site_id: str) -> Judgement | None:
        """Judge a product's page by its site's template; None where that is not possible."""
        if result.kind != "product":
            return None
        try:
            judgement = self.book.judge(site_id, result)
        except Exception:  # the page's values are stored without a judgement
            self._count("unjudged")
            self.logger.exception("%s: it is not held against its template", result.page.url)
            return None
        for field, doubt in judgement.doubts.items():
            self._count(f"doubtful/{field}")
            self.logger.debug("%s: %s is doubtful: %s", result.page.url, field, doubt.reason)
        return judgement

    def _reread_requests(
        self, result: Found, site_id: str, site: Site, job: str
    ) -> Iterator[Request]:
        """Request pages again whose template was learned since; once for each version of it."""
        if result.kind != "product":
            return
        unpriced = self.book.addresses.note(site_id, result.page.url)
        for url, version in [
            *self.book.pages_to_reread(site_id),
            *((url, _UNPRICED) for url in unpriced),
        ]:
            self._count("read_again")
            yield self._reread(url, version, site, job)
        alike = self.book.addresses.take_alike(site_id, result.page.url)
        yield from self._at_last(alike, _ALIKE, site, job)
        for look in self.book.currencies.looks(site_id):
            self._count("looked_again")
            link = Link(look.url, "product", "its currency")
            request = self._at_home(self._request(link, site, None))
            request.meta[m.SCOPE] = f"{job} {look.scope}"[: m.LONGEST_SCOPE]
            look_kwargs = {"site_id": site_id, "told": look.currency, "held": look.doubtful}
            yield request.replace(
                priority=_AT_ONCE, callback=self.parse_look, cb_kwargs=look_kwargs
            )

    def _reread(self, url: str, version: object, site: Site, job: str) -> Request:
        """Request a page again, once for each version of its template."""
        link = Link(url, "product", "its template is known now")
        request = self._at_home(self._request(link, site, None))
        request.meta[m.SCOPE] = f"{job} again {version} {url}"[: m.LONGEST_SCOPE]
        return request

    def _ask_again(
        self, response: Response, site: Site, shown: str, *, is_empty: bool = False
    ) -> Iterator[Request]:
        """Request a page at the crawl's end whose address is a product's and that shows none.

        A shop may show an error in its own design, with status 200, for as long as it lasts, or
        refuse every second page. Where too few products are known to tell by the address alone
        (*is_empty*), pages that show the same tell.
        """
        url = tidied(requested_url(response)) or response.url
        site_id, job = site_id_of(response), job_of(response)
        scope = str(response.meta.get(m.SCOPE) or "")
        if f" again {_ALIKE} " in scope or (is_empty and f" again {_UNPRICED} " in scope):
            self._count("empty_products")
            self.fruitless.note_empty_product(site_id, url)
            return
        pages = [url] if is_empty else []
        if shown:
            pages = self.book.addresses.note_empty(site_id, url, shown)
        yield from self._at_last(pages, _UNPRICED if is_empty else _ALIKE, site, job)

    def _at_last(
        self, pages: Sequence[str], version: str, site: Site, job: str
    ) -> Iterator[Request]:
        for url in pages:
            self._count("read_again")
            yield self._reread(url, version, site, job).replace(priority=_AT_LAST)

    def parse_look(
        self, response: Response, site_id: str, told: str, held: list[list[str]]
    ) -> Iterator[Product | Missing | Request]:
        """Read a page again whose currency differs from that of the doubtful pages after it."""
        pages = [(str(url), str(currency)) for url, currency in held]
        url = tidied(response.url) or response.url
        self.book.currencies.expect(site_id, Look(url, told, pages))
        yield from self.parse(response)

    def _note_drift(self, drift: Drift) -> None:
        self._count("template_changes")
        self.logger.warning(
            "site %s: %s %s: %s",
            printable(drift.site_id),
            drift.description,
            *(printable(text) for text in (drift.url, drift.reason)),
        )

    @staticmethod
    def _missing_items(response: Response, result: Found | None) -> Iterator[Product | Missing]:
        """Yield that a known product's page shows no product, or that it is unavailable."""
        known_product = response.meta.get(m.KNOWN)
        if (
            known_product is None
            or response.request is None
            or (result is not None and result.unread)
        ):
            return  # the unread part of the page may hold the product
        url, site_id = requested_address(response.request), str(response.meta.get(m.SITE_ID) or "")
        redirected = "redirect_urls" in response.meta
        item = None if redirected or result is None else result.unavailable()
        if item is None:
            is_blank = not redirected and result is not None and not text_of(result.page.root)
            yield Missing(url, site_id, may_pass=not moved_for_good(response), is_blank=is_blank)
        elif known_product:  # empty for several products at one URL: the page does not say which
            item.external_id, item.name = known_product["id"], known_product["name"]
            item.site_id, item.job_id = site_id, response.meta.get(m.JOB_ID)
            yield item

    def _follow(
        self, response: Response, site: Site, page: Page, links: list[Link], is_listing: bool
    ) -> Iterator[Request]:
        job = job_of(response)
        # Only a listing's pages need the fingerprint of what they show.
        paged = SHELF in response.meta or any(link.kind == "pagination" for link in links)
        shelf = listing_fingerprint(links) if paged else None
        further = further_pages(page, links)
        links = links + [
            Link(url, "pagination", COUNTED) for url in further if site.follows(url, page.url)
        ]
        if any(link.reason == WHOLE for link in links) and announced.shows_all(page, links):
            links = [link for link in links if link.reason != WHOLE]
        search, last_known = (None, "") if further else self._search(response, page, links, shelf)
        if search is not None and not last_known:
            yield from self._probe(search, site, page.url)
        elif (
            search is None
            and is_listing
            and SHELF not in response.meta
            and not further
            and (notice := announced.announced(page, links)) is not None
        ):
            yield from self._look_beyond(
                notice, announced.begin(page, links, notice), site, page.url, job
            )
        # An endless listing repeats its products, so that its next page is not followed.
        repeated = shelf is not None and shelf == response.meta.get(SHELF)
        again = self._first_again(response, page.url, links, shelf)
        is_stale = self._is_stale(links, job)
        is_front = self._is_seeded_front_page(response) and any(x.kind != "other" for x in links)
        root = self._narrowed(response, page, links)
        for link in links:
            if link.url in again or (repeated and link.kind == "pagination"):
                continue
            if link.reason == LOADED:
                yield from self._load(link, site, shelf, response)
            elif not self.knows((followed := self._settled(link, job)).url, job):
                request = self._request(followed, site, shelf)
                if search is not None and link.url == last_known:
                    request.meta[SEARCH] = search.plain()
                self._note_narrowing(request, link, root)
                if is_stale and link.kind == "pagination":
                    request = request.replace(priority=PRIORITY["other"])
                yield self._after_sitemaps(request) if is_front else request

    def _is_stale(self, links: list[Link], job: str) -> bool:
        """Whether a page links to known products alone, so that the next one may wait."""
        if not any(link.kind == "pagination" for link in links):
            return False
        products = [link.url for link in links if link.kind == "product"]
        return bool(products) and all(self.knows(url, job) for url in products)

    def _settled(self, link: Link, job: str) -> Link:
        """Return a link at its shop's first origin; a product's without what canonicals drop."""
        url = self.visits.at_first_origin(link.url, job)
        if link.kind == "product" and "?" in url:
            url = self.visits.settled(url, job)
        return link if url == link.url else Link(url, link.kind, link.reason)

    def _note_fruit(self, response: Response, result: Found, shown: bool) -> None:
        """Warn of a site whose pages show no product."""
        meta, site_id = response.meta, site_id_of(response)
        seed = not (meta.get(m.DEPTH) or meta.get(m.JOB_ID) or m.KNOWN in meta)
        warning = self.fruitless.note(
            site_id, result, requested_url(response), is_product=shown, seed=seed
        )
        self._warn_fruitless(site_id, warning)

    def _warn_fruitless(self, site_id: str, warning: str | None) -> None:
        if warning is not None:
            self._count("fruitless_sites")
            self.logger.warning("site %s: %s; %s", printable(site_id), printable(warning), HELP)

    def closed(self, reason: str) -> None:
        """Warn at the end of a crawl of sites without products, and of pages that showed none."""
        if reason == "finished":
            for site_id, pages, url in self.fruitless.empty_products():
                self.logger.warning(
                    "site %s: %d page(s) with addresses like its products' showed none when asked"
                    " twice (the first one: %s)",
                    printable(site_id),
                    pages,
                    printable(url),
                )
            for site_id, warning in self.fruitless.last_warnings(self.sitemap_check.has_listed):
                self._warn_fruitless(site_id, warning)

    def _log_language_copies(self, page: Page, site_id: str) -> None:
        """Count the links to a shop's copies in other languages; log each copy once."""
        for folder, urls in page.other_languages.items():
            self._count("other_languages", len(urls))
            if not self.copies.is_new(site_id, folder):
                continue
            self.logger.info(
                "site %s: links into %s are left out, because it is the shop in another language"
                " (the first one: %s)",
                printable(site_id),
                printable(folder if "//" in folder else f"/{folder}/"),
                printable(urls[0]),
            )

    def _without_copies(self, site_id: str, page: Page, links: list[Link]) -> list[Link]:
        """Leave out links into a site's language copies on a page that is in no language's folder.

        Such a page has no alternates: a contact page with links to the front pages of all copies.
        """
        left_out = self.copies.left_out
        if left_out and (own_folder := market_folder(urlsplit(page.url).path)):
            left_out.discard((site_id, own_folder))
        elif left_out:
            links = [
                x for x in links if (site_id, market_folder(urlsplit(x.url).path)) not in left_out
            ]
        return links

    def is_left_out_copy(self, *, url: str, site_id: str) -> bool:
        """Whether an address is that of the front page of a copy that is left out by now.

        The page on which visitors choose a country links to all copies before one was read.
        """
        path = urlsplit(url).path
        if not self.copies.left_out or not is_market_front(path):
            return False
        site_id = site_id or which_site.site_id(url)
        return (site_id, market_folder(path)) in self.copies.left_out

    def _log_unfollowed(
        self, response: Response, page: Page, site_id: str, links: list[Link]
    ) -> None:
        """Log once that a site forbids following the links of its front page or its pagers.

        A pager of which only the link to the next page may be followed leads to all pages.
        """
        is_all = page.unfollowed[:1] == [page.url]
        if not page.unfollowed or (is_all and response.meta.get(m.DEPTH)):
            return
        if any(x.kind == "pagination" and is_next_page(x.url, page.url) for x in links):
            return
        if self.copies.is_new(site_id, _UNFOLLOWED):
            self.logger.warning(
                "site %s: %s %s is not followed, because the shop says nofollow; seed its listings"
                " or a sitemap if you may crawl them",
                printable(site_id),
                "no link of" if is_all else "a listing's further page",
                printable(page.unfollowed[0]),
            )

    @staticmethod
    def _next_in_header(response: Response, site: Site, page: Page) -> list[Link]:
        """Return the link to a listing's next page that the response's headers have."""
        values = [value.decode("latin-1") for value in response.headers.getlist("Link")]
        url = next_page(values, page)
        if url is None or url == tidied(page.url) or not site.follows(url, page.url):
            return []
        return [Link(url, "pagination", "rel=next")]

    @staticmethod
    def _left_site(response: Response) -> bool:
        """Whether a followed link redirected to another site. A seed may lead anywhere."""
        redirects, meta = response.meta.get("redirect_urls"), response.meta
        is_followed = meta.get(m.DEPTH) or m.KNOWN in meta
        return bool(redirects and is_followed and not same_site(str(redirects[0]), response.url))


def _leading_on(links: list[Link]) -> list[Link]:
    """Leave out a shop's pages without goods (carts, legal pages) where links lead on."""
    kinds = {"other", "listing"}
    kept = [x for x in links if x.kind not in kinds or not leads_aside(without_origin(x.url))]
    return kept if len(kept) >= _MIN_LEADING else links
