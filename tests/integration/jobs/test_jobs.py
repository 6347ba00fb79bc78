"""Jobs on a real frontier: counted by its scripts, planned by one coordinator at a time."""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime, timedelta
from functools import partial
from types import SimpleNamespace

import attrs
import orjson
import pytest
from scrapy.crawler import Crawler
from scrapy.statscollectors import MemoryStatsCollector

from crawler.catalogue.coordinator.leader import Coordinator
from crawler.catalogue.jobs.model import ENDED, Plan
from crawler.learned_sites import Templates
from crawler.storage import storage_of
from scrapy_seine.engine.ending.shutdown import cancel
from scrapy_seine.engine.spider import FrontierSpider
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier.model import Burial, Done, Push
from scrapy_seine.sinks.postgres.database import connect
from tests.helpers import patient, wait_until_async
from tests.integration.frontier_kit import TTL
from tests.integration.jobs.kit import NOW, PLAN, SEEDS, add_products, begin

pytestmark = [pytest.mark.redis, pytest.mark.postgres]


async def test_a_job_counts_what_its_requests_do(jobs, driver):
    job = await begin(jobs)
    assert (job.total, job.done, job.failed, job.left) == (2, 0, 0, 2)
    first, second = await driver.take(2)
    assert first.job == "shop-1"
    child = Push(domain="shop.example", blob=b"x", fingerprint=1, job="shop-1")
    await driver.f.commit([Done(lease=first, children=(child, child))])
    await driver.f.bury([Burial(lease=second, note=b"{}")])
    job = await jobs.get("shop-1")
    assert (job.total, job.done, job.failed, job.left) == (3, 1, 1, 1)
    await driver.f.requeue_dead([second.id])
    assert (await jobs.get("shop-1")).failed == 0


@pytest.mark.parametrize(
    ("rule", "counted"), [("gone", "ignored"), ("cancelled", "cancelled"), ("", "done")]
)
async def test_a_job_tells_apart_how_its_requests_ended(jobs, driver, rule, counted):
    """I10: a job whose only page is a 404 has read none."""
    await begin(jobs)
    (lease,) = await driver.take(1)
    await driver.f.commit([Done(lease=lease, rule=rule)])
    job = await jobs.get("shop-1")
    ended = {name: getattr(job, name) for name in ENDED}
    assert ended == {**dict.fromkeys(ENDED, 0), counted: 1}
    assert (job.total, job.left) == (2, 1)


async def test_a_late_ack_counts_for_no_job(jobs, driver):
    """I2."""
    await begin(jobs)
    (lease,) = await driver.take(1, ttl_ms=10)
    driver.later(20)
    await driver.f.reap(max_deliveries=5)
    await driver.ack(lease)
    assert (await jobs.get("shop-1")).done == 0


async def test_beginning_twice_makes_one_job_and_its_seeds_once(jobs, driver):
    await begin(jobs)
    assert (await begin(jobs)).total == 2
    assert len(await driver.take(9)) == 2


@pytest.mark.parametrize("end", ["finish", "cancel"])
async def test_who_starts_a_site_again_in_the_minute_of_its_end_gets_another_job(jobs, end):
    """A request that joined the job would count for one that is over, or be dropped with it."""
    ended = await jobs.start("shop", SEEDS, NOW)
    await getattr(jobs, end)(ended)
    again = await jobs.start("shop", SEEDS, NOW)
    assert (again.id, again.state, again.total) == (f"{ended.id}:2", "running", 2)
    assert (await jobs.get(ended.id)).total == 2


async def test_who_starts_the_same_twice_in_a_minute_gets_one_job_and_other_pages_another(jobs):
    """Of a job that Redis loses, the pages that its plan names are all that begins anew."""
    one = await jobs.start("shop", SEEDS, NOW)
    assert (await jobs.start("shop", SEEDS, NOW)).id == one.id
    other = await jobs.start("shop", ["http://shop.example/other"], NOW)
    assert (other.id, other.total) == (f"{one.id}:2", 1)
    assert (await jobs.get(one.id)).plan != other.plan


