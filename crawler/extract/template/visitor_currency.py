"""Detect that a site's currency changed with the visitor during a crawl.

Shops choose a currency by the visitor: by the worker's country, or by a cookie. On a first crawl no
product has a stored value, so that only the site's other pages contradict such a currency. A shop
with several currencies has one for each market, which its addresses name, or for each section,
which they need not name. A second look at earlier pages separates the two cases: their currency
changed with the visitor, or it did not. Until then, values in the new currency are doubtful. If the
earlier pages are unchanged, the doubtful pages are read again and their values kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from hashlib import blake2b

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.limited_dict import Newest
from crawler.extract.template.page_doubts import Doubt
from scrapy_seine.attrs_bases import Record, Value

#: The kind of the doubt. A second look decides about it, not the number of doubtful pages.
TURNED = "turned"
#: Sites, markets of a site, pages of a market, and doubtful pages of a market that are kept.
_MAX_SITES, _MAX_MARKETS, _MAX_URLS, _MAX_DOUBTFUL = 500, 40, 60, 500
#: Markets of a site that are stored for other workers.
_MAX_SHARED_MARKETS = 8
#: Pages of a market before another currency is a doubt. If they have several currencies, sellers of
#: several countries share the market, and no further currency is a doubt.
_MIN_PAGES = 8
#: Pages that are read again at first, and unchanged pages that settle the doubt.
_FIRST_LOOKS, _SETTLING_LOOKS = 3, 2
#: Doubtful pages that each cause a look, and the interval of looks for further ones, because a
#: response may be lost or reach another worker; doubtful pages without an answer before a report.
_LOOK_AT_EACH, _LOOK_INTERVAL, _REPORT_AFTER = 24, 10, 200
#: Pages that other workers stored in another currency before some are read again, and how often.
_MIN_OTHERS, _MAX_COMPARISONS = 3, 4
#: A path segment that names a language or a country, and a parameter that chooses one.
_MARKET_CODE = lazy_patterns.pattern(r"[a-z]{2}(?:[-_][a-zA-Z]{2,4})?")
_MARKET_CHOICE = lazy_patterns.pattern(
    r"[?&]((?:curr?(?:ency)?|country|region|market|store|lang(?:uage)?|locale)=\w+)"
)


#: Addresses of pages, and their currencies.
PageCurrencies = list[tuple[str, str]]


@attrs.frozen(eq=False, repr=False)
class Look(Value):
    """A page to be read again by any worker."""

    url: str
    currency: str
    """The page's currency at the first look."""
    doubtful: PageCurrencies
    """Doubtful pages to read again if its currency is unchanged; empty if it is one of them."""

    @property
    def scope(self) -> str:
        """The scope of the look's request, so that each look is fetched once."""
        about = self.doubtful[-1][0] if self.doubtful else "kept"
        return f"look {blake2b(f'{self.url} {about}'.encode(), digest_size=8).hexdigest()}"


