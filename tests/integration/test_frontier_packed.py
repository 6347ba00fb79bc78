"""Packed requests: a fleet agrees on dictionaries, and their loss loses nothing unsaid."""

from __future__ import annotations

import asyncio
from hashlib import blake2b
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from scrapy_seine.errors import DecodeError
from scrapy_seine.frontier.change_priority import RequestSelection
from scrapy_seine.frontier.dictionary_choice import NEAR, SAMPLES
from scrapy_seine.frontier.encoding.codec import PACKED, decode, encode
from scrapy_seine.frontier.encoding.packing import MOST_DICTIONARIES, Dictionary, is_packed
from scrapy_seine.frontier.encoding.wire import note
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.lost_state import StateError
from scrapy_seine.frontier.model import Burial, Done, Push, Retry
from scrapy_seine.frontier.opening import frontier_of
from scrapy_seine.frontier.round_trips.endings import Endings
from scrapy_seine.frontier.round_trips.redis_pipeline import LeaseRequest
from scrapy_seine.reads.dead_letters import one_dead
from scrapy_seine.reads.requests import peek
from tests.integration.frontier_kit import TTL, join_frontier
from tests.integration.test_state import Copies

pytestmark = pytest.mark.redis
HOST = "a.example"
#: Pushes after which a worker looks for a dictionary.
ENOUGH = SAMPLES * NEAR + 1


def push(f: Frontier, n: int, kind: str = "product", host: str = HOST) -> Push:
    meta = {"task_id": f"{n:032x}", kind: f"what {kind} pages have in common, in some words " * 2}
    blob = encode({"url": f"https://{host}/{kind}/{n}", "meta": meta})
    number = hash((kind, host, n))
    return f.seal.push(Push(domain=host, blob=blob, fingerprint=number, priority=n % 2, job="j:1"))


async def fill(f: Frontier, n: int = ENOUGH, kind: str = "product", host: str = HOST) -> None:
    """Push as many, so that a dictionary is there, and then one page more with it."""
    await f.push([push(f, i, kind, host) for i in range(n)])
    await f.push([push(f, i, kind, host) for i in range(n, n + 40)])


async def stored(f: Frontier) -> list[bytes]:
    client: Any = f.redis
    return [text for part in f.parts for text in await client.hvals(part.keys.requests)]


async def drained(f: Frontier) -> list[str]:
    """Lease and commit all there is; returns the URLs, and checks that each is as it was pushed."""
    urls = []
    while leases := (await f.lease("w", 500, ttl_ms=TTL)).leases:
        for one in leases:
            f.seal.check(one.stored)
            urls.append(decode(one.blob)["url"])
        await f.commit([Done(lease=one) for one in leases])
    return urls


async def dictionaries(f: Frontier) -> list[str]:
    client: Any = f.redis
    return (await client.hget(f.parts[0].keys.control, "dictionaries") or b"").decode().split()


@pytest.fixture
async def frontier(redis_client: Redis, namespace: str) -> Frontier:
    f = await join_frontier(redis_client, namespace, 1)
    await f.configure(delay_ms=0, concurrency=10_000, half_window_ms=10**9)
    return f


async def test_requests_take_a_fraction_and_come_back_as_they_were(frontier: Frontier) -> None:
    await fill(frontier)
    texts = await stored(frontier)
    packed = [text for text in texts if is_packed(text)]
    assert len(packed) == 40
    assert max(map(len, packed)) < min(len(text) for text in texts if not is_packed(text)) / 2
    wanted = {f"https://{HOST}/product/{n}" for n in range(ENOUGH + 40)}
    assert set(await drained(frontier)) == wanted
    assert await frontier.idle()


async def test_a_small_crawl_has_none(frontier: Frontier) -> None:
    await frontier.push([push(frontier, n) for n in range(ENOUGH - 2)])
    await frontier.push([push(frontier, n) for n in range(ENOUGH, ENOUGH + 1)])
    assert await dictionaries(frontier) == []


