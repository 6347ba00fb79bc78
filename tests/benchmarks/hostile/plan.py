"""How much of everything, and the inputs themselves, made from one seed."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import attrs

from tests.benchmarks.hostile.answers import answers, sized
from tests.benchmarks.hostile.board import Ask, asks
from tests.benchmarks.hostile.kinds import Answer, Canaries, Item, Shop, Source
from tests.benchmarks.hostile.pages import pages
from tests.benchmarks.hostile.relatives import relatives
from tests.benchmarks.hostile.seeds import seeds
from tests.benchmarks.hostile.sites import robots_sites, sitemap_sites
from tests.benchmarks.hostile.stored import stored

#: Where inputs of a class are: 127.1.<class>.<n>. Seeds and stored requests name the first place,
#: which is replaced by others of the same length, so that their bytes stay as they are.
ANSWERS, PAGES, ROBOTS, SITEMAPS, STORED, SEEDS, JUNK = range(1, 8)
FIRST, PLACES = 10, 30
#: Answers, or pages, of one site: few, so that what a site is punished for hides no others.
AT_ONE = 5


@attrs.frozen(kw_only=True)
class Plan:
    """How much, and for how long."""

    seeds: int = 1000
    stored: int = 900
    answers: int = 420
    pages: int = 400
    robots: int = 100
    sitemaps: int = 180
    asks: int = 200
    workers: int = 3
    hosts: int = 8
    products: int = 560
    """Of each good host."""
    delay_ms: int = 300
    baseline_s: float = 30.0
    """How long the good work's pace is measured before anything hostile comes."""
    feed_s: float = 150.0
    """How long the feeding takes."""
    rounds: int = 30
    limit_s: float = 440.0
    """From the first page to the moment at which the fleet is asked to leave."""


FULL = Plan()
SHORT = Plan(
    seeds=70,
    stored=70,
    answers=50,
    pages=40,
    robots=14,
    sitemaps=20,
    asks=60,
    hosts=4,
    products=60,
    delay_ms=140,
    baseline_s=4.0,
    feed_s=8.0,
    rounds=4,
    limit_s=70.0,
)


@attrs.frozen(kw_only=True)
class Inputs:
    """All that is sent, but stored requests: these are made of what the fleet stored."""

    seeds: list[Item]
    answers: list[Answer]
    pages: list[bytes]
    shops: list[Shop]
    asks: list[Ask]

    @classmethod
    def made(cls, plan: Plan, seed: int, canaries: Canaries, base: str, token: str) -> Inputs:
        """Make them; another seed makes others of what is generated."""

        def dice(name: str) -> random.Random:
            return random.Random(f"{seed} {name}")

        robots = robots_sites(dice("robots"), canaries).take(plan.robots)
        maps = sitemap_sites(dice("sitemaps"), canaries).take(plan.sitemaps)
        bodies = Source(list(pages(canaries)), relatives(dice("pages")))
        return cls(
            seeds=seeds(dice("seeds"), base, canaries).take(plan.seeds),
            answers=answers(dice("answers"), canaries).take(plan.answers),
            pages=bodies.take(plan.pages),
            shops=[*robots, *maps],
            asks=asks(dice("dashboard"), token).take(plan.asks),
        )


def stored_ones(
    plan: Plan, seed: int, canaries: Canaries, base: str, good: Iterable[dict[str, Any]]
) -> list[Item]:
    """Make the stored requests out of good ones."""
    return stored(random.Random(f"{seed} stored"), base, list(good), canaries).take(plan.stored)


def elsewhere(data: bytes, kind: int, number: int) -> bytes:
    """The same input for another site of its class."""
    first = f"127.1.{kind}.{FIRST}".encode()
    return data.replace(first, f"127.1.{kind}.{FIRST + number % PLACES}".encode())


def page_answer(number: int, body: bytes) -> Answer:
    """A page as a site gives it."""
    return Answer(f"page {number}", [sized(body)])
