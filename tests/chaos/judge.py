"""What was lost, by the shop's access log and the rows in PostgreSQL; never by our own counters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import attrs

from crawler.demo.pages import PER_PAGE, Site

#: A pause may be shorter by this share of the delay: the kernel counts arrivals in ticks of up to
#: 10 ms, and a worker may be put to sleep between its look at the clock and its write.
BLUR = 0.1


def expected_pages(site: Site) -> set[str]:
    """Every product and every page of every listing."""
    pages = {product.path for product in site.products}
    for name, shelf in site.shelves.items():
        pages.add(f"/c/{name}")
        pages |= {f"/c/{name}?page={n}" for n in range(2, -(-len(shelf) // PER_PAGE) + 1)}
    return pages


def plain(path: str) -> str:
    """A logged path without the tracking parameters that the shop's links carry.

    >>> plain("/p/3/x?utm_source=list&utm_campaign=autumn"), plain("/c/books?page=2")
    ('/p/3/x', '/c/books?page=2')
    """
    return path if "page=" in path else path.partition("?")[0]


def lost_pages(site: Site, hosts: Sequence[str], visits: Iterable[Mapping[str, Any]]) -> list[str]:
    """Pages that no host's log shows as answered."""
    seen = {(v["host"], plain(v["path"])) for v in visits if v["status"] == 200}
    wanted = expected_pages(site)
    return [f"{host}{page}" for host in hosts for page in wanted if (host, page) not in seen]


def duplicate_fetches(visits: Iterable[Mapping[str, Any]]) -> int:
    """How many fetches a fleet that nothing happened to would not have made."""
    counted = Counter((v["host"], plain(v["path"])) for v in visits if v["status"] == 200)
    return sum(n - 1 for (_, path), n in counted.items() if path != "/robots.txt")


@attrs.frozen
class Pause:
    """Two requests to one host, and the time between them, seconds."""

    seconds: float
    start: float
    end: float
    where: str


def violations(visits: Iterable[Mapping[str, Any]], delay_s: float) -> list[Pause]:
    """Pauses at one host that are shorter than its delay; shortest first."""
    by_host: dict[str, list[tuple[float, str]]] = {}
    for visit in visits:
        by_host.setdefault(visit["host"], []).append((visit["time"], visit["path"]))
    return sorted(
        (
            Pause(b - a, a, b, f"{host} {b - a:.3f} s between {before} and {after}")
            for host, asked in by_host.items()
            for (a, before), (b, after) in pairwise(sorted(asked))
            if b - a < delay_s * (1 - BLUR)
        ),
        key=lambda pause: pause.seconds,
    )
