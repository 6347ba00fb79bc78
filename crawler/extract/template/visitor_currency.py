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
_MOST_SITES, _MOST_MARKETS, _MOST_URLS, _MOST_HELD = 500, 40, 60, 500
#: Markets of a site that workers tell each other of.
_MOST_SHARED = 8
#: Pages in one currency before another one is news. Where these tell several, sellers of several
#: countries share the market, and no further one is.
_LEAST = 8
#: Pages that are looked at again at first, and those of them that settle it.
_LOOKS, _SETTLED = 3, 2
#: Looks for each doubtful page at first, then for each of so many, because an answer may be lost, or
#: come to another worker; and doubtful pages without an answer after which the doubt is told.
_EACH, _SOME, _TOLD = 24, 10, 200
#: Pages that others stored in another currency before some of them are looked at, and how often.
_OTHERS, _MOST_COMPARED = 3, 4
#: A part of an address that names a language or a country, or chooses one.
_CODE = lazy_patterns.pattern(r"[a-z]{2}(?:[-_][a-zA-Z]{2,4})?")
_CHOICE = lazy_patterns.pattern(
    r"[?&]((?:curr?(?:ency)?|country|region|market|store|lang(?:uage)?|locale)=\w+)"
)


#: Doubtful pages and their currencies.
Held = list[tuple[str, str]]


@attrs.frozen(eq=False, repr=False)
class Look(Value):
    """A page to be read again, by whichever worker."""

    url: str
    currency: str
    """What it told before."""
    held: Held
    """Doubtful pages that are to be read again where it tells the same; none: it is one itself."""

    @property
    def scope(self) -> str:
        """Which look at the page this is: each is one request."""
        about = self.held[-1][0] if self.held else "kept"
        return f"look {blake2b(f'{self.url} {about}'.encode(), digest_size=8).hexdigest()}"


