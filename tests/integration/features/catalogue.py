"""What a feature is: its row in docs/scrapy-features.md, the spider that shows it, what must hold.

A feature's spider is crawled by plain Scrapy and by so many workers with the add-on. By default its
items must be equal, and the stats that it names; `check` looks at more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
from scrapy import Spider


@attrs.define(kw_only=True)
class Seen:
    """What came of one side's crawl, all its workers together."""

    items: list[Any] = attrs.Factory(list)
    stats: list[dict[str, Any]] = attrs.Factory(list)
    """Of each worker."""
    notes: list[Any] = attrs.Factory(list)
    """What the feature's code noted."""
    asked: list[tuple[float, str, int]] = attrs.Factory(list)
    """When the site was asked (s), for which path, and how many requests it had then."""

    def total(self, name: str) -> float:
        """Sum of a stat over the workers."""
        return sum(stats.get(name) or 0 for stats in self.stats)

    @property
    def span_s(self) -> float:
        """Seconds between the first and the last request to the site."""
        times = [at for at, _, _ in self.asked]
        return max(times) - min(times)

    @property
    def most_at_once(self) -> int:
        """Requests that the site had at one time, at most."""
        return max(together for _, _, together in self.asked)


Check = Callable[[Seen, Seen], None]


@attrs.frozen(kw_only=True)
class Feature:
    """One row."""

    name: str
    says: str
    section: str
    spider: type[Spider]
    settings: dict[str, Any]
    workers: int
    stats: Sequence[str]
    equal: bool
    check: Check | None

    @property
    def shown_by(self) -> str:
        """The spider's class, by which a reader finds it."""
        return self.spider.__name__


FEATURES: list[Feature] = []
AS_IN_SCRAPY = "as in Scrapy"


def feature(
    section: str,
    name: str,
    says: str = AS_IN_SCRAPY,
    *,
    workers: int = 1,
    stats: Sequence[str] = (),
    equal: bool = True,
    **settings: Any,
) -> Callable[[type[Spider]], type[Spider]]:
    """Enter a spider as the one that shows a feature."""

    def enter(spider: type[Spider]) -> type[Spider]:
        FEATURES.append(
            Feature(
                name=name,
                says=says,
                section=section,
                spider=spider,
                settings=settings,
                workers=workers,
                stats=stats,
                equal=equal,
                check=getattr(spider, "check", None),
            )
        )
        return spider

    return enter
