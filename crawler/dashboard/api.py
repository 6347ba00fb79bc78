"""The JSON API of jobs and schedules: what the dashboard's forms do, for programs.

Whoever changes something sends the dashboard's token as a bearer, so that no page in a browser can;
each change is written down as a form's is. /api/v1/openapi.json describes all of it. Every answer
is JSON; a refusal is `{"error": …}` with one line.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import UTC, datetime
from typing import Any

import attrs
import orjson
import psycopg2
from aiohttp import web

from crawler.catalogue.jobs.in_postgres import record
from crawler.catalogue.jobs.in_redis import Jobs
from crawler.catalogue.jobs.model import ENDED_STATES, NAME, Job
from crawler.catalogue.jobs.schedules import MOST_SEEDS, Schedule, Schedules, checked
from crawler.dashboard.api_document import (
    JOB_FIELDS,
    LONGEST_NAME,
    MOST_JOBS,
    MOST_LINES,
    PRIORITY_FIELDS,
    SCHEDULE_FIELDS,
    document,
)
from crawler.dashboard.context import Context, context_of
from crawler.dashboard.security import WHO
from crawler.extract.links.registered_domain import site_of
from scrapy_seine.errors import ConfigError, FrontierError, StoreUnreachable
from scrapy_seine.frontier.change_priority import Changed, Which
from scrapy_seine.frontier.change_priority import checked as checked_priority
from scrapy_seine.reads.audit import note_deed
from scrapy_seine.reads.kept_log_lines import read_log

Handler = Callable[[web.Request], Awaitable[web.Response]]
Fields = Mapping[str, Any]


def _refusal(kind: type[web.HTTPException], text: str) -> web.HTTPException:
    return kind(text=json.dumps({"error": text}), content_type="application/json")


def _answering(handler: Handler) -> Handler:
    """Turn what a caller can mend into a 400."""

    async def answered(request: web.Request) -> web.Response:
        try:
            return await handler(request)
        except (ConfigError, FrontierError, ValueError) as error:
            raise _refusal(web.HTTPBadRequest, " ".join(str(error).split())) from None

    return answered


async def fields_of(request: web.Request, known: Collection[str]) -> Fields:
    """Read a body that is one JSON object; an empty body is an empty object.

    Raises:
        ValueError: it is none, or has a field that is not *known*: a misspelt `cron` would make a
            schedule that starts nothing.
    """
    try:
        raw = await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise ValueError("the body has more than 1 MiB") from None
    if not raw:
        return {}
    try:
        found = orjson.loads(raw)  # which also refuses NaN and halves of surrogate pairs
    except orjson.JSONDecodeError:
        raise ValueError("the body is no JSON") from None
    if not isinstance(found, dict):
        raise ValueError("the body is no JSON object")
    for name in sorted(found.keys() - known):
        raise ValueError(f"there is no field {name[:40]!r}; there are {', '.join(sorted(known))}")
    return found


def _texts(fields: Fields, name: str) -> list[str]:
    found = fields.get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise ValueError(f"{name} is no list of texts")
    if len(found) > MOST_SEEDS:
        raise ValueError(f"{name} has more than {MOST_SEEDS} texts")
    return found


def _text(fields: Fields, name: str) -> str:
    found = fields.get(name, "")
    if not isinstance(found, str):
        raise ValueError(f"{name} is no text")
    return found


def _limit(request: web.Request, most: int) -> int:
    raw = request.query.get("limit", "50")
    if not (raw.isascii() and raw.isdecimal()) or not 1 <= int(raw[:9]) <= most:
        raise ValueError(f"limit is no whole number from 1 to {most}")
    return int(raw)


def plain_job(job: Job) -> dict[str, Any]:
    """Lay a job out for JSON."""
    hidden = {"pace", "plan", "planned", "checked"}
    return {**attrs.asdict(job, filter=lambda field, _: field.name not in hidden), "left": job.left}


async def _job(request: web.Request) -> Job:
    name = request.match_info["job"]
    found = await Jobs(context_of(request).frontier).get(name) if NAME.fullmatch(name) else None
    if found is None:
        raise _refusal(web.HTTPNotFound, "there is no such job")
    return found


async def note(request: web.Request, verb: str, target: str, n: int = 1) -> None:
    """Write down who did what to what from here, and to how many."""
    context = context_of(request)
    await note_deed(
        context.redis,
        context.frontier.keys,
        who=request[WHO],
        origin=request.remote or "",
        verb=verb,
        target=target,
        result=str(n),
    )


async def list_jobs(request: web.Request) -> web.Response:
    """The newest jobs first."""
    found = await Jobs(context_of(request).frontier).newest(_limit(request, MOST_JOBS))
    return web.json_response({"jobs": [plain_job(job) for job in found]})


async def show_job(request: web.Request) -> web.Response:
    """One job."""
    return web.json_response(plain_job(await _job(request)))


async def start_job(request: web.Request) -> web.Response:
    """Begin a site's full crawl."""
    fields = await fields_of(request, JOB_FIELDS)
    urls, site = _texts(fields, "urls"), _text(fields, "site")
    context = context_of(request)
    urls = await _seeds(context, urls, site)
    if site and not urls:
        raise _refusal(web.HTTPNotFound, "no schedule of this site that names a URL is stored")
    job = await begin(context, urls, site)
    await note(request, "start_job", job.id)
    return web.json_response(plain_job(job), status=201)


