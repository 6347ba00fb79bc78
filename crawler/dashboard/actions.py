"""The actions of a visitor: each one needs a confirmation, calls the frontier and is recorded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode, urlsplit

import attrs
from aiohttp import web

from crawler.catalogue.jobs.in_redis import JobConflict, Jobs
from crawler.catalogue.jobs.schedules import Schedules, checked
from crawler.dashboard.api import begin, give_priority, note
from crawler.dashboard.context import Context, context_of
from crawler.dashboard.html import tag
from crawler.dashboard.layout import hidden_token, page
from crawler.dashboard.security import form_of
from scrapy_seine.attrs_bases import Value
from scrapy_seine.errors import ConfigError, FrontierError
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.runs import forget_pages
from scrapy_seine.reads.dead_letters import Filter, search_dead
from scrapy_seine.urls import normalise

#: Most dead letters that one action changes.
MAX_LETTERS = 10_000
#: Pause between two replayed requests, because a replay must not be a burst, ms.
REPLAY_PAUSE_MS = 50
_MAX_DELAY_MS = 86_400_000
_MAX_CONCURRENCY = 10_000
_RESULT_PARAMETERS = ("done=", "n=")
#: Fields that select the queued requests for another priority.
_SELECTION_FIELDS = ("domain", "job", "site", "url")

Form = Mapping[str, str]


@attrs.frozen(eq=False, repr=False)
class Action(Value):
    """One action: its question and its function."""

    question: Callable[[Form], str]
    run: Callable[[Context, Form], Awaitable[int]]
    """Runs the action and returns the number of changes; raises ValueError for a bad form."""
    danger: bool = False


def _domain_of(form: Form) -> str:
    return form.get("domain", "")


def _scope_of(form: Form) -> str:
    return _domain_of(form) or "the whole crawl"


async def _pause(context: Context, form: Form) -> int:
    await context.frontier.pause(_domain_of(form))
    return 1


async def _resume(context: Context, form: Form) -> int:
    return int(await context.frontier.resume(_domain_of(form)))


async def _set_delay(context: Context, form: Form) -> int:
    if not _domain_of(form):
        raise ValueError("no domain is named")
    delay_ms = _number(form, "delay_ms", 0, _MAX_DELAY_MS)
    concurrency = _number(form, "concurrency", 1, _MAX_CONCURRENCY)
    await context.frontier.set_delay(_domain_of(form), delay_ms=delay_ms, concurrency=concurrency)
    return 1


async def _set_priority(context: Context, form: Form) -> int:
    selection = {name: form.get(name, "").strip() for name in _SELECTION_FIELDS}
    return (await give_priority(context, form.get("priority", ""), **selection)).changed


def _number(form: Form, name: str, low: int, high: int) -> int:
    raw = form.get(name, "")
    if not raw.isdecimal() or not low <= int(raw) <= high:
        raise ValueError(f"{name} is not a whole number from {low} to {high}")
    return int(raw)


async def _selected_ids(frontier: Frontier, form: Form) -> list[str]:
    """Return the ticked ids, or all that the filter matches."""
    if form.get("all") == "yes":
        letter_filter = Filter(
            reason=form.get("reason", ""),
            domain=form.get("in", ""),
            text=form.get("text", ""),
        )
        return [
            letter.id
            for letter in (await search_dead(frontier, letter_filter, limit=MAX_LETTERS))[0]
        ]
    return [id_ for id_ in form.get("id", "").split() if id_.replace(".", "", 1).isdecimal()]


async def _replay(context: Context, form: Form) -> int:
    ids = await _selected_ids(context.frontier, form)
    return await context.frontier.requeue_dead(ids, pause_ms=REPLAY_PAUSE_MS)


async def _purge(context: Context, form: Form) -> int:
    ids = await _selected_ids(context.frontier, form)
    return await context.frontier.purge(ids)


async def _job(context: Context, form: Form, verb: str) -> int:
    jobs = Jobs(context.frontier)
    job = await jobs.get(form.get("job", ""))
    if job is None:
        raise ValueError("there is no such job")
    methods = {"pause": jobs.pause, "resume": jobs.resume, "cancel": jobs.cancel}
    await methods[verb](job)
    return 1


def _on_job(verb: str, question: str, *, danger: bool = False) -> Action:
    return Action(
        lambda form: question.format(job=form.get("job", "")),
        lambda context, form: _job(context, form, verb),
        danger,
    )


async def _start_job(context: Context, form: Form) -> int:
    urls, site = form.get("url", "").split(), form.get("site", "").strip()
    await begin(context, urls, site, again=form.get("again") == "yes")
    return 1


async def _now_s(context: Context) -> float:
    """Return the time of Redis' clock, by which the coordinator compares schedules."""
    return await Jobs(context.frontier).now_s()


