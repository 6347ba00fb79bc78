"""How the time to read grows with what is read: each reader's input doubled, of the worst kinds.

An input is one piece of the reader's own vocabulary over and over, in one of the places where pages
have it. Each is doubled twice at least, each piece in one of its places up to the reader's limit.
Time is CPU of this thread, the best of some runs, so that a loaded machine says the same; what grew
too much is measured again by itself.

With --before, each fourth saved page, filled up to 20 KB, is read in turns by the code of this tree
and of another one: the median ratio of CPU time, and its interval, right in 95 of 100 cases.

usage: python -m tests.benchmarks.readers [--json] [--short] [--only TEXT] [--before FOLDER]
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import _lru_cache_wrapper, cache
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import NamedTemporaryFile
from typing import Any

import attrs

from crawler.access import detect
from crawler.cleaning.product import clean
from crawler.extract import parse
from crawler.extract.links.fingerprints import listing_fingerprint
from crawler.extract.links.listed_links import listed_links
from crawler.extract.links.sitemap_format import named_in_robots, read_sitemap
from crawler.extract.links.sitemap_news import dates_of
from crawler.extract.listing import probing
from crawler.extract.listing.further_pages import further_pages
from crawler.extract.site import Site
from scrapy_seine.politeness.robots_rules import Robots
from tests.benchmarks.reader_troubles import PLACES, TOKENS, WHOLE

URL = "http://a.example/p/lamp-12"
#: What twice the input may take.
LIMIT = 2.5
#: Times under this, s, say nothing about growth.
_TELLING = 0.005
#: Bytes at which growth is measured first, and up to which a reader reads (a sitemap's 64 MB take
#: no other code than its first 4).
_FIRST = 15_000
LIMITS = {"page": 3_840_000, "sitemap": 3_840_000, "robots": 480_000}
#: Seconds that the larger input of a pair may take, as a rule, and where the whole limit is tried;
#: an input is doubled as often at least.
_BROAD_S, _DEEP_S = 0.008, 0.5
_LEAST = 2
#: Kinds are given to the processes in so many parts.
_PARTS = 64
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def read_page(body: bytes) -> None:
    """All that a worker does with a page that came in."""
    detect.judge(detect.Page(status=200, url=URL, body=body))
    site, page = Site(), parse(body, URL, "text/html")
    found = site.extract(page)
    raised = {
        source: said for source, said in found.unread.items() if said != page.unreadable_json_ld
    }
    assert not raised, raised  # broken data is told of as well
    for item in site.products(page, found):
        clean(item, _NOW)
    links = site.links(page)
    further_pages(page, links)
    probing.begin(page, links, listing_fingerprint(links))


def read_map(body: bytes) -> None:
    """The same of a sitemap."""
    found = read_sitemap(body, URL)
    dates_of(found.pages)
    for _ in listed_links((url for url, _ in found.pages), URL, Site().follows):
        pass


def read_robots(body: bytes) -> None:
    """The same of a robots.txt."""
    rules = Robots.parse("rules", body)
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
    is_deep: bool = True
    """Whether the reader is tried up to its limit, or some doublings only."""

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
                    is_deep = not short and (count + number) % len(places) == 0
                    make = _repeated(before, token, after)
                    yield Kind(reader, f"{place} {token!r}", make, is_deep)


def _repeated(before: bytes, token: bytes, after: bytes) -> Callable[[int], bytes]:
    def make(size: int) -> bytes:
        count = max(1, size // len(token))
        numbered = b"%d" in token
        inner = (token.replace(b"%d", b"%d" % n) for n in range(count)) if numbered else (token,)
        return before + b"".join(inner) * (1 if numbered else count) + after

    return make


@cache
def _caches() -> list[Any]:
    """Caches that forget: what an earlier run left there would make small inputs look cheaper."""
    made = [one for one in gc.get_objects() if isinstance(one, _lru_cache_wrapper)]
    return [one for one in made if one.cache_parameters()["maxsize"] is not None]


def cpu_s(read: Callable[[bytes], None], body: bytes, rounds: int) -> float:
    """Seconds of this thread's CPU, the best of so many runs."""
    best = float("inf")
    for _ in range(rounds):
        for one in _caches():
            one.cache_clear()
        before = time.thread_time()
        read(body)
        best = min(best, time.thread_time() - before)
    return best


def growth(kind: Kind) -> tuple[float, float]:
    """How much longer twice the input takes, and the longest time that was seen.

    A step of several doublings says as much as each of them: where the whole step takes at most a
    quarter more than its share, no doubling in it took two and a half times, be the cost a square
    or a cube. Else the step's last doubling is measured by itself.
    """
    read = READERS[kind.reader]
    spent = cpu_s(read, kind.make(_FIRST), 2)
    doublings = _doublings(kind, spent)
    longest = cpu_s(read, kind.make(_FIRST << doublings), 1)
    if longest < _TELLING:
        return 1.0, longest
    ratio = max(1.0, (longest / spent) ** (1 / doublings))
    if longest <= LIMIT / 2 * spent * 2**doublings:
        return ratio, longest
    return _last_doubling(kind, _FIRST << doublings)


