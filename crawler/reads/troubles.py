"""A crawl's problems in words, the worst first, each with its remedy. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crawler.reads.crawl_report import plural
from crawler.reads.doctor.clocks import ROUGH_SKEW_S
from scrapy_seine.attrs_bases import Value
from scrapy_seine.reads.formatting import share, span
from scrapy_seine.reads.overview import Overview

#: Largest share of failed tries without a problem, and the fewest tries to judge the share.
_MAX_FAILURE_SHARE, _MIN_TRIES = 0.2, 20
#: Largest share of Redis' memory without a problem; Redis refuses writes at its limit.
_MAX_MEMORY_SHARE = 0.85
#: Longest time that a request may be overdue, seconds.
_MAX_LATENESS_S = 30.0
#: Minutes over which failures are counted.
_RECENT_MINUTES = 10


@attrs.frozen(eq=False, repr=False)
class Trouble(Value):
    """One problem."""

    text: str
    fix: str
    """The remedy, or the page to read."""
    href: str = ""
    """The page that shows more; empty: none."""


def troubles(overview: Overview, seeds: int = 0) -> list[Trouble]:
    """Return the crawl's problems; *seeds* counts the seeds that no worker took."""
    return [
        *_workers(overview, seeds),
        *_redis(overview),
        *_failures(overview),
        *_lateness(overview),
    ]


def _workers(overview: Overview, seeds: int) -> Iterator[Trouble]:
    counts = overview.fleet.counts
    if seeds and not counts.undone and not overview.fleet.alive:
        text = f"{plural(seeds, 'seed')} not taken, because no worker runs"
        yield Trouble(text, "start one: scrapy crawl catalog", "/workers")
    if counts.undone and not overview.fleet.alive:
        text = f"Work waits, {plural(counts.undone, 'request')}, and no worker runs"
        yield Trouble(text, "start one: scrapy crawl catalog", "/workers")
    if counts.paused and counts.undone:
        yield Trouble("The crawl is paused", "resume it: scrapy frontier resume")


def _redis(overview: Overview) -> Iterator[Trouble]:
    fleet = overview.fleet
    if (
        fleet.memory_limit_bytes
        and fleet.memory_bytes > _MAX_MEMORY_SHARE * fleet.memory_limit_bytes
    ):
        memory_share = share(fleet.memory_bytes / fleet.memory_limit_bytes)
        yield Trouble(
            f"Redis uses {memory_share} of its memory", "give it more, or SEINE_SEEN=bloom"
        )
    if abs(fleet.clock_skew_s) > ROUGH_SKEW_S:
        text = f"This machine's clock is {span(abs(fleet.clock_skew_s))} apart from Redis'"
        yield Trouble(text, "set it by NTP; the frontier keeps to Redis' clock")


def _failures(overview: Overview) -> Iterator[Trouble]:
    minutes = overview.minutes[-_RECENT_MINUTES:]
    done = sum(minute.done for minute in minutes)
    failures = sum(minute.retry + minute.bury for minute in minutes)
    if done + failures >= _MIN_TRIES and failures > _MAX_FAILURE_SHARE * (done + failures):
        text = f"{share(failures / (done + failures))} of the tries of the last minutes failed"
        yield Trouble(text, "see by which site and status", "/attempts")
    if overview.fleet.counts.dead:
        commonest = next(iter(overview.reasons.items()), None)
        reason = f", most because: {commonest[0]}" if commonest else ""
        text = f"{plural(overview.fleet.counts.dead, 'request')} given up{reason}"
        yield Trouble(text, "read why, then replay or remove them", "/dead")


def _lateness(overview: Overview) -> Iterator[Trouble]:
    if (
        overview.fleet.lateness_s > _MAX_LATENESS_S
        and overview.fleet.alive
        and not overview.fleet.counts.paused
    ):
        text = f"Requests leave {span(overview.fleet.lateness_s)} later than their sites allow"
        yield Trouble(text, "start more workers", "/workers")
