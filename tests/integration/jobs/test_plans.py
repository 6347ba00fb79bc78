"""What a coordinator sends again, and that no site's plan stands in another one's way."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from crawler.catalogue.coordinator import leader
from crawler.catalogue.coordinator.leader import Coordinator
from crawler.catalogue.jobs.in_postgres import unended
from crawler.catalogue.jobs.model import Plan
from crawler.catalogue.jobs.schedules import checked
from crawler.stores.products import mark_vanished
from crawler.stores.rows import Vanished
from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier.model import Burial, Done
from scrapy_seine.sinks.postgres.database import transaction
from tests.helpers import execute
from tests.integration.frontier_kit import TTL
from tests.integration.jobs.kit import NOW, PLAN, SEEDS, add_products

pytestmark = [pytest.mark.redis, pytest.mark.postgres]


@pytest.mark.parametrize(("budget", "looked_at"), [(2, {0, 3}), (0, {0, 2, 3})])
async def test_a_page_that_shows_no_product_is_looked_at_again_when_its_period_is_over(
    namespace, database, driver, budget, looked_at
):
    """By its last good look its product waits longest, each day anew, and took the whole budget."""
    plan = Plan(site_id="shop", recrawl_s=86_400, budget=budget)
    add_products(database, (3, 9, 9, 4))
    with transaction(database) as connection, connection.cursor() as cursor:
        for number, hours in ((1, 20), (2, 40)):
            url, missing_at = f"http://shop.example/p/{number}", NOW - timedelta(hours=hours)
            mark_vanished(cursor, [Vanished("shop", url, missing_at, final=False)])
    await Coordinator(driver.redis, namespace, database, [plan]).step(NOW)
    taken = [lease.blob for lease in await driver.take(9)]
    assert {n for n in range(4) if any(b"/p/%d" % n in blob for blob in taken)} == looked_at


async def test_a_stored_address_without_a_host_name_ends_no_coordinator(
    redis_client, namespace, database, driver
):
    """A project's own items may have any; each next leader would end by it as well."""
    plan = Plan(site_id="shop", recrawl_s=86_400, budget=2)
    add_products(database, (9, 3, 3))
    execute(database, "UPDATE products SET url = 'http://shop..example/' WHERE external_id = '0'")
    await Coordinator(redis_client, namespace, database, [plan]).step(NOW)
    taken = [lease.blob for lease in await driver.take(9)]
    assert len(taken) == 2
    assert not any(b"shop..example" in blob for blob in taken)


async def test_a_site_whose_crawl_cannot_begin_keeps_no_other_from_its_own(
    redis_client, namespace, database, caplog
):
    """An operator's schedule had a name that left no room for a job's."""
    plans = [Plan(site_id="s" * 120, seeds=SEEDS, schedule="0 4 * * *"), PLAN]
    plans.insert(0, Plan(site_id="bad", seeds=("http://a..b/",), schedule="0 4 * * *"))
    coordinator = Coordinator(redis_client, namespace, database, plans)
    await coordinator.step(NOW)
    await coordinator.step(NOW)
    (job,) = await coordinator.jobs.newest()
    assert (job.site_id, job.planned) == ("shop", True)
    told = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert [text.split(":")[0] for text in told] == ["site bad", f"site {'s' * 120}"]


ZERO = rb'{"urls":["http://shop.example/\u0000"],"fields":{}}'


@pytest.mark.parametrize("plan", [b"\xff", b"{", b"[]", b'{"urls":[5],"fields":{}}', ZERO])
@pytest.mark.parametrize("planned", ["1", "0"])
async def test_a_plan_that_another_program_wrote_stops_no_coordinator(
    redis_client, coordinator, plan, planned
):
    """I8: it is read where the job is completed, recorded, and where another one would begin."""
    old = NOW - timedelta(days=1)
    await coordinator.jobs.begin("shop-1", site_id="shop", kind="full", urls=SEEDS)
    key = f"{coordinator.frontier.keys.prefix}job:shop-1"
    spoilt = {"plan": plan, "planned": planned, "started_at": old.timestamp()}
    await redis_client.hset(key, mapping=spoilt)
    await coordinator.step(NOW)
    (job,) = [job for job in await coordinator.jobs.newest() if job.id != "shop-1"]
    assert (job.site_id, job.planned) == ("shop", True)


async def test_a_seed_with_a_zero_byte_is_recorded_as_it_is_requested(coordinator, database):
    """PostgreSQL refused its job, so that no job of the crawl was recorded or ended any more."""
    seed = "http://shop.example/\0#top"
    await coordinator.jobs.begin("shop-1", site_id="shop", kind="full", urls=[seed])
    await coordinator.step(NOW)
    (recorded,) = [job for job in unended(database, coordinator.crawl) if job.id == "shop-1"]
    assert recorded.urls == ["http://shop.example/%00"]