@attrs.define(eq=False, repr=False)
class _Market(Record):
    """The pages of a site whose addresses name one market, or none."""

    usual: str
    fine: set[str]
    """Currencies that the market has."""
    pages: int = 0
    urls: deque[str] = attrs.Factory(lambda: deque(maxlen=_MOST_URLS))
    """Pages that told the usual currency."""
    held: dict[str, str] = attrs.Factory(dict)
    """Pages whose currency is doubtful, and that currency."""
    looks: int = 0
    stays: int = 0
    """Pages of before that are as they were."""
    settled: bool = False
    turned: bool = False
    early: list[tuple[str, str]] = attrs.Factory(list)
    """The first pages and their currencies."""
    compared: int = 0
    """How often pages that others stored were looked at."""
    elder: str | None = None
    """The currency of the site's first product, where others stored another one than is told here."""

    @property
    def is_open(self) -> bool:
        """Whether a further currency is no news: few pages are known, or they tell several."""
        return self.pages < _LEAST or len(self.fine) > 1

    def begin(self, url: str, currency: str) -> list[Look]:
        """Count one of the first pages; returns pages to look at where the currency turned in them."""
        self.early.append((url, currency))
        later = [pair for pair in self.early if pair[1] != self.usual]
        if len(self.early) < _LEAST or len(later) < 2:
            return []
        told = {other for _, other in later}
        if len(told) > 1 or later != self.early[-len(later) :]:
            return []
        return [Look(one, self.usual, later[-1:]) for one in list(self.urls)[:_SETTLED]]

    def compare(self, stored: Held) -> list[Look]:
        """Hold what all workers stored, the oldest first, against what this one sees."""
        others = [(url, told) for url, told in stored if told not in self.fine]
        if self.is_open or self.turned or self.compared >= _MOST_COMPARED:
            return []
        if len(others) < _OTHERS:
            return []
        self.elder = stored[0][1]
        first = self.compared * _LOOKS
        self.compared += 1
        return [Look(url, told, []) for url, told in others[first : first + _LOOKS]]

    def looked(self, look: Look, currency: str) -> tuple[list[Look], str]:
        """Judge a page that was read again; returns the doubtful ones that are fine, and news."""
        if look.currency != currency:
            if look.held or self.elder == look.currency:
                self.usual, self.fine = look.currency, {look.currency}
            news = f"the site gave {look.currency} before, and gives {currency} now"
            if self.elder is not None and not look.held:
                news += ", as to this worker: do workers ask from different countries?"
            news, self.turned = "" if self.turned else news, True
            return [], news
        self.stays += 1
        if look.held:
            self.held.update(look.held)
        elif not self.turned:  # another worker saw that pages of before are as they were
            self.fine.add(currency)
            self.stays = _SETTLED
        return (self.believe() if self.stays >= _SETTLED and not self.turned else []), ""

    def believe(self) -> list[Look]:
        """Take the doubtful currencies for the market's; returns the pages that told them."""
        looks = [Look(url, currency, []) for url, currency in self.held.items()]
        told = set(self.held.values())
        if self.turned and len(told) == 1:  # the site answers in it since
            (self.usual,), self.fine = told, set()
            self.urls.clear()
        self.fine |= told
        self.held, self.settled, self.turned = {}, True, False
        return looks

    def hold(self, url: str, currency: str) -> tuple[list[Look], str]:
        """Remember a doubtful page; returns the pages of before to look at, and news."""
        if len(self.held) < _MOST_HELD:
            self.held[url] = currency
        number = len(self.held)
        if self.turned or (number > _EACH and number % _SOME):
            return [], ""
        news = f"no page that gave {self.usual} was seen again" if number == _TOLD else ""
        known = list(self.urls)
        if not self.looks:
            urls = known[:: max(1, len(known) // _LOOKS)][:_LOOKS]
        else:
            urls = known[self.looks % len(known) :][:1] if known else []
        self.looks += len(urls)
        held = list(self.held.items())[-(_SOME if number > _EACH else 1) :]
        return [Look(one, self.usual, held) for one in urls], news


@attrs.define(eq=False, repr=False)
class _Site(Record):
    markets: dict[str, _Market] = attrs.Factory(dict)
    expected: Look | None = None
    """The page that comes next."""
    looks: list[Look] = attrs.Factory(list)


@attrs.define(eq=False, repr=False)
class Tenders(Record):
    """The currencies of the sites that a worker reads."""

    _sites: Newest[_Site] = attrs.Factory(lambda: Newest(_Site, _MOST_SITES))

    def note(self, site_id: str, url: str, currency: str) -> tuple[Doubt | None, str]:
        """Count a page; returns what speaks against its currency, and what is news, in words."""
        site = self._sites[site_id]
        market = self._market(site, url, currency)
        news = ""
        if site.expected is not None and site.expected.url == url:
            looks, news = market.looked(site.expected, currency)
            site.looks += looks
            site.expected = None
        if currency not in market.fine and not market.turned and market.is_open:
            market.fine.add(currency)
        if currency in market.fine:
            market.pages += 1
            if currency == market.usual:
                market.urls.append(url)
            if market.pages <= _LEAST:
                site.looks += market.begin(url, currency)
            return None, news
        looks, told = market.hold(url, currency)
        site.looks += looks
        return Doubt(
            TURNED, f"it is {currency}, and pages gave {market.usual} before"
        ), news or told

    def compare(self, site_id: str, stored: Held) -> None:
        """Take addresses and currencies that all workers stored of a site, the oldest first.

        Workers that ask from different countries from the start each see one currency, and only
        what they stored shows that there are two. Pages of the others are looked at again.
        """
        site = self._sites[site_id]
        by_market: dict[str, Held] = {}
        for url, currency in stored:
            by_market.setdefault(market_of(url), []).append((url, currency))
        for name, told in by_market.items():
            market = site.markets.get(name)
            if market is not None:
                site.looks += market.compare(told)

    def is_own(self, site_id: str, url: str, currency: str) -> bool:
        """Whether a currency is that of the page's market, beside those of the site's others."""
        site, name = self._sites.get(site_id), market_of(url)
        market = site.markets.get(name) if site is not None else None
        if market is None or currency not in market.fine:
            return False
        return market.settled or "/" in name

    def plain(self, site_id: str) -> dict[str, list[list[str]]]:
        """What is known of a site's markets as JSON holds it, for workers that begin later."""
        site = self._sites.get(site_id)
        markets = list(site.markets.items())[:_MOST_SHARED] if site is not None else []
        return {
            name: [[one.usual], sorted(one.fine), list(one.urls)[-_LOOKS:]]
            for name, one in markets
            if one.pages >= _LEAST
        }

    def load(self, site_id: str, plain: Mapping[str, list[list[str]]]) -> None:
        """Take what other workers know of markets that are not known here."""
        site = self._sites[site_id]
        for name, ((usual,), fine, urls) in list(plain.items())[:_MOST_SHARED]:
            if name not in site.markets:
                market = site.markets[name] = _Market(usual, {usual, *fine}, _LEAST)
                market.urls.extend(urls[:_LOOKS])

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
            if len(site.markets) >= _MOST_MARKETS:
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
        if not _CODE.fullmatch(part):
            break
        name = f"{name}/{part}"
    if "?" in url:
        name = "/".join([name, *_CHOICE.findall(url)])
    return name
