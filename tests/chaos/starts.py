"""Workers whose stores fail at a chosen message of their life, from the start to the sign-off.

Each crawls a small shop alone. It has to wait the fault out, store every product and exit with 0.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import attrs

from crawler.demo.judge import judge
from crawler.demo.pages import Site
from crawler.demo.shop_process import ServedShop, served
from crawler.demo.stored_rows import forget, stored_products
from crawler.stores import embedded
from crawler.stores.embedded import Servers
from crawler.stores.migrations import migrate
from scrapy_seine.embedded.data_folder import layout
from tests import started
from tests.chaos.faulty_way import FaultyWay, faulty_way
from tests.helpers import patient, server_folder

ROOT = Path(__file__).parents[2]
PRODUCTS = 4
#: Store, manner and length (s) of a fault.
Fault = tuple[str, str, float]
FAULTS: tuple[Fault, ...] = (
    ("redis", "reset", 0.6),
    ("redis", "close", 0.6),
    ("redis", "silent", 3.0),
    ("redis", "redis LOADING Redis is loading the dataset in memory", 0.6),
    ("redis", "redis READONLY You can't write against a read only replica.", 0.6),
    ("redis", "redis MASTERDOWN Link with MASTER is down", 0.6),
    ("redis", "redis ERR max number of clients reached", 0.6),
    ("postgres", "reset", 0.6),
    ("postgres", "close", 0.6),
    ("postgres", "silent", 3.0),
    ("postgres", "postgres 57P01 terminating connection due to administrator command", 0.6),
    ("postgres", "postgres 57P03 the database system is starting up", 0.6),
    ("postgres", "postgres 53300 sorry, too many clients already", 0.6),
)


@attrs.define(eq=False)
class Scene:
    """Servers, a shop, and a faulty way to each server; one worker at a time."""

    servers: Servers
    shop: ServedShop
    folder: Path
    ways: dict[str, FaultyWay]
    runs: int = 0

    @property
    def site_id(self) -> str:
        """Under which the shop's products are stored."""
        return urlsplit(self.shop.url).netloc

    async def messages(self, store: str) -> int:
        """How many messages a worker sends a store, when nothing fails."""
        problem = await self.problem((store, "", 0.0), 0)
        assert not problem, problem
        return self.ways[store].messages

    async def problem(self, fault: Fault, at: int) -> str:
        """Run a worker whose store fails at its message *at*; returns what went wrong, or ''."""
        store, manner, lasts_s = fault
        for way in self.ways.values():
            way.fault, way.at, way.lasts_s, way.messages = "", 0, 0.0, 0
        way = self.ways[store]
        way.fault, way.at, way.lasts_s = manner, at, lasts_s
        self.runs += 1
        await asyncio.to_thread(forget, self.servers.database_url, self.site_id)
        crawl = f"starts-{os.getpid()}-{self.runs}"
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "REDIS_URL": f"redis://127.0.0.1:{self.ways['redis'].port}",
            "DATABASE_URL": f"postgresql://seine@127.0.0.1:{self.ways['postgres'].port}/seine",
            "SEINE_CRAWL": crawl,
        }
        options = {"SEINE_OUTAGE_LIMIT": 120, "SEINE_DOMAIN_DELAY_MS": 0}
        command = [sys.executable, "-m", "scrapy", "crawl", "catalog", "-a", f"url={self.shop.url}"]
        command += [text for name, n in options.items() for text in ("-s", f"{name}={n}")]
        log = self.folder / f"{crawl}.log"
        with log.open("wb") as out:
            worker = started.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdin=started.DEVNULL,
                stdout=out,
                stderr=started.STDOUT,
            )
        try:
            status = await asyncio.to_thread(worker.wait, patient(60))
        except started.TimeoutExpired:
            worker.kill()
            status = worker.wait()
        said = log.read_text(errors="replace")
        if status or "Traceback" in said:
            return f"{fault} at {at}: exit status {status}\n{said}"
        rows = await asyncio.to_thread(stored_products, self.servers.database_url, self.site_id)
        if not judge(Site(PRODUCTS).products, rows).passed:
            return f"{fault} at {at}: {len(rows)} of {PRODUCTS} products are stored\n{said}"
        log.unlink()
        return ""


@asynccontextmanager
async def scene(folder: Path) -> AsyncIterator[Scene]:
    """Set a scene; logs of workers that failed stay in *folder*."""
    with server_folder() as data, served(products=PRODUCTS, hosts=1) as shop:
        servers = await asyncio.to_thread(embedded.start, data)
        await asyncio.to_thread(migrate, servers.database_url)
        place = layout(servers.data)
        database = next((servers.data / "sockets").glob(".s.PGSQL.*[0-9]"))
        async with (
            faulty_way(place.redis_socket) as to_redis,
            faulty_way(database) as to_postgres,
        ):
            yield Scene(servers, shop, folder, {"redis": to_redis, "postgres": to_postgres})
