"""Actions ask first, do what the frontier's verbs do, and are written down."""

from itertools import pairwise

import pytest

from crawler.catalogue.jobs.in_redis import Jobs
from crawler.dashboard.actions import ACTIONS
from crawler.dashboard.context import CONTEXT
from crawler.dashboard.layout import DONE
from scrapy_seine.fingerprint import fingerprint, within
from scrapy_seine.frontier.runs import enter
from scrapy_seine.reads.audit import read_actions
from scrapy_seine.reads.domains import read_domains
from tests.integration.dashboard.conftest import a_push, act, bury, page


async def counts(frontier):
    return await frontier.counts()


async def test_nothing_happens_before_the_answer(client, frontier):
    text = await act(client, "pause", sure=False, status=200)

    assert "the whole crawl?" in text
    assert not (await counts(frontier)).paused


async def test_a_crawl_is_paused_and_resumed(client, frontier):
    assert await act(client, "pause", back="/workers?x=1") == "/workers?x=1&done=pause&n=1"
    assert (await counts(frontier)).paused

    await act(client, "resume")
    assert not (await counts(frontier)).paused


async def test_a_domain_is_paused_and_its_limits_set(client, frontier, redis_client):
    await frontier.push([a_push("https://shop.example/1")])
    await act(client, "pause", domain="shop.example")
    await act(client, "set_delay", domain="shop.example", delay_ms="1500", concurrency="3")

    (domain,) = await read_domains(redis_client, frontier.keys, ["shop.example"], 0)

    assert (domain.state, domain.delay_ms, domain.concurrency) == ("paused", 1500, 3)
    assert not (await counts(frontier)).paused


async def test_a_queue_gets_another_priority(client, frontier):
    await frontier.push(
        [a_push("https://shop.example/1"), a_push("https://b.example/1", domain="b.example")]
    )
    assert "Queue with it" in await page(client, "/domains/shop.example")
    assert "Queue with it" in await page(client, "/frontier")
    text = await act(client, "set_priority", sure=False, status=200, priority="7", url="https://b*")
    assert "url https://b* with priority 7?" in text

    await act(client, "set_priority", priority="7", domain="shop.example", job="", site="", url="")

    leases = (await frontier.lease("w", 2, ttl_ms=1000)).leases
    assert {lease.domain: lease.level for lease in leases} == {
        "shop.example": 3993,
        "b.example": 4000,
    }


async def test_a_replay_of_many_dead_letters_is_no_burst(client, frontier):
    for n in range(501):
        await bury(frontier, f"https://shop.example/{n}")
    await act(client, "replay", all="yes", reason="timeout", back="/dead")
    rows = await frontier.redis.zrange(frontier.keys.delayed, 0, -1, withscores=True)
    times = [at for _, at in rows]
    assert len(times) == 501
    assert min(after - before for before, after in pairwise(times)) == 50


async def test_ticked_dead_letters_go_back(client, frontier):
    ids = [await bury(frontier, f"https://shop.example/{n}") for n in range(3)]

    leads = await act(client, "replay", id=" ".join(ids[:2]), back="/dead")

    assert leads == "/dead?done=replay&n=2"
    assert ((await counts(frontier)).dead, (await counts(frontier)).delayed) == (1, 2)


async def test_all_that_match_are_removed_and_nothing_else(client, frontier):
    for n in range(3):
        await bury(frontier, f"https://shop.example/{n}", "5xx")
    await bury(frontier, "https://shop.example/4", "timeout")
    await frontier.push([a_push("https://shop.example/5")])

    await act(client, "purge", all="yes", reason="5xx")

    left = await counts(frontier)
    assert (left.dead, left.ready, left.undone) == (1, 1, 1)


async def test_a_forgotten_url_may_be_pushed_again(client, frontier):
    url = "https://shop.example/1"
    push = a_push(url, fingerprint(url))
    assert await frontier.push([push, push]) == ["OK", "DUPLICATE"]

    await act(client, "forget", url=url)

    assert await frontier.push([push]) == ["OK"]


