"""What reading a page costs beside its parse: saved pages of 20 KB and 240 KB, warm, on one thread.

The parse is lxml's alone, of the same bytes right before, so that a slower machine slows both. Of
each page its least of some rounds counts: what else the machine does seldom falls on all of them.
A round takes each page several times in a row, because what neighbours leave of the shared cache
slowed the first time by a tenth, and reading, which needs more of it, more than the parse.
Crawls of the benchmarks' own shop would hide it where a new rule searches each page of others, and
pages of 20 KB where a search is of all elements or bytes: a published crawl's mean page has 240 KB.

usage: python -m tests.benchmarks.reading_cost [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable, Sequence

from lxml.etree import HTMLParser, fromstring

from crawler.extract import extract, find_links, parse
from tests.benchmarks.extraction import filled
from tests.pages import Case, cases

_ROUNDS, _IN_A_ROW = 6, 5
#: Kilobytes of a page, and which of the saved pages are read: each fourth.
SIZES = {"20": 4, "240": 12}


def _read(page: Case) -> None:
    read = parse(page.body, page.url, page.content_type)
    extract(read)
    find_links(read)


def _parse(page: Case) -> None:
    fromstring(page.body, HTMLParser(encoding="utf-8"))


def _cpu_s(one: Callable[[Case], None], page: Case) -> float:
    """CPU seconds of the fastest of some runs in a row."""
    times = []
    for _ in range(_IN_A_ROW):
        began = time.thread_time()
        one(page)
        times.append(time.thread_time() - began)
    return min(times)


def read_by_parse(kilobytes: str) -> float:
    """CPU of reading by that of parsing, each page's least of some rounds: load only adds to it."""
    pages = [filled(case, 1_000 * int(kilobytes)) for case in list(cases())[:: SIZES[kilobytes]]]
    for page in pages:
        _read(page)
    gc.collect()
    rounds = [
        [(_cpu_s(_parse, page), _cpu_s(_read, page)) for page in pages] for _ in range(_ROUNDS)
    ]
    of_pages = [*zip(*rounds, strict=True)]
    parsed = sum(min(parse for parse, _ in of_page) for of_page in of_pages)
    return sum(min(read for _, read in of_page) for of_page in of_pages) / parsed


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    found = {"read_by_parse": {size: round(read_by_parse(size), 2) for size in SIZES}}
    print(json.dumps(found) if args.json else found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