async def test_a_second_crawl_of_a_running_site_is_refused_unless_it_is_asked_for(jobs):
    """It would fetch the same pages again, with half of the site's pace for each."""
    later = NOW + timedelta(hours=1)
    first = await jobs.start("shop", SEEDS, NOW, again=False)
    assert (await jobs.start("shop", SEEDS, NOW, again=False)).id == first.id

    with pytest.raises(ConfigError, match=rf"job {first.id} crawls shop and has 2 requests left"):
        await jobs.start("shop", SEEDS[:1], later, again=False)
    assert await jobs.start("shop", SEEDS[:1], later, again=True)
    assert await jobs.start("shop", ["http://shop.example/other"], later, again=False)
    assert await jobs.start("other", SEEDS, later, again=False)
    for job in await jobs.running():
        await jobs.cancel(job)
    assert await jobs.start("shop", SEEDS, later, again=False)


async def test_each_job_fetches_the_same_pages_again(jobs, driver):
    await begin(jobs, "shop-1")
    assert (await begin(jobs, "shop-2")).total == 2


async def test_pause_and_resume_reach_the_workers(jobs, driver):
    job = await begin(jobs)
    await jobs.pause(job)
    assert await driver.take(9) == []
    await jobs.resume(await jobs.get(job.id))
    assert len(await driver.take(9)) == 2
    assert (await jobs.get(job.id)).state == "running"


@pytest.mark.parametrize("end", ["finish", "cancel"])
@pytest.mark.parametrize("verb", ["pause", "resume", "cancel"])
async def test_a_job_that_has_ended_stays_as_it_is(jobs, driver, verb, end):
    """A pause would stop its site for all other jobs; resumed, a cancelled one would run again."""
    job = await begin(jobs)
    await getattr(jobs, end)(job)
    ended = await jobs.get(job.id)
    with pytest.raises(ConfigError, match=rf"job {job.id} is {ended.state}"):
        await getattr(jobs, verb)(job)
    await jobs.finish(job)  # by a worker that read it before
    after = await jobs.get(job.id)
    assert (after.state, after.finished_at) == (ended.state, ended.finished_at)
    assert await driver.redis.xlen(driver.f.keys.events) == 1
    assert not await driver.redis.hexists(driver.f.keys.domain("shop.example"), "paused")


async def test_what_waits_for_a_cancelled_job_goes_at_once(jobs, driver):
    """I10: its domain may be parked for an hour, and workers would stay for nothing else."""
    job, other = await begin(jobs), await begin(jobs, "shop-2")
    await driver.f.block_until("shop.example", 3_600_000)
    await jobs.cancel(job)
    assert (await driver.f.counts()).undone == other.total == 2
    ended = await jobs.get(job.id)
    assert (ended.state, ended.cancelled, ended.left) == ("cancelled", 2, 0)
    assert (await jobs.get(other.id)).left == 2


async def test_what_is_told_as_cancelled_is_dropped_even_if_whoever_cancelled_it_dies(
    jobs, driver, monkeypatch
):
    """Its requests were crawled on, and no second call cancelled a job that had ended."""
    job = await begin(jobs)

    async def die(*args: object) -> None:
        raise KeyboardInterrupt

    for command in ("sadd", "publish"):
        monkeypatch.setattr(driver.redis, command, die)
    with pytest.raises(KeyboardInterrupt):
        await jobs.cancel(job)
    assert (await jobs.get(job.id)).state == "cancelled"
    assert await driver.redis.smembers(driver.f.keys.cancelled) == {job.id.encode()}


@pytest.mark.parametrize("kept", [b"junk", b"\xff \xfe\n"])
async def test_a_job_is_cancelled_though_its_domain_holds_junk(jobs, driver, kept):
    job = await begin(jobs)
    keys = driver.f.keys
    (first, *_) = await driver.redis.hkeys(keys.requests)
    await driver.redis.hset(keys.requests, first, kept)
    await jobs.cancel(job)
    assert (await jobs.get(job.id)).cancelled == 1
    other = await begin(jobs, "shop-2")
    await driver.redis.set(keys.queue("shop.example"), "of another type")
    await jobs.cancel(other)
    assert (await jobs.get(other.id)).state == "cancelled"


