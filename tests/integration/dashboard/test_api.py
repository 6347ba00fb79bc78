"""The JSON API: jobs and schedules by programs, as its OpenAPI document says."""

from __future__ import annotations

import asyncio
import io
import json
import re
import time
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import orjson
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from crawler.catalogue.coordinator.leader import Coordinator
from crawler.catalogue.jobs.in_redis import Jobs
from crawler.catalogue.jobs.model import Plan
from crawler.catalogue.jobs.schedules import Schedules, checked, merged
from crawler.dashboard.api_document import document
from scrapy_seine.errors import ConfigError
from scrapy_seine.reads.audit import read_actions
from scrapy_seine.reads.kept_log_lines import KEEP, read_log, write_log
from tests.integration.dashboard.conftest import TOKEN, a_push, serving

BEARER = {"Authorization": f"Bearer {TOKEN}"}
SHOP = "https://shop.example/"


@pytest.fixture
async def api(namespace, redis_url, database):
    async with asking(namespace, redis_url, database) as ask:
        yield ask


@asynccontextmanager
async def asking(namespace, redis_url, database, token=TOKEN):
    async with serving(namespace, redis_url, database, token=token) as client:

        async def ask(method, path, body=None, headers=BEARER, data=None):
            sent = data if data is not None else None if body is None else json.dumps(body)
            answer = await client.request(method, f"/api/v1{path}", data=sent, headers=headers)
            assert answer.content_type == "application/json", (path, await answer.text())
            return answer.status, orjson.loads(await answer.read())

        yield ask


async def test_a_job_is_begun_paused_resumed_and_cancelled(api, frontier):
    status, job = await api("POST", "/jobs", {"urls": [SHOP]})
    assert (status, job["state"], job["site_id"], job["total"]) == (
        201,
        "running",
        "shop.example",
        1,
    )
    assert (await api("POST", "/jobs", {"urls": [SHOP]}))[1]["id"] == job["id"], "the same minute"
    for verb, state in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")):
        status, changed = await api("POST", f"/jobs/{job['id']}/{verb}")
        assert (status, changed["state"]) == (200, state)
        assert (await api("GET", f"/jobs/{job['id']}"))[1]["state"] == state
    assert (await api("POST", f"/jobs/{job['id']}/resume"))[0] == 409
    assert [one["id"] for one in (await api("GET", "/jobs"))[1]["jobs"]] == [job["id"]]
    raws = await frontier.redis.lrange(frontier.keys.actions, 0, -1)
    actions = [orjson.loads(raw)["verb"] for raw in raws]
    assert actions == ["cancel_job", "resume_job", "pause_job", "start_job", "start_job"]


async def test_a_second_crawl_of_a_running_jobs_seeds_needs_again(api, frontier):
    """It would fetch the same pages again, with half of the site's pace for each."""
    earlier = datetime.now(UTC) - timedelta(hours=1)
    first = await Jobs(frontier).start("shop.example", [SHOP], earlier)
    status, told = await api("POST", "/jobs", {"urls": [SHOP]})
    assert status == 409
    assert f"job {first.id} crawls shop.example" in told["error"]
    assert (await api("POST", "/jobs", {"urls": [SHOP], "again": "yes"}))[0] == 400
    status, second = await api("POST", "/jobs", {"urls": [SHOP], "again": True})
    assert (status, second["id"] != first.id) == (201, True)


async def test_half_a_letter_is_refused_before_a_job_begins(api, frontier):
    """JSON may name half of a surrogate pair, which no store can hold."""
    status, told = await api("POST", "/jobs", data='{"urls": ["https://shop.example/\\ud800"]}')
    assert (status, told) == (400, {"error": "the body is no JSON"})
    assert await Jobs(frontier).newest(1) == []


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"crn": "0 * * * *"}, "there is no field 'crn'; there are cron, paused, urls"),
        (None, "the body names none of cron, urls, paused"),
        ({}, "the body names none of cron, urls, paused"),
    ],
)
async def test_a_misspelt_schedule_replaces_none(api, body, told):
    """One without a cron expression would end the crawls that its site's file plans."""
    assert await api("PUT", "/schedules/shop", body) == (400, {"error": told})
    assert (await api("GET", "/schedules"))[1] == {"schedules": []}


