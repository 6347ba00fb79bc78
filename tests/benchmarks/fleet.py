"""A thousand workers at one frontier: asyncio clients with the exchange and heartbeat of a worker.

Nothing is downloaded: a client takes a lease when it may be sent, waits for the latency, lands and
acks. All clients live in one process.

* `steady`: fleets of each size crawl many domains with a pause each: Redis CPU a lifecycle, p50 and
  p99 of the scripts by the server's own statistics, commands a lifecycle, and pauses that were too
  short by the frontier's own slots. A worker does as much in each fleet, RATE_EACH requests a
  second, and a fleet's requests are in proportion to its size, LEAST at least: a few workers that
  did the work of a thousand would send it in fewer and fuller commands, and their figures would
  compare batches, not fleets. What the server spends without any client is taken off. Beyond 8
  workers the rest comes within ARRIVE_S seconds, and `joined_s` is when the last one has joined.
* `idle`: commands a worker in five seconds without work, at the default lifetime of a lease;
  taking seeds is left out.
* `killed`: half of the largest fleet dies at once: seconds until its leases are back.
* `binding`: 2 and 8 workers at one site whose slots bind: CPU of clients and server a page.

usage: python -m tests.benchmarks.fleet [--sizes 8 100 1000] [--requests 40000] [--domains 2000]
       [--partitions 1] [--cluster] [--limit 240] [--json]

With `--cluster` the crawl is split over three servers, in six partitions unless told otherwise; the
CPU is that of all servers, a percentile that of the slowest one.

CPU and commands do not depend on how busy the machine is; the percentiles and seconds do. A fleet
that is not done after `--limit` seconds ends with the figures of what it has done (`done`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import sys
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import uvloop
from redis import Redis
from scrapy.settings import Settings

from scrapy_seine.config import FrontierConfig
from scrapy_seine.endpoints import redis_client
from scrapy_seine.engine.ending.shutdown import cancel
from scrapy_seine.engine.heartbeat import Heartbeat
from scrapy_seine.frontier import open as open_frontier
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Done, Lease, Push
from scrapy_seine.frontier.round_trips.exchange import Exchange
from tests.benchmarks.server import cpu_s, redis_server
from tests.integration.redis_fleet import cluster

#: Requests a second of a worker; a thousand of them are what the clients' one process can do.
RATE_EACH = 1.5
#: Requests of a small fleet, at least.
LEAST = 500
AT_ONCE = 4
LEASE_S = 30
DELAY_MS = 200
CONCURRENCY = 16
ARRIVE_S = 8.0
#: Over which the server's own CPU is measured while it has no client, s.
BY_ITSELF_S = 3.0
#: On a busy machine a client's answer may wait so long for the clients' process to read it.
PATIENCE_S = 300.0
IDLE_S = 20.0
FIRST = 8
BINDING = (2, 8)
#: The send of a lease is at its slot; beneath a pause by more than a clock's step is too early.
STEP_MS = 1


class Under(list[Lease]):
    """Leases under way, as the heartbeat asks an in-flight table for them."""

    @property
    def leases(self) -> list[Lease]:
        """Return all of them."""
        return list(self)

    def urls(self, most: int) -> list[str]:
        """Name pages, which these leases have none of."""
        return []


class Counts(Counter[str]):
    """Statistics, as far as the heartbeat writes any."""

    def inc_value(self, name: str, count: int = 1) -> None:
        """Add."""
        self[name] += count

    def get_value(self, name: str, default: int = 0) -> int:
        """Read."""
        return self.get(name, default)


@attrs.define(eq=False)
class Fleet:
    """Clients of one crawl, and what they saw."""

    url: str
    config: FrontierConfig
    latency_s: float
    clients: list[Client] = attrs.Factory(list)
    done: int = 0
    slots: dict[str, list[tuple[int, int]]] = attrs.Factory(lambda: defaultdict(list))
    """Slot and pause (ms) of each lease, by domain."""

    async def add(self, number: int, within_s: float = 0.0) -> None:
        """Let so many join."""

        async def join() -> None:
            await asyncio.sleep(random.uniform(0, within_s))
            self.clients.append(await Client.join(self))

        await asyncio.gather(*(join() for _ in range(number)))

    async def finish(self, number: int, limit_s: float) -> None:
        """Wait until so many requests are done, or the time is over."""
        until = time.monotonic() + limit_s
        while self.done < number:
            if time.monotonic() > until:
                return
            await asyncio.sleep(0.05)

    async def end(self) -> None:
        """Let all leave."""
        for some in range(0, len(self.clients), 50):  # a thousand new connections take too long
            await asyncio.gather(*(client.stop() for client in self.clients[some : some + 50]))

    @property
    def short_pauses(self) -> int:
        """Leases of a domain whose slots are closer than its pause."""
        found = 0
        for slots in self.slots.values():
            slots.sort()
            found += sum(later[0] - one[0] < one[1] - STEP_MS for one, later in pairwise(slots))
        return found


@attrs.define(eq=False)
class Client:
    """One worker without a downloader."""

    fleet: Fleet
    redis: Any
    name: str = attrs.Factory(lambda: f"bench-{uuid.uuid4().hex[:10]}")
    under: Under = attrs.Factory(Under)
    exchange: Exchange = attrs.field(init=False)
    heartbeat: Heartbeat = attrs.field(init=False)
    tasks: list[asyncio.Task[None]] = attrs.Factory(list)
    over: bool = False

    @classmethod
    async def join(cls, fleet: Fleet) -> Client:
        """Open the frontier and start a worker's loops."""
        client = cls(fleet, redis_client(fleet.url, waits_s=PATIENCE_S))
        frontier = await open_frontier(client.redis, fleet.config)
        stats = Counts()
        client.exchange = Exchange(
            *(frontier, fleet.config, client.name),
            arrived=client.go,
            confirmed=lambda _: None,
            add_to_stat=stats.inc_value,
        )
        under: Any = client.under
        client.heartbeat = Heartbeat(
            *(client.name, client.redis, frontier, client.exchange, under),
            *(stats, float(LEASE_S), lambda: None),
        )
        await client.heartbeat.beat()
        loops = (client.exchange.run, client.heartbeat.keep_beating, client.heartbeat.listen)
        client.tasks = [asyncio.ensure_future(loop()) for loop in loops]
        client.exchange.schedule_round_trip()
        return client

    def go(self) -> None:
        """Send what may be sent."""
        while not self.over and len(self.under) < AT_ONCE:
            lease = self.exchange.take()
            if lease is None:
                return
            self.under.append(lease)
            self.fleet.slots[lease.domain].append((lease.slot_ms, lease.delay_ms))
            loop = asyncio.get_running_loop()
            loop.call_later(self.fleet.latency_s, self._landed, lease)

    def _landed(self, lease: Lease) -> None:
        if not self.over:
            self.exchange.free_slot(lease)
            self.exchange.commit(Done(lease=lease))
            self.under.remove(lease)
            self.fleet.done += 1
            self.go()

    async def stop(self, *, killed: bool = False) -> None:
        """Leave; one that is killed says nothing."""
        self.over = True
        await cancel(self.tasks)
        if not killed:
            await self.exchange.drain([], 5)
            await self.heartbeat.sign_off()
        await self.redis.aclose()


