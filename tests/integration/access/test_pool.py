"""The fleet's proxies: taken in turn, banned once for all, and probed by one."""

from __future__ import annotations

import re
from typing import Any

import attrs
import pytest
from redis.exceptions import ResponseError

from crawler.access.proxies.list_format import Proxy, parse
from crawler.access.proxies.pool import (
    LISTED_MS,
    EachAddress,
    PoolConfig,
    ProxyPool,
    Rest,
    TakenProxy,
)

SHOP = "shop.example"
pytestmark = pytest.mark.redis


@pytest.fixture
def pool(redis_client, namespace):
    return ProxyPool(redis_client, namespace, PoolConfig(quarantine_s=60), now_ms=1_000_000)


async def registered(pool: ProxyPool, *lines: str) -> list[str]:
    proxies, bad = parse(lines)
    assert not bad
    await pool.register(proxies)
    return [p.id for p in proxies]


async def taken(proxies: ProxyPool, domain: str = SHOP, **kwargs: Any) -> TakenProxy:
    found = await proxies.take(domain, **kwargs)
    assert isinstance(found, TakenProxy), found
    return found


async def prove(pool: ProxyPool, ids: list[str], domain: str = SHOP) -> None:
    uses = [await taken(pool, domain) for _ in ids]
    assert {use.id for use in uses} == set(ids)
    for use in uses:
        assert await pool.report(domain, use, "good") == "GOOD"


async def test_proxies_go_out_in_turn(pool) -> None:
    ids = await registered(pool, "a:1", "b:1", "c:1")
    await prove(pool, ids)
    order = []
    for _ in range(6):
        pool.now_ms += 1
        order.append((await taken(pool)).id)
    assert order[:3] == order[3:]
    assert set(order) == set(ids)


async def test_an_unproven_proxy_is_out_once_at_a_time(pool) -> None:
    await registered(pool, "a:1")
    use = await taken(pool)
    wait = await pool.take(SHOP)
    assert isinstance(wait, float)
    assert 0 < wait < 1
    await taken(pool, "other.example")
    await pool.report(SHOP, use, "good")
    await taken(pool)
    await taken(pool)


async def test_a_banned_proxy_rests_for_its_domain_and_returns_by_one_probe(pool) -> None:
    await registered(pool, "a:1")
    assert await pool.report(SHOP, await taken(pool), "ban") == "BANNED"
    assert await pool.take(SHOP) == 60
    await taken(pool, "other.example")
    pool.now_ms += 60_001
    probe = await taken(pool)
    assert isinstance(await pool.take(SHOP), float)
    await pool.report(SHOP, probe, "ban")
    assert await pool.take(SHOP) == 120
    pool.now_ms += 120_001
    await pool.report(SHOP, await taken(pool), "good")
    await taken(pool)
    await taken(pool)


async def test_bans_of_uses_that_were_under_way_together_count_once(pool) -> None:
    ids = await registered(pool, "a:1")
    await prove(pool, ids)
    for use in [await taken(pool) for _ in range(5)]:
        await pool.report(SHOP, use, "ban")
    assert await pool.take(SHOP) == 60


async def test_a_proxy_that_several_domains_ban_rests_everywhere(pool) -> None:
    await registered(pool, "a:1")
    words = []
    for i in range(3):
        domain = f"{i}.example"
        words.append(await pool.report(domain, await taken(pool, domain), "ban"))
    assert words == ["BANNED", "BANNED", "RESTING"]
    assert await pool.take("new.example") == 60
    pool.now_ms += 60_001
    await pool.report("new.example", await taken(pool, "new.example"), "good")
    await taken(pool, "new.example")


async def test_proxies_that_rest_hide_no_other(pool) -> None:
    """Of a gateway's thousand sessions five hundred rested, and the site waited for them."""
    ids = await registered(pool, "http://s{session}@gw:1 sessions=600")
    for n, id_ in enumerate(ids[:550]):
        await pool.redis.zadd(f"{pool.key}rest:{SHOP}", {id_: pool.now_ms + 60_000 + n})
    for key in ("pool:/", "pool:gateway/"):
        await pool.redis.zadd(pool.key + key, dict.fromkeys(ids[550:], pool.now_ms - 1))
    assert (await taken(pool)).id in ids[550:]


