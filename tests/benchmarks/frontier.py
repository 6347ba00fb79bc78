"""The frontier beside scrapy-redis' queue and dupefilter, on one Redis, from Request to Request.

usage: python -m tests.benchmarks.frontier [--json] [--quick]

Both sides get the same Scrapy requests and give Scrapy requests back. Each pushes as its scheduler
does: scrapy-redis one request a call, the frontier a page's forty links a script. `network` is the
same with half a millisecond between the client and Redis, as within a data centre. `lifecycle` is
push, lease and commit of one request. `flatness` compares its cost in Redis CPU between a frontier
with 5 million requests of 10,000 domains and one with 50,000 of 10.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import multiprocessing
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

import attrs
import uvloop
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from scrapy import Request, Spider
from scrapy_redis.dupefilter import RFPDupeFilter
from scrapy_redis.queue import PriorityQueue

from scrapy_seine.endpoints import redis_client
from scrapy_seine.engine.stored.serializer import from_blob, to_push
from scrapy_seine.fingerprint import fingerprint
from scrapy_seine.frontier.encoding.codec import encode
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Done, Lease, Push
from scrapy_seine.frontier.round_trips.endings import Endings
from scrapy_seine.frontier.round_trips.redis_pipeline import LeaseRequest, Line
from tests.benchmarks.distance import distant
from tests.benchmarks.server import cpu_s, memory, redis_server

LINKS = 40
BATCH = 32
TTL_MS = 60_000
PATIENCE_S = 900
ROUNDS = 3
RTT_MS = 0.5
TITLE = "a product's name as it stood in the list, with its brand and its colour"


class Shop(Spider):
    """Any spider: both sides store the name of its callback."""

    name = "shop"

    def parse_product(self, response: Any) -> None:
        """Stand for a callback."""


@attrs.frozen
class Job:
    """What a client does."""

    side: str
    verb: str
    url: str
    crawl: str
    n: int
    domains: int


def requests(spider: Shop, client: int, n: int, domains: int) -> Iterator[Request]:
    """The same requests for both sides."""
    for i in range(n):
        # The links of one page lead to its own site.
        site = f"https://shop{i // LINKS % domains}.example"
        url = f"{site}/catalogue/{client}/product-{i}.html?variant={i}"
        meta = {"task_id": f"{client:08x}{i:024x}", "job_id": "daily", "depth": 3, "title": TITLE}
        yield Request(url, callback=spider.parse_product, meta=meta, priority=i % 3)


def _batches(things: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(things), size):
        yield things[start : start + size]


class Theirs:
    """What scrapy-redis' scheduler does for a request."""

    def __init__(self, url: str, crawl: str) -> None:
        self.redis = Redis.from_url(url)
        self.spider = Shop()
        self.made: list[Request] = []
        self.filter = RFPDupeFilter(self.redis, f"{crawl}:dupefilter")
        self.queue = PriorityQueue(self.redis, self.spider, f"{crawl}:requests")

    def push(self) -> None:
        """Push the requests that were made."""
        for request in self.made:
            if not self.filter.request_seen(request):
                self.queue.push(request)

    def pop(self, n: int) -> int:
        """Pop *n* requests; there is nothing to ack."""
        return sum(self.queue.pop() is not None for _ in range(n))