async def test_a_schedule_starts_crawls_until_it_is_paused(api, frontier, database, namespace):
    """The coordinator reads what the API wrote at its next step; no past time is made up for."""
    assert (await api("PUT", "/schedules/shop", {"cron": "0 * * * *", "urls": [SHOP]}))[0] == 200
    coordinator = Coordinator(frontier.redis, namespace, database, [])
    jobs, now = Jobs(frontier), datetime.now(UTC)
    await coordinator.step(now)
    assert await jobs.newest() == [], "the last full hour was before the schedule"
    await coordinator.step(now + timedelta(hours=1))
    (job,) = await jobs.newest()
    assert (job.site_id, job.kind) == ("shop", "full")
    assert (await api("POST", "/schedules/shop/pause"))[1]["paused"] is True
    await coordinator.step(now + timedelta(hours=2))
    assert len(await jobs.newest()) == 1
    assert (await api("POST", "/schedules/shop/resume"))[1]["paused"] is False
    await coordinator.step(now + timedelta(hours=3))
    assert len(await jobs.newest()) == 2
    assert (await api("DELETE", "/schedules/shop"))[0] == 200
    await coordinator.step(now + timedelta(hours=4))
    assert len(await jobs.newest()) == 2
    assert (await api("DELETE", "/schedules/shop"))[0] == 404


async def test_a_schedule_is_dated_by_the_clock_of_redis(api, frontier, monkeypatch):
    """I6: one that a machine a day ahead had set started no crawl for a day."""
    schedules, tomorrow = Schedules(frontier), time.time() + 86_400
    monkeypatch.setattr(time, "time", lambda: tomorrow)
    await api("PUT", "/schedules/shop", {"cron": "0 * * * *", "urls": [SHOP]})
    stored = await schedules.get("shop")
    await api("POST", "/schedules/shop/pause")
    paused = await schedules.get("shop")
    assert stored.changed_at <= paused.changed_at <= await Jobs(frontier).now_s()


async def test_a_stored_schedule_wins_over_the_site_files(frontier):
    plans = [
        Plan(site_id="a", schedule="0 1 * * *", seeds=(SHOP,)),
        Plan(site_id="b", seeds=(SHOP,)),
    ]
    schedules = Schedules(frontier)
    assert merged(plans, await schedules.all()) == plans
    await schedules.pause("a", 5.0, paused=True)
    await schedules.put(checked("c", "0 2 * * *", ["https://c.example/"], 7.0))
    a, b, c = merged(plans, await schedules.all())
    assert (a.schedule, a.seeds) == ("", (SHOP,))
    assert b is plans[1]
    assert (c.schedule, c.seeds, c.since.timestamp()) == ("0 2 * * *", ("https://c.example/",), 7.0)


@pytest.mark.parametrize(
    ("site", "cron", "seeds"),
    [
        ("a b", "", []),
        ("", "", []),
        ("a", "every day", []),
        ("a", "0 0 31 2 *", []),
        ("a", "* * * * " * 100, []),
        ("a", "0 1 * * *", ["file:///etc/passwd"]),
        ("a", "0 1 * * *", [SHOP] * 1001),
    ],
)
def test_a_schedule_that_cannot_be_is_refused_in_a_line(site, cron, seeds):
    with pytest.raises(ConfigError) as refused:
        checked(site, cron, seeds, 0.0)
    assert "\n" not in str(refused.value)


async def test_junk_among_the_schedules_is_left_out(frontier):
    await frontier.redis.hset(
        frontier.keys.schedules,
        mapping={"a": b"\xff", "b": b"[1]", "c": b'{"cron": "x"}', "\x00": b"{}", "d": b"{}"},
    )
    assert [one.site_id for one in await Schedules(frontier).all()] == ["a", "b", "d"]


