"""The JSON API of jobs and schedules: the actions of the dashboard's forms, for programs.

A change needs the dashboard's token as a bearer, which no page in a browser can send; it is
recorded like that of a form. /api/v1/openapi.json describes the API. Each response is JSON; a
refusal is `{"error": …}` with one line.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

import attrs
import orjson
import psycopg2
from aiohttp import web

from crawler.catalogue.jobs.in_postgres import record
from crawler.catalogue.jobs.in_redis import JobConflict, Jobs
from crawler.catalogue.jobs.model import NAME, Job
from crawler.catalogue.jobs.schedules import MAX_SEEDS, Schedule, Schedules, checked
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
from scrapy_seine.frontier.change_priority import Changed, RequestSelection
from scrapy_seine.frontier.change_priority import checked as checked_priority
from scrapy_seine.reads.audit import record_action
from scrapy_seine.reads.kept_log_lines import read_log

Handler = Callable[[web.Request], Awaitable[web.Response]]
Fields = Mapping[str, Any]


def _refusal(kind: type[web.HTTPException], text: str) -> web.HTTPException:
    return kind(text=json.dumps({"error": text}), content_type="application/json")


def _with_refusals(handler: Handler) -> Handler:
    """Turn errors of the caller into a 400, what a job's state forbids into a 409."""

    async def wrapped(request: web.Request) -> web.Response:
        try:
            return await handler(request)
        except JobConflict as error:
            raise _refusal(web.HTTPConflict, str(error)) from None
        except (ConfigError, FrontierError, ValueError) as error:
            raise _refusal(web.HTTPBadRequest, " ".join(str(error).split())) from None

    return wrapped


async def fields_of(request: web.Request, known_names: Collection[str]) -> Fields:
    """Read a body that is one JSON object; an empty body is an empty object.

    Raises:
        ValueError: the body is no JSON object, or has a field outside *known_names*, because a
            misspelt `cron` would make a schedule that never starts.
    """
    try:
        body = await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise ValueError("the body has more than 1 MiB") from None
    if not body:
        return {}
    try:
        fields = orjson.loads(body)  # which also refuses NaN and halves of surrogate pairs
    except orjson.JSONDecodeError:
        raise ValueError("the body is no JSON") from None
    if not isinstance(fields, dict):
        raise ValueError("the body is no JSON object")
    for name in sorted(fields.keys() - known_names):
        raise ValueError(
            f"there is no field {name[:40]!r}; there are {', '.join(sorted(known_names))}"
        )
    return fields


