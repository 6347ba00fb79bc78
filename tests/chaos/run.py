"""One run of chaos: a fleet crawls the shop while its workers and its stores are killed."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from crawler.demo.judge import judge
from crawler.demo.pages import Site
from crawler.demo.shop_process import ServedShop, served
from crawler.stores.embedded import Servers, postgres, valkey
from scrapy_seine.embedded.data_folder import layout
from tests.chaos.judge import duplicate_fetches, lost_pages, violations
from tests.chaos.sides import Side
from tests.chaos.witness import witness


@attrs.frozen(kw_only=True)
class Plan:
    """What happens in a run."""

    hosts: int
    products: int
    """Of each host."""
    kills: int
    delay_ms: int
    limit_s: float
    workers: int = 4
    seed: int = 1
    restarts: bool = True
    """Restart both servers, each once."""


SHORT = Plan(hosts=20, products=15, kills=3, delay_ms=400, limit_s=90)
FULL = Plan(hosts=20, products=230, kills=12, delay_ms=400, limit_s=480)


@attrs.define
class Chaos:
    """A run in progress."""

    plan: Plan
    side: Side
    servers: Servers
    folder: Path
    alive: list[subprocess.Popen[bytes]] = attrs.Factory(list)
    started: int = 0
    kills: int = 0
    failed: int = 0

    def run(self) -> dict[str, Any]:
        """Let it happen; returns the figures."""
        plan = self.plan
        site = Site(plan.products)
        options = {"products": plan.products, "hosts": plan.hosts}
        self.folder.mkdir(parents=True, exist_ok=True)
        log = self.folder / "access.log"
        began = time.monotonic()
        with served(log=log, **options) as shop, witness() as machine:
            with contextlib.suppress(PermissionError):
                # The shop keeps the time: on a busy machine it must not sleep while it is asked.
                os.setpriority(os.PRIO_PROCESS, shop.process.pid, -10)
            port = shop.url.rsplit(":", 1)[1].strip("/")
            hosts = [f"127.0.0.{n}:{port}" for n in range(1, plan.hosts + 1)]
            self.side.prepare(hosts)
            try:
                for _ in range(plan.workers):
                    self._start()
                self._torment(shop, len(hosts) * plan.products, began + plan.limit_s)
                left = self._finish(shop, began + plan.limit_s)
            finally:
                self._stop()
            visits = shop.visits()
        lost = lost_pages(site, hosts, visits)
        missing, wrong = self._rows(site, hosts)
        seen = violations(visits, plan.delay_ms / 1000)
        # Where the machine ran nobody, the shop wrote down several requests at once.
        short = [pause for pause in seen if not machine.saw(pause.start, pause.end)]
        return {
            "side": self.side.name,
            "kills": self.kills,
            "pages": sum(v["status"] == 200 for v in visits),
            "lost_pages": len(lost),
            "lost_items": len(missing),
            "wrong_items": len(wrong),
            "duplicate_fetches": duplicate_fetches(visits),
            "politeness_violations": len(short),
            "pauses_blurred_by_the_machine": len(seen) - len(short),
            "shortest_pause_ms": round(1000 * short[0].seconds, 1) if short else None,
            "stuck": left,
            "failed_workers": self.failed,
            "seconds": round(time.monotonic() - began, 1),
            "examples": [
                *lost[:3],
                *missing[:3],
                *wrong[:3],
                *(pause.where for pause in short[:5]),
            ],
        }

    def _rows(self, site: Site, hosts: list[str]) -> tuple[list[str], list[str]]:
        missing, wrong = [], []
        for host in hosts:
            rows = self.side.rows(host)
            verdict = judge(site.products, [{"external_id": r.get("sku"), **r} for r in rows])
            missing += [f"{host} {sku}" for sku in verdict.missing]
            wrong += [f"{host} {text}" for text in verdict.wrong]
        return missing, wrong

    def _start(self) -> None:
        self.started += 1
        self.alive.append(self.side.start(self.folder / f"worker-{self.started}.log"))

    def _torment(self, shop: ServedShop, products: int, until: float) -> None:
        """Kill a worker at each of some moments of the crawl's progress, and start another."""
        dice = random.Random(self.plan.seed)
        moments = [(dice.uniform(0.02, 0.9), self._kill) for _ in range(self.plan.kills)]
        if self.plan.restarts:
            moments += [(0.3, self._restart_redis), (0.6, self._restart_postgres)]
        for share, happen in sorted(moments, key=lambda moment: moment[0]):
            while len(shop.visits()) < share * products and time.monotonic() < until:
                time.sleep(0.1)
                self._replace()
            happen()

    def _kill(self) -> None:
        running = [worker for worker in self.alive if worker.poll() is None]
        if running:
            # One that has hardly begun has nothing to lose.
            victim = random.choice(running[: max(1, len(running) - 1)])
            victim.kill()
            victim.wait()
            self.alive.remove(victim)
            self.kills += 1
        self._start()

    def _replace(self) -> None:
        """As a supervisor does: a worker that failed by itself is started again, and counted."""
        for worker in list(self.alive):
            if worker.poll() not in (None, 0):
                self.alive.remove(worker)
                self.failed += 1
                self._start()

    def _restart_redis(self) -> None:
        self._restart(valkey.stop, valkey.start)

    def _restart_postgres(self) -> None:
        self._restart(postgres.stop, postgres.start)

    def _restart(self, stop: Callable[..., Any], start: Callable[..., Any]) -> None:
        place = layout(self.servers.data)
        stop(place)
        time.sleep(0.5)
        start(place, "auto")

    def _finish(self, shop: ServedShop, until: float) -> int:
        """Wait until nothing is left to do, and nobody does anything; returns what is left."""
        quiet_since, seen = time.monotonic(), -1
        while time.monotonic() < until:
            self._replace()
            if all(worker.poll() is not None for worker in self.alive):
                break
            visits = len(shop.visits())
            if self.side.left() or visits != seen:
                quiet_since, seen = time.monotonic(), visits
            if time.monotonic() - quiet_since > 5:
                break
            time.sleep(0.2)
        return self.side.left()

    def _stop(self) -> None:
        for worker in self.alive:
            worker.terminate()
        for worker in self.alive:
            try:
                worker.wait(25)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
