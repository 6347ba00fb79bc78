"""Each page shows what the stores hold, as text, whatever a crawled site wrote."""

import asyncio
import re
import shutil
import subprocess
import uuid
from contextlib import closing
from functools import partial
from html import unescape

import orjson
import psycopg2
import pytest
from yarl import URL

from crawler.access.ladder import Decision
from crawler.access.ladder_store import LadderStore
from crawler.stores.quality import WEIGHTS, Quality, save
from scrapy_seine.frontier.runs import enter
from tests.helpers import execute, patient
from tests.integration.dashboard.conftest import (
    MARKUP,
    a_push,
    act,
    bury,
    page,
    serving,
    shown,
    store_product,
    worked,
)

PAGES = (
    *("/", "/domains", "/workers", "/frontier", "/dead", "/products", "/jobs", "/attempts"),
    *(
        "/quality",
        "/proxies",
        "/runs",
        "/frontier?url=https://shop.example/1",
        "/domains/shop.example",
    ),
)


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_of_an_empty_crawl_is_whole(client, path):
    async with client.get(path) as response:
        text = await response.text()

    assert response.status == 200
    assert text.startswith("<!doctype html>")
    assert text.endswith("</html>")
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert " style=" not in text
    assert " onclick=" not in text


@pytest.mark.parametrize("begin", ["/", "/c/{}/"])
async def test_each_link_leads_to_a_page(client, frontier, database, namespace, begin):
    """The ranges of the plots led to `/~?range=7d`, where nothing is."""
    await bury(frontier, "https://shop.example/gone?a=1&b=2")
    await frontier.push([a_push("https://shop.example/waits", 7)])
    await worked(frontier, done=3)
    store_product(database, "Lamp", id_="..")
    answers, waiting = {}, [begin.format(namespace)]
    while waiting and len(answers) < 150:
        path = waiting.pop(0)
        response = await client.get(URL(path, encoded=True))
        answers[path] = response.status
        links = re.findall(r'href="(/[^"#]*)"', await response.text())
        new_paths = {unescape(link) for link in links} - {*answers, *waiting}
        # Other tests leave crawls behind, some of them with broken keys.
        waiting += sorted(p for p in new_paths if not p.startswith("/c/") or namespace in p)
    assert [path for path, status in answers.items() if status != 200] == []
    assert any("range=" in path for path in answers)


@pytest.mark.parametrize("key", ["domain", "queue"])
async def test_a_domains_key_of_the_wrong_type_hides_no_other_domain(client, frontier, key):
    """The page of the whole crawl was a 503, which said that Redis does not answer."""
    for domain in ("shop.example", "other.example"):
        await frontier.redis.zincrby(frontier.keys.busiest, 1, domain)
    await frontier.redis.set(getattr(frontier.keys, key)("shop.example"), "junk")
    for path in ("/", "/domains"):
        assert "other.example" in await page(client, path)


async def test_a_key_of_the_wrong_type_is_named(client, frontier):
    await frontier.redis.delete(frontier.keys.busiest)
    await frontier.redis.set(frontier.keys.busiest, "junk")
    response = await client.get("/domains")
    assert response.status == 503
    assert f"Redis refuses a call: Command # 1 (ZREVRANGE {frontier.keys.busiest}" in unescape(
        await response.text()
    )


async def test_numbers_are_those_of_the_stores(client, frontier):
    await frontier.push([a_push(f"https://shop.example/{n}", n) for n in range(1234)])
    await frontier.renew("worker-7", [], ttl_ms=9000, info=orjson.dumps({"pages": 3}))
    await worked(frontier, done=77, retry=3)

    text = await shown(client, "/", "worker-7")

    for part in ("1,234", "worker-7", "shop.example", "96.2 %", "running"):
        assert part in unescape(text)