def _texts(fields: Fields, name: str) -> list[str]:
    values = fields.get(name, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{name} is no list of texts")
    if len(values) > MAX_SEEDS:
        raise ValueError(f"{name} has more than {MAX_SEEDS} texts")
    return values


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    return value


def _flag(fields: Fields, name: str) -> bool:
    value = fields.get(name, False)
    if not isinstance(value, bool):
        raise ValueError(f"{name} is neither true nor false")
    return value


def _limit(request: web.Request, maximum: int) -> int:
    raw = request.query.get("limit", "50")
    digits = raw.lstrip("0") if raw.isascii() and raw.isdecimal() else ""
    if not digits or len(digits) > len(str(maximum)) or int(digits) > maximum:
        raise ValueError(f"limit is no whole number from 1 to {maximum}")
    return int(digits)


def plain_job(job: Job) -> dict[str, Any]:
    """Return a job as JSON values."""
    hidden = {"pace", "plan", "planned", "checked"}
    return {**attrs.asdict(job, filter=lambda field, _: field.name not in hidden), "left": job.left}


async def _job(request: web.Request) -> Job:
    name = request.match_info["job"]
    job = await Jobs(context_of(request).frontier).get(name) if NAME.fullmatch(name) else None
    if job is None:
        raise _refusal(web.HTTPNotFound, "there is no such job")
    return job


async def note(request: web.Request, verb: str, target: str, n: int = 1) -> None:
    """Record an action with its visitor, target and number of changes."""
    context = context_of(request)
    await record_action(
        context.redis,
        context.frontier.keys,
        who=request[WHO],
        origin=request.remote or "",
        verb=verb,
        target=target,
        result=str(n),
    )


async def list_jobs(request: web.Request) -> web.Response:
    """Return the newest jobs, newest first."""
    newest_jobs = await Jobs(context_of(request).frontier).newest(_limit(request, MOST_JOBS))
    return web.json_response({"jobs": [plain_job(job) for job in newest_jobs]})


async def show_job(request: web.Request) -> web.Response:
    """Return one job."""
    return web.json_response(plain_job(await _job(request)))


async def start_job(request: web.Request) -> web.Response:
    """Begin a site's full crawl."""
    fields = await fields_of(request, JOB_FIELDS)
    urls, site, again = _texts(fields, "urls"), _text(fields, "site"), _flag(fields, "again")
    context = context_of(request)
    urls = await _seeds(context, urls, site)
    if site and not urls:
        raise _refusal(web.HTTPNotFound, "no schedule of this site that names a URL is stored")
    job = await begin(context, urls, site, again=again)
    await note(request, "start_job", job.id)
    return web.json_response(plain_job(job), status=201)


async def _seeds(context: Context, urls: list[str], site: str) -> list[str]:
    """Return the seeds of a site's crawl: *urls*, or else those of its stored schedule."""
    schedule = await Schedules(context.frontier).get(site) if site and not urls else None
    return urls or list(schedule.seeds if schedule else ())


async def begin(context: Context, urls: list[str], site: str = "", *, again: bool) -> Job:
    """Begin a site's full crawl at *urls*, or at the seeds of its stored schedule.

    Raises:
        ValueError: there is no URL, or a URL is invalid.
        JobConflict: a running job of the site crawls these seeds, and *again* is not set.
    """
    seeds = await _seeds(context, urls, site)
    if not seeds:
        raise ValueError("urls names no URL, and no schedule of the site that does is stored")
    site_id = checked(site or site_of(seeds[0]), "", seeds, 0).site_id
    jobs = Jobs(context.frontier)
    job = await jobs.start(site_id, seeds, await jobs.now(), again=again)
    # If PostgreSQL does not answer, the coordinator records the job in its next step.
    with contextlib.suppress(StoreUnreachable, psycopg2.Error):
        await asyncio.to_thread(record, context.database.url, context.config.crawl, [job])
    return job


async def change_job(request: web.Request) -> web.Response:
    """Pause, resume or cancel a job."""
    job, jobs = await _job(request), Jobs(context_of(request).frontier)
    verb = request.match_info["verb"]
    await {"pause": jobs.pause, "resume": jobs.resume, "cancel": jobs.cancel}[verb](job)
    await note(request, f"{verb}_job", job.id)
    return web.json_response(plain_job(await _job(request)))


async def give_priority(context: Context, priority: str, **filters: str) -> Changed:
    """Set the priority of the selected queued requests.

    Raises:
        ConfigError: the priority is invalid, or the selection is empty.
    """
    selection = RequestSelection(**filters)
    if selection == RequestSelection():
        raise ConfigError("which requests? name a domain, job, site or url")
    return await context.frontier.set_priority(checked_priority(priority), selection)


async def set_priority(request: web.Request) -> web.Response:
    """Set the priority of queued requests."""
    fields = await fields_of(request, PRIORITY_FIELDS)
    priority = fields.get("priority")
    if isinstance(priority, float) and priority.is_integer():  # 1.0 is JSON's 1
        priority = int(priority)
    if not isinstance(priority, int) or isinstance(priority, bool):
        raise ValueError("priority is no whole number")
    selection = {name: _text(fields, name) for name in ("domain", "job", "site", "url")}
    result = await give_priority(context_of(request), str(priority), **selection)
    target = f"{priority}: {' '.join(filter(None, selection.values()))}"
    await note(request, "set_priority", target, result.changed)
    return web.json_response(attrs.asdict(result))


def plain_schedule(schedule: Schedule) -> dict[str, Any]:
    """Return a schedule as JSON values."""
    return {
        "site": schedule.site_id,
        "cron": schedule.cron,
        "urls": list(schedule.seeds),
        "paused": schedule.paused,
        "changed_at": schedule.changed_at,
    }


async def list_schedules(request: web.Request) -> web.Response:
    """Return the stored schedules, without those of site files."""
    stored_schedules = await Schedules(context_of(request).frontier).all()
    return web.json_response(
        {"schedules": [plain_schedule(schedule) for schedule in stored_schedules]}
    )


async def put_schedule(request: web.Request) -> web.Response:
    """Create or change a site's schedule."""
    fields = await fields_of(request, SCHEDULE_FIELDS)
    if not fields:
        raise ValueError(f"the body names none of {', '.join(SCHEDULE_FIELDS)}")
    frontier = context_of(request).frontier
    schedules, now_s = Schedules(frontier), await Jobs(frontier).now_s()
    cron, urls = _text(fields, "cron"), _texts(fields, "urls")
    schedule = checked(request.match_info["site"], cron, urls, now_s)
    schedule = attrs.evolve(schedule, paused=_flag(fields, "paused"))
    await schedules.put(schedule)
    await note(request, "set_schedule", f"{schedule.site_id} {schedule.cron}")
    return web.json_response(plain_schedule(schedule))


async def change_schedule(request: web.Request) -> web.Response:
    """Pause or resume a site's schedule, also that of its file."""
    verb, site = request.match_info["verb"], request.match_info["site"]
    frontier = context_of(request).frontier
    schedules, now_s = Schedules(frontier), await Jobs(frontier).now_s()
    schedule = await schedules.pause(site, now_s, paused=verb == "pause")
    await note(request, f"{verb}_schedule", schedule.site_id)
    return web.json_response(plain_schedule(schedule))


async def remove_schedule(request: web.Request) -> web.Response:
    """Remove a stored schedule, so that the site file's is used again."""
    site, frontier = request.match_info["site"], context_of(request).frontier
    if not await Schedules(frontier).remove(site, await Jobs(frontier).now_s()):
        raise _refusal(web.HTTPNotFound, "no schedule of this site is stored")
    await note(request, "remove_schedule", site)
    return web.json_response({"removed": site})


async def show_log(request: web.Request) -> web.Response:
    """Return the last lines of a worker's log, oldest first."""
    context, name = context_of(request), request.match_info["worker"]
    if len(name) > LONGEST_NAME:
        raise ValueError(f"a worker's name has {LONGEST_NAME} characters at most")
    lines = await read_log(context.redis, context.frontier.keys, name, _limit(request, MOST_LINES))
    return web.json_response({"worker": name, "lines": lines})


async def show_document(request: web.Request) -> web.Response:
    """Return the OpenAPI document."""
    return web.json_response(document())


def routes() -> list[web.RouteDef]:
    """Return the API's routes."""
    base, job, site = "/api/v1", "/jobs/{job}", "/schedules/{site}"
    return [
        web.get(f"{base}/openapi.json", show_document),
        web.get(f"{base}/jobs", _with_refusals(list_jobs)),
        web.post(f"{base}/jobs", _with_refusals(start_job)),
        web.get(f"{base}{job}", _with_refusals(show_job)),
        web.post(f"{base}{job}/{{verb:pause|resume|cancel}}", _with_refusals(change_job)),
        web.post(f"{base}/priority", _with_refusals(set_priority)),
        web.get(f"{base}/schedules", _with_refusals(list_schedules)),
        web.put(f"{base}{site}", _with_refusals(put_schedule)),
        web.delete(f"{base}{site}", _with_refusals(remove_schedule)),
        web.post(f"{base}{site}/{{verb:pause|resume}}", _with_refusals(change_schedule)),
        web.get(f"{base}/workers/{{worker}}/log", _with_refusals(show_log)),
    ]
