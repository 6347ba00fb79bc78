"""$ for a million pages at list prices, out of measured CPU, memory and bytes.

usage: python -m tests.benchmarks.money [--worker-ms 2.1] [--redis-us 39] [--page-kb 20]
       [--worker-mb 125] [--json]

The defaults are the figures of docs/sizing.md; give your own, and change PRICES to yours. A machine
is filled by the larger of its CPU and its memory. Pages come in, which all three clouds give away;
what goes out is requests and acknowledgements, taken as 4 % of the pages. PostgreSQL is taken at
the writer's measured rate. Disks, proxies and idle machines are left out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

import attrs

MILLION = 1_000_000
_HOUR_S = 3600.0
#: Requests and acknowledgements go out, as a share of what comes in.
OUT = 0.04
#: Rows that one core of PostgreSQL and a writer take in a second (docs/sizing.md, new rows).
ROWS_S = 7584
#: Of a machine, each taken for one that is as fast as those that were measured.
CORES = 2


@attrs.frozen
class Price:
    """A machine of two vCPUs with 8 GB, on demand."""

    cloud: str
    machine: str
    hour: float
    """$ an hour."""
    out_gb: float
    """$ a GB that leaves for the internet, first step."""
    source: str


PRICES = (
    Price("AWS us-east-1", "m7g.large", 0.0816, 0.09, "machine: a blog of June 2026; traffic: no"),
    Price("Google us-central1", "e2-standard-2", 0.0671, 0.12, "no"),
    Price("Azure East US", "D2as v5", 0.086, 0.087, "no"),
)
READ = "22 November 2026"


@attrs.frozen(kw_only=True)
class Measured:
    """What a page costs."""

    worker_ms: float = 2.1
    redis_us: float = 39.0
    page_kb: float = 20.0
    worker_mb: float = 125.0

    @property
    def core_hours(self) -> float:
        """Hours of one core for a million pages, all of them products."""
        seconds = self.worker_ms / 1000 + self.redis_us / 1e6 + 1 / ROWS_S
        return seconds * MILLION / _HOUR_S

    def dollars(self, price: Price) -> tuple[float, float]:
        """Return what machines and traffic cost for a million pages."""
        by_memory = self.worker_mb / 4000  # a worker fills a core, which has 4 GB
        machines = self.core_hours / CORES * max(1.0, by_memory) * price.hour
        return machines, self.page_kb * MILLION / 1e6 * OUT * price.out_gb


def table(measured: Measured) -> str:
    """Return the rows in Markdown."""
    lines = [
        "| cloud, machine (2 vCPU, 8 GB) | $ an hour | machines, $ | traffic, $ | "
        f"verified {READ} |",
        "|---|---:|---:|---:|---|",
    ]
    for price in PRICES:
        machines, traffic = measured.dollars(price)
        lines.append(
            f"| {price.cloud}, {price.machine} | {price.hour:.4f} | {machines:.3f} | "
            f"{traffic:.3f} | {price.source} |"
        )
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table, or with --json the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    for field in attrs.fields(Measured):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=float, default=field.default)
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    args = vars(parser.parse_args(argv))
    as_json = args.pop("json")
    measured = Measured(**args)
    print(table(measured))
    if as_json:
        rows = {price.cloud: measured.dollars(price) for price in PRICES}
        print(json.dumps({"core_hours": round(measured.core_hours, 3), "dollars": rows}))


if __name__ == "__main__":
    main()