async def test_what_sites_wrote_is_shown_as_text(client, frontier, database):
    url = f"https://shop.example/{MARKUP}"
    id_ = await bury(frontier, url, MARKUP, MARKUP)
    await frontier.push([a_push(url)])
    await frontier.renew(MARKUP, [], ttl_ms=9000, info=orjson.dumps({"host": MARKUP, "pages": 1}))
    await worked(frontier, MARKUP, done=1)
    store_product(database, MARKUP, site=MARKUP, url=url)
    paths = [
        *PAGES,
        f"/dead/{id_}",
        "/products?q=%3Cscript%3E",
        "/domains?from=%3Cscript%3E",
        "/dead?text=%3Cscript%3E&reason=%3Cscript%3E",
        "/frontier?url=%3Cscript%3Ealert(1)%3C/script%3E",
        "/domains/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
    ]

    for path in paths:
        text = await page(client, path)
        assert "<script>alert" not in text, path
        assert "<img src=x" not in text, path
    assert "&lt;script&gt;alert(1)" in await shown(client, "/", MARKUP)


async def test_a_run_is_chosen_and_stands_beside_the_one_before(client, frontier):
    await enter(frontier, name="first", keep=False, age_ms=0)
    await frontier.push([a_push(f"https://shop.example/{n}", n) for n in range(3)])
    await enter(frontier, name=MARKUP, keep=False, age_ms=0)
    await frontier.push([a_push("https://shop.example/9", 9)])

    first, latest = await page(client, "/runs/1"), await page(client, "/runs")

    assert re.search(r"<td[^>]*>pushed</td><td[^>]*>3</td>", first)
    assert re.search(r"<td[^>]*>pushed</td><td[^>]*>1</td><td[^>]*>3</td>", latest)
    assert 'href="/runs/2" aria-current="true"' in latest
    assert 'href="/runs/1" aria-current="true"' in first
    assert "<h1>Run 2</h1>" in latest
    assert MARKUP not in latest
    assert 'href="/runs/1"' in await page(client, "/")
    assert "badge good" in latest
    assert "badge good" not in first
    await page(client, "/runs/3", status=404)
    await page(client, "/runs/99999999999999999999", status=404)


async def test_a_dead_letter_says_why(client, frontier):
    id_ = await bury(frontier, "https://shop.example/9", "5xx", "HTTP 503")
    await bury(frontier, "https://other.example/1", "timeout", "slow", domain="other.example")

    one = await page(client, f"/dead/{id_}")
    by_reason = await page(client, "/dead?reason=5xx")
    by_domain = await page(client, "/dead?in=other.example")
    by_text = await page(client, "/dead?text=SLOW")

    assert "HTTP 503" in one
    assert "https://shop.example/9" in one
    assert '"Authorization": "***"' in unescape(one)
    assert "text/*" in one
    assert "c2VjcmV0" not in one
    assert "shop.example/9" in by_reason
    assert "other.example" not in by_reason
    assert "shop.example/9" not in by_domain
    assert "other.example/1" in by_text
    assert "2 in all" in by_text
    await page(client, "/dead/999999", status=404)


async def test_a_url_is_found_in_each_state(client, frontier):
    await frontier.push([a_push("https://shop.example/ready")])
    await frontier.push([a_push("https://shop.example/later", not_before_ms=9_999_999_999_999)])
    await bury(frontier, "https://shop.example/dead")
    await frontier.push([a_push("https://shop.example/held", priority=4000)])
    await frontier.lease("worker-9", 1, ttl_ms=60_000)

    for name, word in (("ready", "ready"), ("later", "delayed"), ("held", "worker-9")):
        assert word in (await page(client, f"/frontier?url=https://shop.example/{name}"))
    assert 'href="/dead/' in await page(
        client, "/frontier?url=https://shop.example/dead?utm_source=x"
    )
    assert "Not among the first" in await page(client, "/frontier?url=https://shop.example/none")


async def test_a_product_shows_its_price_over_time(client, database):
    for price in (10, 12.5, 9):
        store_product(database, "A lamp", price=price)

    listed = await page(client, "/products?q=lamp")
    one = await page(client, "/products/shop/p1")

    assert "A lamp" in listed
    assert "9.00 EUR" in listed
    assert "<polyline" in one
    assert "12.5" in one
    assert "A lamp" not in await page(client, "/products?q=100%25")
    await page(client, "/products/shop/nothing", status=404)
    assert "A lamp" in await page(client, "/products?site=shop&order=cheapest")
    assert "No product matches." in await page(client, "/products?site=other")
    assert "No product matches." in await page(client, "/products?stock=PreOrder")
    assert "A lamp" in await page(client, "/products?order=no+such+order")


