"""How much of everything, and the inputs themselves, made from one seed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import attrs

from tests.benchmarks.hostile.answers import answers, sized
from tests.benchmarks.hostile.board import Ask, asks
from tests.benchmarks.hostile.kinds import Answer, Canaries, Item, Shop, spread
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

    seeds: int = 460
    stored: int = 460
    answers: int = 330
    pages: int = 320
    robots: int = 90
    sitemaps: int = 170
    asks: int = 150
    workers: int = 3
    hosts: int = 8
    products: int = 720
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
    limit_s=38.0,
)


def take(made: Iterator[Any], full: int, wanted: int) -> list[Any]:
    """The first *full* of them, or *wanted* from all over these."""
    found = list(islice(made, full))
    return found if wanted >= full else spread(wanted, found)


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

        def body() -> Iterator[bytes]:
            yield from pages(canaries)
            yield from relatives(dice("pages"))

        robots = take(robots_sites(dice("robots"), canaries), FULL.robots, plan.robots)
        maps = take(sitemap_sites(dice("sitemaps"), canaries), FULL.sitemaps, plan.sitemaps)
        return cls(
            seeds=take(seeds(dice("seeds"), base, canaries), _all(plan, "seeds"), plan.seeds),
            answers=take(answers(dice("answers"), canaries), FULL.answers, plan.answers),
            pages=take(body(), FULL.pages, plan.pages),
            shops=[*robots, *maps],
            asks=take(asks(dice("dashboard"), token), FULL.asks, plan.asks),
        )


def _all(plan: Plan, name: str) -> int:
    return int(max(getattr(FULL, name), getattr(plan, name)))


def stored_ones(
    plan: Plan, seed: int, canaries: Canaries, base: str, good: Iterable[dict[str, Any]]
) -> list[Item]:
    """Make the stored requests out of good ones."""
    made = stored(random.Random(f"{seed} stored"), base, list(good), canaries)
    return take(made, FULL.stored, plan.stored)


def elsewhere(data: bytes, kind: int, number: int) -> bytes:
    """The same input for another site of its class."""
    first = f"127.1.{kind}.{FIRST}".encode()
    return data.replace(first, f"127.1.{kind}.{FIRST + number % PLACES}".encode())


def page_answer(number: int, body: bytes) -> Answer:
    """A page as a site gives it."""
    return Answer(f"page {number}", [sized(body)])
