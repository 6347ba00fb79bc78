"""The profiles of all sites that a worker reads, in bounded room; changes of a template are noticed."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from crawler.extract import lazy
from crawler.extract.default import Found
from crawler.extract.page.page import Page, tidied
from crawler.extract.template.addresses import Addresses
from crawler.extract.template.cluster import broad_signature, signature
from crawler.extract.template.contrast import CHANGED
from crawler.extract.template.disputes import right_source
from crawler.extract.template.judge import (
    Doubt,
    Judgement,
    confidence,
    constant,
    doubt_of,
    goes_with_the_goods,
    is_confirmed,
    newcomer,
    oddity,
    swapped,
)
from crawler.extract.template.mending import Mender
from crawler.extract.template.observation import FIELDS, Seen, observe
from crawler.extract.template.profile import KNOWN, Field, Profile
from crawler.extract.template.taught import mend, read_cents
from crawler.extract.template.tender import TURNED, Tenders

#: Sites, makes of pages of one site, and makes of all sites, that are known at once.
_MOST_SITES, _MOST_MAKES, _MOST = 500, 48, 4_000
#: Makes of one page, after which pages of unknown classes are one make, where half of all are such.
_ALONE = 4
#: So many of the newest pages with one doubt are a change of the template.
_CHANGED = 6
#: Pages whose names and prices are compared, and repetitions that no catalogue has. A price that two
#: sources of a page tell may repeat more often: lists are sorted by price, and colours cost the same.
_NEWEST, _REPEATED, _CONFIRMED = 12, 6, 10
_COMPARED = ("name", "price", "availability")
#: A price that is told so many times as often as it is in the whole shop repeats by no chance.
_FEW_PRICES = 3
#: Pages of one product, of the newest ones, that no shop has: one for each of its categories, say.
_COPIED = 10
#: Pages whose language is known, and the share of the usual one, before another one is news.
_IN_WORDS, _CALM_SHARE = 20, 0.95
#: Pages after which one of so many is counted.
_WELL_KNOWN, _COUNTED = 200, 4
#: Pages of a make after which a page of another make is news.
_SETTLED = 40
#: Pages on which a price in a new place does not overwrite another one unconfirmed.
_PROBATION = 200
#: Fields of which sources may contradict each other from the first page on.
_ODD = frozenset({"price", "currency"})
#: Doubts that stay while the page is as it is: what is gone is not learned to be gone, and another
#: currency is not believed before the storage believes it (`recall`).
_LASTING = frozenset({"missing", "repeated", "order", "constant"})
#: So often the pages of a make are asked for again: a template that changes to and fro is not followed.
_MOST_REPLAYS = 4
#: What divides an address into words.
_BETWEEN_SIGNS = lazy.pattern(r"[^a-z]+")
#: What is said of a template, where a field is not doubtful by it.
_NOTICED = {
    "believed": "{} changed on all pages, and is believed since",
    "moved": "the template changed, {} is read from its new place since",
    "mended": "the template changed, {} is completed since",
    "layout": "the template changed, {} stands elsewhere since",
    "cents": "the {} is told in cents by structured data, see",
    "constant": "each {} is the same, see",
    "disagree": "two sources never agree on the {}, see",
    CHANGED: "the {} of all known products changed at once, and is doubtful",
    "affix": "the {} has the same words beside it on all pages, which are left out",
    "source": "the template changed, {} is read from another source since",
    "minor": "the {} of all known products changed at once, see",
    "turned": "the {} is not the one of the pages before and is doubtful, see",
}


@attrs.frozen
class Drift:
    """A template that changed."""

    site_id: str
    field: str
    kind: str
    reason: str
    url: str
    """The page on which it was noticed."""
    version: int

    @property
    def said(self) -> str:
        """What changed, in words."""
        words = _NOTICED.get(self.kind, "the template changed, {} is doubtful since")
        return words.format(self.field)


@attrs.define
class _Make:
    profile: Profile = attrs.Factory(Profile)
    newest: dict[str, deque[tuple[str, str]]] = attrs.Factory(
        lambda: {name: deque(maxlen=_NEWEST) for name in _COMPARED}
    )
    """Of the newest pages: product and value."""
    changed: str | None = None
    """What changed last, until it is stored."""
    shown: deque[tuple[str, str]] = attrs.Factory(lambda: deque(maxlen=_NEWEST))
    """Of the newest pages: product and address."""
    suspects: dict[str, dict[str, str]] = attrs.Factory(lambda: {name: {} for name in _COMPARED})
    """Products read with a value before it was noticed that all have it: by field, key and value."""
    said: set[tuple[str, str]] = attrs.Factory(set)
    """Lasting doubts that were told of."""
    mender: Mender = attrs.Factory(Mender)
    again: list[tuple[str, int]] = attrs.Factory(list)
    """Pages to be read again, because the template is understood since, and its version."""
    replays: int = 0
    known_before: int = 0
    """Products that were stored before this make was known."""


class Book:
    """What is known of each site; *drifted* is called with each change that is noticed."""

    def __init__(self, drifted: Callable[[Drift], None] = lambda drift: None) -> None:
        self._sites: OrderedDict[str, OrderedDict[str, _Make]] = OrderedDict()
        self._drifted = drifted
        self._known = 0
        """Makes of all sites."""
        self.tenders, self.addresses = Tenders(), Addresses()

    def judge(self, site_id: str, found: Found) -> Judgement:
        """Hold a product's page against its site, mend what the site's rules mend, and learn it."""
        cluster = self._cluster(site_id, found.page)
        make = self._make(site_id, cluster)
        profile = make.profile
        if read_cents(found) and profile.known:
            reason = "structured data tells cents, the page shows whole units"
            change = Drift(site_id, "price", "cents", reason, found.page.url, profile.version)
            self._tell_once(change, make)
        mend(found, profile)
        seen, key = observe(found), str(found.fields.get("external_id"))
        below = found.struck_below
        if not profile.pages and self._is_known(site_id):
            profile.fields["price"].probation = _PROBATION
        reduced = found.fields.get("regular_price") is not None
        doubts: dict[str, Doubt] = {}
        for field in FIELDS:
            one, known = seen[field], profile.fields[field]
            doubt = (
                doubt_of(field, seen, profile, reduced=reduced)
                or (_compared(field, one, make, key) if field in _COMPARED else None)
                or (newcomer(field, one, known) if known.probation else None)
                or (swapped(field, seen, below) if below else None)
            )
            if doubt is not None:
                doubts[field] = doubt
        foreign = _in_other_words(found, profile)
        if foreign is None:
            profile.note_language(found.page.lang[:2])
        if (doubt := _copied(found, make, key) or foreign) is not None:
            doubts.setdefault("name", doubt)
        if make.mender.contrast.changed:
            make.mender.contrast.hold(found, doubts)
        self._hold_currency(site_id, found, make, doubts)
        made = Judgement(
            {
                name: confidence(name, one, profile.fields[name], doubts.get(name))
                for name, one in seen.items()
                if one.value is not None
            },
            doubts,
            cluster,
            profile.pages,
            profile.version,
        )
        self._learn(site_id, found, make, seen, doubts)
        make.mender.note(found.page, seen, frozenset(doubts), found.fields)
        return made

    def _hold_currency(
        self, site_id: str, found: Found, make: _Make, doubts: dict[str, Doubt]
    ) -> None:
        """Hold a page's currency against the pages of its market."""
        currency, url = found.fields.get("currency"), tidied(found.page.url) or found.page.url
        if not currency or found.fields.get("price") is None:
            return
        doubt, news = self.tenders.note(site_id, url, currency)
        if news:
            self._drifted(Drift(site_id, "currency", TURNED, news, url, make.profile.version))
        if doubt is not None:
            doubts.setdefault("currency", doubt)
        elif "currency" in doubts and self.tenders.is_own(site_id, url, currency):
            del doubts["currency"]

    def is_product_s(self, site_id: str, page: Page) -> bool:
        """Whether a page is of a make that many of the site's products have."""
        makes = self._sites.get(site_id)
        make = makes.get(self._cluster(site_id, page)) if makes else None
        return make is not None and make.profile.pages >= _SETTLED

    def wanted(self) -> Iterator[tuple[str, list[str]]]:
        """Sites and addresses whose products' stored values would tell where a field went."""
        for site_id, makes in self._sites.items():
            for make in makes.values():
                if urls := make.mender.wanted():
                    yield site_id, urls

    def recall(self, site_id: str, stored: Mapping[str, Mapping[str, Any] | None]) -> None:
        """Take the values that products had before their page was read, by the pages' addresses.

        None is for a page that showed no product before.
        """
        for make in self._sites.get(site_id, {}).values():
            for url in make.mender.wanted():
                if url not in stored:
                    continue
                self._note_known(site_id, make, stored[url], url)
                moves = list(make.mender.recall(url, stored[url]))
                self._note_changes(site_id, make, url)
                for field, place in moves:
                    known, version = make.profile.fields[field], make.profile.version + 1
                    if place is None and (stored[url] or {}).get(field) == constant(known):
                        continue  # another source speaks against it
                    known.relearn(field, place)
                    make.mender.contrast.settle(field)
                    known.preferred, known.probation = None, 0
                    kind, reason = "believed", "products are stored with it"
                    if place is None:
                        self.tenders.believe(site_id)
                    if place is not None:
                        kind, reason = "moved", f"the known values stand in {place[:200]} since"
                    self._turn(Drift(site_id, field, kind, reason, url, version), make)

    def _note_changes(self, site_id: str, make: _Make, url: str) -> None:
        """Tell what all known products have since, and mend it where that is possible."""
        changes, make.mender.changes = make.mender.changes, []
        for change in changes:
            field, version = change.field, make.profile.version + 1
            known = make.profile.fields.get(field)
            if known is None:
                drift = Drift(site_id, field, "minor", change.reason, url, version - 1)
                self._tell_once(drift, make)
                continue
            kind = CHANGED
            if change.affix is not None:
                known.affix, kind = change.affix, "affix"
            elif change.source is not None:
                known.relearn(field)
                known.preferred, kind = change.source, "source"
            if kind != CHANGED:
                make.mender.contrast.settle(field)
            self._turn(Drift(site_id, field, kind, change.reason, url, version), make)

    def _note_known(
        self, site_id: str, make: _Make, stored: Mapping[str, Any] | None, url: str
    ) -> None:
        """Tell of a new make whose products are known: they had another one before."""
        if stored is None or make.profile.pages >= _SETTLED:
            return
        make.known_before += 1
        if make.known_before != _CHANGED:
            return
        settled = [m.profile for m in self._sites[site_id].values() if m.profile.pages >= _SETTLED]
        for field, known in make.profile.fields.items():
            place = known.usual(known.paths)[0]
            if place and settled and not any(p.fields[field].paths[place] for p in settled):
                reason = f"products that were known before have it in {place[:200]} since"
                self._tell_once(
                    Drift(site_id, field, "layout", reason, url, make.profile.version), make
                )

    def again(self, site_id: str) -> list[tuple[str, int]]:
        """Pages to be read again, because their template was learned since, and its version; once."""
        urls: list[tuple[str, int]] = []
        for make in self._sites.get(site_id, {}).values():
            urls += make.again
            make.again = []
        return urls

    def load(self, site_id: str, cluster: str, plain: Any) -> bool:
        """Take a stored profile, where it knows more than ours; says whether it was readable."""
        try:
            profile = Profile.of(plain)
        except (TypeError, ValueError, KeyError, AttributeError):
            return False
        make = self._make(site_id, cluster)
        self.tenders.load(site_id, profile.markets)
        if profile.pages > make.profile.pages:
            make.profile = profile
        return True

    def unsaved(self, least: int) -> Iterator[tuple[str, str, Profile, str | None]]:
        """Site, make, profile and last change of what was learned on so many pages since."""
        for site_id, makes in self._sites.items():
            for cluster, make in makes.items():
                if make.profile.known and make.profile.unsaved >= least:
                    make.profile.unsaved = 0
                    make.profile.markets = self.tenders.plain(site_id)
                    yield site_id, cluster, make.profile, make.changed
                    make.changed = None

    def _make(self, site_id: str, cluster: str) -> _Make:
        makes = self._sites.get(site_id)
        if makes is None:
            makes = self._sites[site_id] = OrderedDict()
        self._sites.move_to_end(site_id)
        if len(self._sites) > _MOST_SITES or self._known > _MOST:
            self._known -= len(self._sites.popitem(last=False)[1])
        make = makes.get(cluster)
        if make is None:
            make = makes[cluster] = _Make()
            self._known += 1
        makes.move_to_end(cluster)
        if len(makes) > _MOST_MAKES:
            makes.popitem(last=False)
            self._known -= 1
        return make

    def _cluster(self, site_id: str, page: Page) -> str:
        """A page's make: by its tags alone where each page has classes of its own."""
        fine, makes = signature(page), self._sites.get(site_id)
        if makes is None or fine in makes:
            return fine
        alone = sum(make.profile.pages <= 1 for make in makes.values())
        broad = broad_signature(page)
        is_usual = alone >= _ALONE and 2 * alone >= len(makes)
        return broad if is_usual or broad in makes else fine

    def _is_known(self, site_id: str) -> bool:
        """Whether a make of the site is known so well that a new one is a change."""
        return any(make.profile.pages >= _SETTLED for make in self._sites[site_id].values())

    def _learn(
        self,
        site_id: str,
        found: Found,
        make: _Make,
        seen: dict[str, Seen],
        doubts: dict[str, Doubt],
    ) -> None:
        profile = make.profile
        profile.unsaved += 1
        # Of a make that is well known each page is judged, and one of some is counted.
        settled = profile.pages >= _WELL_KNOWN and profile.unsaved % _COUNTED != 0
        for field, one in seen.items():
            doubt, known = doubts.get(field), profile.fields[field]
            if known.probation:
                known.probation -= 1
            known.recent.append((None if doubt is None else doubt.kind, one))
            told = one.value is not None or not goes_with_the_goods(field, seen)
            if (doubt is None or doubt.kind == "make") and told and not settled:
                known.learn(field, one)
            version, url = profile.version, found.page.url
            if known.sources.get("template", 0) >= _CHANGED and not known.places:
                reason = "pages no longer tell it, those before did"
                self._tell_once(Drift(site_id, field, "mended", reason, url, version), make)
            if field in _ODD and not settled and (odd := oddity(field, known)) is not None:
                self._tell_once(Drift(site_id, field, odd[0], odd[1], url, version), make)
            if doubt is None and one.path and known.is_elsewhere():
                reason = f"it stands in {str(one.path)[:200]} since"
                self._tell_once(Drift(site_id, field, "layout", reason, url, version), make)
            told = doubt is not None and doubt.kind not in {TURNED, CHANGED}
            if doubt is not None and told and known.newest(doubt.kind) >= _CHANGED:
                change = Drift(site_id, field, doubt.kind, doubt.reason, url, version + 1)
                self._change(change, make, known)

    def _change(self, drift: Drift, make: _Make, known: Field) -> None:
        """Learn a field anew, but for what no template means; tell of it once."""
        make.changed = f"{drift.field}: {drift.reason}"[:500]
        if drift.kind == "repeated" and self._rename(drift, make, known):
            return
        constant = drift.field in {"name", "price", "sku"} and not known.varies(drift.kind)
        if drift.kind == "repeated" and (drift.field, drift.kind) not in make.said:
            # The first ones were stored before anything repeated.
            self._ask_again(make.mender.newest(2 * _NEWEST), make)
        # What is left where most of it is gone, an old price say, is no new template.
        gone = known.newest("missing") > 0
        if constant or gone or drift.kind == "make" or drift.kind in _LASTING:
            self._tell_once(drift, make)
            return
        if drift.kind == "dispute":
            known.preferred = right_source(drift.field, known)
        known.relearn(drift.field)
        if drift.field == "price" and drift.kind == "place":
            known.probation = _PROBATION
        self._turn(drift, make)

    def _rename(self, drift: Drift, make: _Make, known: Field) -> bool:
        """Read names from where each page has its own, where all have one in the usual place."""
        place = make.mender.name_place() if drift.field == "name" else None
        if place is None:
            return False
        known.relearn("name", place)
        reason = f"each page's own name stands in {place[:200]}"
        self._turn(attrs.evolve(drift, kind="moved", reason=reason), make)
        return True

    def _turn(self, drift: Drift, make: _Make) -> None:
        """Begin a new version of a template, and have its newest pages read by it."""
        make.changed = f"{drift.field}: {drift.reason}"[:500]
        make.profile.version += 1
        make.profile.unsaved += KNOWN
        self._ask_again(list(dict.fromkeys([*make.mender.again(), drift.url])), make)
        self._drifted(drift)

    def _ask_again(self, urls: list[str], make: _Make) -> None:
        if make.replays < _MOST_REPLAYS:
            make.replays += 1
            asked = {url for url, _ in make.again}
            make.again += [(url, make.profile.version) for url in urls if url not in asked]

    def _tell_once(self, drift: Drift, make: _Make) -> None:
        if (drift.field, drift.kind) not in make.said:
            make.said.add((drift.field, drift.kind))
            self._drifted(drift)


