"""What reading a page costs beside its parse: saved pages of 20 KB, warm, on one thread.

The parse is lxml's alone, of the same bytes in the same round, so that a slower machine slows both.
Crawls of the benchmarks' own shop would hide it where a new rule searches each page of others.

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

_KB_20, _EACH, _ROUNDS = 20_000, 4, 9


def _read(page: Case) -> None:
    read = parse(page.body, page.url, page.content_type)
    extract(read)
    find_links(read)


def _parse(page: Case) -> None:
    fromstring(page.body, HTMLParser(encoding="utf-8"))


def _cpu_s(one: Callable[[Case], None], pages: Sequence[Case]) -> float:
    gc.collect()
    began = time.thread_time()
    for page in pages:
        one(page)
    return time.thread_time() - began


def read_by_parse() -> float:
    """CPU of reading by that of parsing, the least of some rounds each: load only adds to it."""
    pages = [filled(case, _KB_20) for case in list(cases())[::_EACH]]
    _cpu_s(_read, pages)
    rounds = [(_cpu_s(_read, pages), _cpu_s(_parse, pages)) for _ in range(_ROUNDS)]
    return min(read for read, _ in rounds) / min(parse for _, parse in rounds)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    found = {"read_by_parse": round(read_by_parse(), 2)}
    print(json.dumps(found) if args.json else found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
