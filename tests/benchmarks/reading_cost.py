"""What reading a page costs: saved pages of 20 KB and 240 KB, warm, on one thread.

It is counted by a fixed piece of work on the same page right before: lxml's parse, and plain walks
over the tree in Python, in about the shares that reading has of both. By the parse alone the same
tree took 4.8 times as much on one processor and 5.8 on another, because a processor speeds Python
and lxml up differently.

Of each page its least of some rounds counts: what else the machine does seldom falls on all.
A round takes each page several times in a row, because what neighbours leave of the shared cache
slowed the first time by a tenth, and reading, which needs more of it, more than the fixed work.
Crawls of the benchmarks' own shop would hide it where a new rule searches each page of others, and
pages of 20 KB where a search is of all elements or bytes: a published crawl's mean page has 240 KB.

usage: python -m tests.benchmarks.reading_cost [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from lxml.etree import HTMLParser, fromstring

from crawler.extract import extract, find_links, parse
from tests.benchmarks.extraction import filled
from tests.pages import Case, cases

_ROUNDS, _IN_A_ROW = 6, 5
#: Kilobytes of a page, and which of the saved pages are read: each fourth.
SIZES = {"20": 4, "240": 12}
#: Kilobytes of a page, and how often the fixed work walks its tree: reading spends four fifths of
#: a small page's time outside the parse, and half of a large one's, of which it reads a part.
_WALKS = {"20": 2, "240": 1}
_AMOUNT = re.compile(r"\d+[.,]\d\d\b")


def _read(page: Case) -> None:
    read = parse(page.body, page.url, page.content_type)
    extract(read)
    find_links(read)


def _fixed_work(page: Case, walks: int) -> None:
    root = fromstring(page.body, HTMLParser(encoding="utf-8"))
    for _ in range(walks):
        _walk(root)


def _walk(root: Any) -> dict[str, int]:
    """Look at each element and text of a tree once; it stays as it is, as a yardstick does."""
    seen: dict[str, int] = {}
    stack = [(iter((root,)), 0)]
    while stack:
        children, flags = stack[-1]
        for element in children:
            own_flags = flags
            for name, value in element.items():
                if name in {"class", "id"}:
                    own_flags |= len(value)
            for text in (element.text, element.tail):
                if text and not text.isspace():
                    amounts = 1 if _AMOUNT.search(text) else 0
                    seen[text.strip()] = own_flags + amounts
            if len(element):
                stack.append((iter(element), own_flags))
                break
        else:
            stack.pop()
    return seen


def _cpu_s(work: Callable[[], object]) -> float:
    """CPU seconds of the fastest of some runs in a row."""
    times = []
    for _ in range(_IN_A_ROW):
        began = time.thread_time()
        work()
        times.append(time.thread_time() - began)
    return min(times)


def reading_ratio(kilobytes: str) -> float:
    """CPU of reading by that of the fixed work, each page's least of some rounds."""
    pages = [filled(case, 1_000 * int(kilobytes)) for case in list(cases())[:: SIZES[kilobytes]]]
    walks = _WALKS[kilobytes]
    for page in pages:
        _read(page)
    gc.collect()
    fixed_s, read_s = ([float("inf")] * len(pages) for _ in range(2))
    for _ in range(_ROUNDS):
        for place, page in enumerate(pages):
            fixed_s[place] = min(fixed_s[place], _cpu_s(lambda page=page: _fixed_work(page, walks)))  # type: ignore[misc]
            read_s[place] = min(read_s[place], _cpu_s(lambda page=page: _read(page)))  # type: ignore[misc]
    return sum(read_s) / sum(fixed_s)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    found = {"reading_ratio": {size: round(reading_ratio(size), 3) for size in SIZES}}
    print(json.dumps(found) if args.json else found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