def config(crawl: str, delay_ms: int, partitions: int) -> FrontierConfig:
    """The settings of a fleet."""
    return FrontierConfig.from_settings(
        Settings(
            {
                "SEINE_CRAWL": crawl,
                "SEINE_LEASE_SECONDS": LEASE_S,
                "SEINE_READ_AHEAD": 2 * AT_ONCE,
                "SEINE_DOMAIN_DELAY_MS": delay_ms,
                "SEINE_DOMAIN_CONCURRENCY": CONCURRENCY,
                "SEINE_KEEP_ALIVE": True,
                "FRONTIER_PARTITIONS": partitions,
            }
        )
    )


@asynccontextmanager
async def opened(url: str, made: FrontierConfig, delay_ms: int) -> AsyncIterator[Frontier]:
    """Open and configure a frontier."""
    async with redis_client(url, waits_s=PATIENCE_S) as redis:
        frontier = await open_frontier(redis, made)
        await frontier.configure(delay_ms=delay_ms, concurrency=CONCURRENCY, half_window_ms=10**9)
        yield frontier


async def fill(frontier: Frontier, requests: int, domains: int) -> None:
    """Push requests, spread over the domains."""
    blob = b'{"url": "http://shop.example/catalogue/product-%d.html", "callback": "parse"}'
    for start in range(0, requests, 1000):
        numbers = range(start, min(requests, start + 1000))
        await frontier.push(
            [Push(domain=f"s{n % domains}.example", blob=blob % n, fingerprint=n) for n in numbers]
        )


