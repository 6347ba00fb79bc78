"""What a benchmark runs on: a site, the two stores, and who is set against whom."""

from __future__ import annotations

import shutil
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import attrs
from redis import Redis

from crawler.demo.stored_rows import TABLES
from crawler.stores import embedded
from crawler.stores.migrations import migrate
from tests.benchmarks.distance import distant
from tests.benchmarks.measure import ROOT, Command, Cost, run
from tests.benchmarks.processes import Cpu, Stores, spent
from tests.benchmarks.sides.rows import TABLE
from tests.benchmarks.target import Target
from tests.helpers import execute, server_folder

#: Celery and crawlee with what they need, apart from ours; `make bench` makes it.
PEERS = ROOT / "build" / "peers" / "bin" / "python"
#: Tables that a crawl writes to.
FILLED = (*TABLES, "attempts", "quality", "bench_rows")


@attrs.frozen(kw_only=True)
class Stage:
    """Two stores of the benchmark's own, with default durability."""

    redis_url: str
    """As the sides reach it; so is the next."""
    database_url: str
    direct_redis_url: str
    """However far away the stores are; so is the next."""
    direct_database_url: str
    stores: Stores
    folder: Path
    """For logs."""
    starts: dict[str, float] = attrs.Factory(dict)
    """What each side's start-up takes, where that is known; see `start_up`."""

    @contextmanager
    def away(self, rtt_ms: float) -> Iterator[Stage]:
        """The same stores, further away."""
        if not rtt_ms:
            yield self
            return
        with distant(self.redis_url, rtt_ms) as redis, distant(self.database_url, rtt_ms) as rows:
            yield attrs.evolve(self, redis_url=redis, database_url=rows)

    def clear(self) -> None:
        """Empty the stores: no run pays for another's leavings, or finds its rows written."""
        with Redis.from_url(self.direct_redis_url) as redis:
            redis.flushall()
        execute(self.direct_database_url, f"TRUNCATE {', '.join(FILLED)}")


@contextmanager
def stage() -> Iterator[Stage]:
    """Start the stores, as long as the block."""
    with ExitStack() as stack:
        folder = stack.enter_context(server_folder())
        servers = embedded.start(folder)
        migrate(servers.database_url)
        execute(servers.database_url, TABLE)
        logs = folder.parent / "logs"
        logs.mkdir()
        yield Stage(
            redis_url=servers.redis_url,
            database_url=servers.database_url,
            direct_redis_url=servers.redis_url,
            direct_database_url=servers.database_url,
            stores=Stores.behind(servers.redis_url, servers.database_url),
            folder=logs,
        )


Options = Mapping[str, object]
"""Scrapy settings of a run."""
Side = Callable[[Stage, str, str, Options], Command]
"""Stage, first URL, the run's name and options to a command."""


def seine(stage: Stage, url: str, name: str, options: Options) -> Command:
    """Our own worker."""
    settings = [text for key, value in options.items() for text in ("-s", f"{key}={value}")]
    environment = {
        "REDIS_URL": stage.redis_url,
        "DATABASE_URL": stage.database_url,
        "SEINE_CRAWL": name,
    }
    seed = ["-a", f"url={url}"] if url else []
    return Command(
        arguments=["-m", "scrapy", "crawl", "catalog", *seed, *settings], environment=environment
    )


def plain(_: Stage, url: str, __: str, ___: Options) -> Command:
    """Scrapy as it comes, with our parser."""
    return Command(arguments=["-m", "tests.benchmarks.sides.plain", url])


def plain_own_parser(_: Stage, url: str, __: str, ___: Options) -> Command:
    """Scrapy as it comes, with the parser of a tutorial."""
    return Command(arguments=["-m", "tests.benchmarks.sides.tutorial", url])


def scrapy_redis(stage: Stage, url: str, name: str, options: Options) -> Command:
    """scrapy-redis and a row a commit, with our parser."""
    module = "tests.benchmarks.sides.scrapy_redis"
    more = [str(options["CONCURRENT_REQUESTS"])] if "CONCURRENT_REQUESTS" in options else []
    return Command(arguments=["-m", module, url, stage.redis_url, stage.database_url, name, *more])


def celery(stage: Stage, url: str, name: str, _: Options) -> Command:
    """Celery, requests and BeautifulSoup."""
    return _peer("celery_worker", stage, url, name)


def crawlee(stage: Stage, url: str, name: str, _: Options) -> Command:
    """crawlee-python with its Redis client."""
    return _peer("crawlee_run", stage, url, name)