def _compared(field: str, one: Seen, make: _Make, key: str) -> Doubt | None:
    """What the newest pages have against a value; the first ones with it are doubtful as well.

    Before a value was noticed to be everywhere, products were stored with it. Their pages are read
    again among pages of before, so that the newest ones would no longer contradict the value.
    """
    suspects, recent = make.suspects[field], make.profile.fields[field].recent
    value, doubt = str(one.value), _repeated(field, one, make, key)
    if doubt is None:
        if suspects.pop(key, None) == value:
            return Doubt("repeated", "product after product had it when it was read first")
    elif not recent or recent[-1][0] != "repeated":  # it begins here
        suspects.clear()
        suspects.update(pair for pair in make.newest[field] if pair[1] == value)
    return doubt


def _copied(found: Found, make: _Make, key: str) -> Doubt | None:
    """Whether page after page shows one product: a wall in the shop's own template."""
    shown = (key, found.page.url)
    if shown not in make.shown:
        make.shown.append(shown)
    times = [other for other, _ in make.shown].count(key)
    if times < _COPIED or found.fields.get("external_id") is None:
        return None
    return Doubt("repeated", f"{times} of the newest {len(make.shown)} pages show one product")


def _in_other_words(found: Found, profile: Profile) -> Doubt | None:
    """Whether a page is in another language than the site's: a name that is known stays.

    A copy whose address names its language is a page of its own.
    """
    lang, known = found.page.lang[:2], profile.languages
    if not lang or known.total() < _IN_WORDS or 2 * known.get(lang, 0) >= known.total():
        return None
    usual, share = profile.usual_language
    if share < _CALM_SHARE or lang in _BETWEEN_SIGNS.split(found.page.url.lower()):
        return None
    return Doubt("make", f"the page is in {lang!r}, {share:.0%} of pages are in {usual!r}")


