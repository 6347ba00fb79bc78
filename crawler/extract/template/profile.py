"""The profile of one make of pages: counts, small enough for thousands of sites."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable
from typing import Any

import attrs

from crawler.extract.template.observation import BY_WORDS, FIELDS, Observation
from scrapy_seine.attrs_bases import Record

#: Pages of a make after which other pages are compared with it.
KNOWN = 8
#: The place of a regular price that is marked as that, wherever it stands.
MARKED = ""
#: Pages of a make after which each page is still judged, but only a sample is counted.
WELL_KNOWN = 64
#: The share of pages on which a property is a rule of the template.
RULE_SHARE = 0.95
#: One page of so many is counted for a field that is well known, and compared with its product.
SAMPLE_INTERVAL = 8
#: Counted pages after which cached confidences are discarded.
_REWEIGH_INTERVAL = 8
#: Places and values of a field that are kept, and newest pages that are searched for a change.
_MAX_PATHS, _MAX_VALUES, WINDOW = 6, 12, 12
#: Pages with different sources before that is reported.
_MIN_DISPUTES = 6
#: Places from which a field is read, because a make's pages may have it in one of several boxes.
_MAX_PLACES = 3
#: Texts with a counted place before new places are a change.
_MIN_PATHS = 60
#: The share of pages with a field from which on a page without it lacks it.
_ALWAYS_SHARE = 0.97
#: The share of reduced pages up to which a place of the regular price is unusual.
_UNUSUAL_SHARE = 0.05
#: Counts are halved at so many pages, because old pages say little about today's template.
_MAX_PAGES = 2_000


def is_sampled(page: int, interval: int = SAMPLE_INTERVAL) -> bool:
    """Whether a page belongs to the sample: one page of each *interval*, not always the same one.

    Each eighth page would always be an even one, so that a template of the odd pages stayed unseen.
    """
    return page % interval == page // interval % interval


@attrs.define(eq=False, repr=False)
class Field(Record):
    """Counts of one field on the pages of one make."""

    pages: int = 0
    filled: int = 0
    offered: Counter[str] = attrs.Factory(Counter)
    """Pages on which each source gave the field."""
    agreed: Counter[str] = attrs.Factory(Counter)
    """Pages on which each source gave the chosen value."""
    sources: Counter[str] = attrs.Factory(Counter)
    """Pages on which each source was the chosen one."""
    paths: Counter[str] = attrs.Factory(Counter)
    values: Counter[str] = attrs.Factory(Counter)
    """The newest values, which show whether the field varies or is the same on every page."""
    probation: int = 0
    """Further pages on which a text alone does not change the stored value: its place is new."""
    preferred: str | None = None
    """The source that is right since the sources disagree."""
    places: list[str] = attrs.Factory(list)
    """Places of the field (`values_by_place`) that the parser does not find, the newest first."""
    affix: tuple[str, str] = ("", "")
    """Texts before and after each value that are no part of it."""
    misses: int = 0
    """Consecutive pages without a value in these places."""
    always_had: bool = False
    """Whether nearly all pages had the field before it was learned anew."""
    recent: deque[tuple[str | None, Observation]] = attrs.Factory(lambda: deque(maxlen=WINDOW))
    """Kind of the doubt (None without one) and observation of the newest pages."""
    disputes: deque[int] = attrs.Factory(lambda: deque(maxlen=_MIN_DISPUTES))
    """Counted pages at the newest pages on which sources differ."""
    calm: dict[Hashable, float] = attrs.field(factory=dict, eq=False, repr=False)
    """Cached confidences of values without a doubt, by form (`observation.form_of`), because most
    pages of a make have one of a few forms."""

    def learn(self, field: str, observation: Observation) -> None:
        """Count a page without a doubt about its value."""
        if self.pages < WELL_KNOWN or not self.pages % _REWEIGH_INTERVAL:
            self.calm.clear()
        self.pages += 1
        if observation.value is not None:
            self.filled += 1
            self.sources[observation.source or ""] += 1
            _count(self.values, str(observation.value)[:80], _MAX_VALUES)
            self._count_votes(field, observation)
            if observation.path:
                _count(self.paths, observation.path, _MAX_PATHS)
        if self.pages > _MAX_PAGES:
            self._halve()

    def _count_votes(self, field: str, observation: Observation) -> None:
        """Count the sources that agree; the chosen source only if another one can confirm it."""
        votes, chosen_source = observation.votes, observation.source
        if len(votes) == 1 and chosen_source in votes:
            return
        agreeing = {source for source in votes if observation.agrees(field, source)}
        for source in votes:
            if source != chosen_source or len(votes) > 1:
                agrees = len(agreeing) > 1 if source == chosen_source else source in agreeing
                self.offered[source] += 1
                self.agreed[source] += agrees

    def relearn(self, field: str, place: str | None = None, *, keeps_places: bool = False) -> None:
        """Reset the counts and learn the newest pages, or, with a new place, only pages to come."""
        observations = [observation for _, observation in self.recent] if place is None else []
        if self.pages >= KNOWN:
            self.always_had = self.is_always_filled()
        if not keeps_places:
            self.places = [] if place is None else [place, *self.places][:_MAX_PLACES]
        self.misses = 0
        self.calm.clear()
        self.pages = self.filled = 0
        for counts in (self.offered, self.agreed, self.sources, self.paths, self.values):
            counts.clear()
        for observation in observations:
            self.learn(field, observation)
        self.recent.clear()

    def is_always_filled(self) -> bool:
        """Whether nearly all pages have the field; of few pages, as it was before them."""
        if self.pages < KNOWN:
            return self.always_had
        return self.filled >= _ALWAYS_SHARE * self.pages

    def share(self, counts: Counter[str], key: str) -> float:
        """Return the share of a source's pages that *counts* holds for it."""
        offered = self.offered[key]
        return counts[key] / offered if offered else 0.0

    def usual(self, counts: Counter[str]) -> tuple[str, float]:
        """Return the most frequent key of *counts*, and its share."""
        if not counts:
            return "", 0.0
        name = max(counts, key=counts.__getitem__)
        return name, counts[name] / max(1, counts.total())

    def value_share(self, value: object) -> float:
        """Return the share of the pages with this value."""
        return self.values.get(str(value)[:80], 0) / max(1, self.filled)

    def is_usual(self, value: object) -> bool:
        """Whether more than half of the pages have this value."""
        return self.value_share(value) > 1 / 2

    def note_dispute(self) -> bool:
        """Count a page on which sources differ; return whether several of the newest ones did.

        They are too few to choose a source for all pages.
        """
        self.disputes.append(self.pages)
        return len(self.disputes) == _MIN_DISPUTES and self.pages - self.disputes[0] < WELL_KNOWN

    def newest(self, kind: str) -> int:
        """Return how many of the newest pages have a doubt of this kind."""
        return sum(doubt == kind for doubt, _ in self.recent)

    def is_elsewhere(self) -> bool:
        """Whether the newest pages have the text in places that the earlier pages rarely had."""
        newest = self.recent[-1][1].path if len(self.recent) == WINDOW else None
        paths = self.paths
        if (
            newest in {None, BY_WORDS}
            or paths.get(newest, 0) > WINDOW
            or paths.total() < _MIN_PATHS
        ):
            return False  # nearly all pages: the newest text stands in a usual place
        return all(
            observation.path and paths[observation.path] <= WINDOW for _, observation in self.recent
        )

    def varies(self, kind: str) -> bool:
        """Whether the newest pages with a doubt of this kind have different values."""
        doubted_values = [
            str(observation.value) for doubt, observation in self.recent if doubt == kind
        ]
        return 2 * len(set(doubted_values)) > len(doubted_values) > 0

    def _halve(self) -> None:
        self.pages, self.filled = self.pages // 2, self.filled // 2
        for counts in (self.offered, self.agreed, self.sources, self.paths, self.values):
            for key in list(counts):
                counts[key] //= 2


