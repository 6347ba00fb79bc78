"""In which currency a site answers, and whether that changed while it was read.

Shops take a currency by the visitor: by the country that a worker asks from, or by a cookie. On a
first crawl no product has a value of before, so that nothing but the site's other pages contradicts
such an answer. A shop with several currencies has one for each market, which its addresses name, or
for each section, which they need not name. What tells the two apart is a second look at pages that
were read before: their currency changed with the visitor, or it did not. Until that is known, values
in the new currency are doubtful; where the pages of before are as they were, the doubtful ones are
read again and kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from hashlib import blake2b

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.bounded_dict import Newest
from crawler.extract.template.page_doubts import Doubt
from scrapy_seine.records import Record, Value

#: The kind of the doubt. A second look decides about it, not how many pages have it.
TURNED = "turned"
#: Sites, markets of a site, pages of a market, and doubtful pages of it that are remembered.
_MAX_SITES, _MAX_MARKETS, _MAX_URLS, _MAX_DOUBTFUL = 500, 40, 60, 500
#: Markets of a site that workers tell each other of.
_MAX_SHARED_MARKETS = 8
#: Pages in one currency before another one is news. Where these tell several, sellers of several
#: countries share the market, and no further one is.
_MIN_PAGES = 8
#: Pages that are looked at again at first, and those of them that settle it.
_FIRST_LOOKS, _SETTLING_LOOKS = 3, 2
#: Looks for each doubtful page at first, then for each of so many, because an answer may be lost, or
#: come to another worker; and doubtful pages without an answer after which the doubt is told.
_LOOK_AT_EACH, _LOOK_INTERVAL, _REPORT_AFTER = 24, 10, 200
#: Pages that others stored in another currency before some of them are looked at, and how often.
_MIN_OTHERS, _MAX_COMPARISONS = 3, 4
#: A part of an address that names a language or a country, or chooses one.
_MARKET_CODE = lazy_patterns.pattern(r"[a-z]{2}(?:[-_][a-zA-Z]{2,4})?")
_MARKET_CHOICE = lazy_patterns.pattern(
    r"[?&]((?:curr?(?:ency)?|country|region|market|store|lang(?:uage)?|locale)=\w+)"
)


#: Doubtful pages and their currencies.
PageCurrencies = list[tuple[str, str]]


@attrs.frozen(eq=False, repr=False)
class Look(Value):
    """A page to be read again, by whichever worker."""

    url: str
    currency: str
    """What it told before."""
    doubtful: PageCurrencies
    """Doubtful pages that are to be read again where it tells the same; none: it is one itself."""

    @property
    def scope(self) -> str:
        """Which look at the page this is: each is one request."""
        about = self.doubtful[-1][0] if self.doubtful else "kept"
        return f"look {blake2b(f'{self.url} {about}'.encode(), digest_size=8).hexdigest()}"


@attrs.define(eq=False, repr=False)
class _Market(Record):
    """The pages of a site whose addresses name one market, or none."""

    usual: str
    accepted: set[str]
    """Currencies that the market has."""
    pages: int = 0
    urls: deque[str] = attrs.Factory(lambda: deque(maxlen=_MAX_URLS))
    """Pages that told the usual currency."""
    doubtful: dict[str, str] = attrs.Factory(dict)
    """Pages whose currency is doubtful, and that currency."""
    looks: int = 0
    unchanged: int = 0
    """Pages of before that are as they were."""
    settled: bool = False
    has_turned: bool = False
    first_pages: list[tuple[str, str]] = attrs.Factory(list)
    """The first pages and their currencies."""
    compared: int = 0
    """How often pages that others stored were looked at."""
    oldest_stored: str | None = None
    """The currency of the site's first product, where others stored another one than is told here."""

    @property
    def is_open(self) -> bool:
        """Whether a further currency is no news: few pages are known, or they tell several."""
        return self.pages < _MIN_PAGES or len(self.accepted) > 1

    def begin(self, url: str, currency: str) -> list[Look]:
        """Count one of the first pages; returns pages to look at where the currency turned in them."""
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
        """Hold what all workers stored, the oldest first, against what this one sees."""
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
        """Judge a page that was read again; returns the doubtful ones that are fine, and news."""
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
        elif not self.has_turned:  # another worker saw that pages of before are as they were
            self.accepted.add(currency)
            self.unchanged = _SETTLING_LOOKS
        return (
            self.believe() if self.unchanged >= _SETTLING_LOOKS and not self.has_turned else []
        ), ""

    def believe(self) -> list[Look]:
        """Take the doubtful currencies for the market's; returns the pages that told them."""
        looks = [Look(url, currency, []) for url, currency in self.doubtful.items()]
        doubtful_currencies = set(self.doubtful.values())
        if self.has_turned and len(doubtful_currencies) == 1:  # the site answers in it since
            (self.usual,), self.accepted = doubtful_currencies, set()
            self.urls.clear()
        self.accepted |= doubtful_currencies
        self.doubtful, self.settled, self.has_turned = {}, True, False
        return looks

    def add_doubtful(self, url: str, currency: str) -> tuple[list[Look], str]:
        """Remember a doubtful page; returns the pages of before to look at, and news."""
        if len(self.doubtful) < _MAX_DOUBTFUL:
            self.doubtful[url] = currency
        number = len(self.doubtful)
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
    """The page that comes next."""
    looks: list[Look] = attrs.Factory(list)


