"""The profiles of all sites that a worker reads, in bounded room; changes of a template are noticed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from crawler.extract.default_parser import Found
from crawler.extract.money.cents import take_shown_price
from crawler.extract.page.page import Page, tidied
from crawler.extract.template.addresses import Addresses
from crawler.extract.template.confidence import doubted
from crawler.extract.template.drift import Drift
from crawler.extract.template.language import in_other_words
from crawler.extract.template.learned import mend
from crawler.extract.template.make import COMPARED, NEWEST, Make
from crawler.extract.template.make_signature import broad_signature, signature
from crawler.extract.template.mass_changes import CHANGED
from crawler.extract.template.observation import FIELDS, Seen, observe
from crawler.extract.template.page_doubts import (
    Doubt,
    Judgement,
    constant,
    goes_with_the_goods,
    newcomer,
    oddity,
    swapped,
    weigh,
)
from crawler.extract.template.profile import KNOWN, WELL_KNOWN, Field, Profile
from crawler.extract.template.repeated_values import compared, copied
from crawler.extract.template.right_source import right_source
from crawler.extract.template.visitor_currency import TURNED, Tenders

#: Sites, makes of pages of one site, and makes of all sites, that are known at once.
_MOST_SITES, _MOST_MAKES, _MOST = 500, 48, 4_000
#: Makes of one page, after which pages of unknown classes are one make, where half of all are such.
_ALONE = 4
#: So many of the newest pages with one doubt are a change of the template.
_CHANGED = 6
#: Of a field that is well known one page of so many is counted.
_COUNTED = 8
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


class Book:
    """What is known of each site; *drifted* is called with each change that is noticed."""

    def __init__(self, drifted: Callable[[Drift], None] = lambda drift: None) -> None:
        self._sites: OrderedDict[str, OrderedDict[str, Make]] = OrderedDict()
        self._drifted = drifted
        self._known = 0
        """Makes of all sites."""
        self.tenders, self.addresses = Tenders(), Addresses()

    def judge(self, site_id: str, found: Found) -> Judgement:
        """Hold a product's page against its site, mend what the site's rules mend, and learn it."""
        cluster = self._cluster(site_id, found.page)
        make = self._make(site_id, cluster)
        profile = make.profile
        if take_shown_price(found.fields, found.sources, found.offered) and profile.known:
            reason = "structured data counts cents, the page shows whole units"
            change = Drift(site_id, "price", "cents", reason, found.page.url, profile.version)
            self._tell_once(change, make)
        mend(found, profile)
        seen = observe(found)
        # Each page without a product's number counts as a product of its own.
        key = str(found.fields.get("external_id") or found.page.url)
        below = found.struck_below
        if not profile.pages and self._is_known(site_id):
            profile.fields["price"].probation = _PROBATION
        reduced = found.fields.get("regular_price") is not None
        doubts: dict[str, Doubt] = {}
        likely: dict[str, float] = {}
        for field in FIELDS:
            one, known = seen[field], profile.fields[field]
            likely[field], doubt = weigh(field, seen, profile, reduced=reduced)
            doubt = (
                doubt
                or (compared(field, one, make, key) if field in COMPARED else None)
                or (newcomer(field, one, known) if known.probation else None)
                or (swapped(field, seen, below) if below else None)
            )
            if doubt is not None:
                doubts[field] = doubt
        foreign = in_other_words(found, profile)
        if foreign is None:
            profile.note_language(found.page.lang[:2])
        if (doubt := copied(found, make, key) or foreign) is not None:
            doubts.setdefault("name", doubt)
        if make.mender.contrast.changed:
            make.mender.contrast.hold(found, doubts)
        self._hold_currency(site_id, found, make, doubts)
        made = Judgement(
            {
                name: doubted(one) if name in doubts else one
                for name, one in likely.items()
                if seen[name].value is not None
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
        self, site_id: str, found: Found, make: Make, doubts: dict[str, Doubt]
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

    def _note_changes(self, site_id: str, make: Make, url: str) -> None:
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
        self, site_id: str, make: Make, stored: Mapping[str, Any] | None, url: str
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

    def _make(self, site_id: str, cluster: str) -> Make:
        makes = self._sites.get(site_id)
        if makes is None:
            makes = self._sites[site_id] = OrderedDict()
        self._sites.move_to_end(site_id)
        if len(self._sites) > _MOST_SITES or self._known > _MOST:
            self._known -= len(self._sites.popitem(last=False)[1])
        make = makes.get(cluster)
        if make is None:
            make = makes[cluster] = Make()
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
        make: Make,
        seen: dict[str, Seen],
        doubts: dict[str, Doubt],
    ) -> None:
        profile = make.profile
        profile.unsaved += 1
        # Of what is well known each page is judged, and one of some is counted.
        sampled = profile.unsaved % _COUNTED == 0
        for field, one in seen.items():
            doubt, known = doubts.get(field), profile.fields[field]
            counted = sampled or known.pages < WELL_KNOWN
            if known.probation:
                known.probation -= 1
            known.recent.append((None if doubt is None else doubt.kind, one))
            if doubt is None and one.path is None and not counted:
                continue  # nearly all: nothing is learned, and nothing stands elsewhere
            told = one.value is not None or not goes_with_the_goods(field, seen)
            if (doubt is None or doubt.kind == "make") and told and counted:
                known.learn(field, one)
            version, url = profile.version, found.page.url
            if known.sources.get("template", 0) >= _CHANGED and not known.places:
                reason = "pages no longer have the field, earlier pages had it"
                self._tell_once(Drift(site_id, field, "mended", reason, url, version), make)
            if field in _ODD and counted and (odd := oddity(field, known)) is not None:
                self._tell_once(Drift(site_id, field, odd[0], odd[1], url, version), make)
            if doubt is None and one.path and known.is_elsewhere():
                reason = f"it stands in {str(one.path)[:200]} since"
                self._tell_once(Drift(site_id, field, "layout", reason, url, version), make)
            told = doubt is not None and doubt.kind not in {TURNED, CHANGED}
            if doubt is not None and told and known.newest(doubt.kind) >= _CHANGED:
                change = Drift(site_id, field, doubt.kind, doubt.reason, url, version + 1)
                self._change(change, make, known)

    def _change(self, drift: Drift, make: Make, known: Field) -> None:
        """Learn a field anew, but for what no template means; tell of it once."""
        make.changed = f"{drift.field}: {drift.reason}"[:500]
        if drift.kind == "repeated" and self._rename(drift, make, known):
            return
        constant = drift.field in {"name", "price", "sku"} and not known.varies(drift.kind)
        if drift.kind == "repeated" and (drift.field, drift.kind) not in make.said:
            # The first ones were stored before anything repeated.
            self._ask_again(make.mender.newest(2 * NEWEST), make)
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

    def _rename(self, drift: Drift, make: Make, known: Field) -> bool:
        """Read names from where each page has its own, where all have one in the usual place."""
        place = make.mender.name_place() if drift.field == "name" else None
        if place is None:
            return False
        known.relearn("name", place)
        reason = f"each page's own name stands in {place[:200]}"
        self._turn(attrs.evolve(drift, kind="moved", reason=reason), make)
        return True

    def _turn(self, drift: Drift, make: Make) -> None:
        """Begin a new version of a template, and have its newest pages read by it."""
        make.changed = f"{drift.field}: {drift.reason}"[:500]
        make.profile.version += 1
        make.profile.unsaved += KNOWN
        self._ask_again(list(dict.fromkeys([*make.mender.again(), drift.url])), make)
        self._drifted(drift)

    def _ask_again(self, urls: list[str], make: Make) -> None:
        if make.replays < _MOST_REPLAYS:
            make.replays += 1
            asked = {url for url, _ in make.again}
            make.again += [(url, make.profile.version) for url in urls if url not in asked]

    def _tell_once(self, drift: Drift, make: Make) -> None:
        if (drift.field, drift.kind) not in make.said:
            make.said.add((drift.field, drift.kind))
            self._drifted(drift)