async def test_queued_requests_get_another_priority(api, frontier):
    await frontier.push([a_push(f"{SHOP}p/{n}") for n in range(3)])
    did = {"changed": 0, "unchanged": 0, "unreadable": 0}
    wanted = {"priority": -40, "domain": "shop.example", "url": f"{SHOP}*[02]"}
    assert (await api("POST", "/priority", wanted))[1] == did, "no wildcard but *"
    assert (await api("POST", "/priority", {"priority": 40.0, "url": f"{SHOP}p/2"}))[1][
        "changed"
    ] == 1
    (action, _) = await read_actions(frontier.redis, frontier.keys)
    assert (action.verb, action.target, action.result) == ("set_priority", f"40: {SHOP}p/2", "1")
    (first,) = (await frontier.lease("w", 1, ttl_ms=1000)).leases
    assert b"p/2" in first.blob
    for wrong in (
        {},
        {"priority": 1},
        {"priority": 4001, "domain": "a"},
        {"domain": "a"},
        {"priority": True, "domain": "a"},
        {"priority": "1", "domain": "a"},
        {"priority": 1, "domain": ["a"]},
    ):
        assert (await api("POST", "/priority", wrong))[0] == 400, wrong


@pytest.mark.parametrize(
    ("call", "status", "told"),
    [
        (("GET", f"/workers/{'w' * 121}/log"), 400, "a worker's name has 120 characters"),
        (("POST", "/jobs", {"site": "shop"}), 404, "no schedule of this site"),
        (("POST", "/jobs", {"urls": []}), 400, "urls names no URL"),
    ],
)
async def test_a_refusal_has_the_status_that_the_document_gives_it(api, call, status, told):
    """Schemathesis found names that the document forbids taken, and allowed bodies refused."""
    was, answer = await api(*call)
    assert (was, told in answer["error"]) == (status, True), answer


async def test_a_body_that_is_too_large_is_refused_in_json(api):
    body = io.BytesIO(json.dumps({"urls": [SHOP + "x" * (1 << 20)]}).encode())
    status, told = await api("PUT", "/schedules/shop", data=body)
    assert (status, told) == (400, {"error": "the body has more than 1 MiB"})


def pattern(name):
    """What the document says of a field of a schedule, or of the site in its path."""
    put = document()["paths"]["/api/v1/schedules/{site}"]["put"]
    if name == "site":
        found = put["parameters"][0]["schema"]["pattern"]
        return found.replace(r"\p{L}\p{N}", "0-9A-Za-zÀ-ÖØ-öα-ω一-鿿")  # which re does not know
    body = put["requestBody"]["content"]["application/json"]["schema"]["properties"][name]
    return body.get("items", body)["pattern"]


@given(
    site=st.from_regex(pattern("site").replace("$", r"\Z")),
    cron=st.from_regex(pattern("cron").replace("$", r"\Z")),
    url=st.from_regex(pattern("urls").replace("$", r"\Z")),
)
def test_what_the_document_allows_can_be_a_schedule(site, cron, url):
    """Programs check a body by the patterns before they send it."""
    assume(len(cron) <= 200)
    try:
        checked(site, cron, [url], 0.0)
    except ConfigError as error:
        told = str(error)
    else:
        return
    assert "never fires" in told


async def test_without_the_token_nothing_changes(api, namespace, redis_url, database):
    for headers in ({}, {"Authorization": "Bearer wrong-wrong-wrong-wrong"}):
        assert (await api("POST", "/jobs", {"urls": [SHOP]}, headers=headers))[0] == 401
    async with asking(namespace, redis_url, database, token="") as local:
        assert (await local("GET", "/jobs", headers={}))[0] == 200
        status, said = await local("POST", "/jobs", {"urls": [SHOP]}, headers={})
        assert (status, "SEINE_DASHBOARD_TOKEN" in said["error"]) == (403, True)