async def test_a_schedule_is_refused_whose_site_leaves_no_room_for_a_jobs_name(driver):
    checked("s" * 90, "0 4 * * *", SEEDS, 0)
    with pytest.raises(ConfigError, match="90 at most"):
        checked("s" * 91, "0 4 * * *", SEEDS, 0)


async def test_products_whose_pages_cannot_be_read_take_no_further_look_of_the_day(
    redis_client, namespace, database, monkeypatch
):
    """They stay due, and were what each step chose again: no other product was fetched."""
    monkeypatch.setattr(leader, "BATCH", 2)
    plan = Plan(site_id="shop", recrawl_s=86_400)
    coordinator = Coordinator(redis_client, namespace, database, [plan])
    add_products(database, (9, 8, 3, 2))
    for numbers in ({0, 1}, {2, 3}, set()):
        coordinator._recrawled_at = None
        await coordinator.step(NOW)
        leases = (await coordinator.frontier.lease("w1", 9, ttl_ms=TTL)).leases
        taken = {n for n in range(4) if any(b"/p/%d" % n in lease.blob for lease in leases)}
        assert taken == numbers
        await coordinator.frontier.commit([Done(lease=lease) for lease in leases])


async def test_a_clock_that_was_ahead_for_a_while_stops_no_recrawl(
    redis_client, namespace, database
):
    """The next one came when the right time reached the wrong one: a day without any look."""
    coordinator = Coordinator(
        redis_client, namespace, database, [Plan(site_id="shop", recrawl_s=86_400)]
    )
    await coordinator.step(NOW + timedelta(days=1))
    add_products(database, (9, 8))
    await coordinator.step(NOW)
    assert len((await coordinator.frontier.lease("w1", 9, ttl_ms=TTL)).leases) == 2


def looked_at(database: str, number: int, at: datetime) -> None:
    """Store that a product's page was read."""
    with transaction(database) as connection, connection.cursor() as cursor:
        statement = "UPDATE products SET scraped_at = %s WHERE external_id = %s"
        cursor.execute(statement, (at, str(number)))


async def test_a_product_whose_page_cannot_be_read_is_asked_for_ever_more_rarely(
    redis_client, namespace, database, driver
):
    """By its last good look it was due each day, and came first: it took the budget for good."""
    plan = Plan(site_id="shop", recrawl_s=7 * 86_400, budget=4)  # two by noon
    add_products(database, (9, 8, 3, 2))
    asked = {number: [] for number in range(4)}
    for day in range(9):
        now = NOW + timedelta(days=day, minutes=day)
        # Each day another one leads, as after a restart.
        coordinator = Coordinator(redis_client, namespace, database, [plan], term_s=1)
        await coordinator.step(now)
        leases = await driver.take(9)
        for number in range(4):
            if any(b"/p/%d" % number in lease.blob for lease in leases):
                asked[number].append(day)
                if number > 1:  # the others' pages show an error
                    looked_at(database, number, now + timedelta(seconds=1))
        await driver.f.commit([Done(lease=lease) for lease in leases])
    assert asked[0] == asked[1] == [0, 1, 3, 7]
    assert min(len(asked[2]), len(asked[3])) >= 4
    looked_at(database, 0, NOW + timedelta(days=8))
    await Coordinator(redis_client, namespace, database, [plan]).step(NOW + timedelta(days=10))
    assert any(b"/p/0" in lease.blob for lease in await driver.take(9)), "it is read again"


@pytest.mark.parametrize("kind", ["news", "full"])
@pytest.mark.parametrize("end", ["buried", "ignored"])
async def test_a_look_that_reached_no_sitemap_lets_no_change_pass_unseen(
    namespace, database, driver, end, kind
):
    """For each change that is older than two days when the sitemap is there again."""
    plan = Plan(site_id="shop", seeds=SEEDS, sitemaps=("http://shop.example/map.xml",))
    coordinator = Coordinator(driver.redis, namespace, database, [plan])
    for hours, ends_well in ((0, True), (72, False), (73, False)):
        job = await coordinator.jobs.begin(
            f"{kind}-{hours}",
            site_id="shop",
            kind="news" if ends_well else kind,
            urls=plan.sitemaps,
        )
        started_at = (NOW + timedelta(hours=hours)).timestamp()
        await driver.redis.hset(coordinator.jobs._key(job.id), "started_at", str(started_at))
        await driver.redis.zadd(coordinator.frontier.keys.jobs, {job.id: started_at})
        (lease,) = await driver.take(1)
        if ends_well or end == "ignored":
            await driver.f.commit([Done(lease=lease, rule="" if ends_well else "robots")])
        else:
            await driver.f.bury([Burial(lease=lease, note=b"{}")])
        await coordinator.jobs.finish(job)
    look = (await coordinator._look_at_sitemaps(plan))["cb_kwargs"]
    assert look["since"] == (NOW - timedelta(days=2)).isoformat()
