"""The profiles of all sites that a worker reads, in bounded memory, and their templates' changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from crawler.extract.default_parser import Found
from crawler.extract.money.cents import take_shown_price
from crawler.extract.page.page import Page, tidied
from crawler.extract.shown_price import take_stated_price
from crawler.extract.template.address_codes import take_addressed
from crawler.extract.template.addresses import Addresses
from crawler.extract.template.confidence import doubted
from crawler.extract.template.drift import Drift
from crawler.extract.template.foreign_data import leave_out_foreign, take_labelled_number
from crawler.extract.template.language import foreign_language
from crawler.extract.template.make import COMPARED, NEWEST, Make
from crawler.extract.template.make_signature import broad_signature, signature
from crawler.extract.template.mass_changes import CHANGED
from crawler.extract.template.observation import FIELDS, Observation, observe
from crawler.extract.template.page_correction import BESIDE, mend
from crawler.extract.template.page_doubts import (
    FOREIGN,
    Doubt,
    Judgement,
    constant_value,
    disappears_with_stock,
    doubt_of_amounts,
    doubt_of_reduced,
    doubt_of_words,
    foreign_doubts,
    new_place_doubt,
    oddity,
    price_words,
    weigh,
)
from crawler.extract.template.profile import KNOWN, MARKED, WELL_KNOWN, Field, Profile, is_sampled
from crawler.extract.template.repeated_values import (
    repeated_product,
    repeated_value,
    repeats_names,
)
from crawler.extract.template.right_source import right_source
from crawler.extract.template.visitor_currency import TURNED, SiteCurrencies

#: Sites, makes of one site, and makes of all sites that are kept.
_MAX_SITES, _MAX_MAKES_PER_SITE, _MAX_MAKES = 500, 48, 4_000
#: Makes of a single page from which on a site's new pages are clustered by tags, if half of the
#: site's makes have a single page.
_MIN_SINGLE_PAGE_MAKES = 4
#: Newest pages with the same doubt that mean a change of the template.
_MIN_DOUBTFUL_PAGES = 6
#: Pages of a make after which another make counts as a change.
_SETTLED_PAGES = 40
#: Pages on which a price in a new place needs confirmation before it overwrites a stored one.
_PROBATION_PAGES = 200
#: Fields whose sources may contradict each other from the first page on.
_ODDITY_FIELDS = frozenset({"price", "currency"})
#: Kinds of doubts that are not learned away: a missing value stays missing, and another currency is
#: believed only once it is stored (`recall`).
_LASTING_KINDS = frozenset({"missing", "repeated", "order", "constant", FOREIGN})
#: Times that the newest pages of a make are read again within so many pages of it, because a template
#: may alternate between two states.
_MAX_REPLAYS, _REPLAY_PAGES = 4, 1_000


class Book:
    """The profiles of all sites; *drifted* is called with each change of a template."""

    def __init__(self, drifted: Callable[[Drift], None] = lambda drift: None) -> None:
        self._sites: OrderedDict[str, OrderedDict[str, Make]] = OrderedDict()
        self._drifted = drifted
        self._make_count = 0
        """Makes of all sites, in total."""
        self.currencies, self.addresses = SiteCurrencies(), Addresses()

    def judge(self, site_id: str, result: Found) -> Judgement:
        """Judge a product page by its site's template: correct its values, and learn from them."""
        cluster = self._cluster(site_id, result.page)
        make = self._make(site_id, cluster)
        profile = make.profile
        if take_shown_price(result.fields, result.sources, result.offered) and profile.known:
            self._report_cents(site_id, result.page.url, make)
        self._correct(site_id, result, make)
        observations = observe(result)
        # Each page without a product's number counts as a product of its own.
        key = str(result.fields.get("external_id") or result.page.url)
        if not profile.pages and self._is_known(site_id):
            profile.fields["price"].probation = _PROBATION_PAGES
        reduced = result.fields.get("regular_price") is not None
        doubts: dict[str, Doubt] = {}
        likely: dict[str, float] = {}
        for field in FIELDS:
            observation, stats = observations[field], profile.fields[field]
            likely[field], doubt = weigh(field, observations, profile, reduced=reduced)
            doubt = (
                doubt
                or (repeated_value(field, observation, make, key) if field in COMPARED else None)
                or (new_place_doubt(field, observation, stats) if stats.probation else None)
            )
            if doubt is not None:
                doubts[field] = doubt
        self._check_amounts(result, make, observations["price"], doubts)
        if profile.has_foreign or ("name" in doubts and doubts["name"].kind == "dispute"):
            for field, doubt in foreign_doubts(observations, profile, result.page.title):
                doubts.setdefault(field, doubt)
        foreign = foreign_language(result, profile)
        if foreign is None:
            profile.note_language(result.page.lang[:2])
        if (doubt := repeated_product(result, make, key) or foreign) is not None:
            doubts.setdefault("name", doubt)
        if make.mender.contrast.changed:
            make.mender.contrast.add_doubts(result, doubts)
        self._check_currency(site_id, result, make, doubts)
        judgement = Judgement(
            {
                name: doubted(probability) if name in doubts else probability
                for name, probability in likely.items()
                if observations[name].value is not None
            },
            doubts,
            cluster,
            profile.pages,
            profile.version,
        )
        self._learn(site_id, result, make, observations, doubts)
        # A name that repeats is no other doubt: a few makers' names repeat by turns.
        named = "name" not in doubts or doubts["name"].kind == "repeated"
        make.mender.repeats_names = named and repeats_names(observations["name"], make)
        self._compare(site_id, result, make, observations, frozenset(doubts))
        return judgement

    def _compare(
        self,
        site_id: str,
        result: Found,
        make: Make,
        observations: Mapping[str, Observation],
        doubtful: frozenset[str],
    ) -> None:
        """Keep a page that must be compared with stored values, or with others for their names."""
        mender = make.mender
        mender.note(result.page, observations, doubtful, result.fields)
        if (place := mender.place_beside_repeated()) is not None:
            self._read_names_from(f"{BESIDE}{place}", site_id, result.page.url, make)

    def _correct(self, site_id: str, result: Found, make: Make) -> None:
        """Correct a page; if its data have the make's first stale price, read earlier pages again."""
        again = ("name", "others") in make.reported
        if (name := leave_out_foreign(result, make.profile, again=again)) is not None:
            version, url = make.profile.version, result.page.url
            self._report_once(Drift(site_id, "name", "others", name[:60], url, version), make)
        take_labelled_number(result, make.profile, make.shared_numbers)
        is_learned = make.profile.known or make.profile.version > 1
        if result.outweighs_data and is_learned:
            take_stated_price(result.fields, result.sources, result.offered)
        if mend(result, make.profile) and ("price", "stale") not in make.reported:
            make.reported.add(("price", "stale"))
            self._request_reread(make.mender.newest(2 * NEWEST), make)
        if take_addressed(result, make.profile):
            self._request_reread(make.mender.newest(2 * NEWEST), make)

    @staticmethod
    def _check_amounts(
        result: Found, make: Make, price: Observation, doubts: dict[str, Doubt]
    ) -> None:
        """Compare the amounts beside a price, and the words before it, with the make's pages."""
        profile, doubt = make.profile, None
        regular = result.fields.get("regular_price")
        unmarked = result.paths.get("regular_price") if regular is not None else None
        missing, below = ("price", "missing") in make.reported, result.struck_below
        if "price" not in doubts and (unmarked or missing or below):
            doubt = doubt_of_amounts(price, profile, below, unmarked, missing)
        if doubt is None and regular is not None and "price" not in doubts:
            doubt = doubt_of_reduced(result.page, price, regular, profile)
        if doubt is None and result.words_before and "price" not in doubts:
            doubt = doubt_of_words(price, result.words_before, profile)
            if doubt is not None:
                make.note_words(result.page.url, price.value, price_words(result.words_before))
        if doubt is not None:
            doubts["price"] = doubt
        if price.source == "text" and "price" not in doubts:
            profile.note_words(price_words(result.words_before))
        if result.sources.get("regular_price") == "text" and "price" not in doubts:
            profile.note_reduction(unmarked or MARKED)

    def _report_cents(self, site_id: str, url: str, make: Make) -> None:
        reason = "structured data counts cents, the page shows whole units"
        self._report_once(Drift(site_id, "price", "cents", reason, url, make.profile.version), make)

    def _check_currency(
        self, site_id: str, result: Found, make: Make, doubts: dict[str, Doubt]
    ) -> None:
        """Compare a page's currency with the pages of its market."""
        currency, url = result.fields.get("currency"), tidied(result.page.url) or result.page.url
        if not currency or result.fields.get("price") is None:
            return
        doubt, news = self.currencies.note(site_id, url, currency)
        if news:
            self._drifted(Drift(site_id, "currency", TURNED, news, url, make.profile.version))
        if doubt is not None:
            doubts.setdefault("currency", doubt)
        elif "currency" in doubts and self.currencies.is_own(site_id, url, currency):
            del doubts["currency"]

    def is_product_page(self, site_id: str, page: Page) -> bool:
        """Whether a page has a make that many of the site's products have."""
        makes = self._sites.get(site_id)
        make = makes.get(self._cluster(site_id, page)) if makes else None
        return make is not None and make.profile.pages >= _SETTLED_PAGES

    def awaited_pages(self) -> Iterator[tuple[str, list[str]]]:
        """Yield sites and the addresses whose products' stored values are needed by `recall`."""
        for site_id, makes in self._sites.items():
            for make in makes.values():
                if urls := make.mender.awaited_pages():
                    yield site_id, urls

    def recall(self, site_id: str, stored: Mapping[str, Mapping[str, Any] | None]) -> None:
        """Learn from the values with which products were stored before, by the pages' addresses.

        A value of None is a page that showed no product before.
        """
        for make in self._sites.get(site_id, {}).values():
            for url in make.mender.awaited_pages():
                if url not in stored:
                    continue
                self._note_stored_product(site_id, make, stored[url], url)
                make.recall_words(url, stored[url])
                moves = list(make.mender.recall(url, stored[url]))
                self._report_changes(site_id, make, url)
                for field, place in moves:
                    stats, version = make.profile.fields[field], make.profile.version + 1
                    if place is None and (stored[url] or {}).get(field) == constant_value(stats):
                        continue  # another source contradicts the value
                    stats.relearn(field, place)
                    make.mender.contrast.mark_mended(field)
                    stats.preferred, stats.probation = None, _PROBATION_PAGES * (place is not None)
                    kind, reason = "believed", "products are stored with it"
                    if place is None:
                        self.currencies.believe(site_id)
                    if place is not None:
                        kind, reason = "moved", f"the known values stand in {place[:200]} since"
                    self._begin_version(Drift(site_id, field, kind, reason, url, version), make)

    def _report_changes(self, site_id: str, make: Make, url: str) -> None:
        """Report changes that all stored products share, and correct them if possible."""
        changes, make.mender.changes = make.mender.changes, []
        for change in changes:
            field, version = change.field, make.profile.version + 1
            stats = make.profile.fields.get(field)
            if change.over:
                self._request_reread(make.mender.take_newest(), make)
                continue
            if stats is None or change.believed:
                kind = "run" if field == "availability" else "minor"
                drift = Drift(site_id, field, kind, change.reason, url, version - 1)
                self._report_once(drift, make)
                continue
            kind = CHANGED
            if change.affix is not None:
                stats.affix, kind = change.affix, "affix"
            elif change.source is not None:
                stats.relearn(field)
                stats.preferred, kind = change.source, "source"
            if kind != CHANGED:
                make.mender.contrast.mark_mended(field)
            self._begin_version(Drift(site_id, field, kind, change.reason, url, version), make)

    def _note_stored_product(
        self, site_id: str, make: Make, stored: Mapping[str, Any] | None, url: str
    ) -> None:
        """Report a new make whose products are stored, because they had another make before."""
        if stored is None or make.profile.pages >= _SETTLED_PAGES:
            return
        make.stored_products += 1
        if make.stored_products != _MIN_DOUBTFUL_PAGES:
            return
        settled = [
            m.profile for m in self._sites[site_id].values() if m.profile.pages >= _SETTLED_PAGES
        ]
        for field, stats in make.profile.fields.items():
            place = stats.usual(stats.paths)[0]
            if place and settled and not any(p.fields[field].paths[place] for p in settled):
                reason = f"products that were known before have it in {place[:200]} since"
                self._report_once(
                    Drift(site_id, field, "layout", reason, url, make.profile.version), make
                )

    def pages_to_reread(self, site_id: str) -> list[tuple[str, int]]:
        """Return pages to read again by a newer template, once, each with the template's version."""
        urls: list[tuple[str, int]] = []
        for make in self._sites.get(site_id, {}).values():
            urls += make.pages_to_reread
            make.pages_to_reread = []
        return urls

    def load(self, site_id: str, cluster: str, plain: Any) -> bool:
        """Load a stored profile if it has more pages; return whether it was readable."""
        try:
            profile = Profile.of(plain)
        except (TypeError, ValueError, KeyError, AttributeError):
            return False
        make = self._make(site_id, cluster)
        self.currencies.load(site_id, profile.markets)
        if profile.pages > make.profile.pages:
            make.profile = profile
            make.mender.contrast.stock.begin(profile.fields["availability"].values)
        return True

    def unsaved(self, min_pages: int) -> Iterator[tuple[str, str, Profile, str | None]]:
        """Yield site, cluster, profile and last change of makes with unsaved pages, and reset them."""
        for site_id, makes in self._sites.items():
            for cluster, make in makes.items():
                if make.profile.known and make.profile.unsaved >= min_pages:
                    make.profile.unsaved = 0
                    make.profile.markets = self.currencies.plain(site_id)
                    yield site_id, cluster, make.profile, make.last_change
                    make.last_change = None

    def _make(self, site_id: str, cluster: str) -> Make:
        makes = self._sites.get(site_id)
        if makes is None:
            makes = self._sites[site_id] = OrderedDict()
        self._sites.move_to_end(site_id)
        if len(self._sites) > _MAX_SITES or self._make_count > _MAX_MAKES:
            self._make_count -= len(self._sites.popitem(last=False)[1])
        make = makes.get(cluster)
        if make is None:
            make = makes[cluster] = Make()
            self._make_count += 1
        makes.move_to_end(cluster)
        if len(makes) > _MAX_MAKES_PER_SITE:
            makes.popitem(last=False)
            self._make_count -= 1
        return make

    def _cluster(self, site_id: str, page: Page) -> str:
        """Return a page's cluster: by tags alone if each page of the site has its own classes."""
        exact, makes = signature(page), self._sites.get(site_id)
        if makes is None or exact in makes:
            return exact
        singles = sum(make.profile.pages <= 1 for make in makes.values())
        broad_cluster = broad_signature(page)
        is_usual = singles >= _MIN_SINGLE_PAGE_MAKES and 2 * singles >= len(makes)
        return broad_cluster if is_usual or broad_cluster in makes else exact

    def _is_known(self, site_id: str) -> bool:
        """Whether the site has a settled make, so that a new make is a change."""
        return any(make.profile.pages >= _SETTLED_PAGES for make in self._sites[site_id].values())

    def _learn(
        self,
        site_id: str,
        result: Found,
        make: Make,
        observations: dict[str, Observation],
        doubts: dict[str, Doubt],
    ) -> None:
        profile = make.profile
        profile.unsaved += 1
        # Each page is judged, but of a well-known field only a sample is counted.
        sampled = is_sampled(profile.unsaved)
        for field, observation in observations.items():
            doubt, stats = doubts.get(field), profile.fields[field]
            is_counted = sampled or stats.pages < WELL_KNOWN
            if stats.probation:
                stats.probation -= 1
            stats.recent.append((None if doubt is None else doubt.kind, observation))
            if doubt is None and observation.path is None and not is_counted:
                continue  # nearly all pages: nothing to learn, and no text in a new place
            is_informative = observation.value is not None or not disappears_with_stock(
                field, observations
            )
            if (doubt is None or doubt.kind == "make") and is_informative and is_counted:
                stats.learn(field, observation)
            version, url = profile.version, result.page.url
            if stats.sources.get("template", 0) >= _MIN_DOUBTFUL_PAGES and not stats.places:
                reason = "pages no longer have the field, earlier pages had it"
                self._report_once(Drift(site_id, field, "mended", reason, url, version), make)
            if field in _ODDITY_FIELDS and is_counted and (odd := oddity(field, stats)) is not None:
                self._report_once(Drift(site_id, field, odd[0], odd[1], url, version), make)
            is_reduced = field == "price" and result.fields.get("regular_price") is not None
            if doubt is None and observation.path and not is_reduced and stats.is_elsewhere():
                reason = f"it stands in {str(observation.path)[:200]} since"
                self._report_once(Drift(site_id, field, "layout", reason, url, version), make)
            may_relearn = doubt is not None and doubt.kind not in {TURNED, CHANGED}
            if (
                doubt is not None
                and may_relearn
                and stats.newest(doubt.kind) >= _MIN_DOUBTFUL_PAGES
            ):
                change = Drift(site_id, field, doubt.kind, doubt.reason, url, version + 1)
                name_doubt = doubts.get("name")
                foreign = name_doubt is not None and name_doubt.kind == "dispute"
                self._relearn(change, make, stats, foreign=foreign)
            elif doubt is not None and doubt.kind == "dispute" and stats.note_dispute():
                change = Drift(site_id, field, "dispute", doubt.reason, url, version)
                self._report_once(change, make)

    def _relearn(self, drift: Drift, make: Make, stats: Field, *, foreign: bool) -> None:
        """Learn a field anew, unless the doubt is no change of the template; report it once.

        *foreign*: the sources differ on the name as well, so that one has another product's fields.
        """
        make.last_change = f"{drift.field}: {drift.reason}"[:500]
        if drift.kind == "repeated" and self._relearn_names(drift, make, stats):
            return
        is_constant = drift.field in {"name", "price", "sku"} and not stats.varies(drift.kind)
        if drift.kind == "repeated" and (drift.field, drift.kind) not in make.reported:
            # The first products were stored before the repetition was noticed.
            self._request_reread(make.mender.newest(2 * NEWEST), make)
        preferred = stats.preferred
        if drift.kind == "dispute":
            shown = make.mender.shows_price
            preferred = right_source(drift.field, stats, shown=shown, foreign=foreign)
        # The remaining values of a field that most pages lack, such as old prices, are no template.
        is_missing = stats.newest("missing") > 0
        is_unchanged = drift.kind == "make" or drift.kind in _LASTING_KINDS
        if (is_constant and preferred != "text") or is_missing or is_unchanged:
            self._report_once(drift, make)
            return
        stats.preferred = preferred
        # A learned place has the stored values, so that the other source is the wrong one.
        stats.relearn(drift.field, keeps_places=drift.kind == "dispute")
        if drift.field in {"price", "availability"} and drift.kind == "place":
            stats.probation = _PROBATION_PAGES
        self._begin_version(drift, make)

    def _relearn_names(self, drift: Drift, make: Make, stats: Field) -> bool:
        """Read names from a place where each page has its own, as the usual place repeats one name."""
        place = make.mender.name_place() if drift.field == "name" else None
        if place is None or place in stats.places:
            return False
        self._read_names_from(place, drift.site_id, drift.url, make)
        return True

    def _read_names_from(self, place: str, site_id: str, url: str, make: Make) -> None:
        """Read names from a place that was found without stored names, because these are others'."""
        make.profile.fields["name"].relearn("name", place)
        make.mender.contrast.mark_mended("name")
        make.mender.contrast.has_own_names = place.startswith(BESIDE)
        reason = f"each page's own name stands in {place[:200]}"
        version = make.profile.version + 1
        self._begin_version(Drift(site_id, "name", "moved", reason, url, version), make)

    def _begin_version(self, drift: Drift, make: Make) -> None:
        """Begin a new version of a template, and request its newest pages again."""
        make.last_change = f"{drift.field}: {drift.reason}"[:500]
        make.profile.version += 1
        make.profile.unsaved += KNOWN
        self._request_reread(list(dict.fromkeys([*make.mender.take_newest(), drift.url])), make)
        self._drifted(drift)

    def _request_reread(self, urls: list[str], make: Make) -> None:
        pages, replays = make.mender.pages, make.replays
        if len(replays) < _MAX_REPLAYS or pages - replays[-_MAX_REPLAYS] >= _REPLAY_PAGES:
            make.replays = [*replays, pages][-_MAX_REPLAYS:]
            listed_urls = {url for url, _ in make.pages_to_reread}
            make.pages_to_reread += [
                (url, make.profile.version) for url in urls if url not in listed_urls
            ]

    def _report_once(self, drift: Drift, make: Make) -> None:
        if (drift.field, drift.kind) not in make.reported:
            make.reported.add((drift.field, drift.kind))
            self._drifted(drift)
