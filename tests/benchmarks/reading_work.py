"""What reading a page makes Python do: bytecode instructions, on fixed pages.

Each run counts the same, on a loaded machine too, so that a commit that makes reading some per cent
dearer is seen. What C does at one instruction (a pattern's search, lxml's parse) is not in it:
`reading_cost` has that, in time.

The numbers that a tree is held to stand in reading_work.json, for each Python version, because each
has other instructions. Who makes reading dearer on purpose writes them anew and says why in the
commit's message; who makes it cheaper does so too, or the next one may spend it unseen:

usage: python -m tests.benchmarks.reading_work [--json] [--write]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from tests.benchmarks.extraction import filled
from tests.benchmarks.shops import SHOPS, things
from tests.pages import cases

KEPT = Path(__file__).with_name("reading_work.json")
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
#: How much more or less than kept is let pass: other releases of libraries take a few more steps.
MARGIN = 0.02
_KB_20, _EACH, _THINGS, _UNREAD = 20_000, 4, 2, 4
Pages = list[tuple[bytes, str, str]]


def pages() -> dict[str, tuple[Pages, Pages]]:
    """The pages of each series: those that are read before, and those that are counted.

    Saved ones of 20 KB and small ones of shops, half without data, are counted when they are read
    again. Of `unread`, other products' pages of the shops are counted when they are read first,
    because a crawl reads each page once: names, prices and numbers are in no cache then.
    """
    saved = [
        (case.body, case.url, case.content_type)
        for case in (filled(case, _KB_20) for case in list(cases())[::_EACH])
    ]
    shops, first, unread = _shops(0, _THINGS), _shops(0, _UNREAD), _shops(_UNREAD, 2 * _UNREAD)
    return {"saved_20kb": (saved, saved), "shops": (shops, shops), "unread": (first, unread)}


def _shops(begin: int, end: int) -> Pages:
    return [
        (shop.page(thing, structured).encode(), shop.url(thing), "text/html")
        for structured in (True, False)
        for number, shop in enumerate(SHOPS)
        for thing in things(end, number)[begin:]
    ]


def instructions(work: Callable[[], object]) -> int:
    """Bytecode instructions of Python functions that *work* calls."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Callable[..., Any]:
        nonlocal count
        if event == "opcode":
            count += 1
        elif event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def _counted() -> dict[str, int]:
    """Instructions a page, once caches hold what a site's pages share.

    `first_use` are those of a new process's first pages of shops: it compiles words and patterns.
    """
    from crawler.extract import extract, find_links, parse

    def read(kind: Pages) -> None:
        for content, url, content_type in kind:
            page = parse(content, url, content_type)
            extract(page)
            find_links(page)

    series = pages()
    first, _ = series["shops"]
    found = {"first_use": round(instructions(lambda: read(first)) / len(first))}
    for name, (before, counted) in series.items():
        read(before)
        count = instructions(lambda counted=counted: read(counted))  # type: ignore[misc]
        found[name] = round(count / len(counted))
    return found


def measured() -> dict[str, int]:
    """The same, counted in a process of its own: what a process read before fills caches."""
    command = [sys.executable, "-m", __spec__.name, "--count"]
    told = subprocess.check_output(command, env={**os.environ, "PYTHONHASHSEED": "0"}, text=True)
    found: dict[str, int] = json.loads(told.splitlines()[-1])
    return found


def kept() -> dict[str, int] | None:
    """The numbers of this Python version, None where nobody has written them."""
    numbers: dict[str, dict[str, int]] = json.loads(KEPT.read_text("utf-8"))
    return numbers.get(VERSION)


def changed(found: dict[str, int], expected: dict[str, int]) -> list[str]:
    """A line for each number that is off by more than the margin.

    >>> changed({"shops": 103}, {"shops": 100}), changed({"shops": 101}, {"shops": 100})
    (['shops: 103 instructions a page, 100 are kept (+3.0 %)'], [])
    """
    return [
        f"{name}: {found[name]} instructions a page, {number} are kept "
        f"({100 * (found[name] / number - 1):+.1f} %)"
        for name, number in expected.items()
        if abs(found[name] / number - 1) > MARGIN
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Count, print, and end with 1 where a number is off."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="keep what is found")
    parser.add_argument("--count", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.count:
        print(json.dumps(_counted()))
        return 0
    found = measured()
    print(json.dumps(found) if args.json else found)
    if args.write:
        numbers = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
        numbers[VERSION] = found
        KEPT.write_text(json.dumps(numbers, indent=2, sort_keys=True) + "\n", "utf-8")
        return 0
    off = changed(found, kept() or {})
    print(*off, sep="\n", end="\n" if off else "")
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main())