async def test_a_domain_that_holds_junk_keeps_no_other_domain_from_a_cancellation(jobs, driver):
    """One key of another type costs its own domain only: what waits elsewhere goes at once."""
    urls = ["https://a.example/1", "https://b.example/1", "https://c.example/1"]
    job = await jobs.begin("many-1", site_id="many", kind="full", urls=urls)
    await driver.redis.set(driver.f.keys.queue("a.example"), "of another type")
    await jobs.cancel(job)
    assert (await jobs.get(job.id)).cancelled == 2


@pytest.mark.parametrize("name", ["", "two words", "x" * 200])
async def test_a_bad_name_is_refused(jobs, name):
    with pytest.raises(ConfigError, match="no name of a job"):
        await begin(jobs, name)


async def test_a_bad_seed_is_named_and_nothing_begins(jobs):
    with pytest.raises(ConfigError, match="foo://x"):
        await jobs.begin("j", site_id="s", kind="full", urls=["foo://x"])
    assert await jobs.newest() == []


async def test_a_full_crawl_starts_once_however_many_plan_it(coordinator, driver):
    for _ in range(3):
        await coordinator.step(NOW)
    (job,) = await coordinator.jobs.newest()
    assert (job.id, job.total) == ("shop-full-20261121T0400", 2)
    await coordinator.step(NOW + timedelta(days=1))
    assert len(await coordinator.jobs.newest()) == 2


async def test_a_plan_that_was_cut_off_is_completed(coordinator, redis_client):
    """The leader dies after the job was named and before its seeds were pushed."""
    jobs = coordinator.jobs
    await jobs.begin("shop-full-20261121T0400", site_id="shop", kind="full", urls=())
    await redis_client.hdel(jobs._key("shop-full-20261121T0400"), "planned")
    await coordinator.step(NOW)
    (job,) = await jobs.newest()
    assert (job.total, job.state, job.planned) == (2, "running", True)


async def test_a_job_that_somebody_else_left_half_planned_is_completed(coordinator, redis_client):
    """Also one that is of no plan, or whose time is over: a command's own, killed meanwhile."""
    jobs = coordinator.jobs
    job = await begin(jobs, "by-hand")
    key = jobs._key(job.id)
    plan = {"urls": [*SEEDS, "http://shop.example/new"], "fields": {"callback": "parse_sitemap"}}
    await redis_client.hset(key, "plan", orjson.dumps(plan))
    await redis_client.hdel(key, "planned")
    await coordinator._take_over(job.started + timedelta(seconds=60))
    found = await jobs.get(job.id)
    assert (found.total, found.planned) == (3, True)
    assert await redis_client.hget(key, "planned") == b"1"


async def test_a_recrawl_with_work_left_goes_on_the_next_day(coordinator, database, driver):
    """Its products are due again, as they were not fetched: another job would send them twice."""
    (plan,) = coordinator.plans = [Plan(site_id="shop", recrawl_s=86_400)]
    add_products(database, (1.5, 3))
    today = datetime.now(UTC)
    await coordinator._recrawl(plan, today)
    await coordinator._recrawl(plan, today + timedelta(days=1))
    (job,) = await coordinator.jobs.newest()
    assert job.total == 2
    await driver.ack(*await driver.take(9))
    await coordinator._recrawl(plan, today + timedelta(days=1))
    assert [job.total for job in await coordinator.jobs.newest()] == [2, 2]


async def test_what_changed_before_the_last_full_crawl_is_no_news(coordinator, driver):
    plan = attrs.evolve(PLAN, schedule="", sitemaps=("http://shop.example/map.xml",))
    assert "since" not in (await coordinator._look_at_sitemaps(plan))["cb_kwargs"]
    job = await begin(coordinator.jobs)
    look = (await coordinator._look_at_sitemaps(plan))["cb_kwargs"]
    assert look == {"origin": SEEDS[0], "since": job.started.isoformat()}
    await coordinator.jobs.finish(job)
    look = (await coordinator._look_at_sitemaps(plan))["cb_kwargs"]
    assert look == {"origin": SEEDS[0], "since": job.started.isoformat(), "crawled": job.id}
    await driver.redis.hset(coordinator.jobs._key(job.id), "state", "cancelled")
    assert "since" not in (await coordinator._look_at_sitemaps(plan))["cb_kwargs"]


