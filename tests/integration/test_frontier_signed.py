"""A signature outlives whatever the frontier does with a request."""

from __future__ import annotations

import orjson
import pytest
from redis.asyncio import Redis

from crawler.catalogue.jobs.in_redis import Jobs
from scrapy_seine.config import UNSIGNED
from scrapy_seine.errors import ConfigError, DecodeError
from scrapy_seine.frontier.encoding.codec import decode, encode
from scrapy_seine.frontier.encoding.wire import note
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Burial, Done, Lease, Push, Retry
from scrapy_seine.frontier.opening import claim_for_spider, frontier_of
from scrapy_seine.frontier.signed_with import refuse_other_signers

pytestmark = pytest.mark.redis
OLD, NEW = "o" * 32, "n" * 32
HOSTS = [f"shop{n}.example" for n in range(6)]


@pytest.fixture(params=[1, 3])
def frontier(request: pytest.FixtureRequest, redis_client: Redis, namespace: str) -> Frontier:
    made = frontier_of(redis_client, namespace, request.param, now_ms=1_800_000_000_000)
    return made.sealed([OLD])


def push(frontier: Frontier, host: str, n: int = 0, retries: int = 0) -> Push:
    fields = {"url": f"http://{host}/{n}", "meta": {"retry_count": retries}}
    return frontier.seal.push(
        Push(domain=host, blob=encode(fields), fingerprint=hash((host, n)), priority=n, job="j:1")
    )


async def beat(frontier: Frontier, worker: str) -> None:
    info = orjson.dumps({"signs": frontier.seal.name})
    await frontier.renew(worker, [], ttl_ms=60_000, info=info)


async def lease(frontier: Frontier, wanted: int = 50) -> list[Lease]:
    frontier.now_ms += 1000
    found = await frontier.lease("w", wanted, ttl_ms=500)
    for one in found.leases:
        frontier.seal.check(one.stored)
    return list(found.leases)


async def test_signed_requests_are_signed_after_all_that_can_happen_to_them(
    frontier: Frontier,
) -> None:
    await frontier.configure(delay_ms=0, concurrency=16, half_window_ms=10**9)
    await frontier.push([push(frontier, HOSTS[0])])
    (page,) = await lease(frontier)
    children = [push(frontier, host, n) for n, host in enumerate(HOSTS, start=1)]
    assert await frontier.commit([Done(lease=page, children=children)]) == ["OK"]
    leases = await lease(frontier)
    assert len(leases) == len(HOSTS), "children of other partitions came there, signed"

    again = push(frontier, leases[0].domain, 70, retries=1)
    await frontier.retry([Retry(lease=leases[0], wait_ms=0, push=again)])
    await frontier.release(leases[1:2])
    await frontier.bury([Burial(lease=leases[2], note=note("5xx", "no", "w"))])
    back = await lease(frontier)
    assert len(back) == 2
    assert sum(await frontier.reap()) >= 3, "the others' worker fell silent"

    dead = (leases[2].id, leases[0].id)
    assert await frontier.requeue_dead(dead) == 1
    assert {x.domain for x in [*back, *await lease(frontier)]} == set(HOSTS)


async def test_a_replay_after_a_change_of_the_secret_signs_with_the_new_one(
    frontier: Frontier,
) -> None:
    await frontier.push([push(frontier, HOSTS[0], retries=3)])
    (page,) = await lease(frontier)
    await frontier.bury([Burial(lease=page, note=note("5xx", "no", "w"))])

    await frontier.sealed([NEW, OLD]).requeue_dead([page.id])
    frontier.sealed([NEW])
    (again,) = await lease(frontier)
    assert "retry_count" not in decode(again.blob)["meta"]


async def test_a_forged_request_is_not_signed_by_its_replay(frontier: Frontier) -> None:
    forged = Push(
        domain=HOSTS[0], blob=encode({"url": f"http://{HOSTS[0]}/", "meta": {"retry_count": 1}})
    )
    await frontier.push([forged])
    frontier.now_ms += 1000
    (page,) = (await frontier.lease("w", 1, ttl_ms=500)).leases
    await frontier.bury([Burial(lease=page, note=note("decode", "not signed", "w"))])
    await frontier.requeue_dead([page.id])
    with pytest.raises(DecodeError, match="not signed"):
        await lease(frontier)