@attrs.define
class Server:
    """What the servers of a frontier spent since they were last asked."""

    nodes: list[str]
    """Address of each."""
    cpu: float = 0.0
    own: float = 0.0
    """CPU of the clients' process."""
    began: float = 0.0
    itself: float = 0.0
    """CPU seconds a second that the servers spend without any client."""

    @classmethod
    def of(cls, url: str) -> Server:
        """Find the masters of a Cluster, or the one server."""
        if not url.startswith("redis+cluster://"):
            return cls([url])
        with Redis.from_url(f"redis://{url.rpartition('/')[2]}") as redis:
            slots: Any = redis.execute_command("CLUSTER SLOTS")
        return cls([f"redis://127.0.0.1:{slot[2][1]}" for slot in slots])

    def each(self, ask: Callable[[Any], Any]) -> list[Any]:
        """Ask each server the same."""
        found = []
        for node in self.nodes:
            with Redis.from_url(node) as redis:
                found.append(ask(redis))
        return found

    def reset(self) -> None:
        """Begin anew."""
        self.each(lambda redis: redis.config_set("latency-tracking", "yes"))
        self.each(lambda redis: redis.config_resetstat())
        self.cpu, self.own = sum(map(cpu_s, self.nodes)), time.process_time()
        self.began = time.monotonic()

    async def look_at_itself(self) -> None:
        """Measure what the servers spend while nobody asks them for anything."""
        before = sum(map(cpu_s, self.nodes))
        await asyncio.sleep(BY_ITSELF_S)
        self.itself = (sum(map(cpu_s, self.nodes)) - before) / BY_ITSELF_S

    def commands(self) -> int:
        """Commands that clients sent since the last reset."""
        return sum(self.each(commands))

    def spent(self, lifecycles: int) -> dict[str, float]:
        """Return CPU, commands and percentiles since the last reset."""
        cpu, own = sum(map(cpu_s, self.nodes)) - self.cpu, time.process_time() - self.own
        cpu -= self.itself * (time.monotonic() - self.began)
        calls, latencies = self.commands(), self.each(latency)
        return {
            "redis_us": round(1e6 * cpu / lifecycles, 1),
            "client_us": round(1e6 * own / lifecycles, 1),
            "commands": round(calls / lifecycles, 3),
            "p50_ms": max(found["p50"] for found in latencies),
            "p99_ms": max(found["p99"] for found in latencies),
        }


def latency(redis: Any) -> dict[str, float]:
    """Percentiles of the scripts by the server's own statistics, ms."""
    told = redis.info("latencystats").get("latency_percentiles_usec_evalsha")
    found = told if isinstance(told, dict) else {}
    return {name: round(float(found.get(name, 0)) / 1000, 3) for name in ("p50", "p99")}


def commands(redis: Any) -> int:
    """Commands that clients sent since the last reset: no script calls one of these."""
    stats = redis.info("commandstats")
    sent = ("cmdstat_evalsha", "cmdstat_eval", "cmdstat_subscribe")
    return sum(int(stats[name]["calls"]) for name in sent if name in stats)


