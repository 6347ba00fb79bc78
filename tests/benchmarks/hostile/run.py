"""One attack: good work alone, then beside everything hostile, then the verdict."""

from __future__ import annotations

import asyncio
import json
import random
import re
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attrs
from redis import Redis

from crawler.demo.pages import Site
from crawler.demo.shop_process import ServedShop, served
from crawler.stores import embedded
from crawler.stores.migrations import migrate
from crawler.stores.store_endpoints import redis_client
from scrapy_seine.frontier.dictionary_choice import Packer
from scrapy_seine.frontier.encoding.packing import Dictionary
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.frontier.model import Push
from tests.benchmarks.hostile import board, junk, plan, screens
from tests.benchmarks.hostile.answers import GOOD, sized
from tests.benchmarks.hostile.fleet import Guarded, guarded
from tests.benchmarks.hostile.kinds import Answer, Canaries, Item
from tests.benchmarks.hostile.pages import HEAD
from tests.benchmarks.hostile.plan import Inputs, Plan
from tests.benchmarks.hostile.server import Server, server
from tests.benchmarks.hostile.stored import good_ones
from tests.benchmarks.hostile.verdict import verdict
from tests.chaos.judge import lost_pages
from tests.helpers import server_folder, wait_until

Say = Callable[[str], None]
SETTINGS: dict[str, object] = {
    "REDIS_START_URLS_KEY": "%(crawl)s:start_urls",
    "SEINE_KEEP_ALIVE": 1,
    "SEINE_LEASE_SECONDS": 10,
    "DOWNLOAD_TIMEOUT": 10,
}
_WHERE = re.compile(rb"at (http://\S+)")