@attrs.define(eq=False, repr=False)
class _Market(Record):
    """The pages of a site whose addresses name the same market, or none."""

    usual: str
    accepted: set[str]
    """Currencies that are not doubtful."""
    pages: int = 0
    urls: deque[str] = attrs.Factory(lambda: deque(maxlen=_MAX_URLS))
    """Newest pages with the usual currency."""
    doubtful: dict[str, str] = attrs.Factory(dict)
    """Pages with a doubtful currency, and that currency."""
    doubts: int = 0
    """All such pages, also those beyond the limit, since the last decision."""
    looks: int = 0
    unchanged: int = 0
    """Earlier pages whose currency is unchanged at the second look."""
    settled: bool = False
    has_turned: bool = False
    first_pages: list[tuple[str, str]] = attrs.Factory(list)
    """The first pages and their currencies."""
    compared: int = 0
    """How often pages that others stored were read again."""
    oldest_stored: str | None = None
    """The currency of the oldest stored page, if others stored another one than this worker sees."""

    @property
    def is_open(self) -> bool:
        """Whether a further currency is accepted: pages are few, or have several currencies."""
        return self.pages < _MIN_PAGES or len(self.accepted) > 1

    def begin(self, url: str, currency: str) -> list[Look]:
        """Count one of the first pages; return looks if the currency changed among them."""
        self.first_pages.append((url, currency))
        later = [pair for pair in self.first_pages if pair[1] != self.usual]
        if len(self.first_pages) < _MIN_PAGES or len(later) < 2:
            return []
        later_currencies = {later_currency for _, later_currency in later}
        if len(later_currencies) > 1 or later != self.first_pages[-len(later) :]:
            return []
        return [
            Look(usual_url, self.usual, later[-1:])
            for usual_url in list(self.urls)[:_SETTLING_LOOKS]
        ]

    def compare(self, stored: PageCurrencies) -> list[Look]:
        """Compare what all workers stored, the oldest first, with what this worker sees."""
        other_pages = [
            (url, stored_currency)
            for url, stored_currency in stored
            if stored_currency not in self.accepted
        ]
        if self.is_open or self.has_turned or self.compared >= _MAX_COMPARISONS:
            return []
        if len(other_pages) < _MIN_OTHERS:
            return []
        self.oldest_stored = stored[0][1]
        start = self.compared * _FIRST_LOOKS
        self.compared += 1
        return [
            Look(url, stored_currency, [])
            for url, stored_currency in other_pages[start : start + _FIRST_LOOKS]
        ]

    def judge_look(self, look: Look, currency: str) -> tuple[list[Look], str]:
        """Judge a page that was read again; return looks at pages that are now right, and news."""
        if look.currency != currency:
            if look.doubtful or self.oldest_stored == look.currency:
                self.usual, self.accepted = look.currency, {look.currency}
            news = f"the site gave {look.currency} before, and gives {currency} now"
            if self.oldest_stored is not None and not look.doubtful:
                news += ", as to this worker: do workers ask from different countries?"
            news, self.has_turned = "" if self.has_turned else news, True
            return [], news
        self.unchanged += 1
        if look.doubtful:
            self.doubtful.update(look.doubtful)
        elif not self.has_turned:  # another worker found the earlier pages unchanged
            self.accepted.add(currency)
            self.unchanged = _SETTLING_LOOKS
        return (
            self.believe() if self.unchanged >= _SETTLING_LOOKS and not self.has_turned else []
        ), ""

    def believe(self) -> list[Look]:
        """Accept the doubtful currencies of the market; return looks at the pages with them."""
        looks = [Look(url, currency, []) for url, currency in self.doubtful.items()]
        doubtful_currencies = set(self.doubtful.values())
        if self.has_turned and len(doubtful_currencies) == 1:  # the site has it now
            (self.usual,), self.accepted = doubtful_currencies, set()
            self.urls.clear()
        self.accepted |= doubtful_currencies
        self.doubtful, self.doubts, self.settled, self.has_turned = {}, 0, True, False
        return looks

    def add_doubtful(self, url: str, currency: str) -> tuple[list[Look], str]:
        """Add a doubtful page; return looks at earlier pages, and news."""
        self.doubts += url not in self.doubtful
        if len(self.doubtful) < _MAX_DOUBTFUL:
            self.doubtful[url] = currency
        number = self.doubts
        if self.has_turned or (number > _LOOK_AT_EACH and number % _LOOK_INTERVAL):
            return [], ""
        news = f"no page that gave {self.usual} was seen again" if number == _REPORT_AFTER else ""
        usual_urls = list(self.urls)
        if not self.looks:
            urls = usual_urls[:: max(1, len(usual_urls) // _FIRST_LOOKS)][:_FIRST_LOOKS]
        else:
            urls = usual_urls[self.looks % len(usual_urls) :][:1] if usual_urls else []
        self.looks += len(urls)
        doubtful_pages = list(self.doubtful.items())[
            -(_LOOK_INTERVAL if number > _LOOK_AT_EACH else 1) :
        ]
        return [Look(usual_url, self.usual, doubtful_pages) for usual_url in urls], news


@attrs.define(eq=False, repr=False)
class _Site(Record):
    markets: dict[str, _Market] = attrs.Factory(dict)
    expected: Look | None = None
    """The look whose page is read next."""
    looks: list[Look] = attrs.Factory(list)


@attrs.define(eq=False, repr=False)
class SiteCurrencies(Record):
    """The currencies of the sites that a worker reads, by market."""

    _sites: Newest[_Site] = attrs.Factory(lambda: Newest(_Site, _MAX_SITES))

    def note(self, site_id: str, url: str, currency: str) -> tuple[Doubt | None, str]:
        """Count a page; return a doubt about its currency, and news as text."""
        site = self._sites[site_id]
        market = self._market(site, url, currency)
        news = ""
        if site.expected is not None and site.expected.url == url:
            looks, news = market.judge_look(site.expected, currency)
            site.looks += looks
            site.expected = None
        if currency not in market.accepted and not market.has_turned and market.is_open:
            market.accepted.add(currency)
        if currency in market.accepted:
            market.pages += 1
            if currency == market.usual:
                market.urls.append(url)
            if market.pages <= _MIN_PAGES:
                site.looks += market.begin(url, currency)
            return None, news
        looks, look_news = market.add_doubtful(url, currency)
        site.looks += looks
        return Doubt(
            TURNED, f"it is {currency}, and pages gave {market.usual} before"
        ), news or look_news

    def compare(self, site_id: str, stored: PageCurrencies) -> None:
        """Compare the addresses and currencies that all workers stored of a site, the oldest first.

        Workers in different countries each see one currency from the start, and only their stored
        pages show that there are two. Pages of the other workers are read again.
        """
        site = self._sites[site_id]
        by_market: dict[str, PageCurrencies] = {}
        for url, currency in stored:
            by_market.setdefault(market_of(url), []).append((url, currency))
        for name, page_currencies in by_market.items():
            market = site.markets.get(name)
            if market is not None:
                site.looks += market.compare(page_currencies)

    def is_own(self, site_id: str, url: str, currency: str) -> bool:
        """Whether a currency is accepted in the page's market, which has a name or is settled."""
        site, name = self._sites.get(site_id), market_of(url)
        market = site.markets.get(name) if site is not None else None
        if market is None or currency not in market.accepted:
            return False
        return market.settled or "/" in name

    def plain(self, site_id: str) -> dict[str, list[list[str]]]:
        """Return a site's markets as they are stored in JSON, for workers that start later."""
        site = self._sites.get(site_id)
        markets = list(site.markets.items())[:_MAX_SHARED_MARKETS] if site is not None else []
        return {
            name: [[market.usual], sorted(market.accepted), list(market.urls)[-_FIRST_LOOKS:]]
            for name, market in markets
            if market.pages >= _MIN_PAGES
        }

    def load(self, site_id: str, plain: Mapping[str, list[list[str]]]) -> None:
        """Load other workers' markets that this worker does not have."""
        site = self._sites[site_id]
        for name, ((usual,), fine, urls) in list(plain.items())[:_MAX_SHARED_MARKETS]:
            if name not in site.markets:
                market = site.markets[name] = _Market(usual, {usual, *fine}, _MIN_PAGES)
                market.urls.extend(urls[:_FIRST_LOOKS])

    def believe(self, site_id: str) -> None:
        """Accept all currencies of a site, because products are stored with them."""
        site = self._sites.get(site_id)
        for market in site.markets.values() if site is not None else ():
            market.believe()

    def expect(self, site_id: str, look: Look) -> None:
        """Set the look whose page is noted next."""
        self._sites[site_id].expected = look

    def looks(self, site_id: str) -> list[Look]:
        """Return the pages to read again, once."""
        site = self._sites.get(site_id)
        if site is None or not site.looks:
            return []
        looks, site.looks = site.looks, []
        return looks

    @staticmethod
    def _market(site: _Site, url: str, currency: str) -> _Market:
        name = market_of(url)
        market = site.markets.get(name)
        if market is None:
            if len(site.markets) >= _MAX_MARKETS:
                site.markets.pop(min(site.markets, key=lambda key: site.markets[key].pages))
            market = site.markets[name] = _Market(currency, {currency})
        return market


def market_of(url: str) -> str:
    """Return the host of an address and its parts that name a market.

    >>> market_of("https://a.example/de-at/lamps/1"), market_of("https://a.example/lamps/us/1")
    ('a.example/de-at', 'a.example')
    >>> market_of("https://a.example/p/1?currency=USD&id=3"), market_of("https://us.a.example/p/1")
    ('a.example/currency=USD', 'us.a.example')
    """
    parts = url.split("/", 5)
    name = parts[2] if len(parts) > 2 else ""
    for part in parts[3:5]:
        if not _MARKET_CODE.fullmatch(part):
            break
        name = f"{name}/{part}"
    if "?" in url:
        name = "/".join([name, *_MARKET_CHOICE.findall(url)])
    return name