def _repeated(field: str, one: Seen, make: _Make, key: str) -> Doubt | None:
    """Whether product after product has one name, or one price where prices vary."""
    if one.value is None:
        return None
    newest = make.newest[field]
    value = str(one.value)
    if (key, value) not in newest:
        newest.append((key, value))
    if field == "availability":
        return _all_gone(value, newest, make.profile.fields[field])
    times = [other for _, other in newest].count(value)
    if times < _REPEATED:
        return None
    most = _CONFIRMED if field == "price" and is_confirmed(field, one) else _REPEATED
    if times < most or len({product for product, _ in newest}) < most:
        return None
    share = make.profile.fields[field].value_share(value)
    if field == "price" and (share > 1 / 4 or times < _FEW_PRICES * share * _NEWEST):
        return None  # a shop where one price, or one of a few, is usual
    return Doubt("repeated", f"{times} of the newest {len(newest)} products have it")


def _all_gone(value: str, newest: deque[tuple[str, str]], known: Field) -> Doubt | None:
    """Whether product after product cannot be had, in a shop that had most of them."""
    if len(newest) < _NEWEST or known.pages < 2 * KNOWN:
        return None
    share = known.value_share("InStock")
    if share < 1 / 2 or any(other == "InStock" for _, other in newest):
        return None
    return Doubt("repeated", f"none of the newest {len(newest)} is in stock, {share:.0%} were")
