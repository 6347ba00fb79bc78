"""The dashboard comes up whatever a site, a user or junk in Redis wrote; nobody may guess on."""

from __future__ import annotations

import asyncio
import time

import orjson
import pytest

from crawler.access.proxies.list_format import Proxy
from crawler.access.proxies.pool import ProxyPool
from crawler.catalogue.jobs.in_redis import Jobs
from crawler.dashboard.login_attempts import (
    MAX_GUESSES,
    MAX_GUESSES_BY_ADDRESS,
    TRUST_S,
    WINDOW_S,
    Guesses,
)
from scrapy_seine.reads.audit import record_action
from tests.integration.dashboard.conftest import (
    MARKUP,
    TOKEN,
    a_push,
    bury,
    page,
    serving,
    store_product,
    worked,
)

DOMAIN = "shop.example"
PAGES = (
    *("/", "/domains", "/workers", "/frontier", "/dead", "/products", "/jobs", "/attempts"),
    *("/proxies", "/quality", "/api/overview", "/metrics", f"/domains/{DOMAIN}"),
    "/frontier?url=https://shop.example/p1",
)
JUNK = (
    *(b"junk", b"\xff\xfe", b"", b"{}", b"[]", b"null", b'{"a":', b"1e999", b"NaN", b"-1", b"1.5"),
    *(
        b"9" * 30,
        b"[" * 500,
        b'{"who":1,"x":2}',
        b'{"at":"x","started":"y","pid":[]}',
        b"\x00\x1b[",
    ),
    *(b'[1,2,"x",null,{}]', b'{"at":1e300,"started":1e300}', b"1 2 3 4", MARKUP.encode()),
)
WORDS = ("%00", "%ff", "%ed%a0%80", "-1", "9" * 30, "%0d%0a", "%27%22%3E", "a" * 5000, "%E2%80%AE")
#: Every query parameter of a page.
QUERIES = (
    *("/products?q=", "/products?from=", "/domains?domain=", "/domains?from=", "/frontier?url="),
    *("/dead?reason=", "/dead?in=", "/dead?text=", "/attempts?outcome=", "/attempts?domain="),
    *("/products.csv?site=", "/products.csv?stock="),
    *("/?done=", "/?done=replay&n=", "/domains/", "/dead/", "/products/a/", "/products/x"),
)


@pytest.fixture
async def crawl(frontier, namespace, redis_client, database) -> str:
    """A crawl with something in each key that a page reads."""
    await bury(frontier, "https://shop.example/dead")
    await frontier.push([a_push(f"https://shop.example/p{n}", n) for n in range(3)])
    await frontier.lease("w", 1, ttl_ms=60_000)
    await frontier.push(
        [
            a_push(
                "https://late.example/",
                9,
                domain="late.example",
                not_before_ms=int(time.time() * 1000) + 60_000,
            )
        ]
    )
    await worked(frontier, done=3, retry=1)
    await redis_client.hset(frontier.keys.control, "partitions", 1)
    keys = frontier.keys
    await redis_client.zadd(keys.workers, {"w": time.time() * 1000 + 60_000})
    await redis_client.hset(keys.worker_info, "w", orjson.dumps({"host": "h", "pages": 3}))
    await record_action(
        redis_client, keys, who="x", origin="y", verb="pause", target="z", result="1"
    )
    await Jobs(frontier).begin("j1", site_id="shop", kind="full", urls=["https://shop.example/s"])
    pool = ProxyPool(redis_client, namespace)
    await pool.register([Proxy("http://127.0.0.1:1", "datacenter", "DE", "acme")], "w")
    await redis_client.hset(f"{pool.key}health", "x good", 1)
    ladder = f"{{{namespace}}}:ladder:"
    await redis_client.hset(f"{ladder}d:{DOMAIN}", mapping={"step": "tls", "reason": "r"})
    await redis_client.lpush(f"{ladder}path:{DOMAIN}", "0 plain tls because")
    store_product(database, MARKUP, price=12)
    return namespace


