"""Jobs: the progress of each, and its estimated end."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from crawler.catalogue.jobs.in_redis import Jobs
from crawler.catalogue.jobs.model import ENDED, Job
from crawler.catalogue.jobs.schedules import Schedules
from crawler.dashboard.context import Context, context_of
from crawler.dashboard.html import Node, tag
from crawler.dashboard.layout import (
    action_form,
    badge,
    labelled,
    moment,
    page,
    refusal,
    table,
    ticked,
)
from crawler.reads.records import recorded_jobs
from scrapy_seine.errors import StoreError
from scrapy_seine.reads.formatting import count, share, time_left

MAX_JOBS = 100
_SCHEDULE = ("Site", "When (UTC)", "Starts at", "State", "Actions")
_COUNTERS = ("total", *ENDED)
_MOODS = {"running": "good", "paused": "warn", "cancelled": "bad", "done": ""}
#: The actions on a job, by its state.
_ACTIONS = {
    "running": (("pause_job", "Pause"), ("cancel_job", "Cancel")),
    "paused": (("resume_job", "Resume"), ("cancel_job", "Cancel")),
}


async def jobs(request: web.Request) -> web.Response:
    """Show the jobs of the crawl, and older ones that only PostgreSQL has."""
    context = context_of(request)
    newest_jobs = await Jobs(context.frontier).newest(MAX_JOBS)
    now_s = (await context.overview(max_age_s=5)).fleet.at
    names = (
        *("Job", "Kind", "Site", "State", "Started (UTC)", "Actions"),
        *(name.title() for name in _COUNTERS),
        *("Progress", "Time left"),
    )
    rows = [_row(request, job, now_s) for job in newest_jobs]
    older: Node = await _older(context, {job.id for job in newest_jobs})
    return page(
        request,
        "Jobs",
        tag.div(
            action_form(
                request,
                "start_job",
                "Start a full crawl",
                labelled("A shop's address", "url", "https://a-shop.example", required=True),
                ticked("Again, beside a running job of this address", "again"),
            ),
            class_="actions panel",
        ),
        table("The newest first", names, rows, words=6, empty=_NO_JOB),
        older,
        await _schedules(request),
    )


_NO_JOB = ("No job yet: ", tag.code("scrapy jobs start https://…"))


async def _schedules(request: web.Request) -> Node:
    """Render the schedules that were set here or by the API, and a form for a new one."""
    rows = []
    for schedule in await Schedules(context_of(request).frontier).all():
        verb, label = (
            ("resume_schedule", "Resume") if schedule.paused else ("pause_schedule", "Pause")
        )
        buttons = [
            action_form(request, verb, label, site=schedule.site_id),
            action_form(request, "remove_schedule", "Remove", site=schedule.site_id),
        ]
        state = badge("paused", "warn") if schedule.paused else badge("on", "good")
        cron = schedule.cron or "that of its file"
        rows.append((schedule.site_id, cron, " ".join(schedule.seeds) or "–", state, buttons))
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
            for verb, label in _ACTIONS.get(job.state, ())
        ],
        *(count(getattr(job, name)) for name in _COUNTERS),
        share(job.ended / job.total if job.total else None),
        time_left(job.estimate(now_s)) if job.left else "–",
    )


async def _older(context: Context, redis_ids: set[str]) -> Node:
    """Render the jobs of this crawl that Redis no longer has, and the notes on all jobs."""
    try:
        rows = await recorded_jobs(context.database, context.config.crawl)
    except StoreError as error:
        return refusal(error)
    cells = [_record(row) for row in rows if row["job_id"] not in redis_ids]
    names = ("Job", "Site", "State", "Finished (UTC)", *(name.title() for name in _COUNTERS))
    notes = [(row["job_id"], row["note"]) for row in rows if row["note"]]
    return [
        table("What is to be known of them", ("Job", "Note"), notes, words=2) if notes else None,
        table("Older", names, cells, words=4) if cells else None,
    ]


def _record(row: dict[str, Any]) -> tuple[Node, ...]:
    finished = row["finished_at"]
    return (
        *(row["job_id"], row["site_id"] or "–", badge(row["state"])),
        moment(finished.timestamp()) if finished else "–",
        *(count(row.get(name, 0)) for name in _COUNTERS),
    )
