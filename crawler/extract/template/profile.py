"""What is known of one make of pages: counts, so small that thousands of sites fit."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable
from typing import Any

import attrs

from crawler.extract.template.observation import FIELDS, Seen
from scrapy_seine.records import Record

#: Pages after which a make is known well enough to hold a page against it.
KNOWN = 8
#: Pages of a make after which one page more says little: each is judged still, but few are counted.
WELL_KNOWN = 64
#: Pages counted since, after which all is weighed anew.
_WEIGHED = 8
#: Places and values of a field that are remembered, and pages in which a change is looked for.
_MOST_PATHS, _MOST_VALUES, WINDOW = 6, 12, 12
#: Places from which a field is read: pages of one make may have it in one of several boxes.
_MOST_PLACES = 3
#: Texts whose place is known, before new places are news.
_MANY_PATHS = 60
#: Counts are halved at so many pages: what a site did a year ago says little.
_MOST_PAGES = 2_000


@attrs.define(eq=False, repr=False)
class Field(Record):
    """One field on the pages of one make."""

    pages: int = 0
    filled: int = 0
    offered: Counter[str] = attrs.Factory(Counter)
    """Pages on which each source told the field."""
    agreed: Counter[str] = attrs.Factory(Counter)
    """Of these, on how many it told the value that was chosen."""
    sources: Counter[str] = attrs.Factory(Counter)
    """From which source the value came."""
    paths: Counter[str] = attrs.Factory(Counter)
    values: Counter[str] = attrs.Factory(Counter)
    """The newest values, to tell what varies from what stands on every page."""
    probation: int = 0
    """Pages left on which a text alone does not change what is stored: its place is new."""
    preferred: str | None = None
    """The source that is right where sources began to differ."""
    places: list[str] = attrs.Factory(list)
    """Where the pages have the field since the parser reads it wrong (`nodes`), the newest first."""
    affix: tuple[str, str] = ("", "")
    """What stands before and behind each value since, and is no part of it."""
    misses: int = 0
    """Pages in a row that have nothing there."""
    recent: deque[tuple[str | None, Seen]] = attrs.Factory(lambda: deque(maxlen=WINDOW))
    """The doubt (None: none) and the field of the newest pages."""
    calm: dict[Hashable, float] = attrs.field(factory=dict, eq=False, repr=False)
    """Confidence of values that nothing contradicts, by form (`observation.form`), for a while: most
    pages of a make have one of a few forms."""

    def learn(self, field: str, seen: Seen) -> None:
        """Count a page whose value nothing contradicts."""
        if self.pages < WELL_KNOWN or not self.pages % _WEIGHED:
            self.calm.clear()
        self.pages += 1
        if seen.value is not None:
            self.filled += 1
            self.sources[seen.source or ""] += 1
            _count(self.values, str(seen.value)[:80], _MOST_VALUES)
            self._count_votes(field, seen)
            if seen.path:
                _count(self.paths, seen.path, _MOST_PATHS)
        if self.pages > _MOST_PAGES:
            self._halve()

    def _count_votes(self, field: str, seen: Seen) -> None:
        """Count who agrees; the chosen source only where another one can confirm it."""
        votes, chosen = seen.votes, seen.source
        if len(votes) == 1 and chosen in votes:
            return
        agreeing = {source for source in votes if seen.agrees(field, source)}
        for source in votes:
            if source != chosen or len(votes) > 1:
                agrees = len(agreeing) > 1 if source == chosen else source in agreeing
                self.offered[source] += 1
                self.agreed[source] += agrees

    def relearn(self, field: str, place: str | None = None) -> None:
        """Forget what was known, and learn the newest pages instead; those to come, of a new place."""
        pages = [seen for _, seen in self.recent] if place is None else []
        self.places = [] if place is None else [place, *self.places][:_MOST_PLACES]
        self.misses = 0
        self.calm.clear()
        self.pages = self.filled = 0
        for counts in (self.offered, self.agreed, self.sources, self.paths, self.values):
            counts.clear()
        for seen in pages:
            self.learn(field, seen)
        self.recent.clear()

    def share(self, counts: Counter[str], key: str) -> float:
        """How often a source agreed, of the times that it told anything."""
        offered = self.offered[key]
        return counts[key] / offered if offered else 0.0

    def usual(self, counts: Counter[str]) -> tuple[str, float]:
        """What is most frequent among *counts*, and its share."""
        if not counts:
            return "", 0.0
        name = max(counts, key=counts.__getitem__)
        return name, counts[name] / max(1, counts.total())

    def value_share(self, value: object) -> float:
        """On how much of the pages the field has this value."""
        return self.values.get(str(value)[:80], 0) / max(1, self.filled)

    def is_usual(self, value: object) -> bool:
        """Whether most of the pages have this value."""
        return self.value_share(value) > 1 / 2

    def newest(self, kind: str) -> int:
        """How many of the newest pages have a doubt of that kind."""
        return sum(doubt == kind for doubt, _ in self.recent)

    def is_elsewhere(self) -> bool:
        """Whether the newest pages have the text in places that the many before did not have."""
        newest = self.recent[-1][1].path if len(self.recent) == WINDOW else None
        paths = self.paths
        if not newest or paths.get(newest, 0) > WINDOW or paths.total() < _MANY_PATHS:
            return False  # nearly all: the newest text stands where most do
        return all(seen.path and paths[seen.path] <= WINDOW for _, seen in self.recent)

    def varies(self, kind: str) -> bool:
        """Whether the newest pages with a doubt of that kind tell different values."""
        told = [str(seen.value) for doubt, seen in self.recent if doubt == kind]
        return 2 * len(set(told)) > len(told) > 0

    def _halve(self) -> None:
        self.pages, self.filled = self.pages // 2, self.filled // 2
        for counts in (self.offered, self.agreed, self.sources, self.paths, self.values):
            for key in list(counts):
                counts[key] //= 2


@attrs.define(eq=False, repr=False)
class Profile(Record):
    """All fields of one make of pages."""

    fields: dict[str, Field] = attrs.Factory(lambda: {name: Field() for name in FIELDS})
    version: int = 1
    """Grows with each change of the template."""
    languages: Counter[str] = attrs.Factory(Counter)
    """Of the pages, by its two letters; empty where a page does not tell."""
    unsaved: int = 0
    """Pages learned since the profile was stored."""
    markets: dict[str, list[list[str]]] = attrs.Factory(dict)
    """The site's currencies (`visitor_currency`), as they are stored with the profile."""

    @property
    def pages(self) -> int:
        """Pages that were learned."""
        return self.fields["name"].pages

    @property
    def known(self) -> bool:
        """Whether a page can be held against it."""
        return self.pages >= KNOWN

    @property
    def usual_language(self) -> tuple[str, float]:
        """What most pages are in, and the share of these."""
        if not self.languages:
            return "", 0.0
        lang = max(self.languages, key=self.languages.__getitem__)
        return lang, self.languages[lang] / max(1, self.languages.total())

    def note_language(self, lang: str) -> None:
        """Count a page's language."""
        _count(self.languages, lang, _MOST_VALUES)

    def plain(self) -> dict[str, Any]:
        """The profile as JSON holds it."""
        return {
            "version": self.version,
            "languages": dict(self.languages.most_common(_MOST_VALUES)),
            "markets": self.markets,
            "fields": {
                name: {
                    "pages": one.pages,
                    "filled": one.filled,
                    "preferred": one.preferred,
                    "places": one.places,
                    "affix": one.affix,
                    **{kind: dict(getattr(one, kind).most_common(12)) for kind in _COUNTED},
                }
                for name, one in self.fields.items()
            },
        }

    @classmethod
    def of(cls, plain: Any) -> Profile:
        """A profile out of what was stored.

        Raises:
            TypeError, ValueError, KeyError, AttributeError: it is no profile.
        """
        made = cls(version=int(plain["version"]))
        told_languages = plain.get("languages", {}).items()
        made.languages.update({str(lang)[:2]: int(n) for lang, n in told_languages})
        for name, ((usual,), fine, urls) in plain.get("markets", {}).items():
            made.markets[str(name)[:500]] = [
                [str(usual)],
                [str(one) for one in fine][:_MOST_VALUES],
                [str(url) for url in urls][:_MOST_VALUES],
            ]
        for name, told in plain["fields"].items():
            if name not in made.fields:
                continue
            one = made.fields[name]
            one.pages, one.filled = int(told["pages"]), int(told["filled"])
            one.preferred = str(told["preferred"]) if told["preferred"] else None
            one.places = [str(place)[:500] for place in told.get("places", ())][:_MOST_PLACES]
            before, after = told.get("affix", ("", ""))
            one.affix = str(before)[:200], str(after)[:200]
            for kind in _COUNTED:
                counts: Counter[str] = getattr(one, kind)
                counts.update({str(key)[:500]: int(n) for key, n in told[kind].items()})
        return made


_COUNTED = ("offered", "agreed", "sources", "paths", "values")


def _count(counts: Counter[str], key: str, most: int) -> None:
    counts[key] += 1
    if len(counts) > 2 * most:  # now and then, because most values are seen once
        kept = counts.most_common(most)
        counts.clear()
        counts.update(dict([*kept, (key, max(1, dict(kept).get(key, 1)))]))