async def _set_schedule(context: Context, form: Form) -> int:
    site, cron = form.get("site", "").strip(), form.get("cron", "").strip()
    if not cron:
        raise ValueError("cron is empty")
    schedule = checked(site, cron, form.get("url", "").split(), await _now_s(context))
    await Schedules(context.frontier).put(schedule)
    return 1


async def _pause_schedule(context: Context, form: Form, *, paused: bool) -> int:
    site, now_s = form.get("site", ""), await _now_s(context)
    await Schedules(context.frontier).pause(site, now_s, paused=paused)
    return 1


async def _remove_schedule(context: Context, form: Form) -> int:
    now_s = await _now_s(context)
    return int(await Schedules(context.frontier).remove(form.get("site", ""), now_s))


async def _drain(context: Context, form: Form) -> int:
    """Publish the drain command for a worker."""
    worker = form.get("worker", "")
    if not worker or not worker.isprintable():
        raise ValueError("no worker is named")
    wake = context.frontier.keys.wake
    client: Any = context.redis
    await client.publish(wake, f"drain {worker}")
    return 1


async def _forget(context: Context, form: Form) -> int:
    return await forget_pages(context.frontier, [form.get("url", "")])


async def _seed(context: Context, form: Form) -> int:
    """Push a seed to the key from which workers take seeds."""
    url = form.get("url", "").strip()
    try:
        normalise(url)
    except ValueError as error:
        raise ValueError(f"{url[:200]!r} cannot be crawled: {error}") from None
    client: Any = context.redis
    push_methods = {"list": client.lpush, "set": client.sadd, "none": client.lpush}
    key_type = (await client.type(context.config.seeds)).decode()
    if key_type == "zset":
        await client.zadd(context.config.seeds, {url: 0})
    elif key_type in push_methods:
        await push_methods[key_type](context.config.seeds, url)
    else:
        raise ValueError(f"{context.config.seeds} is a {key_type}, which holds no seeds")
    return 1


def _letters(form: Form) -> str:
    if form.get("all") == "yes":
        return "all dead letters that match the filter"
    n = len(form.get("id", "").split())
    return "1 dead letter" if n == 1 else f"{n} dead letters"


def _selection_of(form: Form) -> str:
    return (
        ", ".join(f"{name} {form[name]}" for name in _SELECTION_FIELDS if form.get(name))
        or "nothing"
    )


def _limits_question(form: Form) -> str:
    delay, concurrency = form.get("delay_ms", "?"), form.get("concurrency", "?")
    return (
        f"Ask {_domain_of(form)} every {delay} ms, with {concurrency} requests in flight at most?"
    )


ACTIONS: Mapping[str, Action] = {
    "pause": Action(lambda form: f"Hand out no request of {_scope_of(form)}?", _pause),
    "resume": Action(lambda form: f"Go on with {_scope_of(form)}?", _resume),
    "drain": Action(
        lambda form: f"Let {form.get('worker', '')} finish its pages and exit?", _drain
    ),
    "set_delay": Action(_limits_question, _set_delay),
    "set_priority": Action(
        lambda form: f"Queue {_selection_of(form)} with priority {form.get('priority', '?')}?",
        _set_priority,
    ),
    "replay": Action(lambda form: f"Try {_letters(form)} again?", _replay),
    "purge": Action(
        lambda form: f"Remove {_letters(form)} for good? This cannot be undone.",
        _purge,
        danger=True,
    ),
    "pause_job": _on_job("pause", "Pause job {job}? Its sites are asked for nothing."),
    "resume_job": _on_job("resume", "Go on with job {job}?"),
    "cancel_job": _on_job("cancel", "Cancel job {job}? What is left is dropped.", danger=True),
    "seed": Action(
        lambda form: f"Crawl {form.get('url', '')} and all that it leads to on its site?", _seed
    ),
    "start_job": Action(
        lambda form: f"Start a full crawl at {form.get('url', '')}?",
        _start_job,
    ),
    "set_schedule": Action(
        lambda form: f"Crawl {form.get('site', '')} at {form.get('cron', '')} (UTC)?",
        _set_schedule,
    ),
    "pause_schedule": Action(
        lambda form: f"Start no crawl of {form.get('site', '')} by its schedule?",
        partial(_pause_schedule, paused=True),
    ),
    "resume_schedule": Action(
        lambda form: f"Start crawls of {form.get('site', '')} by its schedule again?",
        partial(_pause_schedule, paused=False),
    ),
    "remove_schedule": Action(
        lambda form: f"Forget the schedule of {form.get('site', '')}? Its file's own holds again.",
        _remove_schedule,
        danger=True,
    ),
    "forget": Action(
        lambda form: f"Forget that {form.get('url', '')} was seen, so that it is crawled again?",
        _forget,
    ),
}