def _doublings(kind: Kind, spent: float) -> int:
    """How often the first input is doubled, by the time that it took."""
    room = math.log2((_DEEP_S if kind.is_deep else _BROAD_S) / spent)
    return max(_LEAST, min(int(room), int(math.log2(LIMITS[kind.reader] / _FIRST))))


def _last_doubling(kind: Kind, size: int) -> tuple[float, float]:
    """The growth up to so many bytes; too much of it counts if the next doubling has it too."""
    read = READERS[kind.reader]
    spent = cpu_s(read, kind.make(size // 2), 4)
    longest = cpu_s(read, kind.make(size), 4)
    ratio = longest / spent
    if ratio > LIMIT and size * 2 <= LIMITS[kind.reader] and longest < _DEEP_S:
        spent, longest = longest, cpu_s(read, kind.make(size * 2), 4)
        ratio = min(ratio, longest / spent)
    return max(1.0, ratio), longest


Growths = dict[str, tuple[str, float, float]]


def _part(part: int, parts: int, short: bool, only: str) -> Growths:
    """Reader, growth and longest time of each kind in one part."""
    chosen = [kind for kind in kinds(short=short) if only in kind.name]
    return {kind.name: (kind.reader, *growth(kind)) for kind in chosen[part::parts]}


def measured(*, short: bool = False, only: str = "", processes: int = 1) -> dict[str, object]:
    """The worst growth and the longest time of each reader, and each kind that grew too much."""
    if processes == 1:
        found = _part(0, 1, short, only)
    else:
        with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
            parts = [pool.submit(_part, n, _PARTS, short, only) for n in range(_PARTS)]
            found = {name: one for part in parts for name, one in part.result().items()}
    by_name = {kind.name: kind for kind in kinds(short=short)}
    for name, (reader, ratio, _) in found.items():
        if ratio > LIMIT:
            found[name] = (reader, *growth(by_name[name]))
    worst = dict.fromkeys(READERS, 0.0)
    slowest = dict(worst)
    for reader, ratio, longest in found.values():
        worst[reader] = max(worst[reader], round(ratio, 2))
        slowest[reader] = max(slowest[reader], round(longest, 3))
    faults = {name: round(ratio, 2) for name, (_, ratio, _) in found.items() if ratio > LIMIT}
    return {"kinds": len(found), "worst_ratio": worst, "slowest_s": slowest, "faults": faults}


_READ = """
import json, sys, time
from crawler.extract import extract, find_links, parse
pages = [(bytes.fromhex(body), *rest) for body, *rest in json.load(open(sys.argv[1]))]
def spent():
    began = time.thread_time()
    for page in pages:
        read = parse(*page)
        extract(read)
        find_links(read)
    return time.thread_time() - began
spent()
print(min(spent() for _ in range(4)))
"""
#: Of so many pairs in order, the sixth and the fifteenth hold the median in 95 of 100 cases.
_PAIRS, _LOW, _HIGH = 20, 5, 14


def beside(folder: Path) -> dict[str, float]:
    """CPU that pages of 20 KB cost this tree, divided by what they cost the code in *folder*."""
    from tests.benchmarks.extraction import filled
    from tests.pages import cases

    pages = [filled(case, 20_000) for case in list(cases())[::4]]
    here = Path(__file__).parents[2]
    with NamedTemporaryFile("w", suffix=".json") as file:
        json.dump([(case.body.hex(), case.url, case.content_type) for case in pages], file)
        file.flush()

        def cost(tree: Path) -> float:
            command = [sys.executable, "-c", _READ, file.name]
            return float(subprocess.check_output(command, cwd=tree, text=True))

        ratios = sorted(cost(here) / cost(folder) for _ in range(_PAIRS))
    shown = {"median": median(ratios), "from": ratios[_LOW], "to": ratios[_HIGH]}
    return {name: round(value, 4) for name, value in shown.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; with --json, one object in the last line. 1 where one grew too much."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true")
    options.add_argument("--short", action="store_true")
    options.add_argument("--only", default="")
    options.add_argument("--before", type=Path, help="a tree to read pages of 20 KB beside")
    chosen = options.parse_args(arguments)
    result = measured(short=chosen.short, only=chosen.only, processes=os.cpu_count() or 1)
    if chosen.before is not None:
        result["page_20kb"] = beside(chosen.before)
    for name, value in result.items():
        print(f"{name:12} {value}")
    if chosen.json:
        print(json.dumps(result))
    return 1 if result["faults"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
