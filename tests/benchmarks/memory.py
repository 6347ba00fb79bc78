"""The most memory that a worker takes, in crawls that are heavy in one way each.

* `links`: pages of 20 kB with 100 links each, of which some have 2 MB and 5,000 links;
* `pages`: pages of 285 kB at 32 under way, by a spider that reads with Scrapy's selectors; plain
  Scrapy crawls them as well;
* `wide`: the demo shop's pages of 20 kB, 64 under way, products stored.

usage: python -m tests.benchmarks.memory [--short] [--only links pages wide] [--json]

Bars: 160 MB, plain Scrapy's, and 110 MB; `--json` prints one JSON object as the last line, and the
exit status is 1 where a bar is missed. MB are of 2^20 bytes, as the kernel counts resident memory;
memory does not depend on how busy the machine is, as far as the pages under way do not.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.benchmarks.measure import Command, Cost, run
from tests.benchmarks.sides.linked import Shape, linked
from tests.benchmarks.stage import Stage, seine, stage
from tests.benchmarks.target import target

LINKS_MB, WIDE_MB = 160, 110
#: Of the short form, which leaves plain Scrapy out; 424 were taken where cycles kept the pages, and
#: 152 to 166 where pages that arrived together kept their trees until all had been parsed.
SHORT_MB = 140
HEAVY_KB, HEAVY_AT_ONCE, WIDE_AT_ONCE = 285, 32, 64
LATENCY_MS = 100
FIELDS = "tests.benchmarks.sides.fields"


def cost_of(stores: Stage, command: Command) -> Cost:
    """Run one process over empty stores."""
    stores.clear()
    folder = stores.folder / f"memory-{uuid.uuid4().hex[:8]}"
    folder.mkdir()
    try:
        return run([command], folder)
    finally:
        shutil.rmtree(folder)


def at_once(number: int) -> dict[str, object]:
    """Settings by which a worker has so many requests under way on one site."""
    return {
        "CONCURRENT_REQUESTS": number,
        "CONCURRENT_REQUESTS_PER_DOMAIN": number,
        "SEINE_DOMAIN_CONCURRENCY": number,
    }


def figures(cost: Cost, pages: float) -> dict[str, float]:
    """What is told of a run."""
    return {
        "rss_mb": round(cost.rss_mb, 1),
        "pages": pages,
        "cpu_ms": round(1000 * cost.cpu.total / max(1, pages), 2),
    }


def fields_spider(stores: Stage, url: str) -> Command:
    """The spider of sides.fields in this project, over the shared frontier."""
    command = seine(
        stores,
        "",
        f"memory-{uuid.uuid4().hex[:8]}",
        {**at_once(HEAVY_AT_ONCE), "SPIDER_MODULES": FIELDS, "ITEM_PIPELINES": "{}"},
    )
    arguments = [*command.arguments, "-a", f"base={url}"]
    arguments[arguments.index("catalog")] = "fields"
    return Command(arguments=arguments, environment=command.environment)


def links(stores: Stage, *, short: bool) -> dict[str, Any]:
    """The catalogue spider on pages with very many links."""
    shape = Shape(pages=400 if short else 10_000, links=100, large_every=200)
    with linked(shape) as site:
        cost = cost_of(stores, seine(stores, site.url, "memory-links", at_once(32)))
        return {**figures(cost, site.stats()["pages"]), "bar": LINKS_MB}


def pages(stores: Stage, *, short: bool) -> dict[str, Any]:
    """Large pages and Scrapy's selectors, and plain Scrapy beside."""
    shape = Shape(pages=100 if short else 900, page_kb=HEAVY_KB, links=100)
    with linked(shape, LATENCY_MS) as site:
        ours = figures(cost_of(stores, fields_spider(stores, site.url)), site.stats()["pages"])
        if short:
            return {**ours, "bar": SHORT_MB}
        plain = Command(arguments=["-m", FIELDS, site.url, str(HEAVY_AT_ONCE)])
        told = figures(cost_of(stores, plain), site.stats()["pages"])
    theirs = {f"{name}_plain": value for name, value in told.items()}
    return {**ours, **theirs, "bar": told["rss_mb"]}


def wide(stores: Stage, *, short: bool) -> dict[str, Any]:
    """The demo shop, with as much under way as a worker may have."""
    with target(products=150 if short else 3000, page_kb=20, latency_ms=LATENCY_MS) as site:
        cost = cost_of(stores, seine(stores, site.url, "memory-wide", at_once(WIDE_AT_ONCE)))
        return {**figures(cost, site.stats()["pages"]), "bar": WIDE_MB}


PARTS: Mapping[str, Callable[..., dict[str, Any]]] = {"links": links, "pages": pages, "wide": wide}


def measure(names: Sequence[str], *, short: bool) -> dict[str, Any]:
    """Measure the parts, one after the other."""
    found = {}
    with stage() as stores:
        for name in names:
            found[name] = PARTS[name](stores, short=short)
            print(name, found[name], file=sys.stderr, flush=True)
    return found


def missed(found: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the parts that took more than their bar."""
    return [name for name, part in found.items() if part["rss_mb"] > part["bar"]]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--short", action="store_true", help="a few hundred pages each")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    args = parser.parse_args(argv)
    found = measure(args.only, short=args.short)
    if args.json:
        print(json.dumps({**found, "missed": missed(found)}))
    return 1 if missed(found) else 0


if __name__ == "__main__":
    sys.exit(main())
