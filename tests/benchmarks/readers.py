"""How the time to read grows with what is read: each reader's input doubled, of the worst kinds.

An input is one piece of the reader's own vocabulary over and over, in one of the places where pages
have it. Time is CPU of this thread, the best of some runs, so that a loaded machine says the same.

usage: python -m tests.benchmarks.readers [--json] [--short] [--only TEXT]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

import attrs

from crawler.access import detect
from crawler.cleaning.product import clean
from crawler.extract import parse, probing
from crawler.extract.links import listed_links, shelf_of
from crawler.extract.pagecount import further_pages
from crawler.extract.site import Site
from crawler.extract.sitemap import dates_of, named_in_robots, read_sitemap
from scrapy_seine.politeness.robots import Robots
from tests.benchmarks.killers import PLACES, TOKENS, WHOLE

URL = "http://a.example/p/lamp-12"
#: What twice the input may take.
LIMIT = 2.5
#: Times under this, s, say nothing about growth; a reader is asked for twice as much.
_TELLING = 0.02
_FIRST, _LAST = 60_000, 960_000
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def read_page(body: bytes) -> None:
    """All that a worker does with a page that came in."""
    detect.judge(detect.Page(status=200, url=URL, body=body))
    site, page = Site(), parse(body, URL, "text/html")
    found = site.extract(page)
    assert not found.unread, found.unread
    for item in site.products(page, found):
        clean(item, _NOW)
    links = site.links(page)
    further_pages(page, links)
    probing.begin(page, links, shelf_of(links))


def read_map(body: bytes) -> None:
    """The same of a sitemap."""
    found = read_sitemap(body, URL)
    dates_of(found.pages)
    for _ in listed_links((url for url, _ in found.pages), URL, Site().follows):
        pass


def read_robots(body: bytes) -> None:
    """The same of a robots.txt."""
    rules = Robots.read("rules", body)
    for path in ("p/1", "a" * 2000):
        rules.allows(f"http://a.example/{path}", "Mozilla/5.0 (compatible; Seine/1.0)")
    rules.delay_s("Seine")
    named_in_robots(body.decode("utf-8", "replace"), URL)


READERS: dict[str, Callable[[bytes], None]] = {
    "page": read_page,
    "sitemap": read_map,
    "robots": read_robots,
}


@attrs.frozen
class Kind:
    """An input that can be made of any size."""

    reader: str
    place: str
    make: Callable[[int], bytes]

    @property
    def name(self) -> str:
        """What is read, and what it is made of."""
        return f"{self.reader}: {self.place}"


def kinds(*, short: bool = False) -> Iterator[Kind]:
    """Each token in each place; the short form has all tokens, but each in some places only."""
    for name, (reader, make) in WHOLE.items():
        yield Kind(reader, name, make)
    for reader, places in PLACES.items():
        for count, token in enumerate(TOKENS[reader]):
            for number, (place, (before, after)) in enumerate(places.items()):
                if not short or (count + number) % 72 == 0:
                    yield Kind(reader, f"{place} {token!r}", _repeated(before, token, after))


def _repeated(before: bytes, token: bytes, after: bytes) -> Callable[[int], bytes]:
    def make(size: int) -> bytes:
        count = max(1, size // len(token))
        numbered = b"%d" in token
        inner = (token.replace(b"%d", b"%d" % n) for n in range(count)) if numbered else (token,)
        return before + b"".join(inner) * (1 if numbered else count) + after

    return make


def cpu_s(read: Callable[[bytes], None], body: bytes, rounds: int) -> float:
    """Seconds of this thread's CPU, the best of so many runs."""
    best = float("inf")
    for _ in range(rounds):
        before = time.thread_time()
        read(body)
        best = min(best, time.thread_time() - before)
    return best


def growth(kind: Kind) -> tuple[float, float]:
    """How much longer twice the input takes, and the longest time that was seen.

    Short times and single doublings say little: a ratio counts that the next doubling has too.
    """
    read, size, ratio = READERS[kind.reader], _FIRST, 1.0
    spent = cpu_s(read, kind.make(size), 1)
    while size < _LAST:
        size *= 2
        twice = cpu_s(read, kind.make(size), 1)
        if twice >= _TELLING:
            if twice <= LIMIT * spent:
                return max(1.0, twice / spent), twice
            spent = cpu_s(read, kind.make(size // 2), 4)
            twice = min(twice, cpu_s(read, kind.make(size), 4))
            again = twice / spent
            if again <= LIMIT:
                return max(1.0, again), twice
            if ratio > LIMIT or twice > 1:
                return again, twice
            ratio = again
        spent = twice
    return 1.0, spent


def measured(*, short: bool = False, only: str = "") -> dict[str, object]:
    """The worst growth and the longest time of each reader, and each kind that grew too much."""
    worst: dict[str, float] = {}
    slowest: dict[str, float] = {}
    faults: dict[str, float] = {}
    count = 0
    for kind in kinds(short=short):
        if only not in kind.name:
            continue
        count += 1
        ratio, spent = growth(kind)
        worst[kind.reader] = max(worst.get(kind.reader, 0), round(ratio, 2))
        slowest[kind.reader] = max(slowest.get(kind.reader, 0), round(spent, 3))
        if ratio > LIMIT:
            faults[kind.name] = round(ratio, 2)
    return {"kinds": count, "worst_ratio": worst, "slowest_s": slowest, "faults": faults}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; with --json, one object in the last line. 1 where one grew too much."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true")
    options.add_argument("--short", action="store_true")
    options.add_argument("--only", default="")
    chosen = options.parse_args(arguments)
    result = measured(short=chosen.short, only=chosen.only)
    for name, value in result.items():
        print(f"{name:12} {value}")
    if chosen.json:
        print(json.dumps(result))
    return 1 if result["faults"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
