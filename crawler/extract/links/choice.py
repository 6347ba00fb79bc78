"""Choose the links of a page that lead to products or listings, and leave out crawler traps."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from itertools import chain
from typing import Literal
from urllib.parse import quote

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import leads_aside
from crawler.extract.links import nofollow
from crawler.extract.links.clickable import clickable
from crawler.extract.links.companions import leave_out
from crawler.extract.links.contexts import FACET, FOOT, NAV, PAGER, Contexts
from crawler.extract.links.facets import (
    ALL_PRODUCTS,
    is_facet,
    is_identity,
    narrows_further,
    shown_at_once,
    without_display,
)
from crawler.extract.links.goods_boxes import without_purchases
from crawler.extract.links.language_switch import fronts_of, leave_out_copies
from crawler.extract.links.market_choice import (
    MAX_BESIDE_CHOICE,
    in_own_language,
    one_market_first,
)
from crawler.extract.links.other_languages import (
    alternate_folders,
    alternate_origins,
    is_market_front,
    is_translation,
    language_folder,
    leads_to_other_language,
    market_folder,
)
from crawler.extract.links.pagination import (
    Address,
    is_idle,
    is_too_far,
    leads_here,
    number_in,
    odd_page_parameter,
    page_number,
    split_url,
    turns_page,
    without_first_page,
)
from crawler.extract.links.plain_kinds import plain_kind
from crawler.extract.links.scripted import (
    SCRIPTED,
    described,
    next_pages,
    scripted,
    written_menus,
)
from crawler.extract.links.switches import common_switches, has_switch, without_switches
from crawler.extract.links.tile_links import is_listed, linked_tiles, only_references
from crawler.extract.links.traps import (
    is_dated_product,
    is_trap,
    may_be_category,
    names_goods,
    returns_to,
    stands_among_goods,
)
from crawler.extract.links.unlinked import loaded_addresses, loaded_menus, unlinked
from crawler.extract.links.variants import Variants, reads_product
from crawler.extract.links.visit_parameters import without_category
from crawler.extract.page.page import Element, Page, is_root, tidied
from scrapy_seine.attrs_bases import Value
from scrapy_seine.urls import MAX_LENGTH

LinkKind = Literal["product", "pagination", "listing", "other"]

#: The reason of a link to more of a listing that a script loads.
LOADED = "a script loads it"
#: The reason of a link to all of a listing's products.
WHOLE = "it shows the whole listing"
#: The reason of a link from a tile with a price.
PRICED = "it is that of a tile with a price"
#: The reason of a link to a page that shows each product by a parameter.
SHOWN = "one page shows all products"
#: The reason of a link whose kind is known, by the element's tag; others are loaded.
_REASONS = {"link": "rel=next"}
#: Higher is fetched first, because a product page adds few links and a listing's page many.
PRIORITY: dict[LinkKind, int] = {"product": 40, "pagination": 30, "listing": 20, "other": 0}

_SCHEME = lazy_patterns.pattern(r"\s*([a-zA-Z][a-zA-Z0-9+.-]*):")
#: What a slash before it makes the begin of another host's address, as browsers read it.
_SLASHES = frozenset("/\\")
#: A listing of 5,000 products has two links to each; reading so many takes a tenth of a second.
_MAX_ANCHORS = 20_000
#: Boxes whose links may turn a page or narrow a listing.
_JUDGED = PAGER | FACET
#: Longer `href` values are not cached.
_MAX_CACHED_HREF = 300


@attrs.frozen(eq=False, repr=False)
class Link(Value):
    """A link worth following."""

    url: str
    """Absolute, in the form to request."""
    kind: LinkKind
    reason: str

    @property
    def priority(self) -> int:
        """Higher is fetched earlier."""
        return PRIORITY[self.kind]


# Cached, because the menu of a site is the same on all of its pages.
_link = lru_cache(maxsize=1024)(Link)


def find_links(
    page: Page, *, allowed: Callable[[str], bool] | None = None, robots: str = ""
) -> list[Link]:
    """Return the page's links that are worth following, each once, in the page's order.

    *allowed* filters absolute URLs (site, allow, deny); *robots* has the directives of X-Robots-Tag.
    """
    if nofollow.of_page(f"{page.meta_list('robots')},{robots}"):
        page.unfollowed.append(page.url)
        return []
    collector = _LinkCollector(page, allowed)
    for element in page.links[:_MAX_ANCHORS]:
        rel = (element.get("rel") or "").lower()
        if rel == "next":
            collector.add(element, "pagination")
        elif rel == "amphtml" or (rel == "alternate" and element.get("media")):
            collector.copies.append(collector.url_of(element.get("href") or "#"))  # for phones
    for element in nofollow.requested_by_get(page)[:_MAX_ANCHORS]:
        collector.add(element, None)
    for element, reference in unlinked(page):
        collector.add(element, None, reference)
    if not page.shows_product:  # what a product's page loads are reviews
        _add_loaded(collector, page)
    _add_scripted(collector, page)
    return without_purchases(collector.result(), page)


def _add_loaded(collector: _LinkCollector, page: Page) -> None:
    """Add what a script loads: more of a listing, and the menu, which is that of the front page."""
    for element, reference in loaded_addresses(page):
        collector.add(element, "pagination", reference)
    kinds = (link.kind for link in collector.links_by_url.values())
    if is_root(page.url) or "listing" not in kinds:
        for element, reference in loaded_menus(page):
            collector.add(element, "listing", reference)
        for element, reference in written_menus(page):
            collector.add(element, None, reference)


def _add_scripted(collector: _LinkCollector, page: Page) -> None:
    """Add what leads to products where no link does, and the next page where none turns it."""
    kinds = {link.kind for link in collector.links_by_url.values()}
    has_products = "product" in kinds
    if not has_products:
        for element, reference in scripted(page):
            collector.add(element, None, reference)
    if page.shows_product or (has_products and "pagination" in kinds):
        return
    for element, reference in () if has_products else chain(clickable(page), described(page)):
        collector.add(element, None, reference)
    for element, reference in next_pages(page):
        if not has_products or page_number(split_url(collector.url_of(reference) or "")) > 1:
            collector.add(element, "pagination", reference)


class _LinkCollector:
    """Collects the links of one page."""

    def __init__(self, page: Page, allowed: Callable[[str], bool] | None) -> None:
        self.page = page
        self.allowed = allowed
        self.hrefs: set[str] = set()
        self.copies: list[str | None] = []
        self.links_by_url: dict[str, Link] = {}
        self.address = split_url(tidied(page.url) or page.url)
        end = page.base.find("/", 8)
        self.origin = page.base if end < 0 else page.base[:end]
        self.lang = page.lang[:2].lower()
        self.folder = language_folder(self.address[1])
        self.foreign_folders = self.foreign_origins = frozenset[str]()
        if page.holds(b"hreflang") or page.holds(b"hrefLang"):  # as React writes it
            self.foreign_folders = alternate_folders(page, self.address[1])
            self.foreign_origins = alternate_origins(page, self.address[0])
        self.has_copies = bool(self.folder or self.foreign_folders or self.foreign_origins)
        #: Links that were left out, because they lead to another language; the language first.
        self.translations: list[tuple[str, str]] = []
        #: Links that show so many of the listing's products at once, which are not followed as such.
        self.sizes: dict[int, str] = {}
        self.variants = Variants(self.address)
        self.page_parameters: set[str] = set()
        self.context = Contexts().of

    def add(self, element: Element, kind: LinkKind | None, href: str | None = None) -> None:
        href = href or element.get("href") or element.get("xlink:href")
        if not href or href[0] == "#" or len(href) > MAX_LENGTH:
            href = self._escaped_fragment(href)
            if href is None:
                return
        rel = element.get("rel")
        if kind is None and rel and nofollow.of_link(rel):
            self._note_unfollowed(element, href)
            return
        if href in self.hrefs and not (rel and "next" in rel):
            return
        self.hrefs.add(href)
        url = self.url_of(href)
        if url is None:
            return
        earlier_link = self.links_by_url.get(url)
        if earlier_link is not None and earlier_link.kind in {"product", "pagination"}:
            return
        target, language = split_url(url), None if kind else element.get("hreflang")
        if (
            target == self.address
            or (is_trap(url) and not self._passes_trap(element, target, url))
            or (
                (language or target[2] or self.has_copies)
                and self._is_other_language(target, url, language)
            )
            or (target[2] and kind is None and returns_to(target, self.address))
        ):
            return
        kind, reason = (
            (kind, _REASONS.get(element.tag, LOADED))
            if kind
            else self._kind(element, rel or "", target, url)
        )
        if kind == "product" and self.variants.add(target, url):
            return
        if kind is not None and (earlier_link is None or PRIORITY[kind] > earlier_link.priority):
            self.links_by_url[url] = _link(url, kind, reason)

    def _passes_trap(self, element: Element, target: Address, url: str) -> bool:
        """Whether a trap's address is followed; of what all links of the shop have, the rest is."""
        if "=" in url and has_switch(url) and self.switches:
            plain, requested = without_switches(url, self.switches, self.page.url)
            if not is_trap(plain) and requested != url:
                self.add(element, None, requested)
            return not is_trap(plain) and requested == url
        return self._is_of_goods(element, target, url)

    @cached_property
    def switches(self) -> frozenset[str]:
        """The parameters of switches that the page's links have alike."""
        return common_switches(self.page)

    @cached_property
    def only_references(self) -> frozenset[str]:
        """The references of tiles with a price that have no other one."""
        return only_references(self.page.tile_amounts)

    def _is_of_goods(self, element: Element, target: Address, url: str) -> bool:
        """Whether a trap's address is that of goods: a menu has it, or the page of its category."""
        if "/20" in url and is_dated_product(element, url):
            return True
        if self.page.shows_product or names_goods(url) or not may_be_category(target[1]):
            return not self.page.shows_product and names_goods(url)
        own = self.address[1].rstrip("/")
        if own and target[1].startswith(f"{own}/"):
            return True
        return self.context(element) & (NAV | FOOT) == NAV and stands_among_goods(element)

    def _note_unfollowed(self, element: Element, href: str) -> None:
        """Note the first link to a further page of the listing that may not be followed."""
        url = None if self.page.unfollowed else self.url_of(href)
        if url is None:
            return
        target = split_url(url)
        is_pager = bool(self.context(element) & PAGER)
        if turns_page(element, "", target, self.address, pager=is_pager) and not (
            0 < page_number(target) <= (page_number(self.address) or 1)
        ):
            self.page.unfollowed.append(url)

    def _is_other_language(self, target: Address, url: str, language: str | None) -> bool:
        """Whether a link leads to a translation of the page, or to another language's folder.

        *language* is the one that the link declares, if any.
        """
        if language and language[:2].lower() != self.page.lang[:2]:
            self.translations.append((language[:2].lower(), url))
            return True
        if target[2] and is_translation(target, self.address):
            self.translations.append((str(target[2]), url))
            return True
        if target[0] != self.address[0]:
            is_foreign = target[0] in self.foreign_origins
            if is_foreign:
                self.translations.append((target[0], url))
                self.page.other_languages.setdefault(target[0], []).append(url)
            return is_foreign
        if not self.has_copies:
            return False
        if not leads_to_other_language(target[1], self.folder, self.foreign_folders, self.lang):
            return False
        folder = market_folder(target[1])
        self.translations.append((folder, url))
        self.page.other_languages.setdefault(folder, []).append(url)
        return True

    def _escaped_fragment(self, href: str | None) -> str | None:
        """Return the crawlable form of a hash-bang reference (`#!/lamps`), if the page supports it.

        Return None for any other reference: a fragment of the page, an empty or a too long one.

        Source: developers.google.com/search/docs/ajax-crawling/docs/specification
        """
        if not href or href[:2] != "#!" or self.page.meta("fragment") != "!":
            return None
        reference = f"?_escaped_fragment_={quote(href[2:])}"
        return reference if len(reference) <= MAX_LENGTH else None

    def url_of(self, href: str) -> str | None:
        """Return the address to request for a reference; None if it may not be requested."""
        if href[0] == "/" and href[1:2] not in _SLASHES and len(href) <= _MAX_CACHED_HREF:
            url = _of_origin(self.origin, href)
        else:
            scheme = _SCHEME.match(href)
            if scheme and scheme[1].lower() not in {"http", "https"}:
                return None
            resolved = self.page.resolve(href)
            url = None if resolved is None else _requested(resolved)
        if url is None or (self.allowed is not None and not self.allowed(url)):
            return None
        return url

    def _kind(
        self, element: Element, rel: str, target: Address, url: str
    ) -> tuple[LinkKind | None, str]:
        if element.tag == "script":
            return plain_kind(element, 0, target)[0], SCRIPTED
        context = self.context(element)
        if target[2] or rel or context & _JUDGED or number_in(target):
            return self._kind_in_listing(element, rel, target, url, context)
        return plain_kind(element, context, target)  # nearly all links

    def _kind_in_listing(
        self, element: Element, rel: str, target: Address, url: str, context: int
    ) -> tuple[LinkKind | None, str]:
        """Return the kind of a link that may turn a page of a listing, or narrow it."""
        if context & PAGER and is_idle(element, target, self.address):
            return None, ""
        param = (
            odd_page_parameter(
                element,
                target,
                self.address,
                is_identity=is_identity,
                is_product=self.page.shows_product,
            )
            if target[2] and target[1] == self.address[1]
            else None
        )
        if param:
            self.page_parameters.add(param[0])
        if param or turns_page(element, rel, target, self.address, pager=bool(context & PAGER)):
            number = param[1] if param else page_number(target)
            own_number = page_number(self.address, self.page_parameters)
            odd_name = param[0] if param else ""
            if number <= 1 and (first := without_first_page(element, url, odd_name)) != url:
                if not leads_here(split_url(first), self.address, own_number):
                    self.links_by_url.setdefault(first, Link(first, "pagination", "page 1"))
                return None, ""
            is_far = is_too_far(number, own_number)
            return (None, "") if is_far else ("pagination", "it turns the page")
        if context & FACET and not (
            _is_product_of_category(target)
            or (self.address[1] == "/" and not target[2])  # no further facet is added to that
            or is_listed(element)
        ):
            return None, ""
        kind: LinkKind | None
        kind, reason = plain_kind(element, context, target)
        if kind != "product" and target[2] and is_facet(target, self.address):
            return self._beyond_facet(element, kind, target, url)
        return kind, reason

    def _beyond_facet(
        self, element: Element, kind: LinkKind, target: Address, url: str
    ) -> tuple[LinkKind | None, str]:
        """Judge a link that only narrows or restyles a listing, by its address."""
        if not self.page.shows_product and element.get("href") in self.only_references:
            return "product", PRICED
        if shown := shown_at_once(target, self.address):
            self.sizes[shown] = url
        elif plain := without_display(url, target, self.address):
            self.links_by_url.setdefault(plain, Link(plain, kind, "it orders another listing"))
        return None, ""

    def result(self) -> list[Link]:
        for url in self.copies:
            self.links_by_url.pop(url or "", None)
        if self.page.tile_amounts and not self.page.shows_product:
            self._note_tiles()
        self._leave_out()
        links = list(self.links_by_url.values())
        if self.variants.by_shared_place:
            shown = self.variants.products(self.links_by_url)
            links += [Link(url, "product", SHOWN) for url in shown]
        if "+" in "".join(self.links_by_url):
            links = [link for link in links if not self._narrows(link)]
        if self.sizes:
            links += self._whole_listing(links)
        # An empty page ends a listing, even if its pager links to further pages.
        if page_number(self.address, self.page_parameters) > 1 and not any(
            link.kind in {"product", "other"} for link in links
        ):
            links = [link for link in links if link.kind != "pagination"]
        if all(link.kind == "other" for link in links):
            if self.address[1] == "/" and len(links) <= MAX_BESIDE_CHOICE:
                links += self._in_first_language()
            links = one_market_first(links, self.lang)
        if self.address[1] == "/":
            return in_own_language(self.page, links) if self.lang else links
        return self._of_market(links) if is_market_front(self.address[1]) else links

    def _leave_out(self) -> None:
        """Delete links to what is offered about one product, and to the shop in other languages."""
        links = self.links_by_url
        leave_out(self.page, links, self.url_of)
        if self.lang and not self.folder and (fronts := links.keys() & fronts_of(self.address[0])):
            self.translations += leave_out_copies(self.page, links, fronts, self.url_of)

    def _of_market(self, links: list[Link]) -> list[Link]:
        """Return a country's or language's front page's links, or to another one if it has no goods."""
        for folder in self.foreign_folders:  # no link need lead to them
            self.page.other_languages.setdefault(folder, [f"{self.address[0]}/{folder}/"])
        is_stub = all(leads_aside(split_url(link.url)[1]) for link in links)
        return links + self._in_first_language() if is_stub else links

    def _note_tiles(self) -> None:
        """Call the links of tiles with a price products, and leave out links to their variants.

        A variant has a product's address with a query or with one more segment.
        """
        links = self.links_by_url
        places = set()
        for href in linked_tiles(self.page.tile_amounts):
            url = self.url_of(href)
            if url is not None and url in links and links[url].kind == "other":
                links[url] = Link(url, "product", PRICED)
                places.add(url)
        for url in [*links] if places else ():
            place = url.partition("?")[0]
            if links[url].kind == "other" and not places.isdisjoint(
                {place, place.rpartition("/")[0]}
            ):
                del links[url]

    def _narrows(self, link: Link) -> bool:
        return link.kind != "product" and narrows_further(split_url(link.url)[1], self.address[1])

    def _whole_listing(self, links: list[Link]) -> list[Link]:
        """Return the link that shows most products of a full page without a pager."""
        smallest, largest = min(self.sizes), max(self.sizes)
        shown = sum(link.kind == "product" for link in links)
        is_full = 2 * shown >= smallest or smallest == ALL_PRODUCTS
        if shown >= largest or not is_full or any(link.kind == "pagination" for link in links):
            return []
        return [Link(self.sizes[largest], "pagination", WHOLE)]

    def _in_first_language(self) -> list[Link]:
        """Return the links to one language of a front page that only lets visitors choose one."""
        first = self.translations[0][0] if self.translations else ""
        urls = dict.fromkeys(url for language, url in self.translations if language == first)
        for origin, path, _ in map(split_url, urls):
            self.page.other_languages.pop(origin, None)
            self.page.other_languages.pop(language_folder(path), None)
        return [Link(url, "listing", "it is the shop in its first language") for url in urls]


@lru_cache(maxsize=1024)  # for menus, too
def _of_origin(origin: str, href: str) -> str | None:
    """Return the address to request for a link that begins with a slash."""
    url = origin + href.strip()
    return _requested(url) if url[:4].lower() == "http" else None


def _requested(url: str) -> str | None:
    """Return an address in the form to request, without the category in a product's address."""
    return tidied(without_category(url))


def _is_product_of_category(target: Address) -> bool:
    """Whether an address is a product's, with no parameter but its own or its category's."""
    return reads_product(target[1]) and all(is_identity(name) for name, _ in target[2])
