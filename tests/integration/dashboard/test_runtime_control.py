"""What the JSON API does, by the dashboard's forms; and a worker's log as a page."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import orjson

from crawler.catalogue.jobs.in_redis import Jobs
from crawler.catalogue.jobs.schedules import Schedules
from crawler.dashboard.context import Context
from scrapy_seine.reads.kept_log_lines import write_log
from tests.helpers import patient
from tests.integration.dashboard.conftest import MARKUP, act, serving

SHOP = "https://shop.example/"


async def test_jobs_and_schedules_are_begun_changed_and_ended_by_forms(client, frontier):
    schedules = Schedules(frontier)
    assert await act(client, "start_job", url=SHOP, back="/jobs") == "/jobs?done=start_job&n=1"
    assert [job.site_id for job in await Jobs(frontier).newest()] == ["shop.example"]
    await act(client, "set_schedule", site="shop", cron="0 4 * * *", url=SHOP)
    (made,) = await schedules.all()
    assert (made.site_id, made.cron, made.seeds) == ("shop", "0 4 * * *", (SHOP,))
    assert not made.paused
    await act(client, "pause_schedule", site="shop")
    assert (await schedules.get("shop")).paused
    assert "paused" in await (await client.get("/jobs")).text()
    await act(client, "resume_schedule", site="shop")
    assert not (await schedules.get("shop")).paused
    await act(client, "remove_schedule", site="shop")
    assert await schedules.all() == []


async def test_a_second_crawl_of_a_running_jobs_seeds_needs_its_tick_box(client, frontier):
    earlier = datetime.now(UTC) - timedelta(hours=1)
    first = await Jobs(frontier).start("shop.example", [SHOP], earlier)
    assert first.id in await act(client, "start_job", url=SHOP, status=409)
    assert 'name="again"' in await (await client.get("/jobs")).text()
    await act(client, "start_job", url=SHOP, again="yes")
    assert len(await Jobs(frontier).newest()) == 2


async def test_a_form_of_a_job_that_has_ended_meanwhile_changes_nothing(client, frontier):
    jobs = Jobs(frontier)
    job = await jobs.start("shop.example", [SHOP], datetime.now(UTC))
    await jobs.finish(job)
    for verb in ("pause_job", "resume_job", "cancel_job"):
        assert f"job {job.id} is finished" in await act(client, verb, job=job.id, status=409)
    assert (await jobs.get(job.id)).state == "finished"


async def test_a_wrong_schedule_is_refused_in_a_line(client):
    text = await act(client, "set_schedule", site="a", cron="often", url=SHOP, status=400)
    assert "no cron expression" in text


async def test_a_workers_log_is_a_page_and_its_lines_are_text(client, frontier):
    await write_log(frontier.redis, frontier.keys, "pod-1", [f"line {MARKUP}"])
    text = await (await client.get("/workers/pod-1/log")).text()
    assert "line &lt;script&gt;" in text
    assert "<script>alert" not in text
    assert "Nothing is known" in await (await client.get("/workers/nobody/log")).text()


async def test_a_worker_is_told_to_leave_by_the_channel_it_listens_to(client, frontier):
    async with frontier.redis.pubsub(ignore_subscribe_messages=True) as channel:
        await channel.subscribe(*frontier.channels)
        await act(client, "drain", worker="pod-1", back="/workers/pod-1")
        async with asyncio.timeout(patient(10)):
            async for message in channel.listen():
                assert message["data"] == b"drain pod-1"
                break
    assert "no worker is named" in await act(client, "drain", worker="", status=400)


async def test_a_workers_page_says_what_it_costs_and_where_it_is(client, frontier):
    info = {"pages": 9, "host": "node-1", "pid": 7, "cpu": 0.42, "memory": 3 << 20}
    info |= {"version": "1.2.3", "urls": [f"https://me:secret@shop.example/{MARKUP}", 5]}
    await frontier.renew("pod-1", [], ttl_ms=60_000, info=orjson.dumps(info))
    text = await (await client.get("/workers/pod-1")).text()
    for shown in ("42 %", "3.0 MiB", "1.2.3", "node-1 (7)", "Drain this worker", "***@shop"):
        assert shown in text, shown
    assert "secret@" not in text
    assert "<script>alert" not in text
    await frontier.renew("pod-2", [], ttl_ms=60_000, info=b'{"cpu": "x", "urls": 7, "memory": []}')
    assert "pod-2" in await (await client.get("/workers/pod-2")).text()


async def test_the_dashboard_ends_though_its_client_swallows_a_cancellation(
    namespace, redis_url, database, monkeypatch
):
    looking = asyncio.Event()

    async def swallow(context):
        looking.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ConnectionError("cancelled while connecting") from None

    monkeypatch.setattr(Context, "read_partitions", swallow)
    async with asyncio.timeout(patient(20)):
        async with serving(namespace, redis_url, database):
            await looking.wait()