async def test_a_use_that_nobody_reports_ends_by_itself(pool) -> None:
    await registered(pool, "a:1")
    await taken(pool)
    pool.now_ms += 300_001
    await taken(pool)


async def test_pool_and_country_limit_the_choice(pool) -> None:
    ids = await registered(
        pool, "a:1 country=DE", "b:1 pool=residential country=DE", "c:1 pool=residential"
    )
    assert (await taken(pool, pool="datacenter")).id == ids[0]
    assert (await taken(pool, pool="residential", country="DE")).id == ids[1]
    assert (await taken(pool, pool="residential")).id == ids[2]
    assert await pool.take(SHOP, country="FR") == float("inf")


async def test_a_session_keeps_its_proxy_while_it_is_good(pool) -> None:
    ids = await registered(pool, "a:1", "b:1")
    await prove(pool, ids)
    for _ in range(3):
        assert (await taken(pool, preferred=ids[1])).id == ids[1]
    await pool.report(SHOP, await taken(pool, preferred=ids[1]), "ban")
    assert (await taken(pool, preferred=ids[1])).id == ids[0]


async def test_the_only_proxy_that_a_gates_cookie_is_for_is_waited_for(pool) -> None:
    """Each page through another proxy was the gate again, and later ever longer."""
    ids = await registered(pool, "a:1", "b:1")
    await pool.report(SHOP, await taken(pool, preferred=ids[0]), "good")
    each = EachAddress(60_000, 1)
    await taken(pool, preferred=ids[0], each_address=each)
    wait = await pool.take(SHOP, preferred=ids[0], each_address=each, is_bound=True)
    assert isinstance(wait, float)
    assert not isinstance(wait, Rest)
    assert (await taken(pool, preferred=ids[0], each_address=each)).id == ids[1]


async def test_a_request_that_avoids_a_proxy_waits_for_another_that_is_only_busy(pool) -> None:
    """Under load a portal's proxy got its own pages back, until the portal was believed."""
    portal, other = await registered(pool, "a:1", "b:1")
    probe = await taken(pool, avoided=portal)
    assert probe.id == other
    wait = await pool.take(SHOP, avoided=portal)
    assert isinstance(wait, float)
    assert 0 < wait < 1
    await pool.report(SHOP, probe, "good")
    assert (await taken(pool, avoided=portal)).id == other
    await pool.report(SHOP, await taken(pool, preferred=other), "ban")
    pool.now_ms += 59_000
    use = await taken(pool, avoided=portal)
    assert use.id == portal, "the other one rests, and may be refused again in a second"


async def test_a_request_that_avoids_a_proxy_takes_its_providers_others_last(pool) -> None:
    """An ended account is that of all exits of a gateway, and of all proxies of a provider."""
    lines = ["http://s{session}@gw:1 sessions=2", "b:1 provider=acme", "c:1 provider=acme", "d:1"]
    one, two, b, c, d = await registered(pool, *lines)
    await prove(pool, [one, two, b, c, d])
    for at, (avoided, first, then) in enumerate([(one, {b, c, d}, two), (b, {one, two, d}, c)]):
        shop = f"{at}.example"
        others = {(await taken(pool, shop, avoided=avoided)).id for _ in first}
        assert others == first, "each is on probation"
        for id_ in first:
            await pool.report(shop, TakenProxy(id_, ""), "ban")
        assert (await taken(pool, shop, avoided=avoided)).id == then
        await pool.report(shop, TakenProxy(then, ""), "ban")
        assert (await taken(pool, shop, avoided=avoided)).id == avoided