async def test_a_look_at_sitemaps_enters_nothing_in_the_scope_of_a_crawl_that_runs(
    coordinator, driver
):
    """Its links would not be followed, and the crawl would take them for seen."""
    plan = attrs.evolve(PLAN, sitemaps=("http://shop.example/map.xml",))
    await coordinator._plan_full_crawl(plan, NOW)
    await coordinator._plan_sitemap_look(plan, NOW)
    (first,) = await coordinator.jobs.newest()  # all of it is news: the crawl is on its way
    await coordinator.jobs.finish(first)
    tomorrow = NOW + timedelta(days=1)
    await coordinator._plan_full_crawl(plan, tomorrow)
    await coordinator._plan_sitemap_look(plan, tomorrow)
    second = next(job for job in await coordinator.jobs.running() if job.kind == "full")
    assert second.id != first.id
    assert (await coordinator._look_at_sitemaps(plan))["cb_kwargs"]["crawled"] == first.id


async def test_a_step_with_nothing_to_plan_reads_the_list_no_oftener_for_more_sites(
    coordinator, redis_client
):
    """With fifty sites a step took five seconds, and the leader's lock expires after ten."""
    sitemap = "http://shop.example/map.xml"
    coordinator.plans = [Plan(site_id=f"s{n}", seeds=SEEDS, sitemaps=(sitemap,)) for n in range(10)]
    await list_ended(coordinator.jobs, redis_client, 200)

    async def reads() -> int:
        return (await redis_client.info("commandstats"))["cmdstat_hgetall"]["calls"]

    await coordinator.step(NOW)
    before = await reads()
    await coordinator.step(NOW)
    assert await reads() - before < 5 * 210


async def test_a_complete_job_is_closed_and_recorded(coordinator, driver, database):
    await coordinator.step(NOW)
    leases = (await driver.f.lease("w", 9, ttl_ms=TTL)).leases
    await coordinator.step(NOW)
    assert (await coordinator.jobs.newest())[0].state == "running"
    await driver.ack(*leases)
    await coordinator.step(NOW)
    (job,) = await coordinator.jobs.newest()
    assert job.state == "finished"
    with connect(database) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT job_id, state, total, done, failed FROM jobs")
        assert cursor.fetchall() == [(job.id, "finished", 2, 2, 0)]


async def list_ended(jobs, redis, count, kind="news"):
    """List as many ended jobs that began after all others."""
    now, pipe = await jobs.now_s(), redis.pipeline(transaction=False)
    for n in range(count):
        values = {"state": "finished", "site_id": f"site{n}", "kind": kind, "started_at": now + n}
        pipe.hset(jobs._key(f"{kind}-{n}"), mapping=values)
        pipe.zadd(jobs._index, {f"{kind}-{n}": now + n})
    await pipe.execute()


async def test_a_job_ends_however_many_began_after_it(coordinator, driver, redis_client):
    """Hourly looks at the sitemaps of 42 sites are a thousand jobs in the day of a re-crawl."""
    jobs = coordinator.jobs
    job = await begin(jobs)
    await list_ended(jobs, redis_client, 1001)
    assert [found.id for found in await jobs.running()] == [job.id]
    await driver.ack(*await driver.take(9))
    await coordinator.step(datetime.now(UTC))
    assert (await jobs.get(job.id)).state == "finished"


