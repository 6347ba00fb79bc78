"""What the JSON API does, by the dashboard's forms; and a worker's log as a page."""

from __future__ import annotations

from crawler.catalogue.jobs.schedules import Schedules
from crawler.catalogue.jobs.store import Jobs
from scrapy_seine.reads.worker_logs import write_log
from tests.integration.dashboard.conftest import MARKUP, act

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


async def test_a_wrong_schedule_is_refused_in_a_line(client):
    text = await act(client, "set_schedule", site="a", cron="often", url=SHOP, status=400)
    assert "no cron expression" in text


async def test_a_workers_log_is_a_page_and_its_lines_are_text(client, frontier):
    await write_log(frontier.redis, frontier.keys, "pod-1", [f"line {MARKUP}"])
    text = await (await client.get("/workers/pod-1/log")).text()
    assert "line &lt;script&gt;" in text
    assert "<script>alert" not in text
    assert "Nothing is known" in await (await client.get("/workers/nobody/log")).text()