async def _seeds(context: Context, urls: list[str], site: str) -> list[str]:
    """Return where a site's crawl begins: *urls*, or else what its stored schedule names."""
    stored = await Schedules(context.frontier).get(site) if site and not urls else None
    return urls or list(stored.seeds if stored else ())


async def begin(context: Context, urls: list[str], site: str = "") -> Job:
    """Begin a site's full crawl at *urls*, or where its stored schedule begins.

    Raises:
        ValueError: there is no URL, or one cannot be used.
    """
    seeds = await _seeds(context, urls, site)
    if not seeds:
        raise ValueError("urls names no URL, and no schedule of the site that does is stored")
    of = checked(site or site_of(seeds[0]), "", seeds, 0).site_id
    job = await Jobs(context.frontier).start(of, seeds, datetime.now(UTC))
    # Where PostgreSQL does not answer, the coordinator records the job at its next look.
    with contextlib.suppress(StoreUnreachable, psycopg2.Error):
        await asyncio.to_thread(record, context.database.url, context.config.crawl, [job])
    return job


async def change_job(request: web.Request) -> web.Response:
    """Pause, resume or cancel a job."""
    job, jobs = await _job(request), Jobs(context_of(request).frontier)
    verb = request.match_info["verb"]
    if job.state in ENDED_STATES:
        raise _refusal(web.HTTPConflict, f"job {job.id} is {job.state}")
    await {"pause": jobs.pause, "resume": jobs.resume, "cancel": jobs.cancel}[verb](job)
    await note(request, f"{verb}_job", job.id)
    return web.json_response(plain_job(await _job(request)))


async def give_priority(context: Context, priority: str, **chosen: str) -> Changed:
    """Give the queued requests that are chosen another priority.

    Raises:
        ConfigError: it is no priority, or nothing is chosen.
    """
    which = Which(**chosen)
    if which == Which():
        raise ConfigError("which requests? name a domain, job, site or url")
    return await context.frontier.set_priority(checked_priority(priority), which)


async def set_priority(request: web.Request) -> web.Response:
    """Give queued requests another priority."""
    fields = await fields_of(request, PRIORITY_FIELDS)
    priority = fields.get("priority")
    if isinstance(priority, float) and priority.is_integer():  # 1.0 is JSON's 1
        priority = int(priority)
    if not isinstance(priority, int) or isinstance(priority, bool):
        raise ValueError("priority is no whole number")
    chosen = {name: _text(fields, name) for name in ("domain", "job", "site", "url")}
    did = await give_priority(context_of(request), str(priority), **chosen)
    target = f"{priority}: {' '.join(filter(None, chosen.values()))}"
    await note(request, "set_priority", target, did.changed)
    return web.json_response(attrs.asdict(did))


