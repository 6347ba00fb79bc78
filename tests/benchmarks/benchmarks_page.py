"""docs/benchmarks.md out of the figures: tables and plots between the marks, the rest by hand.

usage: python -m tests.benchmarks.benchmarks_page build/bench.json docs
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
NAMES = {
    "seine": "Seine",
    "plain": "Scrapy, Seine's parser",
    "plain_own_parser": "Scrapy, a tutorial's parser",
    "scrapy_redis": "scrapy-redis, a row a commit",
    "celery": "Celery, requests, BeautifulSoup",
    "crawlee": "crawlee-python, its Redis client",
}


def shows(found: Mapping[str, Any]) -> dict[str, Any]:
    """The figures that are promised, of the parts that were measured."""
    result: dict[str, Any] = dict(found.get("whole_job", {}).get("figures", {}))
    if "distance" in found:
        result.update(_distance_shows(found["distance"]))
    for point in found.get("workers", []):
        name = f"efficiency_{point['workers']}_workers_{point['domains']}_domains"
        result[name] = point["efficiency"]
    if "minute" in found:
        result["pages_per_minute_2_workers"] = found["minute"]["pages_per_minute"]
        result["products_per_minute_2_workers"] = found["minute"]["products_per_minute"]
    return result


def _distance_shows(points: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    rate = {(p["side"], p["distance_ms"]): p["figures"]["pages_per_s"]["median"] for p in points}
    near, far = min(ms for _, ms in rate), max(ms for _, ms in rate)
    memory = [p["figures"]["rss_mb"]["high"] for p in points if p["side"] == "seine"]
    return {
        "far_by_scrapy_redis": round(rate["seine", far] / rate["scrapy_redis", far], 2),
        "far_by_near": round(rate["seine", far] / rate["seine", near], 3),
        "rss_mb_64_requests": max(memory),
    }


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown; all but its first column are figures."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _spread(figure: Mapping[str, float], digits: int = 2) -> str:
    """Median, and how far the runs lie apart."""
    middle, low, high = (figure[name] for name in ("median", "low", "high"))
    if round(low, digits) == round(high, digits):
        return f"{middle:.{digits}f}"
    return f"{middle:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"


def measured(found: Mapping[str, Any]) -> str:
    """All that stands between the marks."""
    parts = [_machine(found), _verified(found)]
    makers = {
        "whole_job": _whole_job,
        "latency": _latency,
        "sizes": _sizes,
        "distance": _distance,
        "workers": _workers,
        "minute": _minute,
        "upstream": _upstream,
    }
    parts += [make(found[name]) for name, make in makers.items() if name in found]
    return "\n\n".join(parts)


def _machine(found: Mapping[str, Any]) -> str:
    machine = found["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    load = machine["load_at_start"][0]
    return (
        f"Measured with `{found['command']}` in {found['minutes']:.0f} minutes on "
        f"{machine['cores']} cores ({machine['cpu']}), {machine['memory_gb']} GB; load average "
        f"{load} at the start. {versions}. Figures are medians, in brackets the lowest and the "
        "highest run; the sides of a table took turns."
        + ("" if load < 1 else " The machine had other work: believe the ratios, not the rates.")
    )


def _verified(found: Mapping[str, Any]) -> str:
    rows = [
        (NAMES[name], v["pages"], v["products"], v["missing"], v["wrong"])
        for name, v in found["verified"].items()
    ]
    head = ("200 products", "requests", "products", "missing", "with a wrong field")
    return (
        "### The same job\n\nEach side crawled a small shop, and every field that a page shows "
        "was compared with the shop's catalogue:\n\n" + table(head, rows)
    )


def _whole_job(part: Mapping[str, Any]) -> str:
    ours = part["points"][0]["figures"]["cpu_ms"]["median"]
    rows = []
    for point in part["points"]:
        f = point["figures"]
        ratio = part["figures"].get(f"cpu_ratio_{point['side']}")
        rows.append(
            (
                NAMES[point["side"]],
                _spread(f["cpu_ms"]),
                f"{f['cpu_user_ms']['median']:.2f} + {f['cpu_sys_ms']['median']:.2f}",
                _both(f, "redis"),
                _both(f, "postgres"),
                _spread(f["pages_per_s"], 0),
                f"{point['start_s']:.1f}" if "start_s" in point else "",
                f"{f['rss_mb']['high']:.0f} / {f['memory_mb']['high']:.0f}",
                "" if ratio is None else f"{ratio:.2f}",
            )
        )
    head = (
        "20 kB pages, no latency",
        "worker CPU, ms a page",
        "user + system",
        "Redis",
        "PostgreSQL",
        "pages/s",
        "start, s of CPU",
        "memory, MB¹",
        "Seine ÷ this",
    )
    target_ms = part["points"][0]["figures"]["target_ms"]["median"]
    return (
        f"### The whole job\n\n{table(head, rows)}\n\n¹ The largest process / all processes "
        "together. Start-up is included everywhere but in pages/s, which runs from the site's "
        "first answer to its last. The site itself was never the limit: it took "
        f"{target_ms:.3f} ms of CPU a page, and answers {part['target_most_pages_per_s']:,} "
        "such pages a second to a visitor who does nothing with them. "
        f"Seine's {ours:.2f} ms are with queue and store.\n\n"
        "![CPU a page of each side](bench-job.svg)"
    )


def _both(figures: Mapping[str, Mapping[str, float]], store: str) -> str:
    user, system = (figures[f"{store}_{kind}_ms"]["median"] for kind in ("user", "sys"))
    return "–" if user + system < 0.005 else f"{user:.2f} + {system:.2f}"


def _by_place(points: Sequence[Mapping[str, Any]], place: str, unit: str) -> str:
    head = (place, "side", "pages/s", "worker CPU, ms a page¹", "memory, MB")
    key = {"latency": "latency_ms", "page": "page_kb", "stores": "distance_ms"}[place]
    rows = [
        (
            f"{point[key]:g} {unit}",
            NAMES[point["side"]],
            _spread(point["figures"]["pages_per_s"], 0),
            _spread(point["figures"]["cpu_ms_running"]),
            f"{point['figures']['rss_mb']['high']:.0f}",
        )
        for point in points
    ]
    return f"{table(head, rows)}\n\n¹ Without the start-up."


def _latency(points: Sequence[Mapping[str, Any]]) -> str:
    return (
        "### A site that takes its time\n\nOne domain, default settings: Scrapy has 8 requests to "
        f"a domain under way, Seine 16.\n\n{_by_place(points, 'latency', 'ms')}"
    )


def _sizes(points: Sequence[Mapping[str, Any]]) -> str:
    return (
        f"### Pages of other sizes\n\n{_by_place(points, 'page', 'kB')}\n\n"
        "![CPU a page by its size](bench-sizes.svg)"
    )


def _distance(points: Sequence[Mapping[str, Any]]) -> str:
    return (
        "### Stores that are far away\n\nOne worker, 64 requests under way, 20 ms to the site; "
        "Redis and PostgreSQL as far away as the table says, there and back. Seine crawls the "
        "large shop here, since it is done with the small one before it has got going.\n\n"
        f"{_by_place(points, 'stores', 'ms')}\n\n"
        "![Pages a second by distance](bench-distance.svg)"
    )


def _workers(points: Sequence[Mapping[str, Any]]) -> str:
    head = (
        "workers",
        "domains",
        "pages/s",
        "of n times one",
        "worker CPU, ms a page",
        "Redis, ms",
        "PostgreSQL, ms",
        "machine busy",
    )
    rows = [
        (
            p["workers"],
            p["domains"],
            f"{p['pages_per_s']:.0f}",
            f"{100 * p['efficiency']:.0f} %",
            f"{p['cpu_ms']:.2f}",
            f"{p['redis_ms']:.2f}",
            f"{p['postgres_ms']:.2f}",
            f"{p['machine_busy_percent']:.0f} %",
        )
        for p in points
    ]
    return (
        "### More workers\n\n200 ms to the site, 4 requests under way a worker, counted while the "
        f"fleet runs (start-up left out).\n\n{table(head, rows)}\n\n"
        "![Pages a second by workers](bench-workers.svg)"
    )


def _minute(point: Mapping[str, Any]) -> str:
    return (
        f"### A minute of two workers\n\nDefault settings, ten domains, 200 ms to the site: "
        f"**{point['pages_per_minute']:,} pages and {point['products_per_minute']:,} products a "
        f"minute**, stored; {point['cpu_ms']:.2f} ms of CPU a page, "
        f"{point['rss_mb']:.0f} MB a worker, {point['machine_busy_percent']:.0f} % of the machine."
    )


def _upstream(found: Mapping[str, Mapping[str, float]]) -> str:
    items, links, sent = (
        found[name] for name in ("concurrent_items", "link_extractor", "commands")
    )
    rows = [
        (
            "Scrapy, CPU a page",
            f"{items['cpu_ms_with_100']:.2f} ms with CONCURRENT_ITEMS 100, the default",
            f"{items['cpu_ms_with_1']:.2f} ms with 1",
        ),
        (
            f"links of a page of {links['page_kb']:.0f} kB",
            f"{links['link_extractor_ms']:.2f} ms, LinkExtractor",
            f"{links['xpath_ms']:.2f} ms, XPath and urljoin",
        ),
        (
            "round trips to Redis a page",
            f"{sent['scrapy_redis_round_trips_a_page']:.2f}, scrapy-redis",
            f"{sent['seine_round_trips_a_page']:.2f}, Seine",
        ),
    ]
    return "### Upstream\n\n" + table(("what", "as it is", "as it could be"), rows)


def write(found: Mapping[str, Any], docs: Path) -> None:
    """Replace what stands between the marks of benchmarks.md, and draw the plots."""
    path = docs / "benchmarks.md"
    before, _, rest = path.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    path.write_text(f"{before}{BEGIN}\n\n{measured(found)}\n\n{END}{after}", "utf-8")
    # Imported late: a child's peak memory counts its parent's, and a plotting library is large.
    from tests.benchmarks import plots

    plots.write(found, docs, NAMES)


if __name__ == "__main__":
    write(json.loads(Path(sys.argv[1]).read_text("utf-8")), Path(sys.argv[2]))
