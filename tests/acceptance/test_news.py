"""A look at sitemaps and a full crawl that begin together: no product lost, none marked as gone."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import attrs
import pytest

from crawler.catalogue.coordinator.leader import Coordinator
from crawler.catalogue.jobs.model import Job, Plan
from crawler.stores.store_endpoints import redis_client
from tests.acceptance.conftest import Crawl, said
from tests.acceptance.test_ends import gone, links, product, run, shop, site
from tests.helpers import execute

pytestmark = [pytest.mark.acceptance, pytest.mark.redis, pytest.mark.postgres]
#: Only a page of the sitemap leads to this one, which the sitemap does not list.
HIDDEN = 15


def plan_both(crawl: Crawl, plan: Plan, order: str) -> list[Job]:
    """Let the coordinator begin both jobs in that order."""

    async def work() -> list[Job]:
        redis = redis_client(crawl.redis_url)
        coordinator = Coordinator(redis, crawl.name, crawl.database_url, [plan])
        now = datetime.now(UTC)
        first = {
            "together": plan,
            "news first": attrs.evolve(plan, schedule=""),
            "full first": attrs.evolve(plan, sitemaps=()),
        }[order]
        try:
            coordinator.plans = [first]
            await coordinator.step(now)
            coordinator.plans = [plan]
            await coordinator.step(now)
            return await coordinator.jobs.newest()
        finally:
            await redis.aclose()

    return asyncio.run(work())


@pytest.mark.parametrize("order", ["together", "news first", "full first"])
def test_a_full_crawl_follows_what_a_look_at_the_sitemap_fetched(crawl: Crawl, order: str) -> None:
    with site(shop()) as found:
        assert run(crawl, "yesterday", found.url, workers=1).state == "finished"
        execute(crawl.database_url, "UPDATE products SET scraped_at = scraped_at - interval '1 d'")
        new = {f"/p/{n}": (200, product(n)) for n in range(11, HIDDEN + 1)}
        found.pages.update(new)
        found.pages["/"] = (200, links("Lamps", "/c/1", "/c/2", "/c/3"))
        found.pages["/c/3"] = (200, links("New", *new))
        listed = "\n".join(found.url + path for path in found.pages if path != f"/p/{HIDDEN}")
        found.pages["/sitemap.xml"] = (200, listed)
        plan = Plan(
            site_id=crawl.name,
            seeds=(f"{found.url}/",),
            schedule="* * * * *",
            sitemaps=(f"{found.url}/sitemap.xml",),
        )
        jobs = plan_both(crawl, plan, order)
        assert {job.kind for job in jobs} == {"full", "news"}
        for _ in range(2):
            crawl.start()
        crawl.wait_for_end()
    logs = "".join(said(worker) for worker in crawl.workers.workers)
    assert crawl.query("SELECT count(*) FROM products") == [(HIDDEN,)], logs[-3000:]
    assert gone(crawl) == set()
    states = dict(crawl.query("SELECT job_id, state FROM jobs"))
    assert set(states.values()) == {"finished"}
    assert len(states) == 3
