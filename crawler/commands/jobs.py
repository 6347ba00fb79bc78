"""`scrapy jobs`: start, show, pause, resume and cancel the crawls of whole sites."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import attrs
from scrapy.exceptions import UsageError

from crawler.catalogue.jobs.in_postgres import notes, record
from crawler.catalogue.jobs.in_redis import Jobs
from crawler.catalogue.jobs.model import ENDED, Job, Plan
from crawler.cli.site_plans import plans_of
from crawler.extract.links.registered_domain import site_of
from crawler.stores.store_endpoints import endpoints, redis_client
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.config import FrontierConfig
from scrapy_seine.errors import ConfigError, StoreUnreachable
from scrapy_seine.frontier import open as open_frontier
from scrapy_seine.printable import printable
from scrapy_seine.reads import lazy_rich
from scrapy_seine.reads.audit import record_command
from scrapy_seine.reads.formatting import time_left

#: Options that each action reads, beside those that all read.
ACTIONS = {"start": ("again",), "list": (), "show": (), "pause": (), "resume": (), "cancel": ()}


class Command(SeineCommand):
    """Works on the jobs of one crawl."""

    summary = "Start a site's full crawl; list, show, pause, resume or cancel jobs"
    arguments = "[start SITE|URL… | list | show JOB | pause JOB | resume JOB | cancel JOB]"
    example = "scrapy jobs start https://shop.example/"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare --spider and --again."""
        super().add_options(parser)
        parser.add_argument(
            "--spider", default="catalog", help="spider whose jobs are meant (default: catalog)"
        )
        parser.add_argument(
            "--again", action="store_true", help="start a crawl even if the site's last one runs"
        )

    def perform(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run one verb; `list` by default."""
        verb, *names = args or ["list"]
        self.check_action(verb, opts, ACTIONS)
        if verb == "list" and names:
            raise UsageError("list takes no argument; `show JOB` shows one job")
        if verb != "list" and not names:
            raise UsageError(f"{verb} needs {'a site or a URL' if verb == 'start' else 'a job'}")
        stores = endpoints(self.project)
        config = FrontierConfig.from_settings(self.project, opts.spider)
        plans = plans_of(self.project, opts.spider)

        async def work() -> tuple[Sequence[Job], Sequence[str]]:
            redis = redis_client(stores.redis_url)
            try:
                frontier = await open_frontier(redis, config)
                refusals: Sequence[str] = ()
                if verb == "start":
                    jobs, refusals = await _start(Jobs(frontier), names, plans, again=opts.again)
                else:
                    jobs = await _act(Jobs(frontier), verb, names)
                if verb not in {"list", "show"}:
                    target = " ".join(job.id for job in jobs)
                    await record_command(redis, frontier.keys, f"jobs {verb}", target, len(jobs))
                return jobs, refusals
            finally:
                await redis.aclose()

        jobs, refusals = asyncio.run(work())
        if verb != "list":
            record(stores.database_url, config.crawl, jobs)
        if jobs or not refusals:
            self._show(jobs, _notes(stores.database_url, jobs))
        if refusals:
            raise ConfigError("; ".join(refusals))

    def _show(self, jobs: Sequence[Job], notes_by_job: Mapping[str, str]) -> None:
        if self.as_json:
            self.show("", jobs=[{**_plain(job), "note": notes_by_job.get(job.id)} for job in jobs])
            return
        lazy_rich.Console().print(
            _table(jobs) if jobs else "no jobs; `scrapy jobs start URL` starts one"
        )
        for name, note in notes_by_job.items():
            print(f"{printable(name)}: {printable(note)}")


def _notes(database_url: str, jobs: Sequence[Job]) -> dict[str, str]:
    """Read the notes where PostgreSQL answers; the jobs themselves are in Redis."""
    try:
        return notes(database_url, [job.id for job in jobs]) if jobs else {}
    except StoreUnreachable as error:
        print(f"notes on jobs are not shown: {error}", file=sys.stderr)
        return {}


async def _start(
    jobs: Jobs, names: Sequence[str], plans: Sequence[Plan], *, again: bool
) -> tuple[list[Job], list[str]]:
    """Start a job for each site that is named; returns them, and why others do not start."""
    seeds_by_site: dict[str, dict[str, None]] = {}  # without duplicates
    for site_id, urls in (_seeds(name, plans) for name in names):
        seeds_by_site.setdefault(site_id, {}).update(dict.fromkeys(urls))
    started_at = await jobs.now()
    started, refusals = [], []
    for site_id, seeds in seeds_by_site.items():
        try:
            started.append(await jobs.start(site_id, list(seeds), started_at, again=again))
        except ConfigError as error:  # a site's running crawl keeps no other from its own
            refusals.append(str(error))
    return started, refusals


async def _act(jobs: Jobs, verb: str, names: Sequence[str]) -> list[Job]:
    """Pause, resume or cancel the named jobs, if that is the verb; returns them, or the newest."""
    if verb == "list":
        return await jobs.newest()
    named_jobs = [await _job(jobs, name) for name in names]
    actions: dict[str, Callable[[Job], Awaitable[None]]] = {
        "pause": jobs.pause,
        "resume": jobs.resume,
        "cancel": jobs.cancel,
    }
    if verb in actions:
        for job in named_jobs:
            await actions[verb](job)
    return [await _job(jobs, job.id) for job in named_jobs]


def _seeds(name: str, plans: Sequence[Plan]) -> tuple[str, Sequence[str]]:
    """Return the site id and the seeds for the name of a site, or for a URL."""
    plan = next((plan for plan in plans if plan.site_id == name and plan.seeds), None)
    if plan is not None:
        return plan.site_id, plan.seeds
    if "://" not in name:
        site_ids = ", ".join(p.site_id for p in plans if p.seeds) or "none"
        raise ConfigError(f"{name!r} is neither a URL nor a site with seeds ({site_ids})")
    try:
        return site_of(name), (name,)
    except ValueError as error:
        raise ConfigError(f"{name!r}: {error}") from None


async def _job(jobs: Jobs, name: str) -> Job:
    job = await jobs.get(name)
    if job is None:
        raise ConfigError(f"there is no job {name!r}; `scrapy jobs list` shows those there are")
    return job


def _plain(job: Job) -> dict[str, Any]:
    fields = attrs.asdict(job, filter=lambda field, _: field.name not in {"pace", "plan"})
    estimate = job.estimate(time.time())
    unknown = {"rate": None, "eta_s": None, "growing": False}
    ahead = attrs.asdict(estimate) if estimate is not None else unknown
    return {**fields, "left": job.left, **ahead}


def _table(jobs: Sequence[Job]) -> lazy_rich.Table:
    table = lazy_rich.Table(box=None, header_style="bold")
    for column in ("job", "state", "total", *ENDED, "left", "ETA"):
        table.add_column(column, justify="left" if column in {"job", "state"} else "right")
    for job in jobs:
        numbers = (job.total, *(getattr(job, name) for name in ENDED), job.left)
        eta = time_left(job.estimate(time.time())) if job.left else "–"
        table.add_row(job.id, job.state, *(f"{n:,}" for n in numbers), eta)
    return table