@attrs.define(eq=False, repr=False)
class SiteCurrencies(Record):
    """The currencies of the sites that a worker reads."""

    _sites: Newest[_Site] = attrs.Factory(lambda: Newest(_Site, _MAX_SITES))

    def note(self, site_id: str, url: str, currency: str) -> tuple[Doubt | None, str]:
        """Count a page; returns what speaks against its currency, and what is news, in words."""
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
        """Take addresses and currencies that all workers stored of a site, the oldest first.

        Workers that ask from different countries from the start each see one currency, and only
        what they stored shows that there are two. Pages of the others are looked at again.
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
        """Whether a currency is that of the page's market, beside those of the site's others."""
        site, name = self._sites.get(site_id), market_of(url)
        market = site.markets.get(name) if site is not None else None
        if market is None or currency not in market.accepted:
            return False
        return market.settled or "/" in name

    def plain(self, site_id: str) -> dict[str, list[list[str]]]:
        """What is known of a site's markets as JSON holds it, for workers that begin later."""
        site = self._sites.get(site_id)
        markets = list(site.markets.items())[:_MAX_SHARED_MARKETS] if site is not None else []
        return {
            name: [[market.usual], sorted(market.accepted), list(market.urls)[-_FIRST_LOOKS:]]
            for name, market in markets
            if market.pages >= _MIN_PAGES
        }

    def load(self, site_id: str, plain: Mapping[str, list[list[str]]]) -> None:
        """Take what other workers know of markets that are not known here."""
        site = self._sites[site_id]
        for name, ((usual,), fine, urls) in list(plain.items())[:_MAX_SHARED_MARKETS]:
            if name not in site.markets:
                market = site.markets[name] = _Market(usual, {usual, *fine}, _MIN_PAGES)
                market.urls.extend(urls[:_FIRST_LOOKS])

    def believe(self, site_id: str) -> None:
        """Take all currencies for the site's: products are stored with them."""
        site = self._sites.get(site_id)
        for market in site.markets.values() if site is not None else ():
            market.believe()

    def expect(self, site_id: str, look: Look) -> None:
        """Say which page comes next, that it is read again, and why."""
        self._sites[site_id].expected = look

    def looks(self, site_id: str) -> list[Look]:
        """Pages to be read again; once."""
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
                site.markets.pop(next(iter(site.markets)))
            market = site.markets[name] = _Market(currency, {currency})
        return market


def market_of(url: str) -> str:
    """The host of an address, and what in it names a market.

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