async def test_the_avoided_proxy_is_reserved_in_advance_where_there_is_no_other(pool) -> None:
    """A look waited until the site's other requests, which reserve theirs, were done."""
    [only] = await registered(pool, "a:1")
    await prove(pool, [only])
    each = EachAddress(200, 0)
    times = [(await taken(pool, each_address=each, avoided=only)).at_ms for _ in range(3)]
    assert times == [pool.now_ms, pool.now_ms + 210, pool.now_ms + 420]


async def test_a_wait_tells_a_pool_that_rests_from_one_that_is_busy(
    redis_client, namespace
) -> None:
    config = PoolConfig(quarantine_s=60, delay_s=10)
    pool = ProxyPool(redis_client, namespace, config, now_ms=1_000_000)
    one, two = await registered(pool, "a:1", "b:1")
    await prove(pool, [one, two])
    busy = await pool.take(SHOP)
    assert (busy, isinstance(busy, Rest)) == (10, False)
    await pool.report(SHOP, TakenProxy(one, ""), "ban")
    assert not isinstance(await pool.take(SHOP), Rest)
    await pool.report(SHOP, TakenProxy(two, ""), "ban")
    resting = await pool.take(SHOP)
    assert (resting, isinstance(resting, Rest)) == (60, True)


async def test_one_proxy_is_not_worked_harder_than_it_may_be(redis_client, namespace) -> None:
    config = PoolConfig(concurrency=2, delay_s=1)
    pool = ProxyPool(redis_client, namespace, config, now_ms=1_000_000)
    await prove(pool, await registered(pool, "a:1"))
    assert await pool.take(SHOP) == 1
    pool.now_ms += 1000
    first = await taken(pool)
    pool.now_ms += 1000
    await taken(pool)
    pool.now_ms += 1000
    assert isinstance(await pool.take(SHOP), float)
    await pool.report(SHOP, first, "unknown")
    await taken(pool)


async def test_a_server_clock_that_is_set_back_holds_up_no_proxy(redis_client, namespace) -> None:
    """Each proxy paused until the time at which it had been used before: for an hour."""
    pool = ProxyPool(redis_client, namespace, PoolConfig(delay_s=1), now_ms=10_000_000)
    other, each = "other.example", EachAddress(500, 0)
    (proxy,) = await registered(pool, "a:1")
    await taken(pool, other, each_address=each)
    pool.now_ms += 1000
    assert (await taken(pool)).id == proxy, "a use that decides, and whose worker dies"
    pool.now_ms -= 3_600_000
    await taken(pool)
    assert await pool.take(other) == 1, "its pause begins anew"
    pool.now_ms += 1000
    use = await taken(pool, other, each_address=each)
    assert use.at_ms <= pool.now_ms + 1000
    assert (await pool.pace(other, proxy, 500))[1] <= pool.now_ms + 2000


async def test_what_proxies_that_left_did_is_not_kept_for_ever(pool) -> None:
    """A provider's list has other addresses each day."""
    for day in range(3):
        (proxy,) = await registered(pool, f"day-{day}:1")
        await prove(pool, [proxy])
        kept = await pool.redis.hgetall(pool.key + "health")
        assert kept
        assert all(name.startswith(f"{proxy} ".encode()) for name in kept)


async def test_a_gates_proxy_is_waited_for_unless_it_rests(pool) -> None:
    """Through another one the page is the gate again, and a busy proxy was passed over."""
    pool.config = attrs.evolve(pool.config, delay_s=1.0)
    ids = await registered(pool, "a:1", "b:1")
    await prove(pool, ids)
    pool.now_ms += 1000
    use = await taken(pool, preferred=ids[1], is_bound=True)
    assert use.id == ids[1]
    assert await pool.take(SHOP, preferred=ids[1], is_bound=True) == 1.0
    await pool.report(SHOP, use, "ban")
    assert (await taken(pool, preferred=ids[1], is_bound=True)).id == ids[0]
    pool.now_ms += 1000
    assert (await taken(pool, preferred="unlisted", is_bound=True)).id == ids[0]