async def steady(url: str, size: int, args: argparse.Namespace) -> tuple[dict[str, Any], Fleet]:
    """One fleet to the end of its crawl; it stays."""
    made = config(f"fleet-{size}", DELAY_MS, args.partitions)
    requests = max(LEAST, args.requests * size // max(args.sizes))
    async with opened(url, made, DELAY_MS) as frontier:
        await fill(frontier, requests, args.domains)
    fleet, server = Fleet(url, made, AT_ONCE / RATE_EACH), Server.of(url)
    await server.look_at_itself()
    server.reset()
    began = time.monotonic()
    await fleet.add(min(size, FIRST))
    await fleet.add(max(0, size - FIRST), ARRIVE_S)
    joined_s = time.monotonic() - began
    await fleet.finish(requests, args.limit - joined_s)
    seconds = time.monotonic() - began
    found = {"workers": size, "done": fleet.done, **server.spent(max(1, fleet.done))}
    found |= {"joined_s": round(joined_s, 1), "seconds": round(seconds, 1)}
    return {**found, "short_pauses": fleet.short_pauses}, fleet


async def idle(url: str, fleet: Fleet) -> float:
    """Commands a worker in five seconds, from a longer look."""
    await asyncio.sleep(2)
    server, began = Server.of(url), time.monotonic()
    server.reset()
    await asyncio.sleep(IDLE_S)
    sent, seconds = server.commands(), time.monotonic() - began
    return round(5 / seconds * sent / len(fleet.clients), 2)


async def killed(url: str, fleet: Fleet, domains: int) -> dict[str, float]:
    """Kill half of a fleet that holds leases; say how long they are gone."""
    fleet.latency_s = 4.0 * LEASE_S
    async with opened(url, fleet.config, DELAY_MS) as frontier:
        blobs = [b"%d" % n for n in range(len(fleet.clients) * AT_ONCE)]
        await frontier.push(
            [Push(domain=f"k{n % domains}.example", blob=blob) for n, blob in enumerate(blobs)]
        )
        await _leased(frontier, {client.name for client in fleet.clients}, len(blobs))
        half = fleet.clients[: len(fleet.clients) // 2]
        fleet.clients = fleet.clients[len(half) :]
        names = {client.name for client in half}
        held, began = await _held(frontier, names), await _server_s(fleet.url)
        await asyncio.gather(*(client.stop(killed=True) for client in half))
        left, ended = held, began
        while left and ended - began < 4 * LEASE_S:
            await asyncio.sleep(0.2)
            left, ended = await _held(frontier, names), await _server_s(fleet.url)
    figures = {"killed": len(half), "leases": held, "left": left}
    return {**figures, "back_s": round(ended - began, 1), "lease_s": LEASE_S}


async def _server_s(url: str) -> float:
    """The time on the first server's clock."""
    seconds, micros = Server.of(url).each(lambda redis: redis.time())[0]
    return float(seconds + micros / 1e6)


async def _leased(frontier: Frontier, names: set[str], number: int) -> None:
    """Wait until clients hold so many leases, or hold no more than a look ago."""
    before, held = -1, 0
    while before < held < number:
        await asyncio.sleep(3)
        before, held = held, await _held(frontier, names)


async def _held(frontier: Frontier, names: set[str]) -> int:
    found = 0
    for part in frontier.parts:
        holds = await part.redis.hvals(part.keys.held)
        found += sum(any(name.encode() in hold for name in names) for hold in holds)
    return found


async def binding(url: str, size: int, requests: int, limit_s: float = 240.0) -> dict[str, Any]:
    """A fleet at one site with 16 slots, which bind."""
    made = config(f"binding-{size}", 0, 1)
    async with opened(url, made, 0) as frontier:
        await fill(frontier, requests, 1)
    fleet, server = Fleet(url, made, 0.1), Server.of(url)
    server.reset()
    await fleet.add(size)
    await fleet.finish(requests, limit_s)
    found = {"workers": size, "done": fleet.done, **server.spent(max(1, fleet.done))}
    await fleet.end()
    return found


async def measure(args: argparse.Namespace) -> dict[str, Any]:
    """Measure all parts on a server of the benchmark's own."""
    found: dict[str, Any] = {"steady": [], "binding": []}
    with servers(of_three=args.cluster) as url:
        for size in BINDING if not args.cluster else ():
            found["binding"].append(await binding(url, size, args.binding, args.limit))
            print(found["binding"][-1], file=sys.stderr, flush=True)
        for size in args.sizes:
            row, fleet = await steady(url, size, args)
            row["idle_commands"] = await idle(url, fleet)
            if size == max(args.sizes):
                found["killed"] = await killed(url, fleet, args.domains)
                print(found["killed"], file=sys.stderr, flush=True)
            found["steady"].append(row)
            print(row, file=sys.stderr, flush=True)
            await fleet.end()
    return found


@contextmanager
def servers(*, of_three: bool) -> Iterator[str]:
    """Start one server, or a Cluster of three; gives its URL."""
    with ExitStack() as stack:
        if of_three:
            folder = stack.enter_context(TemporaryDirectory(prefix="seine-bench-"))
            yield stack.enter_context(cluster(Path(folder)))
        else:
            yield stack.enter_context(redis_server("--maxclients", "9000"))


def parsed(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 100, 1000])
    parser.add_argument("--requests", type=int, default=40_000, help="of the largest fleet")
    parser.add_argument("--domains", type=int, default=2000)
    parser.add_argument("--binding", type=int, default=2000, help="requests of the binding site")
    parser.add_argument(
        "--partitions", type=int, help="of the crawl; default: 1, or 6 on a Cluster"
    )
    parser.add_argument("--cluster", action="store_true", help="on a Cluster of three")
    parser.add_argument("--limit", type=float, default=240.0, help="seconds of a fleet, at most")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    args = parser.parse_args(argv)
    args.partitions = args.partitions or (6 if args.cluster else 1)
    return args


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    args = parsed(argv)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    found = uvloop.run(measure(args))
    if args.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