@attrs.define(kw_only=True)
class Attack:
    """An attack in progress."""

    plan: Plan
    seed: int
    say: Say
    folder: Path
    servers: embedded.Servers
    redis: Redis
    shop: ServedShop
    hostile: Server
    inside: Server
    crawl: str
    token: str = attrs.Factory(lambda: secrets.token_hex(12))
    canaries: Canaries = attrs.field(init=False)
    good_seeds: list[str] = attrs.Factory(list)
    pushed: list[str] = attrs.Factory(list)
    replies: list[board.Reply] = attrs.Factory(list)
    guesses: list[int] = attrs.Factory(list)
    marks: dict[str, float] = attrs.Factory(dict)
    writes: int = 0

    def __attrs_post_init__(self) -> None:
        hosts = ["127.3.0.1", "127.3.0.2", "127.0.0.1", f"127.1.{plan.PAGES}.{plan.FIRST}"]
        secret = f"pw-canary-{secrets.token_hex(8)}"
        landed = Answer("canary", [GOOD])
        inside = [self.inside.add(host, {"*": landed}) for host in hosts]
        try:
            inside.append(self.inside.add("::1", {"*": landed}))
        except OSError:
            self.say("no IPv6 here: its canary is left out")
        file = self.folder / "canary.txt"
        file.write_text(f"<h1>file-{secret}</h1><p class=price>$5</p>", "utf-8")
        self.canaries = Canaries(file, self.folder / "touched", secret, inside)

    @property
    def environment(self) -> dict[str, str]:
        """Where the stores are."""
        return {
            "REDIS_URL": self.servers.redis_url,
            "DATABASE_URL": self.servers.database_url,
            "SEINE_CRAWL": self.crawl,
            "SEINE_ARCHIVE": str(self.folder / "archive"),
            "SEINE_DASHBOARD_TOKEN": self.token,
        }

    @property
    def hosts(self) -> list[str]:
        """The good hosts."""
        port = urlsplit(self.shop.url).port
        return [f"127.0.0.{n}:{port}" for n in range(1, self.plan.hosts + 1)]

    def run(self) -> dict[str, Any]:
        """Let it happen; returns the figures."""
        settings = {**SETTINGS, "SEINE_DOMAIN_DELAY_MS": self.plan.delay_ms}
        base = self._open_site(plan.SEEDS, plan.FIRST, {})
        inputs = Inputs.made(self.plan, self.seed, self.canaries, base, self.token)
        self.say(f"inputs made with --seed {self.seed}")
        with (
            guarded(settings, self.environment, self.folder / "logs", self.plan.workers) as fleet,
            self._dashboard() as board_url,
        ):
            self._wait_for_workers(fleet)
            self._baseline(fleet)
            self._attack(fleet, inputs, board_url)
            self._finish(fleet, inputs)
            self.say("the fleet is asked to leave")
            metrics = self._metrics(fleet, board_url)
            bad_ends = fleet.end()
        return self._judge(fleet, inputs, metrics, bad_ends)

    def _wait_for_workers(self, fleet: Guarded) -> None:
        for worker in fleet.fleet.workers:
            log = worker.log
            wait_until(lambda log=log: b"Spider opened" in log.read_bytes(), 60, "workers start")

    def _baseline(self, fleet: Guarded) -> None:
        names = {host: self._site_id(host) for host in self.hosts}
        self._lpush(*({"url": f"http://{h}/", "meta": {"site_id": s}} for h, s in names.items()))
        enough = 10 * self.plan.hosts
        wait_until(lambda: len(self.shop.visits()) >= enough, 60, "the good work begins")
        self.marks["base"] = time.time()
        time.sleep(self.plan.baseline_s)
        fleet.look()
        self.marks["attack"] = time.time()

    def _site_id(self, host: str) -> str:
        return f"{self.crawl}-{host.partition(':')[0].rpartition('.')[2]}"

    def _lpush(self, *seeds: Any) -> None:
        raw = [s if isinstance(s, bytes) else json.dumps(s).encode() for s in seeds]
        self.redis.lpush(f"{self.crawl}:start_urls", *raw)

    def _open_site(self, kind: int, number: int, answers: dict[str, Answer]) -> str:
        front = Answer("front", [sized(HEAD + b"<p>nothing is sold here</p>")])
        return self.hostile.add(f"127.1.{kind}.{number}", {"/": front, **answers})

    def _good_requests(self) -> list[dict[str, Any]]:
        """Fields of requests that wait for a good host."""
        keys, found, packer = Keys(self.crawl), list[bytes](), Packer()
        fields = self.redis.hgetall(keys.control).items()
        packer.learn(Dictionary(text) for name, text in fields if name.startswith(b"dictionary:"))
        for raw in map(packer.unpack, self.redis.hvals(keys.requests)):
            head, _, blob = raw.partition(b"\n")
            if head.split(b" ")[1].startswith(b"127.0.0."):
                found.append(blob)
        return good_ones(found[:60], f"http://127.1.{plan.STORED}.{plan.FIRST}:{self.hostile.port}")

    def _attack(self, fleet: Guarded, inputs: Inputs, board_url: str) -> None:
        shops = self._open_sites(inputs)
        good = self._good_requests()
        base = f"http://127.1.{plan.STORED}.{plan.FIRST}:{self.hostile.port}"
        blobs = plan.stored_ones(self.plan, self.seed, self.canaries, base, good)
        made = {"seeds": inputs.seeds, "stored": blobs, "shops": shops, "asks": inputs.asks}
        self.say(", ".join(f"{len(items)} {name}" for name, items in made.items()))
        visitor = threading.Thread(target=self._visit, args=[board_url, inputs.asks])
        visitor.start()
        dice = random.Random(self.seed)
        places = [f"127.1.{plan.JUNK}.{n}:{self.hostile.port}" for n in range(10, 40)]
        pause_s = self.plan.feed_s / self.plan.rounds
        for turn in range(self.plan.rounds):
            began = time.monotonic()
            self._feed(turn, inputs.seeds, blobs, shops)
            if turn == self.plan.rounds // 2:
                self.writes = junk.write_all(self.redis, Keys(self.crawl), places, dice)
            fleet.look()
            time.sleep(max(0.0, pause_s - (time.monotonic() - began)))
        visitor.join()

    def _open_sites(self, inputs: Inputs) -> list[str]:
        """Open every hostile site; returns the URLs to seed."""
        urls: list[str] = []
        made = [(plan.ANSWERS, inputs.answers)]
        made.append((plan.PAGES, [plan.page_answer(n, b) for n, b in enumerate(inputs.pages)]))
        for kind, answers in made:
            for start in range(0, len(answers), plan.AT_ONE):
                some = {f"/{n}": a for n, a in enumerate(answers[start : start + plan.AT_ONE])}
                where = self._open_site(kind, plan.FIRST + start // plan.AT_ONE, some)
                urls += [f"{where}{path}" for path in some]
        for number, shop in enumerate(inputs.shops):
            kind = plan.ROBOTS if "robots" in shop.name else plan.SITEMAPS
            urls.append(self._open_site(kind, 1 + number % 250, shop.answers) + "/")
        own = [(plan.SEEDS, n) for n in range(plan.FIRST + 1, plan.FIRST + plan.PLACES)]
        own += [(k, plan.FIRST + n) for k in (plan.STORED, plan.JUNK) for n in range(plan.PLACES)]
        return [f"{self._open_site(kind, n, {})}/" for kind, n in own] + urls

    def _feed(self, turn: int, seeds: list[Item], blobs: list[Item], shops: list[str]) -> None:
        """Push this turn's share of everything, good seeds between hostile ones."""
        rounds = self.plan.rounds
        hostile = [plan.elsewhere(s.data, plan.SEEDS, n) for n, s in enumerate(seeds)]
        for seed in hostile[turn::rounds]:
            self._lpush(seed)
            if len(self.good_seeds) * 8 < turn * len(hostile) / rounds:
                host = self.hosts[len(self.good_seeds) % len(self.hosts)]
                self.good_seeds.append(f"{host}/about?seed={len(self.good_seeds)}")
                self._lpush(f"http://{self.good_seeds[-1]}".encode())
        if shops[turn::rounds]:
            self._lpush(
                *({"url": url, "meta": {"site_id": "hostile"}} for url in shops[turn::rounds])
            )
        pushes = [
            Push(
                domain=f"127.1.{plan.STORED}.{plan.FIRST + n % plan.PLACES}:{self.hostile.port}",
                blob=plan.elsewhere(blob.data, plan.STORED, n),
            )
            for n, blob in list(enumerate(blobs))[turn::rounds]
        ]
        asyncio.run(_push(self.servers.redis_url, self.crawl, pushes))

    def _visit(self, url: str, asked: list[board.Ask]) -> None:
        """Ask the dashboard half before and half after junk was written, and guess in between."""
        half = len(asked) // 2
        self.replies += board.ask_all(url, asked[:half])
        self.guesses += board.guess(url)
        board.raw(url)
        until = time.monotonic() + self.plan.feed_s
        while not self.writes and time.monotonic() < until:
            time.sleep(0.2)
        again = asked[: len(board._PAGES)]
        self.replies += board.ask_all(url, [*asked[half:], *again])

    def missing(self, inputs: Inputs) -> list[str]:
        """Hostile answers, pages and sites that nobody has asked for yet."""
        asked = self.hostile.asked()
        wanted = [
            (host, path)
            for host, answers in self.hostile.sites.items()
            for path in answers
            if host.split(".")[2] in {str(plan.ANSWERS), str(plan.PAGES)} and path != "/"
        ]
        shops = [
            h
            for h in self.hostile.sites
            if h.split(".")[2] in {str(plan.ROBOTS), str(plan.SITEMAPS)}
        ]
        wanted += [(host, "/robots.txt") for host in shops]
        return [f"{host}{path}" for host, path in wanted if (host, path) not in asked]

    def lost(self) -> list[str]:
        """Good pages that nobody has asked for yet."""
        visits = self.shop.visits()
        seen = {f"{v['host']}{v['path']}" for v in visits if v["status"] == 200}
        lost = lost_pages(Site(self.plan.products), self.hosts, visits)
        return lost + [seed for seed in self.good_seeds if seed not in seen]

    def _finish(self, fleet: Guarded, inputs: Inputs) -> None:
        """Wait until all was tried and all good pages are there, or time is up."""
        until = self.marks["base"] + self.plan.limit_s
        while time.time() < until:
            fleet.look()
            if "done" not in self.marks and not self.missing(inputs):
                self.marks["done"] = time.time()
                self.say("every hostile answer was asked for")
            if not self.lost():
                self.marks.setdefault("good", time.time())
                if "done" in self.marks:
                    break
            time.sleep(0.5)
        self.marks["end"] = time.time()

    @contextmanager
    def _dashboard(self) -> Iterator[str]:
        log = self.folder / "dashboard.log"
        command = [
            sys.executable,
            "-m",
            "scrapy",
            "dashboard",
            "--port",
            "0",
            "--crawl",
            self.crawl,
        ]
        with log.open("wb") as out:
            process = subprocess.Popen(
                command, stdout=out, stderr=out, env={**_environ(), **self.environment}
            )
        try:
            wait_until(
                lambda: _WHERE.search(log.read_bytes()), 30, "the dashboard says where it is"
            )
            found = _WHERE.search(log.read_bytes())
            yield found[1].decode() if found else ""
            if process.poll() is not None:
                self.replies.append(board.Reply(board.Ask("GET", "/gone"), 599, b""))
        finally:
            process.terminate()
            process.wait(20)

    def _metrics(self, fleet: Guarded, board_url: str) -> list[tuple[str, str]]:
        """What Prometheus reads of each worker and of the fleet."""
        known = {"Authorization": f"Bearer {self.token}"}
        urls = [
            board_url,
            *(f"http://127.0.0.1:{s.port}/" for s in fleet.silences if s.worker.alive),
        ]
        replies = [board.ask_all(url, [board.Ask("GET", "/metrics", known)], 6)[0] for url in urls]
        return [
            (f"metrics of {u}", r.body.decode("utf-8", "replace"))
            for u, r in zip(urls, replies, strict=True)
        ]

    def _judge(
        self, fleet: Guarded, inputs: Inputs, metrics: list[tuple[str, str]], bad_ends: list[str]
    ) -> dict[str, Any]:
        commands = screens.FEW if self.plan.feed_s <= plan.SHORT.feed_s else screens.COMMANDS
        shown = screens.run_all(self.crawl, self.environment, commands)
        return verdict(self, fleet, inputs, metrics=metrics, bad_ends=bad_ends, shown=shown)


async def _push(redis_url: str, crawl: str, pushes: list[Push]) -> None:
    redis = redis_client(redis_url)
    try:
        frontier = Frontier(redis, crawl)
        for push in pushes:
            await frontier.push([push])
    finally:
        await redis.aclose()


def _environ() -> dict[str, str]:
    import os

    return dict(os.environ)


def attack(how: Plan, seed: int, say: Say, folder: Path) -> dict[str, Any]:
    """Run one attack on servers of its own; logs stay in *folder*."""
    with ExitStack() as stack:
        data = stack.enter_context(server_folder())
        servers = embedded.start(data)
        migrate(servers.database_url)
        redis = stack.enter_context(Redis.from_url(servers.redis_url))
        options = {"products": how.products, "hosts": how.hosts}
        shop = stack.enter_context(served(log=folder / "access.log", **options))
        hostile, inside = (
            stack.enter_context(server("hostile")),
            stack.enter_context(server("canaries")),
        )
        made = Attack(
            plan=how,
            seed=seed,
            say=say,
            folder=folder,
            servers=servers,
            redis=redis,
            shop=shop,
            hostile=hostile,
            inside=inside,
            crawl=f"hostile-{secrets.token_hex(4)}",
        )
        return made.run()
