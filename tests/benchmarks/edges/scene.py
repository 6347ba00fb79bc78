"""One fleet on servers of its own: what happens to it, and what each page must come to."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import attrs
import psycopg2
from psycopg2.extras import RealDictCursor

from scrapy_seine.errors import DecodeError
from scrapy_seine.frontier.encoding.codec import decode
from scrapy_seine.frontier.keys import Keys, SeedKeys
from tests.benchmarks.edges.judge import Evidence, Expected, Fate, Finding, judge
from tests.benchmarks.edges.servers import PrivateRedis
from tests.benchmarks.edges.site import Site, Thing, listing, page, slow

ROOT = Path(__file__).parents[3]
WORKERS = 3


@attrs.define(eq=False)
class Scene:
    """A crawl, its servers, its workers and its site."""

    name: str
    site: Site
    redis: PrivateRedis
    database: str
    folder: Path
    settings: dict[str, object] = attrs.Factory(dict)
    environment: dict[str, str] = attrs.Factory(dict)
    patience_s: float = 90
    """How long the crawl may take, or what a single fault is followed by, s."""
    expected: list[Expected] = attrs.Factory(list)
    findings: list[Finding] = attrs.Factory(list)
    faults: list[str] = attrs.Factory(list)
    workers: list[subprocess.Popen[bytes]] = attrs.Factory(list)
    jobs: dict[str, set[str]] = attrs.Factory(dict)
    """Pages that count for a job, by job."""
    _ended: set[int] = attrs.Factory(set)
    """Process ids of workers whose end is known."""

    def __attrs_post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._callbacks.touch()
        shutil.copytree(ROOT / "spiders", self.project / "spiders", dirs_exist_ok=True)
        shutil.copy(ROOT / "scrapy.cfg", self.project)

    @property
    def project(self) -> Path:
        """A copy of the project's spiders, to which files may be added."""
        return self.folder / "project"

    @property
    def _callbacks(self) -> Path:
        return self.folder / "callbacks.log"

    @property
    def keys(self) -> Keys:
        """Names of the crawl's keys."""
        return Keys(self.name)

    def fault(self, name: str) -> str:
        """Count a kind of fault."""
        self.faults.append(name)
        return name

    def wrong(self, figure: str, fault: str, text: str) -> None:
        """Note what went wrong."""
        self.findings.append(Finding(figure, fault, text))

    # What the site has.

    def shelf(self, fault: str, count: int, *, late_s: float = 0.0, **meta: Any) -> tuple[str, str]:
        """Make a good host: a listing of products that must all be stored.

        Each answers within *late_s*, at random. Returns its host, and its seed.
        """
        host = self.site.host()
        paths = [f"/p/{number}" for number in range(1, count + 1)]
        self.site.pages[f"http://{host}/shelf"] = listing(paths)
        self.expect(fault, f"http://{host}/shelf", "read", job=meta.get("job_id"))
        for number, path in enumerate(paths, 1):
            self.thing(fault, host, path, number, job=meta.get("job_id"))
            if late_s:
                whole = self.site.pages[f"http://{host}{path}"]
                self.site.pages[f"http://{host}{path}"] = slow(whole, random.uniform(0, late_s))
        return host, self.seed_of(f"http://{host}/shelf", **meta)

    def thing(
        self, fault: str, host: str, path: str, number: int, fate: Fate = "stored", **more: Any
    ) -> None:
        """Make a product page."""
        thing = Thing(f"{host.rpartition('.')[2].replace(':', '-')}-{number}", f"{number}.50")
        self.site.pages[f"http://{host}{path}"] = page(thing.html)
        self.expect(fault, f"http://{host}{path}", fate, thing=thing, **more)

    def expect(
        self, fault: str, url: str, fate: Fate, *, thing: Thing | None = None, job: Any = None
    ) -> None:
        """Say what a page must come to."""
        self.expected.append(Expected(fault=fault, url=url, fate=fate, thing=thing))
        if job:
            self.jobs.setdefault(str(job), set()).add(url)

    def seed_of(self, url: str, **meta: Any) -> str:
        """Write a seed; products are stored under the crawl's name."""
        return json.dumps({"url": url, "meta": {"site_id": self.name, **meta}})

    def seed(self, *seeds: str) -> None:
        """Push seeds."""
        with self.redis.client() as redis:
            redis.rpush(f"{self.name}:start_urls", *seeds)

    # What the fleet does.

    def start(
        self, count: int = WORKERS, environment: Mapping[str, str] | None = None
    ) -> list[subprocess.Popen[bytes]]:
        """Start workers."""
        started = []
        for _ in range(count):
            log = self.folder / f"worker-{len(self.workers) + 1}.log"
            with log.open("wb") as out:
                worker = subprocess.Popen(
                    self.command("crawl", "catalog"),
                    cwd=self.project,
                    env={**self.surroundings(), **(environment or {})},
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            self.workers.append(worker)
            started.append(worker)
        return started

    def command(self, *args: str) -> list[str]:
        """Write a `scrapy` command."""
        options = [text for k, v in self.settings.items() for text in ("-s", f"{k}={v}")]
        return [sys.executable, "-m", "scrapy", *args, *options]

    def surroundings(self) -> dict[str, str]:
        """Return the environment of a process of this crawl."""
        return {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "SCRAPY_SETTINGS_MODULE": "tests.benchmarks.edges.settings",
            "REDIS_URL": self.redis.url,
            "DATABASE_URL": self.database,
            "SEINE_CRAWL": self.name,
            "EDGES_CALLBACKS": str(self._callbacks),
            **self.environment,
        }

    def scrapy(self, *args: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
        """Run a command of the project to its end."""
        return subprocess.run(
            self.command(*args),
            cwd=self.project,
            env=self.surroundings(),
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    @property
    def alive(self) -> list[subprocess.Popen[bytes]]:
        """Workers that run."""
        return [worker for worker in self.workers if worker.poll() is None]

    def log_of(self, worker: subprocess.Popen[bytes]) -> str:
        """Read what a worker said."""
        number = self.workers.index(worker) + 1
        return (self.folder / f"worker-{number}.log").read_text("utf-8", errors="replace")

    def wait_end(self, fault: str) -> None:
        """Wait until every worker has left by itself; who does not is stuck."""
        until = time.monotonic() + self.patience_s
        while self.alive and time.monotonic() < until:
            time.sleep(0.1)
        for worker in self.alive:
            tail = self.log_of(worker)[-300:]
            self.wrong("stuck", fault, f"a worker runs after {self.patience_s:g} s: {tail}")
        self.stop()

    def asked(self, fault: str, host: str, count: int) -> None:
        """Wait until a host was asked so often; a fleet that does not ask is stuck."""
        until = time.monotonic() + self.patience_s
        while (seen := self.site.asked(host)) < count and time.monotonic() < until:
            time.sleep(0.05)
        if seen < count:
            self.wrong("stuck", fault, f"{seen} of {count} requests within {self.patience_s:g} s")
            self.patience_s = max(3, self.patience_s / 2)

    def settle(self, fault: str) -> None:
        """Wait until each page of a fault came to what it must, the fleet being alive all along."""
        until = time.monotonic() + self.patience_s
        while self._open(fault) and time.monotonic() < until:
            time.sleep(0.3)
        if time.monotonic() >= until:
            self.patience_s = max(3, self.patience_s / 2)  # who has stopped does not begin again
        self.watch(fault)

    def _open(self, fault: str) -> list[Finding]:
        mine = [one for one in self.expected if one.fault == fault]
        return judge(mine, self.evidence())

    def watch(self, fault: str) -> None:
        """Count the workers that ended; start others in their place."""
        ended = [w for w in self.workers if w.poll() is not None and w.pid not in self._ended]
        for worker in ended:
            self._ended.add(worker.pid)
            tail = self.log_of(worker)[-300:]
            text = f"a worker ended with {worker.returncode}: {tail}"
            self.wrong("stopped_workers", fault, text)
        self.start(len(ended))

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """Kill a worker, and start another."""
        self._ended.add(worker.pid)
        worker.kill()
        worker.wait()
        self.start(1)

    def stop(self) -> None:
        """End all workers."""
        for worker in self.alive:
            worker.terminate()
        for worker in self.alive:
            try:
                worker.wait(25)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()

    # What came of it.

    def query(self, statement: str, *values: object) -> list[dict[str, Any]]:
        """Ask the database; a statement without rows gives none."""
        with closing(psycopg2.connect(self.database)) as connection:
            connection.autocommit = True
            with connection.cursor(cursor_factory=RealDictCursor) as cursor:
                cursor.execute(statement, values or None)
                return [dict(row) for row in cursor.fetchall()] if cursor.description else []

    def dead(self) -> dict[str, str]:
        """Read the dead letters: reasons by URL."""
        found = {}
        with self.redis.client() as redis:
            keys = self.keys
            for id_ in redis.zrange(keys.dead, 0, -1):
                body, note = redis.hget(keys.requests, id_), redis.hget(keys.autopsy, id_)
                said = json.loads(note or b"{}")
                try:
                    url = str(decode((body or b"").partition(b"\n")[2])["url"])
                except DecodeError:
                    url = id_.decode()
                found[url] = " ".join(str(said.get(k, "")) for k in ("reason", "error")).strip()
            for raw in redis.lrange(SeedKeys(f"{self.name}:start_urls").rejected, 0, -1):
                said = json.loads(raw)
                with suppress(ValueError, KeyError, TypeError):
                    found[json.loads(said["seed"])["url"]] = str(said["reason"])
        return {bare(url): reason for url, reason in found.items()}

    def evidence(self) -> Evidence:
        """Gather what is known from outside."""
        rows = self.query("SELECT * FROM products")
        refused = self.query("SELECT url, reason FROM rejected_items")
        return Evidence(
            answered=frozenset(v.url for v in list(self.site.visits) if v.status == 200),
            read=frozenset(map(bare, self._callbacks.read_text().split())),
            rows={bare(row["url"]): row for row in rows},
            rejected={bare(row["url"]): row["reason"] for row in refused},
            dead=self.dead(),
        )

    def judge(self) -> None:
        """Compare every page, and what jobs and exits claim, with what is known from outside."""
        found = self.evidence()
        wrong = judge(self.expected, found)
        self.findings += wrong
        for job, urls in self.jobs.items():
            with self.redis.client() as redis:
                done = int(redis.hget(f"{self.keys.prefix}job:{job}", "done") or 0)
            if done > (read := len(urls & found.read)):
                text = f"{done} pages of the job are done, {read} were read: {sorted(urls)[:2]}"
                self.wrong("false_done", job, text)
        lost = [one for one in wrong if one.figure in ("lost_pages", "lost_items")]
        well = self.workers and all(worker.returncode == 0 for worker in self.workers[-WORKERS:])
        if well and not self.settings.get("SEINE_KEEP_ALIVE"):
            for one in lost:
                self.wrong("false_done", one.fault, f"each worker exits 0, though lost: {one.text}")

    def exits(self, fault: str, allowed: Sequence[int] = (0,)) -> None:
        """Count each worker that ended badly by itself."""
        for worker in self.workers:
            if worker.returncode not in (*allowed, -signal.SIGKILL, -signal.SIGTERM):
                tail = self.log_of(worker)[-300:]
                self.wrong("stopped_workers", fault, f"exit {worker.returncode}: {tail}")


def bare(url: str) -> str:
    """Return a URL without its credentials."""
    return re.sub("(?<=://)[^/@]*@", "", url)


@contextmanager
def running(scene: Scene) -> Iterator[Scene]:
    """Leave no worker behind."""
    try:
        yield scene
    finally:
        for worker in scene.alive:
            with suppress(ProcessLookupError):
                worker.send_signal(signal.SIGCONT)
        scene.stop()


def pause(seconds: float) -> None:
    """Let a fault last; what comes after is waited for, never timed."""
    time.sleep(seconds)