async def test_a_log_is_bounded_and_shown_oldest_first(api, frontier):
    await write_log(frontier.redis, frontier.keys, "w1", [f"line {n}" for n in range(3 * KEEP)])
    kept = await read_log(frontier.redis, frontier.keys, "w1", limit=10_000)
    assert KEEP <= len(kept) < 1.2 * KEEP
    status, told = await api("GET", "/workers/w1/log?limit=2")
    assert (status, told["lines"]) == (200, [f"line {3 * KEEP - 2}", f"line {3 * KEEP - 1}"])
    assert (await api("GET", "/workers/nobody/log"))[1]["lines"] == []


@pytest.mark.parametrize(
    ("limit", "status"),
    [("0000000002", 200), ("1000", 200), ("1001", 400), ("00000000099999", 400), ("0", 400)],
)
async def test_a_limit_is_what_its_digits_say(api, limit, status):
    assert (await api("GET", f"/workers/w1/log?limit={limit}"))[0] == status


async def test_an_outage_is_a_503_in_json(namespace, database):
    async with asking(namespace, "redis://127.0.0.1:1/0", database) as ask:
        assert (await ask("GET", "/jobs"))[0] == 503


OPERATIONS = [
    (method, path, operation)
    for path, methods in document()["paths"].items()
    for method, operation in methods.items()
]
TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(["shop", SHOP, "0 1 * * *", "http://[::1", "..", "%00", "a" * 300, "\x00"]),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
FIELDS = st.one_of(VALUES, TEXTS, st.lists(TEXTS, max_size=3))


def calls(operation):
    """Path, verb, body and query of one request."""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    names = body.get("schema", {}).get("properties", {})
    bodies = st.one_of(
        st.fixed_dictionaries({}, optional=dict.fromkeys(names, FIELDS)),
        st.fixed_dictionaries({}, optional=dict.fromkeys((*names, "crn"), FIELDS)),
        VALUES,
    )
    return st.tuples(
        TEXTS, st.integers(0, 2), st.one_of(bodies.map(json.dumps), st.binary()), TEXTS
    )


def quoted(text):
    """A path's part; dots alone would lead elsewhere before the API sees them."""
    part = quote(text.encode("utf-8", "surrogatepass"), safe="")
    return part if part.strip(".") else "x"


def address(path, method, operation, call):
    name, verb, _, limit = call
    verbs = [p["schema"]["enum"] for p in operation.get("parameters", []) if "enum" in p["schema"]]
    at = path.removeprefix("/api/v1")
    if verbs:
        at = at.replace("{verb}", verbs[0][verb % len(verbs[0])])
    at = re.sub(r"\{\w+\}", quoted(name).replace("\\", "\\\\"), at)
    return f"{at}?limit={quoted(limit)}" if method == "get" else at


def judge(operation, status, told):
    """A documented status, with the documented fields."""
    assert status in {int(code) for code in operation["responses"]} | {404, 405}, told
    assert status < 500
    if status >= 400:
        assert list(told) == ["error"]
        assert "\n" not in told["error"]
        return
    schemas = document()["components"]["schemas"]
    schema = operation["responses"][str(status)]["content"]["application/json"]["schema"]
    schema = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    assert set(schema["required"]) == set(told)


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS)
def test_the_api_does_what_its_document_says(method, path, operation, where):
    """Any body, path and query: never a 5xx."""
    loop = asyncio.new_event_loop()
    context = asking(*where)
    ask = loop.run_until_complete(context.__aenter__())

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(call=calls(operation))
    def attempt(call):
        at = address(path, method, operation, call)
        data = None if method == "get" else call[2]
        judge(operation, *loop.run_until_complete(ask(method.upper(), at, data=data)))

    try:
        attempt()
    finally:
        loop.run_until_complete(context.__aexit__(None, None, None))
        loop.close()


@pytest.fixture
def where(namespace, redis_url, database):
    return namespace, redis_url, database