async def test_what_a_job_pushes_is_signed(frontier: Frontier) -> None:
    await Jobs(frontier).begin(
        "j:full", site_id="j", kind="full", urls=[f"http://{host}/" for host in HOSTS]
    )
    assert len(await lease(frontier)) == len(HOSTS)


async def test_a_worker_of_another_project_does_not_join_while_requests_wait(
    frontier: Frontier,
) -> None:
    """Its spider has the same name and other callbacks."""
    await claim_for_spider(frontier, "s", "first")
    await claim_for_spider(frontier, "s", "second")  # nothing waits
    await frontier.push([push(frontier, HOSTS[0])])
    with pytest.raises(ConfigError, match=r"the 1 requests .* of the project 'second'"):
        await claim_for_spider(frontier, "s", "first")
    await frontier.commit([Done(lease=one) for one in await lease(frontier)])
    await claim_for_spider(frontier, "s", "first")


async def test_a_worker_of_another_project_does_not_join_beside_workers(
    frontier: Frontier,
) -> None:
    """Nothing waited yet while the first one's `start` ran, and each took the other's pages."""
    frontier.now_ms = 0
    await frontier.renew("w", [], ttl_ms=60_000, info=b'{"project":"first"}')
    await claim_for_spider(frontier, "s", "first")
    await frontier.renew("v", [], ttl_ms=60_000, info=b'{"project":"second"}')
    with pytest.raises(ConfigError, match=r"workers are in crawl .* of the project 'first'"):
        await claim_for_spider(frontier, "s", "second")
    await claim_for_spider(frontier, "s", "first")

    await frontier.sign_off("w")
    await claim_for_spider(frontier, "s", "second")


async def test_a_worker_that_would_set_aside_what_waits_does_not_join(frontier: Frontier) -> None:
    """A secret that is set, or lost, between two starts would make each page a dead letter."""
    await claim_for_spider(frontier, "s", "p")
    await frontier.push([push(frontier, HOSTS[0])])
    with pytest.raises(ConfigError, match=r"the 1 requests .* another SEINE_SECRET"):
        await claim_for_spider(frontier.sealed([NEW]), "s", "p")

    await claim_for_spider(
        frontier.sealed([NEW, OLD]), "s", "p"
    )  # as docs/deploying.md says to change it
    await claim_for_spider(frontier.sealed([OLD, NEW]), "s", "p")
    await claim_for_spider(
        frontier.sealed([]), "s", "p"
    )  # takes everything, and signs nothing from here on
    await frontier.push([push(frontier, HOSTS[1])])
    with pytest.raises(ConfigError, match=r"the 2 requests .* with none"):
        await claim_for_spider(frontier.sealed([OLD]), "s", "p")

    await frontier.commit([Done(lease=one) for one in await lease(frontier.sealed([]))])
    await claim_for_spider(frontier.sealed([OLD]), "s", "p")  # nothing waits any longer


async def test_a_secret_is_given_up_only_when_nothing_that_waits_needs_it(
    frontier: Frontier,
) -> None:
    """The last step of its change, taken too early, made a dead letter of each old page."""
    await claim_for_spider(frontier, "s", "p")
    await frontier.push([push(frontier, HOSTS[0]), push(frontier, HOSTS[1])])
    await claim_for_spider(frontier.sealed([NEW, OLD]), "s", "p")
    await frontier.push([push(frontier, HOSTS[2])])
    with pytest.raises(ConfigError, match=r"of the 3 requests .* SEINE_SECRET_PREVIOUS"):
        await claim_for_spider(frontier.sealed([NEW]), "s", "p")

    leases = await lease(frontier.sealed([NEW, OLD]))
    old = [one for one in leases if one.domain != HOSTS[2]]
    await frontier.bury([Burial(lease=old[0], note=note("5xx", "no", "w"))])
    await frontier.commit([Done(lease=old[1])])
    await claim_for_spider(frontier.sealed([NEW]), "s", "p")  # a dead letter waits for nobody
    with pytest.raises(ConfigError, match=r"of the 1 requests"):
        await claim_for_spider(frontier.sealed([OLD]), "s", "p")