async def test_requests_that_have_nothing_in_common_are_stored_as_they_are(
    frontier: Frontier,
) -> None:
    for _ in range(3):
        pushes = [
            Push(domain=HOST, blob=b"\x01" + blake2b(b"%d" % n).digest()) for n in range(ENOUGH)
        ]
        await frontier.push(pushes)
    assert await dictionaries(frontier) == []
    assert not any(map(is_packed, await stored(frontier)))


async def test_workers_share_dictionaries_and_add_one_for_another_kind(
    redis_client: Redis, namespace: str, frontier: Frontier
) -> None:
    """Two ask at one time, a third comes later, a fourth pushes other requests."""
    others = [await join_frontier(redis_client, namespace, 1) for _ in range(3)]
    await asyncio.gather(*(fill(f, host=f"{n}.example") for n, f in enumerate(others[:2])))
    await fill(frontier, host="2.example")
    assert len(await dictionaries(frontier)) == 1
    owns = [f.packer.current for f in (frontier, *others[:2])]
    assert len({own.id for own in owns if own is not None}) == 1

    await fill(others[2], kind="review", host="3.example")
    assert len(await dictionaries(frontier)) == 2
    assert len(await drained(frontier)) == 4 * (ENOUGH + 40)


async def test_the_number_of_dictionaries_is_bounded(frontier: Frontier) -> None:
    for n in range(MOST_DICTIONARIES + 2):
        frontier.packer.reset()
        await fill(frontier, kind=f"{n:03d}" * 60, host=f"{n}.example")
    assert len(await dictionaries(frontier)) == MOST_DICTIONARIES
    assert len(await drained(frontier)) == (MOST_DICTIONARIES + 2) * (ENOUGH + 40)


async def test_nothing_is_packed_while_a_worker_lives_that_cannot_read_it(
    redis_client: Redis, namespace: str, frontier: Frontier
) -> None:
    """A rolling update: the old workers would make a dead letter of each."""
    await frontier.beat("old", [], ttl_ms=TTL, info=b'{"version":"0.2.0"}')
    await frontier.beat("new", [], ttl_ms=TTL, info=b'{"version":"9","unpacks":true}')
    await fill(frontier)
    assert await dictionaries(frontier) == []
    await frontier.sign_off("old")
    newcomer = await join_frontier(redis_client, namespace, 1)
    await fill(newcomer, host="b.example")
    assert len(await dictionaries(frontier)) == 1

    await frontier.beat("old", [], ttl_ms=TTL, info=b'{"version":"0.2.0"}')
    late = await join_frontier(redis_client, namespace, 1)
    await fill(late, host="c.example")
    assert late.packer.current is None, "one that is there already is not used either"


async def test_retries_dead_letters_and_priorities(
    redis_client: Redis, namespace: str, frontier: Frontier
) -> None:
    frontier.sealed(["s" * 32])
    await fill(frontier, host="b.example")
    await drained(frontier)
    await frontier.push([push(frontier, n) for n in range(1000, 1004)])
    first, second = (await frontier.lease("w", 2, ttl_ms=TTL)).leases
    again = push(frontier, 7000)
    assert await frontier.retry([Retry(lease=first, wait_ms=0, push=again)]) == ["OK"]
    await frontier.bury([Burial(lease=second, note=note("5xx", "no", "w"))])
    assert all(map(is_packed, await stored(frontier)))

    command = frontier_of(redis_client, namespace, 1).sealed(["s" * 32])
    found = await peek(command, HOST)
    assert all(one.url.startswith("https://a.example/product/") for one in found)
    dead = await one_dead(command, second.id)
    assert dead is not None
    assert dead[0].url == decode(second.blob)["url"]
    assert decode(dead[1].partition(b"\n")[2])["url"] == dead[0].url

    done = await command.set_priority(
        33, RequestSelection(domain=HOST, url="https://*/product/100*")
    )
    assert (done.changed, done.unreadable) == (2, 0)
    assert all(map(is_packed, await stored(frontier))), "none becomes larger by that"
    assert (await frontier.lease("w", 1, ttl_ms=TTL)).leases[0].stored.startswith(b"3967 ")

    assert await command.requeue_dead([second.id]) == 1
    texts = [text for text in await stored(frontier) if not is_packed(text)]
    assert len(texts) == 1, "as it was pushed, so that a worker of an older version reads it"
    assert decode(second.blob)["url"] in await drained(frontier)


