"""What dashboard, terminal and Prometheus say of a crawl is what was crawled and stored."""

import asyncio
import contextlib
import json
import shutil
from pathlib import Path

import pytest

from crawler.access.proxies.list_format import parse
from crawler.access.proxies.pool import ProxyPool
from crawler.demo.shop_process import served
from crawler.stores.store_endpoints import redis_client
from tests.acceptance.conftest import said
from tests.acceptance.operations import (
    get,
    metrics_url,
    prometheus,
    query,
    samples,
    told,
    watching,
)
from tests.helpers import wait_until

pytestmark = pytest.mark.acceptance

PRODUCTS = 300
#: Pages that a killed worker may have had in its hands, or not reported.
IN_HAND = 200
MONITORING = Path(__file__).parents[2] / "k8s" / "monitoring"
#: What this crawl cannot have: no quality was judged, no domain climbed, Redis has no limit.
EMPTY = {"Quality by site", "Domains by step of the ladder"}


@pytest.fixture
def watched(crawl):
    """A crawl whose workers tell what they see each second, on ports of their own."""
    crawl.workers.settings = {
        **crawl.workers.settings,
        "SEINE_METRICS_PORT": 0,
        "SEINE_TALLY_SECONDS": 1,
        "SEINE_FLEET": crawl.name,
    }
    return crawl


def test_all_counters_agree_after_a_kill(watched, redis_url, tmp_path):
    with (
        served(log=tmp_path / "log", products=PRODUCTS, latency_ms=30) as shop,
        watching(watched, redis_url, "dashboard") as dashboard,
        watching(watched, redis_url, "exporter") as exporter,
    ):
        watched.seed(shop.url)
        victim, _ = watched.start(), watched.start()
        wait_until(lambda: watched.total("done") >= PRODUCTS / 2, 60, "half of it is done")
        victim.kill()
        watched.wait_for_end()
        terminal = {}

        def agree():
            # The page is up to a second old, and meanwhile the killed worker is forgotten.
            terminal.update(told(watched, redis_url, "status"))
            return terminal["counts"] == json.loads(get(f"{dashboard}api/overview"))["counts"]

        wait_until(agree, 60, "terminal and browser show the same counts")
        metrics = samples(get(f"{exporter}metrics"))
        same = samples(get(f"{dashboard}metrics"))

    done = watched.total("done")
    name = f'{{crawl="{watched.name}",event="done"}}'
    assert terminal["counts"]["totals"]["done"] == done
    assert metrics[f"seine_frontier_events_total{name}"] == done
    assert same[f"seine_frontier_events_total{name}"] == done
    assert metrics[f'seine_store_up{{crawl="{watched.name}",store="postgresql"}}'] == 1
    assert terminal["counts"]["undone"] == terminal["counts"]["dead"] == 0
    # Tallies are told each second: what the victim had not told is missing, nothing is double.
    tallied = sum(domain["done"] for domain in terminal["domains"])
    assert done - IN_HAND <= tallied <= done
    items = sum(minute["items"] for minute in terminal["minutes"])
    assert len(watched.rows()) == PRODUCTS
    assert PRODUCTS - IN_HAND <= items <= PRODUCTS + IN_HAND


@pytest.mark.skipif(not shutil.which("prometheus"), reason="prometheus is not installed")
def test_each_panel_shows_data_of_a_real_crawl(watched, redis_url, tmp_path):
    panels = json.loads((MONITORING / "grafana-dashboard.json").read_text("utf-8"))["panels"]
    asyncio.run(_list_proxies(redis_url, watched.name))
    watched.workers.settings = {**watched.workers.settings, "SEINE_KEEP_ALIVE": 1}
    with (
        served(products=PRODUCTS, latency_ms=30) as shop,
        watching(watched, redis_url, "exporter") as exporter,
    ):
        workers = [watched.start(), watched.start()]
        ports = [metrics_url(worker).split("/")[2] for worker in workers]
        targets = {"fleet": [exporter.split("/")[2]], "workers": ports}
        with prometheus(tmp_path / "prometheus", MONITORING / "alerts.yaml", targets) as asked:
            wait_until(lambda: len(query(asked, "up == 1")) == 3, 20, "all is scraped")
            watched.seed(shop.url)
            wait_until(lambda: watched.total("done") >= PRODUCTS, 60, "some pages are done")
            expressions = {
                (panel["title"], target["expr"].replace("$crawl", watched.name))
                for panel in panels
                for target in panel.get("targets", [])
                if panel["title"] not in EMPTY and "_limit_" not in target["expr"]
            }

            lacking = set()

            def all_show():
                found = {title for title, expr in expressions if not query(asked, expr)}
                lacking.clear()
                lacking.update(found - MAY_LACK)
                return not lacking

            with contextlib.suppress(AssertionError):
                wait_until(all_show, 30, "each panel shows something")
            assert lacking == set()
            firing = query(asked, 'ALERTS{severity="critical",alertstate="firing"}')
            up = query(asked, "up")
    assert firing == []
    assert [series["value"][1] for series in up] == ["1"] * 3


#: Nothing failed, and no site asked for a pause.
MAY_LACK = {"Failures by kind", "Pauses that sites asked for"}


async def _list_proxies(redis_url, fleet):
    redis = redis_client(redis_url)
    proxies, _ = parse(["http://127.0.0.1:9"])
    await ProxyPool(redis, fleet).register(proxies)
    await redis.aclose()


def test_log_lines_are_json_where_a_collector_wants_them(watched, tmp_path):
    watched.workers.settings = {**watched.workers.settings, "SEINE_LOG_FORMAT": "json"}
    with served(log=tmp_path / "log", products=20) as shop:
        watched.seed(shop.url)
        worker = watched.start()
        wait_until(lambda: "joins crawl" in said(worker), 30, "a worker that joins")
        watched.wait_for_end()
    # What is logged before the worker has joined keeps Scrapy's form.
    _, _, after = said(worker).partition("metrics at ")
    lines = [json.loads(line) for line in after.splitlines()[1:]]

    assert len(lines) > 2
    assert all(line["worker"] and line["level"] and line["time"] for line in lines)
    assert not [x for x in lines if x["level"] == "INFO" and "Scraped" in x["message"]]


def test_the_exporter_starts_while_a_store_is_away(crawl):
    with watching(crawl, "redis://127.0.0.1:1/0", "exporter") as exporter:
        metrics = samples(get(f"{exporter}metrics"))

    assert metrics[f'seine_store_up{{crawl="{crawl.name}",store="redis"}}'] == 0
    assert metrics[f'seine_store_up{{crawl="{crawl.name}",store="postgresql"}}'] == 1