@attrs.define(eq=False, repr=False)
class Profile(Record):
    """The counts of all fields of one make."""

    fields: dict[str, Field] = attrs.Factory(lambda: {name: Field() for name in FIELDS})
    version: int = 1
    """Grows with each change of the template."""
    languages: Counter[str] = attrs.Factory(Counter)
    """Pages by two-letter language; an empty one if a page declares none."""
    reductions: Counter[str] = attrs.Factory(Counter)
    """Pages with a regular price in the visible text, by its place; `MARKED` if it is marked."""
    words: Counter[str] = attrs.Factory(Counter)
    """Pages with a price in the visible text, by the words before it (`price_words`)."""
    has_foreign: bool = False
    """Whether structured data had another product's name on some page."""
    codes: list[str] = attrs.Factory(list)
    """Barcodes in the addresses of products whose pages show none (`address_codes`)."""
    unsaved: int = 0
    """Pages learned since the profile was last stored."""
    markets: dict[str, list[list[str]]] = attrs.Factory(dict)
    """The site's currencies (`visitor_currency`), as they are stored with the profile."""

    @property
    def pages(self) -> int:
        """The number of learned pages."""
        return self.fields["name"].pages

    @property
    def known(self) -> bool:
        """Whether enough pages were learned to judge others."""
        return self.pages >= KNOWN

    def note_reduction(self, place: str) -> None:
        """Count a page with a regular price."""
        _count(self.reductions, place, _MAX_PATHS)

    def note_words(self, words: str) -> None:
        """Count a page by the words before its visible price."""
        _count(self.words, words, _MAX_PATHS)

    def is_unusual_reduction(self, place: str) -> bool:
        """Whether the template marks the price before a reduction, or has it in another place."""
        pages = self.reductions.total()
        return pages >= KNOWN and self.reductions[place] <= _UNUSUAL_SHARE * pages

    @property
    def usual_language(self) -> tuple[str, float]:
        """The most frequent language, and its share of the pages."""
        if not self.languages:
            return "", 0.0
        lang = max(self.languages, key=self.languages.__getitem__)
        return lang, self.languages[lang] / max(1, self.languages.total())

    def note_language(self, lang: str) -> None:
        """Count a page's language."""
        _count(self.languages, lang, _MAX_VALUES)

    def plain(self) -> dict[str, Any]:
        """Return the profile as it is stored in JSON."""
        return {
            "version": self.version,
            "languages": dict(self.languages.most_common(_MAX_VALUES)),
            "reductions": dict(self.reductions.most_common(_MAX_PATHS)),
            "markets": self.markets,
            "codes": self.codes,
            "words": dict(self.words.most_common(_MAX_PATHS)),
            "has_foreign": self.has_foreign,
            "fields": {
                name: {
                    "pages": stats.pages,
                    "filled": stats.filled,
                    "preferred": stats.preferred,
                    "places": stats.places,
                    "affix": stats.affix,
                    **{kind: dict(getattr(stats, kind).most_common(12)) for kind in _COUNTERS},
                }
                for name, stats in self.fields.items()
            },
        }

    @classmethod
    def of(cls, plain: Any) -> Profile:
        """Restore a profile from its stored form.

        Raises:
            TypeError, ValueError, KeyError, AttributeError: *plain* is no profile.
        """
        profile = cls(version=int(plain["version"]))
        profile.has_foreign = bool(plain.get("has_foreign"))
        profile.codes = [str(code)[:14] for code in plain.get("codes", ())][:_MAX_VALUES]
        stored_languages = plain.get("languages", {}).items()
        profile.languages.update({str(lang)[:2]: int(n) for lang, n in stored_languages})
        for kept, kind in ((profile.reductions, "reductions"), (profile.words, "words")):
            kept.update({str(key)[:500]: int(n) for key, n in plain.get(kind, {}).items()})
        for name, ((usual,), fine, urls) in plain.get("markets", {}).items():
            profile.markets[str(name)[:500]] = [
                [str(usual)],
                [str(stats) for stats in fine][:_MAX_VALUES],
                [str(url) for url in urls][:_MAX_VALUES],
            ]
        for name, stored in plain["fields"].items():
            if name not in profile.fields:
                continue
            stats = profile.fields[name]
            stats.pages, stats.filled = int(stored["pages"]), int(stored["filled"])
            stats.preferred = str(stored["preferred"]) if stored["preferred"] else None
            stats.places = [str(place)[:500] for place in stored.get("places", ())][:_MAX_PLACES]
            before, after = stored.get("affix", ("", ""))
            stats.affix = str(before)[:200], str(after)[:200]
            for kind in _COUNTERS:
                counts: Counter[str] = getattr(stats, kind)
                counts.update({str(key)[:500]: int(n) for key, n in stored[kind].items()})
        return profile


_COUNTERS = ("offered", "agreed", "sources", "paths", "values")


def _count(counts: Counter[str], key: str, limit: int) -> None:
    counts[key] += 1
    if len(counts) > 2 * limit:  # only now and then, because most values occur once
        top = counts.most_common(limit)
        counts.clear()
        counts.update(dict([*top, (key, max(1, dict(top).get(key, 1)))]))