async def test_a_page_of_a_run_is_forgotten_too(client, frontier):
    """What a start request led to is remembered by its run, and each crawl is one."""
    url = "https://shop.example/1"
    number = (await enter(frontier, name="", keep=False, age_ms=0))[0]
    push = a_push(url, within(f"run {number}", fingerprint(url)))
    assert await frontier.push([push]) == ["OK"]

    await act(client, "forget", url=url)

    assert await frontier.push([push]) == ["OK"]


def test_each_action_says_what_it_did():
    """A visitor who reads nothing afterwards presses the button again."""
    assert set(DONE) == set(ACTIONS)


async def test_what_cannot_be_done_is_said_within_the_frame(client):
    text = await act(client, "seed", url="htp://shop.example", status=400)
    assert "cannot be crawled" in text
    assert "<nav" in text
    assert 'class="flash bad"' in text
    async with client.get("/nosuch") as answer:
        assert answer.status == 404
        assert "There is no such page" in await answer.text()


async def test_seeds_that_nobody_takes_are_a_trouble(client):
    """'nothing left to do' beside a seed that was just pushed would be untrue."""
    await act(client, "seed", url="https://shop.example/")
    text = await page(client, "/")
    assert "1 seed not taken, because no worker runs" in text
    assert "nothing left to do" not in text


async def test_each_action_is_written_down(client, frontier, redis_client, caplog):
    caplog.set_level("INFO", logger="scrapy_seine.reads.audit")
    await act(client, "pause", domain="shop.example")

    (action,) = await read_actions(redis_client, frontier.keys)

    assert (action.verb, action.target, action.who, action.origin) == (
        *("pause", "shop.example", "local", "127.0.0.1"),
    )
    assert "pause by local from 127.0.0.1: shop.example" in caplog.text


@pytest.mark.parametrize(
    ("verb", "fields"),
    [
        ("set_delay", {"domain": "shop.example", "delay_ms": "-1", "concurrency": "1"}),
        ("set_delay", {"domain": "shop.example", "delay_ms": "x", "concurrency": "1"}),
        ("set_delay", {"domain": "shop.example", "delay_ms": "1", "concurrency": "0"}),
        ("set_delay", {"delay_ms": "1", "concurrency": "1"}),
        ("set_priority", {"priority": "1"}),
        ("set_priority", {"priority": "x", "domain": "shop.example"}),
        ("set_priority", {"domain": "shop.example"}),
        ("forget", {"url": "no url"}),
    ],
)
async def test_a_bad_form_changes_nothing(client, verb, fields):
    assert "Traceback" not in await act(client, verb, status=400, **fields)


async def test_an_unknown_verb_is_refused(client):
    await act(client, "clear", status=404)


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "/\\evil.example", ""])
async def test_an_action_never_leads_elsewhere(client, back):
    assert await act(client, "resume", back=back) == "/?done=resume&n=0"


async def test_a_job_is_shown_paused_and_cancelled(client, frontier):
    jobs = Jobs(frontier)
    url = "https://shop.example/"
    await jobs.begin("shop-full-1", site_id="shop", kind="full", urls=[url])

    text = await page(client, "/jobs")
    assert "shop-full-1" in text
    assert "running" in text
    for verb, state in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled")):
        await act(client, f"{verb}_job", job="shop-full-1")
        assert (await jobs.get("shop-full-1")).state == state
    await act(client, "pause_job", job="nobody", status=400)


async def test_a_shop_is_crawled_from_the_first_page(client, redis_client):
    seeds = client.app[CONTEXT].config.seeds
    await act(client, "seed", url="https://shop.example/sale")

    assert await redis_client.lrange(seeds, 0, -1) == [b"https://shop.example/sale"]
    assert "cannot be crawled" in await act(client, "seed", url="no address", status=400)
    assert await redis_client.llen(seeds) == 1


async def test_a_seed_joins_whatever_kind_of_key_there_is(client, redis_client):
    seeds = client.app[CONTEXT].config.seeds
    await redis_client.zadd(seeds, {"https://shop.example/1": 5})
    await act(client, "seed", url="https://shop.example/2")

    assert await redis_client.zcard(seeds) == 2
