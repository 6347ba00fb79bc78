"""Pages and metrics cost the same however large the crawl is."""

import re
import time

import attrs
import orjson
import pytest

from scrapy_seine.frontier.encoding.codec import encode
from scrapy_seine.frontier.encoding.wire import note
from scrapy_seine.frontier.model import Burial, Push
from scrapy_seine.frontier.runs import KEPT
from scrapy_seine.reads.outcome_history import record
from tests.integration.dashboard.conftest import page

WORKERS, RUNS = 100, 1000
PAGE_S, EXPORTER_S = 0.3, 0.1
PAGES = (
    *("/", "/domains", "/domains?from=300", "/domains/d7.example", "/workers", "/frontier"),
    *("/frontier?url=https://d7.example/999999999", "/dead", "/dead?text=nothing", "/proxies"),
    *("/runs", "/runs/1000"),
)


@attrs.frozen
class Size:
    pending: int
    domains: int


async def fill(frontier, size):
    blob = encode({"url": "https://d.example/some/path/of/usual/length", "meta": {"depth": 3}})
    batch = 20_000
    for start in range(0, size.pending, batch):
        await frontier.push(
            [
                Push(domain=f"d{n % size.domains}.example", blob=blob)
                for n in range(start, min(start + batch, size.pending))
            ]
        )
    for n in range(WORKERS):
        info = orjson.dumps({"pages": n, "host": f"node-{n}", "started": time.time()})
        await frontier.renew(f"worker-{n}", [], ttl_ms=600_000, info=info)
    ended = {f"d{n}.example": {"done": n + 1, "retry": 1} for n in range(size.domains)}
    await record(frontier.redis, frontier.keys, ended, 10, time.time())
    await begin(frontier, RUNS)
    leases = (await frontier.lease("worker-1", 1500, ttl_ms=600_000)).leases
    letters = [Burial(lease=lease, note=note("5xx", "HTTP 503", "w")) for lease in leases[:1000]]
    await frontier.bury(letters)


async def begin(frontier, runs):
    totals = (await frontier.counts()).totals
    started = orjson.dumps({"name": "", "totals": totals})
    for number in range(runs):
        await frontier.run("begin_run", number, "", started, KEPT)


@pytest.mark.alone
@pytest.mark.parametrize(
    "size",
    [
        pytest.param(Size(30_000, 1000), id="30000"),
        pytest.param(Size(1_000_000, 5000), id="1000000", marks=pytest.mark.slow),
    ],
)
async def test_each_page_is_quick(client, frontier, size):
    await fill(frontier, size)
    took = {}
    for path in PAGES:
        await page(client, path)
        times = []
        for _ in range(3):
            began = time.perf_counter()
            await page(client, path)
            times.append(time.perf_counter() - began)
        took[path] = min(times)
    times = []
    for _ in range(3):  # the best of three, here as above: the machine may have other work
        began = time.perf_counter()
        text = await page(client, "/metrics")
        times.append(time.perf_counter() - began)
    exporter_s = min(times)
    print({path: f"{1000 * s:.0f} ms" for path, s in took.items()}, f"{1000 * exporter_s:.0f} ms")

    ready = (await frontier.counts()).ready
    (shown,) = re.findall(r'seine_frontier_requests{crawl="\w+",state="ready"} (\S+)', text)
    assert float(shown) == ready > size.pending / 2
    assert {path: s for path, s in took.items() if s > PAGE_S} == {}
    assert exporter_s < EXPORTER_S