def plain_schedule(one: Schedule) -> dict[str, Any]:
    """Lay a schedule out for JSON."""
    return {
        "site": one.site_id,
        "cron": one.cron,
        "urls": list(one.seeds),
        "paused": one.paused,
        "changed_at": one.changed_at,
    }


async def list_schedules(request: web.Request) -> web.Response:
    """The stored schedules; those of site files are not among them."""
    found = await Schedules(context_of(request).frontier).all()
    return web.json_response({"schedules": [plain_schedule(one) for one in found]})


async def put_schedule(request: web.Request) -> web.Response:
    """Make or change a site's schedule."""
    fields = await fields_of(request, SCHEDULE_FIELDS)
    if not fields:
        raise ValueError(f"the body names none of {', '.join(SCHEDULE_FIELDS)}")
    schedules = Schedules(context_of(request).frontier)
    cron, urls = _text(fields, "cron"), _texts(fields, "urls")
    paused = fields.get("paused", False)
    if not isinstance(paused, bool):
        raise ValueError("paused is neither true nor false")
    one = checked(request.match_info["site"], cron, urls, time.time())
    one = attrs.evolve(one, paused=paused)
    await schedules.put(one)
    await note(request, "set_schedule", f"{one.site_id} {one.cron}")
    return web.json_response(plain_schedule(one))


async def change_schedule(request: web.Request) -> web.Response:
    """Pause or resume a site's schedule, also that of its file."""
    verb, site = request.match_info["verb"], request.match_info["site"]
    schedules = Schedules(context_of(request).frontier)
    one = await schedules.pause(site, time.time(), paused=verb == "pause")
    await note(request, f"{verb}_schedule", one.site_id)
    return web.json_response(plain_schedule(one))


async def remove_schedule(request: web.Request) -> web.Response:
    """Forget a stored schedule: the site file's own holds again."""
    site = request.match_info["site"]
    if not await Schedules(context_of(request).frontier).remove(site):
        raise _refusal(web.HTTPNotFound, "no schedule of this site is stored")
    await note(request, "remove_schedule", site)
    return web.json_response({"removed": site})


async def show_log(request: web.Request) -> web.Response:
    """The last lines of a worker's log, oldest first."""
    context, name = context_of(request), request.match_info["worker"]
    if len(name) > LONGEST_NAME:
        raise ValueError(f"a worker's name has {LONGEST_NAME} characters at most")
    lines = await read_log(context.redis, context.frontier.keys, name, _limit(request, MOST_LINES))
    return web.json_response({"worker": name, "lines": lines})


async def show_document(request: web.Request) -> web.Response:
    """The OpenAPI document."""
    return web.json_response(document())


def routes() -> list[web.RouteDef]:
    """Return the API's routes."""
    at, job, site = "/api/v1", "/jobs/{job}", "/schedules/{site}"
    return [
        web.get(f"{at}/openapi.json", show_document),
        web.get(f"{at}/jobs", _answering(list_jobs)),
        web.post(f"{at}/jobs", _answering(start_job)),
        web.get(f"{at}{job}", _answering(show_job)),
        web.post(f"{at}{job}/{{verb:pause|resume|cancel}}", _answering(change_job)),
        web.post(f"{at}/priority", _answering(set_priority)),
        web.get(f"{at}/schedules", _answering(list_schedules)),
        web.put(f"{at}{site}", _answering(put_schedule)),
        web.delete(f"{at}{site}", _answering(remove_schedule)),
        web.post(f"{at}{site}/{{verb:pause|resume}}", _answering(change_schedule)),
        web.get(f"{at}/workers/{{worker}}/log", _answering(show_log)),
    ]