class Ours:
    """What the scheduler and its exchange do for a request."""

    def __init__(self, url: str, crawl: str) -> None:
        self.url = url
        self.crawl = crawl
        self.spider = Shop()
        self.made: list[Request] = []

    def _do(self, work: Callable[[Frontier], Awaitable[int]]) -> int:
        async def run() -> int:
            client = redis_client(self.url)  # as a worker opens it
            try:
                frontier = Frontier(client, self.crawl)
                await frontier.begin()
                return await work(frontier)
            finally:
                await client.aclose()

        return uvloop.run(run())

    def _push_of(self, request: Request) -> Push:
        number = fingerprint(request.url, request.method, request.body)
        return to_push(request, self.spider, fingerprint=number)

    def push(self) -> int:
        """Push the requests that were made, a page's links at a time."""

        async def work(frontier: Frontier) -> int:
            sent = asyncio.create_task(asyncio.sleep(0))
            for page in _batches(self.made, LINKS):
                pushes = [self._push_of(request) for request in page]
                await sent
                sent = asyncio.create_task(frontier.push(pushes))
                await asyncio.sleep(0)  # Redis works while the next page is encoded
            await sent
            return len(self.made)

        return self._do(work)

    def pop(self, n: int) -> int:
        """Lease and ack *n* requests, acks and leases in the same round trip."""

        async def work(frontier: Frontier) -> int:
            await frontier.configure(delay_ms=0, concurrency=10_000, half_window_ms=10**9)
            line = Line(frontier)
            got, done = 0, list[Done]()
            read: Sequence[Lease] = []
            while True:
                wanted = min(BATCH, n - got)
                asked = asyncio.create_task(round_trip(line, done, wanted))
                await asyncio.sleep(0)  # Redis works while the last batch is decoded
                for lease in read:
                    from_blob(lease.blob, self.spider)
                done, read = [Done(lease=lease) for lease in read], await asked
                got += len(read)
                if not read and not done:
                    break
            return got

        return self._do(work)


async def round_trip(line: Line, done: list[Done], wanted: int) -> Sequence[Lease]:
    """One round trip, as the exchange makes it."""
    wish = LeaseRequest(worker="bench", ttl_ms=TTL_MS, lead_ms=0, lanes="")
    answer = await line.round_trip(Endings(done=done), wanted, wish)
    if answer.error is not None:
        raise answer.error
    return answer.leased.leases if answer.leased else []


def _client(job: Job, client: int, gate: Any, spent: Any) -> None:
    worker = (Ours if job.side == "ours" else Theirs)(job.url, job.crawl)
    if job.verb == "push":
        worker.made = list(requests(worker.spider, client, job.n, job.domains))
        gc.freeze()
    gate.wait(PATIENCE_S)
    begun = time.process_time()
    try:
        if job.verb == "push":
            worker.push()
        elif worker.pop(job.n) != job.n:
            raise RuntimeError(f"{job.side} lost requests")
    except BaseException:
        gate.abort()
        raise
    spent.put(time.process_time() - begun)
    gate.wait(PATIENCE_S)


def measure(job: Job, clients: int) -> dict[str, float]:
    """Let *clients* processes do it; requests per second, Redis CPU µs a request."""
    context = multiprocessing.get_context("fork")
    gate = context.Barrier(clients + 1)
    own = context.SimpleQueue()
    crew = [context.Process(target=_client, args=(job, i, gate, own)) for i in range(clients)]
    for process in crew:
        process.start()
    gate.wait(PATIENCE_S)
    cpu, begun = cpu_s(job.url), time.perf_counter()
    gate.wait(PATIENCE_S)
    seconds, spent = time.perf_counter() - begun, cpu_s(job.url) - cpu
    for process in crew:
        process.join()
    n = clients * job.n
    both = spent + sum(own.get() for _ in crew)
    return {"rate": n / seconds, "cpu_us": 1e6 * spent / n, "all_cpu_us": 1e6 * both / n}


def compare(url: str, clients: int, n: int, *, rtt_ms: float = 0.0) -> dict[str, Any]:
    """Both sides push and pop by turns; the best of each, for other programs may be running."""
    if rtt_ms:
        with distant(url, rtt_ms) as far:
            return _compare(far, clients, n, rounds=1)
    return _compare(url, clients, n, rounds=ROUNDS)


