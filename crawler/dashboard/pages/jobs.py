"""Jobs: how far each is, and when it may be over."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from crawler.catalogue.jobs.in_redis import Jobs
from crawler.catalogue.jobs.model import ENDED, Job
from crawler.catalogue.jobs.schedules import Schedules
from crawler.dashboard.context import Context, context_of
from crawler.dashboard.html import Node, tag
from crawler.dashboard.layout import action_form, badge, labelled, moment, page, refusal, table
from crawler.reads.records import recorded_jobs
from scrapy_seine.errors import StoreError
from scrapy_seine.reads.formatting import count, share, time_left

SHOWN = 100
_SCHEDULE = ("Site", "When (UTC)", "Starts at", "State", "Actions")
_COUNTED = ("total", *ENDED)
_MOODS = {"running": "good", "paused": "warn", "cancelled": "bad", "done": ""}
#: What may be done to a job, by its state.
_VERBS = {
    "running": (("pause_job", "Pause"), ("cancel_job", "Cancel")),
    "paused": (("resume_job", "Resume"), ("cancel_job", "Cancel")),
}


async def jobs(request: web.Request) -> web.Response:
    """Show the jobs of the crawl, and older ones that only PostgreSQL remembers."""
    context = context_of(request)
    found = await Jobs(context.frontier).newest(SHOWN)
    now_s = (await context.overview(max_age_s=5)).fleet.at
    names = (
        *("Job", "Kind", "Site", "State", "Started (UTC)", "Actions"),
        *(name.title() for name in _COUNTED),
        *("Progress", "Time left"),
    )
    rows = [_row(request, job, now_s) for job in found]
    older: Node = await _older(context, {job.id for job in found})
    return page(
        request,
        "Jobs",
        tag.div(
            action_form(
                request,
                "start_job",
                "Start a full crawl",
                labelled("A shop's address", "url", "https://a-shop.example", required=True),
            ),
            class_="actions panel",
        ),
        table("The newest first", names, rows, words=6, empty=_NO_JOB),
        older,
        await _schedules(request),
    )


_NO_JOB = ("No job yet: ", tag.code("scrapy jobs start https://…"))


async def _schedules(request: web.Request) -> Node:
    """Schedules that were made here or by the API, and a form for another one."""
    rows = []
    for one in await Schedules(context_of(request).frontier).all():
        verb, label = ("resume_schedule", "Resume") if one.paused else ("pause_schedule", "Pause")
        buttons = [
            action_form(request, verb, label, site=one.site_id),
            action_form(request, "remove_schedule", "Remove", site=one.site_id),
        ]
        state = badge("paused", "warn") if one.paused else badge("on", "good")
        cron = one.cron or "that of its file"
        rows.append((one.site_id, cron, " ".join(one.seeds) or "–", state, buttons))
    fields = (
        labelled("Site", "site", "shop", required=True),
        labelled("When, as cron says it", "cron", "0 4 * * *", required=True),
        labelled("First page", "url", "https://shop.example/", required=True),
    )
    return [
        table(
            "Schedules beside those of the site files",
            _SCHEDULE,
            rows,
            words=5,
            empty="No schedule was made here; a site file may have one of its own.",
        ),
        tag.div(
            action_form(request, "set_schedule", "Set a schedule (UTC)", *fields),
            class_="actions panel",
        ),
    ]


def _row(request: web.Request, job: Job, now_s: float) -> tuple[Node, ...]:
    return (
        *(job.id, job.kind, job.site_id, badge(job.state, _MOODS.get(job.state, ""))),
        moment(job.started_at),
        [
            action_form(request, verb, label, job=job.id)
            for verb, label in _VERBS.get(job.state, ())
        ],
        *(count(getattr(job, name)) for name in _COUNTED),
        share(job.ended / job.total if job.total else None),
        time_left(job.estimate(now_s)) if job.left else "–",
    )


async def _older(context: Context, known: set[str]) -> Node:
    """Jobs of this crawl that Redis has forgotten, and the notes on any."""
    try:
        rows = await recorded_jobs(context.database, context.config.crawl)
    except StoreError as error:
        return refusal(error)
    cells = [_record(row) for row in rows if row["job_id"] not in known]
    names = ("Job", "Site", "State", "Finished (UTC)", *(name.title() for name in _COUNTED))
    noted = [(row["job_id"], row["note"]) for row in rows if row["note"]]
    return [
        table("What is to be known of them", ("Job", "Note"), noted, words=2) if noted else None,
        table("Older", names, cells, words=4) if cells else None,
    ]


def _record(row: dict[str, Any]) -> tuple[Node, ...]:
    finished = row["finished_at"]
    return (
        *(row["job_id"], row["site_id"] or "–", badge(row["state"])),
        moment(finished.timestamp()) if finished else "–",
        *(count(row.get(name, 0)) for name in _COUNTED),
    )