async def test_a_fleet_without_a_secret_begins_to_sign_without_a_stop(frontier: Frontier) -> None:
    """It had to be scaled to 0, and its crawl to be empty."""
    frontier.now_ms = 0
    await claim_for_spider(frontier.sealed([]), "s", "p")
    await beat(frontier, "old")
    await frontier.push([push(frontier, HOSTS[0])])
    await claim_for_spider(frontier.sealed([NEW, UNSIGNED]), "s", "p")
    await beat(frontier, "new")
    await frontier.push([push(frontier, HOSTS[1])])
    found = await frontier.lease("w", 2, ttl_ms=60_000)
    for secrets in ([], [NEW, UNSIGNED]):
        for one in found.leases:
            frontier.sealed(secrets).seal.check(one.stored)
    with pytest.raises(ConfigError, match="a worker of crawl"):
        await claim_for_spider(frontier.sealed([NEW]), "s", "p")
    await frontier.sign_off("old")
    with pytest.raises(ConfigError, match=r"the 2 requests .*`nothing` for none"):
        await claim_for_spider(frontier, "s", "p")
    await frontier.commit([Done(lease=one) for one in found.leases if one.domain == HOSTS[0]])
    await claim_for_spider(frontier, "s", "p")
    with pytest.raises(DecodeError, match="is not signed"):
        frontier.seal.check(next(one.stored for one in found.leases if one.domain == HOSTS[0]))


async def test_a_worker_without_a_secret_does_not_join_workers_that_sign(
    frontier: Frontier,
) -> None:
    """They made a dead letter of each link that it found."""
    await claim_for_spider(frontier, "s", "p")
    await frontier.push([push(frontier, HOSTS[0])])
    frontier.now_ms = 0
    await beat(frontier, "w")
    with pytest.raises(ConfigError, match="set their SEINE_SECRET here, too"):
        await claim_for_spider(frontier.sealed([]), "s", "p")

    await frontier.redis.delete(*(part.keys.workers for part in frontier.parts))
    await claim_for_spider(frontier.sealed([]), "s", "p")  # no worker is left that signs
    await beat(frontier, "w")
    await claim_for_spider(frontier, "s", "p")  # a second one


@pytest.mark.parametrize(("first", "second"), [([OLD], []), ([], [OLD]), ([OLD], [NEW])])
async def test_of_two_workers_that_join_at_once_with_other_secrets_one_is_refused(
    frontier: Frontier, first: list[str], second: list[str]
) -> None:
    """Each looked for the other's name before it had written its own: dead letters followed."""
    frontier.now_ms, secrets = 0, (first, second)
    for own in secrets:
        await claim_for_spider(frontier.sealed(own), "s", "p")
    for name, own in zip("ab", secrets, strict=True):
        await beat(frontier.sealed(own), name)
    with pytest.raises(ConfigError, match="SEINE_SECRET"):
        await refuse_other_signers(frontier)


@pytest.mark.parametrize(("first", "second"), [([OLD], []), ([], [OLD]), ([OLD], [NEW])])
async def test_a_worker_does_not_join_idle_workers_with_another_secret(
    frontier: Frontier, first: list[str], second: list[str]
) -> None:
    """Nothing waits yet, but the next seed's links would."""
    frontier.now_ms = 0
    await claim_for_spider(frontier.sealed(first), "s", "p")
    await frontier.renew("of 0.2", [], ttl_ms=60_000, info=b'{"signs": 7}')
    await refuse_other_signers(frontier)
    await beat(frontier, "a")
    with pytest.raises(ConfigError, match="SEINE_SECRET"):
        await claim_for_spider(frontier.sealed(second), "s", "p")
    await claim_for_spider(frontier.sealed(first), "s", "p")
