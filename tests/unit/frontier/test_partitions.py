"""Which partition has what, and what a worker concludes from its looks at them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.asyncio import Redis
from redis.crc import key_slot
from redis.exceptions import ResponseError

from scrapy_seine.config import FrontierConfig
from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier.keys import SLOTS, Keys, SeedKeys
from scrapy_seine.frontier.model import Done, Lease, Leased, Push
from scrapy_seine.frontier.opening import frontier_of
from scrapy_seine.frontier.partitions.redis_pipelines import shares_of
from scrapy_seine.frontier.round_trips.endings import Call, Endings
from scrapy_seine.frontier.round_trips.exchange import Exchange
from scrapy_seine.frontier.which_partition import part_of_domain, part_of_id

DOMAINS = [f"shop{n}.example" for n in range(400)]


@pytest.mark.parametrize("of", [2, 3, 4, 6, 16])
@pytest.mark.parametrize("crawl", ["catalog", "x", "a.b:c-d_e"])
def test_masters_that_share_the_slots_share_the_partitions(crawl: str, of: int) -> None:
    slots = [key_slot(part.requests.encode()) for part in Keys(crawl, of).parts]
    for masters in range(1, of + 1):
        if of % masters == 0:
            on = Counter(slot * masters // SLOTS for slot in slots)
            assert set(on.values()) == {of // masters}


def test_all_keys_of_a_partition_are_in_one_slot() -> None:
    for part in Keys("catalog", 5).parts:
        names = (part.requests, part.queue("a.example"), part.domain("b.example"), part.outbox(3))
        assert len({key_slot(name.encode()) for name in names}) == 1


def test_domains_spread_over_partitions() -> None:
    for of in (2, 3, 4, 8):
        found = Counter(part_of_domain(domain, of) for domain in DOMAINS)
        assert len(found) == of
        assert max(found.values()) < 1.5 * len(DOMAINS) / of


def test_a_crawl_that_is_not_split_has_the_keys_it_always_had() -> None:
    keys = Keys("catalog")
    assert keys.parts == (keys,)
    assert keys.part("a.example") is keys
    assert keys.queue("a.example") == "{catalog}:q:a.example"


def test_the_crawls_own_keys_lead_to_the_partition_of_a_domain() -> None:
    keys = Keys("catalog", 4)
    for domain in DOMAINS[:50]:
        part = keys.parts[part_of_domain(domain, 4)]
        assert keys.part(domain) == part
        assert keys.queue(domain) == part.queue(domain)
        assert keys.domain(domain).startswith(part.prefix)


@given(st.integers(0, 500), st.lists(st.booleans(), min_size=1, max_size=8))
def test_enough_is_asked_for_and_not_more_than_twice_of_it(
    wanted: int, starved: list[bool]
) -> None:
    shares = shares_of(wanted, starved)
    assert wanted <= sum(shares) <= 2 * wanted + len(starved)
    assert (wanted == 0) == (sum(shares) == 0)


@pytest.mark.parametrize(
    ("wanted", "starved", "shares"),
    [
        (32, [False, False], [16, 16]),
        (32, [True, True], [16, 16]),  # nobody had enough: all are asked alike
        (33, [True, False, False], [11, 17, 17]),
        (1, [False, False, False], [1, 1, 1]),
    ],
)
def test_those_that_had_enough_are_asked_for_all_of_it(
    wanted: int, starved: list[bool], shares: list[int]
) -> None:
    assert shares_of(wanted, starved) == shares


def lease(id_: str, domain: str) -> Lease:
    return Lease(id=id_, token="1", slot_ms=0, deliveries=0, stored=f"4000 {domain}\n".encode())


async def test_each_partition_is_told_what_is_its_own() -> None:
    f = frontier_of(Redis(), "c", 4)
    a, b = (next(d for d in DOMAINS if part_of_domain(d, 4) == n) for n in (1, 3))
    endings = Endings()
    endings.limits += [
        Call("set_delay", [a, 5, "", "", ""], []),
        Call("note_latency", [1.0, 0, 9, a, 1, 2.0, 0, 0, b, 3, 4.0, 0, 0], []),
    ]
    endings.done += [Done(lease=lease("7.1", a)), Done(lease=lease("7.3", b))]
    endings.releases.append(lease("8.3", b))
    endings.pushes.append(Push(domain=b, blob=b""))
    none, one, empty, three = endings.by_partition(f.keys)
    assert not none
    assert not empty
    measure = [1.0, 0, 9]
    assert [c.args for c in one.limits] == [[a, 5, "", "", ""], [*measure, a, 1, 2.0, 0, 0]]
    assert [c.args for c in three.limits] == [[*measure, b, 3, 4.0, 0, 0]]
    assert [d.lease.id for d in one.done] == ["7.1"]
    assert ([x.id for x in three.releases], len(three.pushes)) == (["8.3"], 1)
    assert part_of_id(three.done[0].lease.id) == 3


async def test_a_worker_believes_in_the_end_when_two_looks_agree() -> None:
    config = FrontierConfig.from_settings({"FRONTIER_PARTITIONS": "2"})
    assert config.partitions == 2
    f = frontier_of(Redis(), "c", 2)

    def nothing(*_: object) -> None: ...

    exchange = Exchange(f, config, "w", arrived=nothing, confirmed=nothing, add_to_stat=nothing)

    def look(*found: tuple[int, int], fresh: bool = True) -> int | None:
        replies = [
            Leased(
                state="OK",
                now_ms=0,
                next_due_ms=0,
                undone=undone,
                entered=entered,
                expired=False,
                leases=(),
            )
            for undone, entered in found
        ]
        exchange._learn_progress(replies, fresh=fresh)
        return exchange.undone

    assert look((0, 7), (0, 5)) is None, "one look says nothing"
    assert look((0, 8), (0, 5)) is None, "something came in and went on"
    assert look((0, 8), (0, 5)) == 0
    assert look((0, 8), (2, 7)) == 2
    assert look((0, 8), (0, 7)) is None
    assert look((0, 8)) is None, "one server did not answer"
    assert look((0, 8), (0, 7), fresh=False) is None, "what was sent along is not in it"
    assert look((0, 8), (0, 7)) is None
    assert look((0, 8), (0, 7)) == 0


@pytest.mark.parametrize("given", ["0", "65", "two", "-1"])
def test_a_number_of_partitions_that_is_none_is_refused(given: str) -> None:
    with pytest.raises(ConfigError, match="FRONTIER_PARTITIONS"):
        FrontierConfig.from_settings({"FRONTIER_PARTITIONS": given})


@pytest.mark.parametrize("seeds", ["catalog:start_urls", "{catalog}:seeds", "a{b"])
def test_the_keys_around_seeds_are_in_the_slot_of_the_seeds(seeds: str) -> None:
    keys = SeedKeys(seeds)
    slots = {key_slot(key.encode()) for key in (keys.claimed, keys.tries, keys.rejected)}
    assert slots == {key_slot(seeds.encode())}


async def test_a_refusal_to_take_leases_back_is_logged_and_costs_its_partition_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def nothing(*_: object) -> None: ...

    f, config = frontier_of(Redis(), "c", 2), FrontierConfig.from_settings({})
    exchange = Exchange(f, config, "w", arrived=nothing, confirmed=nothing, add_to_stat=nothing)

    class Full:
        async def reap(self, *, max_deliveries: int) -> tuple[int, int]:
            raise ResponseError("OOM command not allowed when used memory > 'maxmemory'.")

    class Sound:
        async def reap(self, *, max_deliveries: int) -> tuple[int, int]:
            return 2, 1

    parts: list[Any] = [Full(), Sound()]
    with caplog.at_level("INFO"):
        await exchange._reap(parts)
    refusal, result = caplog.messages
    assert refusal.startswith("Redis refuses: OOM")
    assert "Leases of silent workers are not taken back" in refusal
    assert result == "took back 2 leases of silent workers, buried 1"
