"""A worker that starts while a store is away waits for it, and says so in a line."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import (
    AuthenticationError,
    MasterDownError,
    OutOfMemoryError,
    ReadOnlyError,
    ResponseError,
)

from crawler.demo.judge import judge
from crawler.demo.pages import Site
from crawler.demo.shop_process import served
from crawler.stores import embedded
from crawler.stores.embedded import Servers, postgres, valkey
from crawler.stores.store_endpoints import redis_client
from scrapy_seine.embedded.data_folder import layout
from scrapy_seine.errors import ConfigError, StoreUnreachable
from scrapy_seine.frontier.opening import warn_of_eviction
from scrapy_seine.store_wait import RetryUntil, passes
from tests import started
from tests.benchmarks.server import free_port
from tests.chaos.sides import Seine
from tests.helpers import patient, server_folder, wait_until
from tests.integration.redis_fleet import start, wait_for

PRODUCTS = 12
ONE_PAGE = """
import scrapy


class One(scrapy.Spider):
    name = "one"
    start_urls = ["data:,page"]

    def parse(self, response):
        yield {"text": response.text}
"""
SERVERS = {"redis": valkey, "postgres": postgres}


@pytest.fixture
def servers():
    with server_folder() as folder:
        yield embedded.start(folder)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("away", ["redis", "postgres"])
def test_a_worker_that_starts_in_an_outage_waits_and_goes_on(
    servers: Servers, namespace, tmp_path: Path, away: str
):
    server, place = SERVERS[away], layout(servers.data)
    side, log = Seine(servers, namespace, 0), tmp_path / "worker.log"
    with served(log=tmp_path / "access.log", products=PRODUCTS) as shop:
        host = shop.url.removeprefix("http://").strip("/")
        side.prepare([host])
        server.stop(place)
        worker = side.start(log)
        try:
            wait_until(lambda: "SEINE_OUTAGE_LIMIT" in log.read_text(), 60, "it says it waits")
            time.sleep(1)
            assert worker.poll() is None
            server.start(place, "auto")
            assert worker.wait(patient(90)) == 0
        finally:
            worker.kill()
            worker.wait()
        text = log.read_text()
        assert text.count("SEINE_OUTAGE_LIMIT") == 1
        assert "answer again after" in text
        assert "Traceback" not in text
        assert judge(Site(PRODUCTS).products, side.rows(host)).passed


@pytest.mark.timeout(120)
def test_a_worker_gives_up_at_the_limit_with_one_more_line(servers: Servers, namespace, tmp_path):
    log = tmp_path / "worker.log"
    valkey.stop(layout(servers.data))
    worker = Seine(servers, namespace, 0, outage_limit_s=1).start(log)
    try:
        assert worker.wait(patient(60)) == 1
    finally:
        worker.kill()
        worker.wait()
    lines = log.read_text().splitlines()
    assert len(lines) == 2, lines
    assert all(line.startswith("seine: REDIS_URL=") for line in lines)


@pytest.mark.timeout(120)
def test_a_worker_of_any_project_that_starts_in_an_outage_waits_and_goes_on(tmp_path: Path):
    """It exited at once, so that a Redis that was restarted cost each worker started meanwhile."""
    (tmp_path / "one.py").write_text(ONE_PAGE, "utf-8")
    port, log = free_port(), tmp_path / "worker.log"
    ours = ['ADDONS={"scrapy_seine.Addon": 500}', f"REDIS_URL=redis://127.0.0.1:{port}/0"]
    given = [word for setting in ours for word in ("-s", setting)]
    command = [sys.executable, "-m", "scrapy", "runspider", "one.py", *given]
    with ExitStack() as stack, log.open("w") as file:
        worker = started.Popen(command, cwd=tmp_path, stdout=file, stderr=file)
        stack.callback(worker.wait)
        stack.callback(worker.kill)
        wait_until(lambda: "(SEINE_OUTAGE_LIMIT)" in log.read_text(), 60, "it says it waits")
        start(stack, "--port", port, "--save", "", "--dir", tmp_path)
        assert worker.wait(patient(60)) == 0, log.read_text()
    assert "the stores answer again after" in log.read_text()


@pytest.mark.parametrize(
    ("memory", "told"),
    [
        ("64mb allkeys-lru", 1),
        ("64mb volatile-lru", 0),
        ("64mb noeviction", 0),
        ("0 allkeys-lru", 0),
    ],
)
async def test_a_redis_that_would_drop_requests_is_told_of_at_the_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, memory: str, told: int
):
    """I12: nothing else says it before the state is lost."""
    limit, policy = memory.split()
    port = free_port()
    with ExitStack() as stack:
        options = ["--port", port, "--save", "", "--dir", tmp_path, "--maxmemory", limit]
        start(stack, *options, "--maxmemory-policy", policy)
        wait_for(port)
        client = redis_client(f"redis://127.0.0.1:{port}")
        await warn_of_eviction(client)
        await client.aclose()
    assert [r.levelname for r in caplog.records if "noeviction" in r.getMessage()] == [
        "WARNING"
    ] * told


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("Error -2 connecting to h:1. Name or service not known.", "name of the host right?)"),
        ('could not translate host name "db" to address', "name of the host right?)"),
        ("You can't write against a read only replica.", "name the primary, unless"),
        ("cannot execute CREATE TABLE in a read-only transaction", "name the primary, unless"),
        ('Protocol error, got "<" as reply type byte', "another service than Redis"),
        ("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed", "name its CA in the URL"),
        ("FATAL: sorry, too many clients already", "raise its limit of connections"),
    ],
)
def test_what_often_is_a_mistake_is_waited_for_with_advice(said: str, advice: str):
    told: list[str] = []
    RetryUntil(60, told.append).wait_s(StoreUnreachable(said))
    assert advice in told[0]
    assert "waiting for it up to 60 s" in told[0]


@pytest.mark.parametrize(
    ("first", "waited_s"),
    [("Name or service not known", 60), ("Temporary failure in name resolution", 600)],
)
def test_a_name_that_is_nowhere_is_waited_for_a_minute(first: str, waited_s: int):
    """Somebody who misspelt a host waited for ten minutes; a resolver that is away may be back."""
    told: list[str] = []
    RetryUntil(600, told.append).wait_s(StoreUnreachable(f"Error connecting to h:1. {first}."))
    assert f"waiting for it up to {waited_s} s" in told[0]


def test_a_name_that_was_known_is_waited_for_as_any_outage():
    """The server is being restarted, and its name with it."""
    told: list[str] = []
    patience = RetryUntil(600, told.append)
    patience.try_until(lambda: None)
    patience.wait_s(StoreUnreachable("Error -2 connecting to h:1. Name or service not known."))
    assert "up to 600 s" in told[0]


def test_patience_ends_at_its_limit_and_tells_once():
    told: list[str] = []
    patience, tries = RetryUntil(0.3, told.append), 0

    def work() -> None:
        nonlocal tries
        tries += 1
        raise OSError("refused")

    with pytest.raises(StoreUnreachable, match="refused"):
        patience.try_until(work)
    assert tries >= 2
    assert len(told) == 1
    assert "0.3 s" in told[0]


async def test_patience_goes_on_when_the_store_is_back():
    told: list[str] = []
    answers = iter([OSError("gone"), StoreUnreachable("gone"), None])

    async def work() -> str:
        error = next(answers)
        if error is not None:
            raise error
        return "here"

    assert await RetryUntil(30, told.append).try_until_async(work) == "here"
    assert told[0].startswith("gone; waiting")
    assert "answer again" in told[-1]


@pytest.mark.parametrize(
    "error",
    [
        ReadOnlyError("You can't write against a read only replica."),
        OutOfMemoryError("command not allowed when used memory > 'maxmemory'."),
        MasterDownError("Link with MASTER is down"),
        ResponseError("NOREPLICAS Not enough good replicas to write."),
        ResponseError("MISCONF Redis is configured to save RDB snapshots, but cannot"),
        ResponseError("Command # 1 (HSET …) of pipeline caused error: BUSY Redis is busy running"),
    ],
)
def test_a_redis_that_takes_nothing_for_now_is_waited_for(error):
    assert passes(error)


@pytest.mark.timeout(120)
def test_a_worker_that_starts_beside_a_replica_waits_for_its_promotion(
    servers: Servers, namespace, tmp_path: Path
):
    """As in a failover: a fleet that is restarted meanwhile must not end."""
    side, log = Seine(servers, namespace, 0), tmp_path / "worker.log"
    with served(products=PRODUCTS) as shop, Redis.from_url(servers.redis_url) as redis:
        host = shop.url.removeprefix("http://").strip("/")
        side.prepare([host])
        redis.replicaof("127.0.0.1", "1")
        worker = side.start(log)
        try:
            wait_until(lambda: "SEINE_OUTAGE_LIMIT" in log.read_text(), 60, "it says it waits")
            redis.replicaof("NO", "ONE")
            assert worker.wait(patient(90)) == 0
        finally:
            worker.kill()
            worker.wait()
        assert judge(Site(PRODUCTS).products, side.rows(host)).passed


@pytest.mark.parametrize(
    "error",
    [
        AuthenticationError("WRONGPASS"),
        ResponseError("unknown command"),
        StoreUnreachable('FATAL:  database "shop" does not exist'),
        StoreUnreachable("FATAL:  password authentication failed for user x"),
        ConfigError("REDIS_URL must be set"),
    ],
)
def test_what_waiting_does_not_mend_is_said_at_once(error):
    assert not passes(error)
    with pytest.raises(type(error)):
        RetryUntil(60, lambda line: None).wait_s(error)
