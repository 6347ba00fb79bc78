"""A crawl's problems in words, the worst first, each with its remedy. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crawler.reads.crawl_report import plural
from crawler.reads.doctor.clocks import ROUGH_SKEW_S
from scrapy_seine.attrs_bases import Value
from scrapy_seine.reads.formatting import share, span
from scrapy_seine.reads.overview import Overview

#: Share of failed tries that is a problem, and the tries needed to judge it.
_BAD_SHARE, _TRIES = 0.2, 20
#: Share of Redis' memory limit that is a problem, because Redis refuses writes at the limit.
_FULL = 0.85
#: Seconds that a request may be overdue.
_LATE_S = 30.0
#: Minutes over which failures are counted.
_LATELY = 10


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
    return [*_workers(overview, seeds), *_redis(overview), *_failures(overview), *_late(overview)]


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
    if fleet.memory_limit_bytes and fleet.memory_bytes > _FULL * fleet.memory_limit_bytes:
        used = share(fleet.memory_bytes / fleet.memory_limit_bytes)
        yield Trouble(f"Redis uses {used} of its memory", "give it more, or SEINE_SEEN=bloom")
    if abs(fleet.clock_skew_s) > ROUGH_SKEW_S:
        text = f"This machine's clock is {span(abs(fleet.clock_skew_s))} apart from Redis'"
        yield Trouble(text, "set it by NTP; the frontier keeps to Redis' clock")


def _failures(overview: Overview) -> Iterator[Trouble]:
    lately = overview.minutes[-_LATELY:]
    done = sum(minute.done for minute in lately)
    failed = sum(minute.retry + minute.bury for minute in lately)
    if done + failed >= _TRIES and failed > _BAD_SHARE * (done + failed):
        text = f"{share(failed / (done + failed))} of the tries of the last minutes failed"
        yield Trouble(text, "see by which site and status", "/attempts")
    if overview.fleet.counts.dead:
        commonest = next(iter(overview.reasons.items()), None)
        reason = f", most because: {commonest[0]}" if commonest else ""
        text = f"{plural(overview.fleet.counts.dead, 'request')} given up{reason}"
        yield Trouble(text, "read why, then replay or remove them", "/dead")


def _late(overview: Overview) -> Iterator[Trouble]:
    if (
        overview.fleet.lateness_s > _LATE_S
        and overview.fleet.alive
        and not overview.fleet.counts.paused
    ):
        text = f"Requests leave {span(overview.fleet.lateness_s)} later than their sites allow"
        yield Trouble(text, "start more workers", "/workers")
