"""A domain that needs a lane is leased by workers that have it, and holds up nobody else."""

from __future__ import annotations

import orjson
import pytest

from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Push

pytestmark = pytest.mark.redis


def page(n: int, domain: str) -> Push:
    return Push(domain=domain, blob=b"x", fingerprint=n)


@pytest.fixture
def frontier(redis_client, namespace):
    return Frontier(redis_client, namespace)


async def leased(frontier: Frontier, wanted: int = 20, lanes: tuple[str, ...] = ()) -> int:
    return len((await frontier.lease("w", wanted, ttl_ms=5000, lanes=lanes)).leases)


async def test_only_a_worker_with_the_lane_leases_the_domain(frontier) -> None:
    await frontier.push([page(n, "rendered.example") for n in range(3)])
    await frontier.push([page(n, "plain.example") for n in range(10, 13)])
    await frontier.set_lane("rendered.example", "browser")
    assert await leased(frontier) == 3
    assert await leased(frontier) == 0
    assert await leased(frontier, lanes=("browser",)) == 3


async def test_a_lane_is_taken_back(frontier) -> None:
    await frontier.push([page(1, "a.example")])
    await frontier.set_lane("a.example", "browser")
    assert await leased(frontier) == 0
    await frontier.set_lane("a.example", "")
    assert await leased(frontier) == 1


@pytest.mark.parametrize("many", [300, 2500])
async def test_domains_of_a_lane_hold_up_nobody_however_many_stand_first(
    redis_client, namespace, many
) -> None:
    frontier = Frontier(redis_client, namespace, now_ms=1_800_000_000_000)
    info = orjson.dumps({"lanes": ["browser"]})
    await frontier.renew("renders", [], ttl_ms=10**9, info=info)
    await frontier.push([page(n, f"rendered{n}.example") for n in range(many)])
    for n in range(many):
        await frontier.set_lane(f"rendered{n}.example", "browser")
    await frontier.push([page(many + n, f"shop{n}.example") for n in range(10)])
    taken = 0  # of domains that were served equally often, "rendered" comes before "shop"
    for _ in range(20 * many // 1000 + 1):
        taken += await leased(frontier)
        frontier.now_ms += 497
    assert taken == 10