async def test_a_product_shows_how_sure_its_values_are(client, database):
    store_product(database, "A lamp", price=10)
    assert "How sure" not in await page(client, "/products/shop/p1")
    told = '{"confidence": {"name": 0.99, "price": 0.61}, "sources": {"price": "text"}}'
    execute(database, f"UPDATE products SET item = item || '{told}'")
    one = await page(client, "/products/shop/p1")
    assert "How sure each value is" in one
    assert one.index("61 %") < one.index("99 %")


async def test_events_send_what_changed(client, frontier):
    async with client.get("/events/overview") as response:
        assert response.headers["Content-Type"] == "text/event-stream"
        first = await read_event(response)
        await frontier.push([a_push(f"https://shop.example/{n}", n) for n in range(4321)])
        second = await read_event(response)

    parts = {"troubles", "state", "tiles", "chart", "where", "runs", "domains", "team", "reasons"}
    assert parts == set(first)
    assert "4,321" in second["tiles"]
    assert "team" not in second


async def read_event(response):
    async with asyncio.timeout(patient(10)):
        async for line in response.content:
            if line.startswith(b"data: "):
                return orjson.loads(line[6:])
    raise AssertionError("the stream ended")


async def test_a_store_that_is_away_is_named(namespace, redis_url, tmp_path):
    gone = f"unix://{tmp_path}/nobody.sock"
    async with serving(namespace, gone, "postgresql://127.0.0.1:1/nobody") as client:
        assert "Redis does not answer" in await page(client, "/", status=503)
        assert "PostgreSQL" in await page(client, "/products", status=503)
        assert "ok" in await page(client, "/healthz")
        await page(client, "/readyz", status=503)
        assert 'seine_store_up{crawl="' in await page(client, "/metrics")


async def test_the_json_is_the_overview(client, frontier):
    await frontier.push([a_push("https://shop.example/1")])

    text = await shown(client, "/api/overview", '"ready": 1')

    assert orjson.loads(text)["counts"]["ready"] == 1


async def test_an_action_shows_in_the_overview(client):
    await act(client, "pause")

    text = await page(client, "/")

    assert "Latest actions" in text
    assert "local (127.0.0.1)" in text


async def test_a_domain_shows_by_which_means_it_is_asked(client, redis_client, namespace):
    steps = LadderStore(redis_client, namespace)
    domain = f"d{uuid.uuid4().hex[:8]}.example"
    view = await steps.tally(domain, {"plain": (0, 5)})
    assert await steps.move(domain, view, Decision("climb", "tls", "5 of 5 answers were bad"))

    text = await page(client, f"/domains/{domain}")

    assert "plain to tls, 5 of 5 answers were bad" in text
    assert 'step="tls"} 1.0' in await page(client, "/metrics")


async def test_a_sites_quality_shows_with_what_fell(client, database):
    found = Quality(
        site_id="shop",
        products=50,
        rejected=1,
        changed=2,
        sane=1.0,
        coverage=dict.fromkeys(WEIGHTS, 0.5),
        fall="price fell",
    )
    with closing(psycopg2.connect(database)) as connection, connection:
        save(connection.cursor(), found)

    assert "price fell" in await page(client, "/quality")
    assert f'site="shop"}} {found.score}' in await page(client, "/metrics")


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")
async def test_promtool_finds_nothing_to_mend_in_the_fleets_metrics(client, frontier):
    await frontier.push([a_push("https://shop.example/1")])
    await worked(frontier, done=1)
    text = await page(client, "/metrics")

    check = partial(subprocess.run, check=False, input=text, capture_output=True, text=True)
    done = await asyncio.to_thread(check, ["promtool", "check", "metrics"])

    assert (done.returncode, done.stderr) == (0, "")
