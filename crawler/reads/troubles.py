"""What is wrong with a crawl, the worst first, in words and with what to do about it. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from crawler.reads.crawl_report import plural
from crawler.reads.doctor.clocks import ROUGH_SKEW_S
from scrapy_seine.reads.formatting import share, span
from scrapy_seine.reads.overview import Overview
from scrapy_seine.records import Value

#: A share of failed tries above which something is wrong, and the tries that say so.
_BAD_SHARE, _TRIES = 0.2, 20
#: Share of Redis' memory above which it is about to refuse.
_FULL = 0.85
#: Seconds that a request may be overdue.
_LATE_S = 30.0
#: Minutes that count as lately.
_LATELY = 10


@attrs.frozen(eq=False, repr=False)
class Trouble(Value):
    """One thing that is wrong."""

    text: str
    fix: str
    """What to do, or where to look."""
    href: str = ""
    """The page that shows more; empty: none."""


def troubles(now: Overview, seeds: int = 0) -> list[Trouble]:
    """Name what is wrong; an empty list where nothing is. *seeds* are those that nobody took."""
    return [*_workers(now, seeds), *_redis(now), *_failures(now), *_late(now)]


def _workers(now: Overview, seeds: int) -> Iterator[Trouble]:
    counts = now.fleet.counts
    if seeds and not counts.undone and not now.fleet.alive:
        text = f"{plural(seeds, 'seed')} not taken, because no worker runs"
        yield Trouble(text, "start one: scrapy crawl catalog", "/workers")
    if counts.undone and not now.fleet.alive:
        text = f"Work waits, {plural(counts.undone, 'request')}, and no worker runs"
        yield Trouble(text, "start one: scrapy crawl catalog", "/workers")
    if counts.paused and counts.undone:
        yield Trouble("The crawl is paused", "resume it: scrapy frontier resume")


def _redis(now: Overview) -> Iterator[Trouble]:
    fleet = now.fleet
    if fleet.memory_limit_bytes and fleet.memory_bytes > _FULL * fleet.memory_limit_bytes:
        used = share(fleet.memory_bytes / fleet.memory_limit_bytes)
        yield Trouble(f"Redis uses {used} of its memory", "give it more, or SEINE_SEEN=bloom")
    if abs(fleet.clock_skew_s) > ROUGH_SKEW_S:
        text = f"This machine's clock is {span(abs(fleet.clock_skew_s))} apart from Redis'"
        yield Trouble(text, "set it by NTP; the frontier keeps to Redis' clock")


def _failures(now: Overview) -> Iterator[Trouble]:
    lately = now.minutes[-_LATELY:]
    done = sum(minute.done for minute in lately)
    failed = sum(minute.retry + minute.bury for minute in lately)
    if done + failed >= _TRIES and failed > _BAD_SHARE * (done + failed):
        text = f"{share(failed / (done + failed))} of the tries of the last minutes failed"
        yield Trouble(text, "see by which site and status", "/attempts")
    if now.fleet.counts.dead:
        most = next(iter(now.reasons.items()), None)
        why = f", most because: {most[0]}" if most else ""
        text = f"{plural(now.fleet.counts.dead, 'request')} given up{why}"
        yield Trouble(text, "read why, then replay or remove them", "/dead")


def _late(now: Overview) -> Iterator[Trouble]:
    if now.fleet.lateness_s > _LATE_S and now.fleet.alive and not now.fleet.counts.paused:
        text = f"Requests leave {span(now.fleet.lateness_s)} later than their sites allow"
        yield Trouble(text, "start more workers", "/workers")