async def act(request: web.Request) -> web.StreamResponse:
    """Show the action's question; run the action once it is confirmed."""
    verb = request.match_info["verb"]
    action = ACTIONS.get(verb)
    if action is None:
        raise web.HTTPNotFound(text="There is no such action.\n")
    form = await read_form(request)
    if form.get("sure") != "yes":
        return _ask(request, verb, action, form)
    try:
        n = await action.run(context_of(request), form)
    except JobConflict as error:
        raise web.HTTPConflict(text=f"{error}\n") from None
    except (ValueError, ConfigError, FrontierError) as error:
        raise web.HTTPBadRequest(text=f"{error}\n") from None
    await note(request, verb, _target(verb, form), n)
    raise web.HTTPSeeOther(_back(form.get("back", "/"), verb, n))


async def read_form(request: web.Request) -> dict[str, str]:
    """Return the form's fields; the values of a repeated field are joined by blanks."""
    fields: dict[str, str] = {}
    for name, value in (await form_of(request)).items():
        if isinstance(value, str):
            fields[name] = f"{fields[name]} {value}" if name in fields else value
    return fields


def _ask(request: web.Request, verb: str, action: Action, form: Form) -> web.Response:
    fields = {name: value for name, value in form.items() if name not in {"form_token", "sure"}}
    inputs = [tag.input(type="hidden", name=name, value=value) for name, value in fields.items()]
    sure = tag.input(type="hidden", name="sure", value="yes")
    button = tag.button("Yes", class_="danger" if action.danger else None, autofocus=True)
    return page(
        request,
        "Are you sure?",
        tag.p(action.question(form), class_="question"),
        tag.form(
            hidden_token(request),
            inputs,
            sure,
            button,
            tag.a("No, go back", href=_local(form.get("back", "/")), class_="button"),
            method="post",
            action=f"/do/{verb}",
            class_="actions",
        ),
    )


def _local(path: str) -> str:
    """Return the path if it is on this site, else `/`, because a form must not redirect elsewhere.

    >>> _local("/dead?reason=x"), _local("//evil.example"), _local("https://evil.example")
    ('/dead?reason=x', '/', '/')
    >>> _local("//["), _local("/\\t/[")
    ('/', '/')
    """
    is_local = path.startswith("/") and not path.startswith(("//", "/\\"))
    return path if is_local and path.isprintable() else "/"


def _back(path: str, verb: str, n: int) -> str:
    parts = urlsplit(_local(path))
    query = [
        pair for pair in parts.query.split("&") if pair and not pair.startswith(_RESULT_PARAMETERS)
    ]
    return f"{parts.path}?{'&'.join([*query, urlencode({'done': verb, 'n': n})])}"


def _target(verb: str, form: Form) -> str:
    """Return the target of an action, from its form."""
    target = (
        form.get("domain")
        or form.get("worker")
        or form.get("job")
        or form.get("site")
        or form.get("url")
        or form.get("id")
        or ""
    )
    if form.get("all") == "yes":
        target = " ".join(form.get(name, "") for name in ("reason", "in", "text")).strip() or "all"
    if verb == "set_delay":
        target = f"{target} {form['delay_ms']} ms {form['concurrency']}"
    if verb == "set_priority":
        target = f"{form['priority']}: {_selection_of(form)}"
    return target
