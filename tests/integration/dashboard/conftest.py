"""A dashboard over the suite's servers, asked as a browser asks it."""

import re
import time
from contextlib import asynccontextmanager
from html import unescape

import orjson
import psycopg2
import pytest
from aiohttp.test_utils import TestClient, TestServer

from crawler.dashboard.app import make_app
from crawler.dashboard.config import DashboardConfig
from crawler.stores.store_endpoints import Endpoints
from scrapy_seine.frontier.encoding.codec import encode
from scrapy_seine.frontier.encoding.wire import note
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Burial, Push
from scrapy_seine.reads.outcome_history import record
from tests.helpers import wait_until_async

MARKUP = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
TOKEN = "a-token-of-good-length"

_PRODUCT = """
    INSERT INTO products (site_id, external_id, url, name, price, currency, item, content_hash,
        first_seen, scraped_at, updated_at)
    VALUES (%(site)s, %(id)s, %(url)s, %(name)s, %(price)s, 'EUR', %(item)s, '', now() -
        interval '3 days', now(), now())
    ON CONFLICT (site_id, external_id) DO UPDATE SET price = EXCLUDED.price,
        item = EXCLUDED.item, content_hash = 'x', scraped_at = now(), updated_at = now()
"""


@asynccontextmanager
async def serving(crawl, redis_url, database_url, **more):
    config = DashboardConfig(crawl=crawl, fleet=crawl, **more)
    async with TestClient(
        TestServer(make_app(config, Endpoints(redis_url, database_url)))
    ) as client:
        yield client


@pytest.fixture
def frontier(redis_client, namespace):
    return Frontier(redis_client, namespace)


@pytest.fixture
async def client(namespace, redis_url, database):
    async with serving(namespace, redis_url, database) as client:
        yield client


def a_push(url, n=None, domain="shop.example", **more):
    """Push a request as a worker stores it: names and values of headers are bytes."""
    made = {"created_at": time.time() - 9}
    headers = {b"Accept": [b"text/*"], b"Authorization": [b"Basic c2VjcmV0"]}
    blob = encode({"url": url, "headers": headers, "meta": made})
    return Push(domain=domain, blob=blob, fingerprint=n, **more)


async def bury(frontier, url, reason="timeout", error="took too long", domain="shop.example"):
    """Make one dead letter; returns its id."""
    await frontier.push([a_push(url, domain=domain, priority=4000)])
    (lease,) = (await frontier.lease("w", 1, ttl_ms=60_000)).leases
    await frontier.bury([Burial(lease=lease, note=note(reason, error, "w", url=url))])
    return lease.id


def store_product(
    database, name, *, price=10, site="shop", id_="p1", url="https://shop.example/p1"
):
    item = orjson.dumps({"name": name, "price": str(price)}).decode()
    row = {"site": site, "id": id_, "url": url, "name": name, "price": price, "item": item}
    connection = psycopg2.connect(database)
    with connection, connection.cursor() as cursor:
        cursor.execute(_PRODUCT, row)
    connection.close()


async def worked(frontier, domain="shop.example", **counts):
    await record(frontier.redis, frontier.keys, {domain: counts}, 0, time.time())


async def page(client, path, status=200):
    async with client.get(path) as response:
        text = await response.text()
        assert response.status == status, text[:500]
        return text


async def shown(client, path, part):
    """Return the page as soon as it has *part*: a reading of the fleet serves for a second."""
    text = ""

    async def is_there():
        nonlocal text
        text = await page(client, path)
        return part in unescape(text)

    await wait_until_async(is_there, 30, f"{path} shows {part}")
    return text


async def form_token(client, path="/"):
    found = re.search(r'name="form_token" value="([0-9a-f]{64})"', await page(client, path))
    assert found
    return found.group(1)


async def act(client, verb, *, token=None, sure=True, status=303, **fields):
    """Press a button and, if *sure*, say yes; returns where it leads, or the page."""
    data = {"form_token": token or await form_token(client), **fields}
    data |= {"sure": "yes"} if sure else {}
    async with client.post(f"/do/{verb}", data=data, allow_redirects=False) as response:
        text = await response.text()
        assert response.status == status, text[:500]
        return response.headers.get("Location") or text