async def test_partitions_have_their_own_and_hand_requests_on_as_they_were_pushed(
    redis_client: Redis, namespace: str
) -> None:
    f = await join_frontier(redis_client, namespace, 3)
    await f.configure(delay_ms=0, concurrency=10_000, half_window_ms=10**9)
    hosts = [f"{n}.example" for n in range(9)]
    for host in hosts:
        await fill(f, host=host)
    [page] = (await f.lease("w", 1, ttl_ms=TTL)).leases
    children = [push(f, 9000 + n, host=host) for n, host in enumerate(hosts)]
    await f.commit([Done(lease=page, children=children)])
    alone = [text for text in await stored(f) if not is_packed(text)]
    assert not [text for text in alone if b"/900" in text], "packed where they came in"
    assert len(alone) < 9 * ENOUGH, "a partition's second site is packed from its first request on"
    urls = [decode(page.blob)["url"], *await drained(f)]
    wanted = {f"https://{h}/product/{n}" for h in hosts for n in range(ENOUGH + 40)}
    assert set(urls) == wanted | {f"https://{h}/product/{9000 + n}" for n, h in enumerate(hosts)}


async def test_another_workers_line_reads_what_it_never_saw(
    redis_client: Redis, namespace: str, frontier: Frontier
) -> None:
    await fill(frontier)
    other = await join_frontier(redis_client, namespace, 1)
    lines = other.lines(LeaseRequest(worker="o", ttl_ms=TTL, lead_ms=0, lanes=""))
    [answer] = await lines.round_trip(Endings(), 500)
    assert answer.leased is not None
    urls = {decode(lease.blob)["url"] for lease in answer.leased.leases}
    assert f"https://{HOST}/product/{ENOUGH + 39}" in urls


@pytest.mark.parametrize("becomes", [None, b"other", b"", b"x" * 100_000])
async def test_requests_without_their_dictionary_are_leased_and_say_what_they_lack(
    redis_client: Redis, namespace: str, frontier: Frontier, becomes: bytes | None
) -> None:
    """I8: each has its own end, and the others go on."""
    await fill(frontier)
    client: Any = redis_client
    [name] = await dictionaries(frontier)
    control = frontier.keys.control
    if becomes is None:
        await client.hdel(control, f"dictionary:{name}")
    else:
        await client.hset(control, f"dictionary:{name}", becomes)
    other = await join_frontier(redis_client, namespace, 1)
    leases = (await other.lease("w", 500, ttl_ms=TTL)).leases
    lacking = [lease for lease in leases if lease.blob.startswith(PACKED)]
    assert len(lacking) == 40
    assert len(leases) == ENOUGH + 40
    for lease in lacking:
        with pytest.raises(DecodeError, match=f"the dictionary {name} that it was packed with"):
            decode(lease.blob)
        assert lease.domain == HOST
    await fill(other, kind="other", host="b.example")
    assert other.packer.current is not None
    assert other.packer.current.text != becomes


async def test_a_damaged_request_ends_alone(frontier: Frontier) -> None:
    await fill(frontier)
    client: Any = frontier.redis
    texts = await client.hgetall(frontier.keys.requests)
    ids = [id_ for id_, text in texts.items() if is_packed(text)]
    for at, id_ in enumerate(ids[:3]):
        cut = (texts[id_][:-2], texts[id_] + b"x", texts[id_][:-8])[at]
        await client.hset(frontier.keys.requests, id_, cut)
    leases = (await frontier.lease("w", 500, ttl_ms=TTL)).leases
    damaged = [lease.blob for lease in leases if not lease.blob.startswith(b"\x01")]
    assert [blob[:1] for blob in damaged] == [PACKED] * 3
    assert len(leases) == ENOUGH + 40


