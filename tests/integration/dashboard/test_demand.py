"""What an autoscaler is told: the requests that need workers, and never 0 for an outage."""

from __future__ import annotations

import orjson
import pytest
import yaml
from aiohttp.test_utils import TestClient, TestServer

from crawler.dashboard.app import make_exporter
from crawler.dashboard.config import DashboardConfig
from crawler.stores.store_endpoints import Endpoints
from scrapy_seine.frontier.model import Retry
from scrapy_seine.reads.demand import ONE_WORKER
from tests.integration.dashboard.conftest import a_push
from tests.unit.deploy.manifests import ROOT


@pytest.fixture
async def exporter(namespace, redis_url, database):
    app = make_exporter(DashboardConfig(crawl=namespace), Endpoints(redis_url, database))
    async with TestClient(TestServer(app)) as client:
        yield client


async def demand_of(exporter):
    """The number, read as KEDA's metrics-api trigger reads it."""
    text = (ROOT / "k8s" / "components" / "keda" / "scaledobject.yaml").read_text()
    (trigger,) = next(yaml.safe_load_all(text))["spec"]["triggers"]
    path = "/" + trigger["metadata"]["url"].split("/", 3)[3]
    answer = await exporter.get(path)
    assert answer.status == 200
    return orjson.loads(await answer.read())[trigger["metadata"]["valueLocation"]]


async def metric_of(exporter):
    lines = (await (await exporter.get("/metrics")).text()).splitlines()
    found = [line for line in lines if line.startswith("seine_frontier_demand{")]
    return float(found[0].split()[-1]) if found else None


async def test_leases_and_due_requests_count(exporter, frontier):
    await frontier.push([a_push(f"https://shop.example/{n}", n) for n in range(5)])
    assert await demand_of(exporter) == 5
    await frontier.lease("w", 2, ttl_ms=60_000)
    assert await demand_of(exporter) == await metric_of(exporter) == 5


async def test_delayed_requests_count_when_their_time_has_come(exporter, frontier):
    """The last worker may go while all is delayed, because the exporter sees the time come."""
    await frontier.push([a_push("https://shop.example/1", 1)])
    (lease,) = (await frontier.lease("w", 1, ttl_ms=60_000)).leases
    await frontier.retry(
        [Retry(lease=lease, push=a_push("https://shop.example/1"), wait_ms=60_000)]
    )
    assert await demand_of(exporter) == 0
    (key,) = [part.delayed for part in frontier.keys.parts]
    for member in await frontier.redis.zrange(key, 0, -1):
        await frontier.redis.zadd(key, {member: 1})
    assert await demand_of(exporter) == 1


@pytest.mark.parametrize("kind", ["list", "set", "zset"])
async def test_seeds_count_whatever_the_type_of_their_key(exporter, frontier, namespace, kind):
    key, urls = f"{namespace}:start_urls", [f"https://shop.example/{n}" for n in range(100)]
    if kind == "list":
        await frontier.redis.rpush(key, *urls)
    elif kind == "set":
        await frontier.redis.sadd(key, *urls)
    else:
        await frontier.redis.zadd(key, dict.fromkeys(urls, 1))
    assert await demand_of(exporter) == await metric_of(exporter) == ONE_WORKER


async def test_a_paused_crawl_asks_for_its_leases_only(exporter, frontier, namespace):
    await frontier.push([a_push(f"https://shop.example/{n}", n) for n in range(5)])
    await frontier.lease("w", 2, ttl_ms=60_000)
    await frontier.redis.rpush(f"{namespace}:start_urls", "https://shop.example/")
    await frontier.pause()
    assert await demand_of(exporter) == 2


async def test_an_outage_is_an_error_and_no_number(namespace, database):
    where = Endpoints("redis://127.0.0.1:1/0", database)
    app = make_exporter(DashboardConfig(crawl=namespace), where)
    async with TestClient(TestServer(app)) as client:
        assert (await client.get("/demand")).status == 503
        assert await metric_of(client) is None