async def spoil(redis, key: str, junk: bytes) -> None:
    """Put junk into every value, member and field of a key, whatever kind it is."""
    kind = await redis.type(key)
    if kind == b"hash":
        for field in await redis.hkeys(key):
            await redis.hset(key, field, junk)
        await redis.hset(key, junk, junk)
    elif kind == b"list":
        await redis.lpush(key, junk)
    elif kind == b"set":
        await redis.sadd(key, junk)
    elif kind == b"zset":
        await redis.zadd(key, {junk: 9e15, junk + b".9": -9e15, junk + b" ": "inf"})
    elif kind == b"string":
        await redis.set(key, junk)


@pytest.mark.parametrize("junk", JUNK, ids=repr)
async def test_pages_come_up_on_a_redis_full_of_junk(
    junk, crawl, redis_client, redis_url, database
):
    found = [key async for key in redis_client.scan_iter(f"*{crawl}*")]
    assert len(found) > 15
    for key in found:
        await spoil(redis_client, key, junk)
    async with serving(crawl, redis_url, database) as client:
        for path in PAGES:
            await page(client, path)


@pytest.mark.parametrize("path", QUERIES)
async def test_pages_come_up_whatever_is_asked(path, crawl, redis_url, database):
    async with serving(crawl, redis_url, database) as client:
        for word in WORDS:
            async with client.get(path + word, allow_redirects=False) as response:
                assert response.status in {200, 303, 400, 404}, (path, word[:20])


async def test_wrong_tokens_in_parallel_are_counted_before_they_are_compared(
    namespace, redis_url, database
):
    async with serving(namespace, redis_url, database, token=TOKEN) as client:

        async def guess(n: int) -> int:
            async with client.post("/login", data={"token": f"guess {n}"}) as response:
                return response.status

        told = await asyncio.gather(*(guess(n) for n in range(3 * MAX_GUESSES_BY_ADDRESS)))
        assert told.count(403) == MAX_GUESSES_BY_ADDRESS
        assert told.count(429) == 2 * MAX_GUESSES_BY_ADDRESS
        async with client.post("/login", data={"token": TOKEN}) as response:
            assert (response.status, int(response.headers["Retry-After"]) > 0) == (429, True)
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        async with client.get("/metrics", headers=bearer) as response:
            assert response.status == 429


async def test_right_tokens_are_never_too_many(namespace, redis_url, database):
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    async with serving(namespace, redis_url, database, token=TOKEN) as client:
        for _ in range(MAX_GUESSES_BY_ADDRESS + 2):
            async with client.get("/metrics", headers=bearer) as response:
                assert response.status == 200


def test_guesses_of_many_addresses_are_limited_together_and_time_forgives():
    now = 0.0
    guesses = Guesses(lambda: now)
    told = [guesses.begin(f"10.0.{n // 200}.{n % 200}") for n in range(MAX_GUESSES + 5)]
    assert [bool(wait_s) for wait_s in told] == [False] * MAX_GUESSES + [True] * 5
    now = WINDOW_S
    assert not guesses.begin("10.9.9.9")


def test_who_gave_the_right_token_is_held_up_by_its_own_address_alone():
    now = 1.0
    guesses = Guesses(lambda: now)
    assert not guesses.begin("10.9.9.9")
    guesses.forgive("10.9.9.9")
    for n in range(MAX_GUESSES + 1):
        guesses.begin(f"10.0.{n}.1")
    assert guesses.begin("10.8.8.8")
    told = [guesses.begin("10.9.9.9") for _ in range(MAX_GUESSES_BY_ADDRESS + 1)]
    assert [bool(wait_s) for wait_s in told] == [False] * MAX_GUESSES_BY_ADDRESS + [True]
    now = TRUST_S + 1
    for n in range(MAX_GUESSES):
        guesses.begin(f"10.0.{n}.1")
    assert guesses.begin("10.9.9.9")


def test_an_ipv6_network_is_one_guesser():
    guesses = Guesses(lambda: 0.0)
    told = [guesses.begin(f"2001:db8:0:1::{n:x}") for n in range(1, MAX_GUESSES_BY_ADDRESS + 2)]
    assert told[-1]
    assert not any(told[:-1])
    assert not guesses.begin("2001:db8:0:2::1")
