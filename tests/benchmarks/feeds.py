"""Kills workers that write feeds, and counts the items that are missing in the files afterwards.

usage: python -m tests.benchmarks.feeds [--kills N] [--json]

Two workers read a site and write each item into files in JSON lines, CSV and Parquet. One of them
after the other gets a kill -9 at some moment of its work, and another takes its place. After each
kill every part that is to be seen is read whole; at the end so are the files. The last line:
{"kills": …, "items": …, "missing": …, "doubled": …, "torn": …}.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import shutil
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pyarrow.parquet as pq

from crawler.stores import embedded
from scrapy_seine.errors import SeineError
from scrapy_seine.sinks.feeds.chosen_rows import Piece
from scrapy_seine.sinks.feeds.join import Written, written_parts
from tests.helpers import server_folder, serving
from tests.integration.feeds import kit

FEEDS = {
    "out.jl": {"format": "jsonlines"},
    "out.csv": {"format": "csv"},
    "out.parquet": {"format": "parquet"},
}
PAGES, KILLS_OF_A_CRAWL, WORKERS = 800, 20, 2


@attrs.define
class Verdict:
    """What was found in the files."""

    kills: int = 0
    crawls: int = 0
    items: int = 0
    missing: int = 0
    doubled: int = 0
    torn: int = 0
    parts_read: int = 0

    def judge(self, folder: Path, pages: int) -> None:
        """Compare the joined files with the site."""
        wanted = set(kit.expected(pages))
        self.crawls += 1
        for name in FEEDS:
            found = Counter(items_in(folder / name))
            self.items += found.total()
            self.missing += len(wanted - set(found))
            self.doubled += found.total() - len(found)

    def look_for_torn(self, folder: Path) -> None:
        """Read each part that is to be seen, which another worker may remove meanwhile."""
        for name in FEEDS:
            parts = folder / f"{name}.parts"
            try:
                found = written_parts(parts) if parts.exists() else []
            except FileNotFoundError:
                continue
            except SeineError as error:
                print(f"torn: {error}", file=sys.stderr)
                self.torn += 1
                continue
            for part in found:
                try:
                    self.parts_read += 1
                    items_of(part)
                except FileNotFoundError:
                    continue
                except Exception as error:
                    print(f"torn: {part.path}: {error}", file=sys.stderr)
                    self.torn += 1


def items_of(part: Written) -> None:
    """Read the items of a part.

    Raises:
        Exception: it is torn.
    """
    rows = range(part.rows.rows)
    if part.sidecar["kind"] == "rows":
        for row in Piece(part.path, rows, part.sidecar).slices():
            json.loads(row)
    elif rows and len(items_in(part.path)) != len(rows):
        raise ValueError("it lacks rows")


def items_in(path: Path) -> list[tuple[int, int]]:
    """Return page and row of each item of a file."""
    rows: list[dict[str, Any]]
    if ".parquet" in path.suffixes:
        rows = pq.read_table(path).to_pylist()
    elif ".csv" in path.suffixes:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file, strict=True))
    else:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [(int(row["page"]), int(row["row"])) for row in rows]


def crawl(
    folder: Path, redis_url: str, *, kills: int, pages: int, verdict: Verdict, seed: int = 0
) -> None:
    """Crawl the site while workers are killed, until it is done, and judge the files."""
    draw = random.Random(seed)
    site = kit.site_of(pages)
    crawl_name = f"feeds{uuid.uuid4().hex[:8]}"
    more = {
        "FEEDS": json.dumps(FEEDS),
        "SEINE_LEASE_SECONDS": 1,
        "SEINE_DOMAIN_DELAY_MS": 2,
    }
    workers: list[Any] = []
    with serving(site) as base, ending(workers):
        begin = partial(kit.start, folder, redis_url, crawl_name, base, **more)
        workers += [begin() for _ in range(WORKERS)]
        step = pages // (kills + 1)
        for kill in range(kills):
            reach, pause = step * kill + draw.randint(1, step), draw.random() * 0.3

            def reached(reach: int = reach, pause: float = pause) -> bool:
                time.sleep(pause if len(site.served) >= reach else 0)
                return len(site.served) >= reach

            if not kit.kill_when(workers.pop(0), reached):
                break  # the crawl is over
            verdict.kills += 1
            verdict.look_for_torn(folder)
            workers.append(begin())
        for worker in workers:
            kit.finish(worker, folder, 120)
    verdict.judge(folder, pages)


@contextmanager
def ending(workers: list[Any]) -> Iterator[None]:
    """Leave no worker behind, whatever happens."""
    try:
        yield
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def main() -> None:
    """Run crawls until so many workers were killed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--json", action="store_true", help="print the last line alone")
    opts = parser.parse_args()
    verdict, began = Verdict(), time.monotonic()
    with server_folder() as servers:
        redis_url = embedded.start(servers, durable=False).redis_url
        while verdict.kills < opts.kills:
            folder = Path(tempfile.mkdtemp(prefix="seine-feeds-"))
            kills = min(KILLS_OF_A_CRAWL, opts.kills - verdict.kills)
            crawl(folder, redis_url, kills=kills, pages=PAGES, verdict=verdict, seed=verdict.crawls)
            if verdict.missing or verdict.doubled or verdict.torn:
                print(f"kept for a look: {folder}", file=sys.stderr)
                break
            shutil.rmtree(folder)
            if not opts.json:
                print(verdict, flush=True)
    print(json.dumps({**attrs.asdict(verdict), "seconds": round(time.monotonic() - began)}))
    sys.exit(1 if verdict.missing or verdict.doubled or verdict.torn else 0)


if __name__ == "__main__":
    main()