def _compare(url: str, clients: int, n: int, *, rounds: int) -> dict[str, Any]:
    domains = 50
    result: dict[str, Any] = {}
    for side, share in (("scrapy_redis", n // 5), ("ours", n)) * rounds:
        with Redis.from_url(url) as redis:
            redis.flushall(asynchronous=True)
        crawl, empty = f"{side}{clients}", memory(url)
        pushed = measure(Job(side, "push", url, crawl, share, domains), clients)
        pending = (memory(url) - empty) / (clients * share)
        popped = measure(Job(side, "pop", url, crawl, share, domains), clients)
        cpu = round(pushed["cpu_us"] + popped["cpu_us"], 1)
        best = result.get(side, {"push_per_s": 0, "pop_ack_per_s": 0})
        result[side] = {
            "push_per_s": max(best["push_per_s"], round(pushed["rate"])),
            "pop_ack_per_s": max(best["pop_ack_per_s"], round(popped["rate"])),
            "redis_cpu_us_per_lifecycle": min(best.get("redis_cpu_us_per_lifecycle", cpu), cpu),
            "push_cpu_us": round(pushed["all_cpu_us"], 1),
            "pop_ack_cpu_us": round(popped["all_cpu_us"], 1),
            "bytes_per_pending": round(pending),
        }
    return result


def lifecycle_cost(url: str, pending: int, domains: int, probe: int) -> float:
    """Redis CPU µs of one lifecycle while *pending* requests of *domains* domains wait."""
    with Redis.from_url(url) as redis:
        redis.flushall(asynchronous=True)
    fill(url, "flat", pending, domains)
    pushed = measure(Job("ours", "push", url, "flat", probe, domains), 1)
    popped = measure(Job("ours", "pop", url, "flat", probe, domains), 1)
    return pushed["cpu_us"] + popped["cpu_us"]


def fill(url: str, crawl: str, pending: int, domains: int) -> None:
    """Queue many requests, leaving their making out of the time."""

    async def work() -> None:
        redis = AsyncRedis.from_url(url)
        frontier = Frontier(redis, crawl)
        blob = encode({"url": "https://shop.example/", "meta": {"title": TITLE * 2}})
        for start in range(0, pending, 500):
            sites = {i: f"shop{i // LINKS % domains}.example" for i in range(start, start + 500)}
            await frontier.push(
                [
                    Push(domain=site, blob=blob, fingerprint=i * 2**40 + i)
                    for i, site in sites.items()
                ]
            )
        await redis.aclose()

    asyncio.run(work())


def main() -> None:
    """Measure and print; the last line is one JSON object with --json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object last")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the requests")
    options = parser.parse_args()
    n = 10_000 if options.quick else 60_000
    large = (250_000, 500) if options.quick else (5_000_000, 10_000)
    small = (5_000, 10) if options.quick else (50_000, 10)
    with redis_server() as url:
        one, four = compare(url, 1, n), compare(url, 4, n // 4)
        away = compare(url, 1, n // 4, rtt_ms=RTT_MS)
        flat = {"small": lifecycle_cost(url, *small, n // 4)}
        flat["large"] = lifecycle_cost(url, *large, n // 4)
    result = summary(one, four, away, flat)
    told = {"one_client": one, "four_clients": four, "network": away, "lifecycle_us": flat}
    print(json.dumps(told, indent=2))
    if options.json:
        print(json.dumps(result))


def ratio(sides: dict[str, Any], figure: str) -> float:
    """How many times theirs is ours."""
    return float(round(sides["ours"][figure] / sides["scrapy_redis"][figure], 1))


def summary(
    one: dict[str, Any], four: dict[str, Any], away: dict[str, Any], flat: dict[str, float]
) -> dict[str, float]:
    """The figures that are held against bars."""
    ours = one["ours"]
    return {
        "push_ratio": ratio(one, "push_per_s"),
        "pop_ack_ratio": ratio(one, "pop_ack_per_s"),
        "push_ratio_4": ratio(four, "push_per_s"),
        "pop_ack_ratio_4": ratio(four, "pop_ack_per_s"),
        "push_ratio_network": ratio(away, "push_per_s"),
        "pop_ack_ratio_network": ratio(away, "pop_ack_per_s"),
        "redis_cpu_us_per_lifecycle": ours["redis_cpu_us_per_lifecycle"],
        "bytes_per_pending": ours["bytes_per_pending"],
        "round_trips_per_page": round(2 / BATCH, 3),
        "flatness": round(flat["large"] / flat["small"], 2),
    }


if __name__ == "__main__":
    main()