async def test_a_new_list_keeps_what_is_known_and_drops_who_left(pool) -> None:
    ids = await registered(pool, "a:1", "b:1")
    uses = {use.id: use for use in [await taken(pool), await taken(pool)]}
    await pool.report(SHOP, uses[ids[0]], "ban")
    await registered(pool, "a:1", "c:1")
    assert len(await pool.health()) == 2
    await taken(pool)
    wait = await pool.take(SHOP)
    assert isinstance(wait, float)
    assert await pool.report(SHOP, uses[ids[1]], "good") == "UNKNOWN"


async def test_health_shows_the_fleets_experience_and_no_secret(pool) -> None:
    await registered(pool, "http://me:hunter2@a:1 provider=acme country=DE")
    await pool.report(SHOP, await taken(pool), "ban")
    found = await pool.health()
    assert [(h.provider, h.country, h.bans, h.domains) for h in found] == [
        ("acme", "DE", 1, {SHOP: 60.0})
    ]
    assert "hunter2" not in str(found)
    await pool.release(found[0].id)
    await taken(pool)


async def test_each_proxy_keeps_a_domains_pause_by_itself(pool) -> None:
    ids = await registered(pool, "a:1", "b:1")
    await prove(pool, ids)
    each = EachAddress(200, 0)
    first, second = [await taken(pool, each_address=each) for _ in ids]
    assert (first.at_ms, second.at_ms) == (pool.now_ms, pool.now_ms)
    ahead = await taken(pool, each_address=each)
    assert ahead.at_ms == pool.now_ms + 210
    assert (await taken(pool, "other.example")).at_ms == 0
    slow = EachAddress(5000, 0)
    wait = await pool.take(SHOP, each_address=slow)
    assert isinstance(wait, float)
    assert wait == pytest.approx(5.01)


async def test_each_proxy_keeps_a_domains_concurrency_by_itself(pool) -> None:
    await prove(pool, await registered(pool, "a:1", "b:1"))
    each = EachAddress(0, 1)
    uses = [await taken(pool, each_address=each) for _ in range(2)]
    assert len({use.id for use in uses}) == 2
    assert isinstance(await pool.take(SHOP, each_address=each), float)
    await pool.report(SHOP, uses[1], "good")
    assert (await taken(pool, each_address=each)).id == uses[1].id


async def test_a_missed_use_begins_late_and_moves_the_next_one(pool) -> None:
    await prove(pool, await registered(pool, "a:1"))
    use = await taken(pool, each_address=EachAddress(200, 0))
    pool.now_ms += 100
    assert await pool.pace(SHOP, use.id, 200, use.at_ms) == (pool.now_ms, pool.now_ms)
    assert await pool.pace(SHOP, use.id, 200, use.at_ms) == (pool.now_ms, pool.now_ms + 210)
    assert await pool.pace(SHOP, "direct", 200) == (pool.now_ms, pool.now_ms)


async def test_proxies_at_rest_do_not_count_as_usable(pool) -> None:
    await registered(pool, "a:1", "b:1 pool=residential", "c:1")
    assert await pool.usable(SHOP) == 3
    assert await pool.usable(SHOP, pool="residential") == 1
    await pool.report(SHOP, await taken(pool), "ban")
    assert await pool.usable(SHOP) == 2
    assert await pool.usable("other.example") == 3


def listed(*lines: str) -> list[Proxy]:
    proxies, bad = parse(lines)
    assert not bad
    return proxies


async def test_workers_with_different_lists_take_from_their_own_and_share_the_rest(
    redis_client, namespace
) -> None:
    one, other = (
        ProxyPool(redis_client, namespace, PoolConfig(quarantine_s=60), now_ms=1_000_000)
        for _ in range(2)
    )
    mine, theirs = listed("u:hunter2@a:1", "u:hunter2@b:1"), listed("u:hunter2@b:1", "c:1")
    await one.register(mine, "w1")
    found = await other.register(theirs, "w2")
    assert (found.removed_count, found.lists) == (0, 2)
    assert (found.only_here.ids, found.only_elsewhere.ids) == ((theirs[1].id,), (mine[0].id,))
    assert "hunter2" not in f"{found}"
    assert len(await one.health()) == 3
    assert await one.usable(SHOP) == await other.usable(SHOP) == 2
    taken_by_one = {(await taken(one)).id for _ in range(2)}
    assert taken_by_one == {proxy.id for proxy in mine}
    assert (await taken(other)).id == theirs[1].id
    assert isinstance(await other.take(SHOP), float)  # what both list is out on trial already


