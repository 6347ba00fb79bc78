"""The models of a job and of a site's plan."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Literal

import attrs

from scrapy_seine.attrs_bases import Value
from scrapy_seine.reads.progress import Estimate, Pace, estimate, follow

State = Literal["running", "paused", "finished", "cancelled"]
#: Counters of a job by the outcomes of its requests.
ENDED = ("done", "ignored", "failed", "cancelled")
ENDED_STATES: tuple[State, ...] = ("finished", "cancelled")
#: A job's name is part of Redis keys and of the first line of each of its requests.
NAME = re.compile(r"[\w.:-]{1,120}")
#: Age up to which a job moves though no request of it ended yet, s.
_YOUNG_S = 1800.0
#: A job that ends fewer requests a second, lately, stands still: one an hour.
_SLOWEST = 1 / 3600
_NUMBERED = re.compile(r"(.*?)(?::(\d+))?")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Plan(Value):
    """The recurring work for one site."""

    site_id: str
    seeds: tuple[str, ...] = ()
    """Start URLs of a full crawl, absolute; sitemaps are allowed."""
    schedule: str = ""
    """When a full crawl starts: a cron expression, UTC; empty: only on demand."""
    sitemaps: tuple[str, ...] = ()
    """Sitemaps to watch between full crawls."""
    watch_s: float = 3600.0
    """Seconds between two readings of the sitemaps."""
    recrawl_s: float = 0.0
    """Seconds after which a product that never changes is fetched again; 0: never."""
    budget: int = 0
    """Most products that are re-crawled in a day; 0: no limit."""
    importance: Callable[[Any], float] | None = attrs.field(default=None, eq=False, repr=False)
    """Returns the importance of a coordinator.known_product.KnownProduct; None: all are equal."""
    since: datetime | None = None
    """Times of the schedule before this start no crawl; None: all do."""


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Job(Value):
    """One run, with its counters."""

    id: str
    site_id: str
    kind: str
    """`full`, `recrawl`, `news` or `seed`."""
    state: State
    domains: tuple[str, ...] = ()
    """Domains of its seeds, which `pause` stops."""
    total: int = 0
    done: int = 0
    """Pages that were read."""
    ignored: int = 0
    """Requests that a named rule ended without a page: robots.txt, a 404 …"""
    failed: int = 0
    """Requests that became dead letters."""
    cancelled: int = 0
    """Requests that an operator cancelled."""
    started_at: float
    """Unix time, s."""
    finished_at: float | None = None
    planned: bool = True
    """Whether all its seeds are in the frontier."""
    checked: bool = False
    """Whether the products that the job did not see were requested by their own URLs."""
    plan: str = attrs.field(default="", repr=False)
    """Its seeds and further fields of their requests, as JSON; empty for jobs of older versions."""
    pace: Pace | None = None
    """Its last measured speed; None: not measured yet."""

    @property
    def left(self) -> int:
        """Number of requests that have not ended."""
        return max(0, self.total - self.ended)

    @property
    def ended(self) -> int:
        """Number of ended requests with any outcome."""
        return self.done + self.ignored + self.failed + self.cancelled

    def pace_at(self, at_s: float) -> Pace:
        """Return the job's speed at *at_s*, from the current counters."""
        return follow(self.pace, at_s, self.total, self.ended, self.started_at)

    def estimate(self, at_s: float) -> Estimate | None:
        """Estimate when the job ends; None if it does not run."""
        return estimate(self.pace_at(at_s)) if self.state == "running" else None

    def moves(self, at_s: float) -> bool:
        """Whether it ended requests lately or began just now; who paused it lets it stand still."""
        is_young = 0 <= at_s - self.started_at < _YOUNG_S  # clocks of two machines may differ
        return is_young or self.state == "paused" or self.pace_at(at_s).rate > _SLOWEST

    @property
    def complete(self) -> bool:
        """Whether the job runs and has no requests left.

        A job with more ended requests than its total is not complete: its counters are lost (I12).
        """
        return self.state == "running" and self.planned and self.total == self.ended

    @property
    def started(self) -> datetime:
        """When the job began."""
        return datetime.fromtimestamp(self.started_at, UTC)


def job_id(site_id: str, kind: str, due_at: datetime) -> str:
    """Build a job's name from its kind and due time, so that planning it twice makes one job.

    >>> job_id("shop.example", "full", datetime(2026, 11, 21, 4, 0, tzinfo=UTC))
    'shop.example-full-20261121T0400'
    """
    return re.sub(r"[^\w.:-]", "_", f"{site_id}-{kind}-{due_at:%Y%m%dT%H%M}")


def next_name(name: str) -> str:
    """Return the name of the job that begins beside or instead of the job *name*.

    >>> next_name("shop-full-20261121T0400"), next_name("shop-full-20261121T0400:2")
    ('shop-full-20261121T0400:2', 'shop-full-20261121T0400:3')
    """
    match = _NUMBERED.fullmatch(name)
    assert match is not None  # it matches any line
    return f"{match[1]}:{int(match[2] or 1) + 1}"