async def test_the_list_of_jobs_does_not_grow_for_ever(coordinator, redis_client):
    jobs = coordinator.jobs
    last_full = await jobs.begin("old-full", site_id="site0", kind="full", urls=())
    await jobs.finish(last_full)
    running = await begin(jobs)
    await begin(jobs, "waits")  # in flight, and elsewhere
    await redis_client.hset(jobs._key("waits"), "state", "cancelled")
    await jobs.cancel(await begin(jobs, "cancelled"))
    await redis_client.sadd(jobs.frontier.keys.cancelled, "waits")
    await list_ended(jobs, redis_client, 1500)
    assert await jobs.unlist_ended() == 501
    assert await jobs.unlist_ended() == 0
    ends = [
        await redis_client.ttl(jobs._key(name)) for name in ("news-499", "news-500", "old-full")
    ]
    assert 0 < ends[0] <= 7 * 86_400, "Redis forgets it"
    assert ends[1:] == [-1, -1]
    listed = {job.id for job in await jobs.newest(0)}
    assert len(listed) == 1003
    assert {running.id, last_full.id, "waits", "news-1499", "news-500"} <= listed
    assert await redis_client.smembers(jobs.frontier.keys.cancelled) == {b"waits"}
    assert await jobs.get("news-0") is not None


async def test_workers_end_a_job_although_another_one_runs(
    jobs, driver, database, redis_url, monkeypatch
):
    """A fleet that stays, and has no coordinator, must not wait for the end of the whole crawl."""
    monkeypatch.setattr("crawler.periodic_tasks.REVIEW_S", 0.05)
    made = Crawler(FrontierSpider, {"DATABASE_URL": database, "REDIS_URL": redis_url})
    made.stats, made.spider = MemoryStatsCollector(made), FrontierSpider(name="x")
    worker_of(made).member = SimpleNamespace(frontier=driver.f)
    await begin(jobs, "shop-1")
    leases = await driver.take(9)
    await begin(jobs, "shop-2")
    storage = storage_of(made)
    await storage.open()
    storage.upkeep.join(Templates(database))
    await driver.ack(*leases)

    async def ended() -> bool:
        return (await jobs.get("shop-1")).state == "finished"

    await wait_until_async(ended, 20, "the first job ends")
    await storage.close()
    assert (await jobs.get("shop-2")).state == "running"


async def test_a_job_with_more_ends_than_requests_is_not_complete(jobs, driver, redis_client):
    """I12: some of its counters are lost, those of one partition say."""
    job = await begin(jobs)
    await redis_client.hset(jobs._key(job.id), mapping={"total": 0, "done": 1})
    found = await jobs.get(job.id)
    assert (found.left, found.complete) == (0, False)


async def test_one_coordinator_leads_and_another_takes_over(redis_client, namespace, database):
    first, second = (Coordinator(redis_client, namespace, database, [PLAN]) for _ in range(2))
    leader = asyncio.ensure_future(first.run())

    async def leads() -> bool:
        return first.leading

    await wait_until_async(leads, 10, "the first one leads")
    assert not await second._update_leadership()
    await cancel([leader])
    assert await second._update_leadership()


async def led(coordinator) -> bool:
    return coordinator.leading


async def test_a_coordinator_leaves_whenever_it_is_told_to(redis_client, namespace, database):
    """Also in the middle of a call: the client may take a cancellation for an answer."""
    dice = random.Random(3)
    for n in range(20):
        coordinator = Coordinator(redis_client, f"{namespace}-{n}", database, [PLAN])
        task = asyncio.ensure_future(coordinator.run())
        await wait_until_async(partial(led, coordinator), 10, "it leads")
        await asyncio.sleep(dice.uniform(0, 0.05))
        task.cancel()
        _, waiting = await asyncio.wait([task], timeout=patient(10))
        assert not waiting


async def test_products_are_sent_again_by_age_within_the_budget(
    redis_client, namespace, database, driver
):
    plan = Plan(site_id="shop", recrawl_s=86_400, budget=2)
    coordinator = Coordinator(redis_client, namespace, database, [plan])
    add_products(database, (1.5, 3, 5, 0.5))
    for _ in range(2):
        coordinator._recrawled_at = None
        await coordinator.step(NOW)
    (job,) = await coordinator.jobs.newest()
    assert (job.kind, job.total) == ("recrawl", 2)
    taken = {lease.blob for lease in await driver.take(9)}
    assert [any(b"/p/%d" % n in blob for blob in taken) for n in range(4)] == [
        False,
        True,
        True,
        False,
    ]