@pytest.mark.parametrize("secret", [True, False])
async def test_who_changes_a_dictionary_gets_nothing_past_the_signature(
    redis_client: Redis, namespace: str, frontier: Frontier, *, secret: bool
) -> None:
    """Even one who finds a text with the same id: what comes out was signed by nobody."""
    frontier.sealed(["s" * 32] if secret else [])
    await fill(frontier)
    assert frontier.packer.current is not None
    forged = Dictionary(
        frontier.packer.current.text.replace(b"https://a.example", b"https://b.example")
    )
    forged.id = frontier.packer.current.id
    reader = (await join_frontier(redis_client, namespace, 1)).sealed(["s" * 32] if secret else [])
    reader.packer.dictionaries[forged.id] = forged
    leases = (await reader.lease("w", 500, ttl_ms=TTL)).leases
    changed = [lease for lease in leases if b"//b.example" in lease.blob]
    assert len(changed) == 40
    for lease in changed if secret else ():
        with pytest.raises(DecodeError, match="signature"):
            reader.seal.check(lease.stored)


async def refused(f: Frontier, n: int) -> None:
    with pytest.raises(StateError):
        await f.push([push(f, n)])


async def test_after_a_fall_nothing_is_packed_with_what_the_older_state_lacks(
    redis_client: Redis, namespace: str, frontier: Frontier
) -> None:
    """I12: the fall is noticed by the next call, and what it repeats is laid out anew."""
    copies = Copies(redis_client, namespace)
    await frontier.push([push(frontier, n) for n in range(ENOUGH)])
    before = await copies.take()
    await frontier.push([])  # agrees on the dictionary, and enters nothing
    assert len(await dictionaries(frontier)) == 1
    await copies.restore(before)

    await refused(frontier, 5000)
    await frontier.push([push(frontier, 5000)])
    assert not any(map(is_packed, await stored(frontier)))
    await fill(frontier, host="b.example")
    assert len(await dictionaries(frontier)) == 1
    reader = await join_frontier(redis_client, namespace, 1)
    assert len(await drained(reader)) == ENOUGH + 1 + ENOUGH + 40


async def test_an_agreement_with_a_state_that_is_gone_counts_for_nothing(
    redis_client: Redis, namespace: str, frontier: Frontier
) -> None:
    """The reply comes from before a fall that another call has noticed meanwhile."""
    await frontier.push([push(frontier, n) for n in range(ENOUGH)])
    ask = frontier.run

    async def fall(name: str, *args: Any) -> Any:
        reply = await ask(name, *args)
        if name == "add_dictionary":
            frontier.translate_error(ResponseError("ROLLEDBACK 1 99999999"))
        return reply

    frontier.dictionaries.run = fall
    await frontier.dictionaries.agree_if_due()
    assert frontier.packer.current is None


@pytest.mark.parametrize("noticed", [True, False])
async def test_after_flushall_and_clear(
    redis_client: Redis, namespace: str, frontier: Frontier, *, noticed: bool
) -> None:
    await fill(frontier)
    assert await frontier.clear() == ENOUGH + 40
    await frontier.push([push(frontier, n) for n in range(5)])
    assert all(map(is_packed, await stored(frontier))), "a clear leaves dictionaries"
    assert len(await drained(frontier)) == 5

    await Copies(redis_client, namespace).drop()
    if noticed:
        await refused(frontier, 1)
    await frontier.begin()
    await frontier.push([push(frontier, n) for n in range(5)])
    assert not any(map(is_packed, await stored(frontier)))
    assert len(await drained(await join_frontier(redis_client, namespace, 1))) == 5


async def test_a_look_that_fails_is_left_for_later(frontier: Frontier) -> None:
    """Somebody made junk of the list: that costs the packing, and no push."""
    client: Any = frontier.redis
    control = frontier.keys.control
    await client.hset(
        control, mapping={"dictionaries": b"\xff zz 12 00ff00ff", "dictionary:12": "x"}
    )
    await fill(frontier)
    assert len(await drained(frontier)) == ENOUGH + 40
    assert frontier.packer.current is not None