async def test_a_list_goes_with_the_last_worker_that_has_it(redis_client, namespace) -> None:
    one, other = (ProxyPool(redis_client, namespace, now_ms=1_000_000) for _ in range(2))
    await one.register(listed("a:1"), "w1")
    assert (await other.register(listed("b:1"), "w2")).lists == 2
    other.now_ms += LISTED_MS - 1
    assert (await other.register(listed("b:1"), "w2")).removed_count == 0
    other.now_ms += 1
    found = await other.register(listed("b:1"), "w2")
    assert (found.removed_count, found.lists, found.only_elsewhere.count) == (1, 1, 0)
    await other.withdraw("w2")
    assert [h.id for h in await one.health()] == [listed("b:1")[0].id]
    one.now_ms = other.now_ms
    assert (await one.register(listed("a:1"), "w1")).removed_count == 1


async def test_a_proxy_that_changes_its_pool_leaves_the_old_one(redis_client, namespace) -> None:
    """Its id is the same, so that it was taken from both; listed no more, it failed each take."""
    pool = ProxyPool(redis_client, namespace, now_ms=1_000_000)
    first, second = (
        [Proxy("http://a:1", name, "", ""), Proxy("http://b:1", "x", "", "")]
        for name in ("old", "new")
    )
    await pool.register(first, "w1")
    assert (await taken(pool, pool="old")).id == first[0].id
    await pool.register(second, "w1")
    assert await pool.take("other.example", pool="old") == float("inf")
    assert (await taken(pool, "other.example", pool="new")).id == first[0].id
    await pool.register(first, "w1")
    await pool.register(second[1:], "w1")
    pool.listed = ""
    for name in ("old", "new"):
        assert await pool.take("third.example", pool=name) == float("inf")
    assert (await taken(pool, "third.example", pool="x")).id == second[1].id


async def test_one_workers_new_list_takes_the_place_of_its_old_one(pool) -> None:
    await pool.register(listed("a:1", "b:1"), "w1")
    found = await pool.register(listed("b:1"), "w1")
    assert (found.removed_count, found.lists) == (1, 1)
    assert str(found.only_here) == "none"


@pytest.mark.parametrize(
    "name",
    [
        *("info", "resting", "health", "workers", "lists", "names", "domains", "pool:/"),
        *("rest:shop.example", "bans:shop.example", "good:shop.example"),
    ],
)
async def test_a_key_of_another_type_is_named(pool, name: str) -> None:
    """Redis' own error names none, and the requests wait until somebody deletes it."""

    async def use() -> None:
        await registered(pool, "a:1", "b:1")
        await pool.report(SHOP, await taken(pool), "good")
        await pool.report(SHOP, await taken(pool), "ban")
        await pool.health()

    key = pool.key + name
    await use()
    await pool.redis.delete(key)
    await pool.redis.set(key, "somebody else's")
    with pytest.raises(ResponseError, match=f"WRONGTYPE {re.escape(key)} is a string"):
        await use()
    await pool.redis.delete(key)
    pool.now_ms += 3_600_000  # the ban has ended
    await use()


async def test_the_health_of_proxies_names_a_key_of_another_type(pool) -> None:
    for name in ("info", "health", "domains", "resting"):
        await pool.redis.set(pool.key + name, "somebody else's")
        with pytest.raises(ResponseError, match=re.escape(pool.key + name)):
            await pool.health()
        await pool.redis.delete(pool.key + name)