def _peer(module: str, stage: Stage, url: str, name: str) -> Command:
    arguments = ["-m", f"tests.benchmarks.sides.{module}", url, stage.redis_url]
    return Command(arguments=[*arguments, stage.database_url, name], python=str(PEERS))


SIDES: dict[str, Side] = {
    "seine": seine,
    "plain": plain,
    "plain_own_parser": plain_own_parser,
    "scrapy_redis": scrapy_redis,
    "celery": celery,
    "crawlee": crawlee,
}
NEEDS_PEERS = ("celery", "crawlee")


def present(names: Sequence[str]) -> list[str]:
    """Those of the sides that can run here."""
    missing = [] if PEERS.exists() else [name for name in names if name in NEEDS_PEERS]
    if missing:
        print(f"left out, as {PEERS.relative_to(ROOT)} is missing: {missing}", file=sys.stderr)
    return [name for name in names if name not in missing]


@attrs.frozen(kw_only=True)
class Result:
    """One run of one side."""

    side: str
    run: str
    pages: int
    """That the site gave; neither redirects nor what is missing."""
    answers: int
    """All of them."""
    served_s: float
    """From its first to its last."""
    target_cpu_s: float
    cost: Cost
    redis: Cpu
    postgres: Cpu
    start_s: float = 0.0
    """CPU of a run that finds nothing to do."""

    def row(self) -> dict[str, float]:
        """The figures, a page each where that makes sense."""
        cost, pages = self.cost, max(1, self.pages)
        figures = {
            "pages": pages,
            "answers": self.answers,
            "pages_per_s": pages / max(self.served_s, 1e-9),
            "pages_per_s_with_start": pages / cost.wall_s,
            "cpu_ms": 1000 * cost.cpu.total / pages,
            "cpu_ms_running": 1000 * (cost.cpu.total - self.start_s) / pages,
            "cpu_user_ms": 1000 * cost.cpu.user / pages,
            "cpu_sys_ms": 1000 * cost.cpu.sys / pages,
            "redis_user_ms": 1000 * self.redis.user / pages,
            "redis_sys_ms": 1000 * self.redis.sys / pages,
            "postgres_user_ms": 1000 * self.postgres.user / pages,
            "postgres_sys_ms": 1000 * self.postgres.sys / pages,
            "target_ms": 1000 * self.target_cpu_s / pages,
            "rss_mb": cost.rss_mb,
            "memory_mb": cost.memory_mb,
        }
        return {name: round(value, 3) for name, value in figures.items()}


def measure(
    name: str, stage: Stage, site: Target, options: Options | None = None, path: str = ""
) -> Result:
    """Run one side once, with one worker, over the whole site or from one page of it."""
    stage.clear()
    site.stats()
    run_name = f"bench-{uuid.uuid4().hex[:8]}"
    folder = stage.folder / run_name
    folder.mkdir()
    command = SIDES[name](stage, site.url + path, run_name, options or {})
    with spent(stage.stores) as stores:
        cost = run([command], folder)
    seen = site.stats()
    shutil.rmtree(folder)
    return Result(
        side=name,
        run=run_name,
        pages=int(seen["pages"]),
        answers=int(seen["answers"]),
        served_s=seen["seconds"],
        target_cpu_s=seen["cpu_s"],
        cost=cost,
        redis=stores["redis"],
        postgres=stores["postgres"],
        start_s=stage.starts.get(name, 0.0),
    )


def start_up(name: str, stage: Stage, site: Target) -> float:
    """CPU seconds of a side whose only page is not there."""
    return measure(name, stage, site, path="nothing-here").cost.cpu.total


def alternate(
    names: Sequence[str],
    rounds: int,
    stage: Stage,
    site: Target,
    options: Options | None = None,
) -> dict[str, list[Result]]:
    """Run the sides one after the other, and all that over again, so that moods are shared."""
    results: dict[str, list[Result]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            result = measure(name, stage, site, options)
            results[name].append(result)
            row = result.row()
            print(
                f"{name:17} {result.pages:6} pages  {row['cpu_ms']:6.2f} ms CPU a page "
                f"({row['cpu_user_ms']:.2f} + {row['cpu_sys_ms']:.2f})  "
                f"{row['pages_per_s']:5.0f} pages/s  {row['rss_mb']:4.0f} MB",
                file=sys.stderr,
                flush=True,
            )
    return results
