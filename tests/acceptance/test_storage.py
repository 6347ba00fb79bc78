"""What whole crawls leave in PostgreSQL: history, outages survived, and pages to read again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from socket import create_server
from urllib.parse import urlsplit

import attrs
import boto3
import pytest

from crawler.demo.catalogue import catalogue
from crawler.demo.judge import judge
from crawler.demo.shop_process import served
from crawler.demo.worker_processes import fleet
from crawler.stores import embedded
from crawler.stores.gone_products import find_unseen
from crawler.stores.migrations import migrate
from scrapy_seine.embedded.data_folder import layout
from tests.acceptance.conftest import Crawl, said
from tests.helpers import create_database, execute, held, server_folder, wait_until
from tests.integration.storage.kit import s3_bucket

pytestmark = pytest.mark.acceptance

PRODUCTS = 200
#: What reading the same pages again must give; of two addresses of one product either may be first.
SAME = (
    "external_id, name, price, currency, availability, brand, sku, gtin, mpn, rating,"
    " review_count, image, canonical_url, content_hash"
)


def free_port() -> int:
    with closing(create_server(("127.0.0.1", 0))) as probe:
        return int(probe.getsockname()[1])


def run(crawl: Crawl, url: str, **settings: object) -> None:
    """Crawl the shop with one worker, under a crawl's name of its own."""
    name = f"{crawl.name}-{len(crawl.workers.workers)}-{time.monotonic_ns()}"
    own = {**crawl.workers.settings, "SEINE_CRAWL": name, **settings}
    with fleet(own, crawl.workers.environment, crawl.workers.folder / name) as workers:
        crawl.redis.lpush(
            f"{name}:start_urls", f'{{"url": "{url}", "meta": {{"site_id": "{crawl.name}"}}}}'
        )
        worker = workers.start()
        wait_until(lambda: not worker.alive, 90, "the worker leaves by itself")
        assert worker.process.returncode == 0, said(worker)


def test_the_second_day_leaves_exactly_what_a_visitor_sees_change(crawl: Crawl) -> None:
    port = free_port()
    with served(products=PRODUCTS, port=port) as shop:
        run(crawl, shop.url)
    before = dict(crawl.query("SELECT external_id, xmin::text FROM products"))
    began = datetime.now(UTC)
    with served(products=PRODUCTS, port=port, day=2) as shop:
        run(crawl, shop.url)
    unseen = find_unseen(crawl.database_url, crawl.name, began)

    one = {product.sku: product for product in catalogue(PRODUCTS)}
    two = {product.sku: product for product in catalogue(PRODUCTS, day=2)}
    assert {found.external_id for found in unseen} == set(one) - set(two) != set()
    assert len(crawl.query("SELECT 1 FROM products")) == len(set(one) | set(two))
    noted = {
        (key, field, str(new))
        for key, field, new in crawl.query("SELECT external_id, field, new FROM product_versions")
        if field in {"price", "availability"}
    }
    expected = set()
    for key in set(one) & set(two):
        if one[key].price != two[key].price:
            expected.add((key, "price", f"{two[key].price:.2f}"))
        if one[key].availability != two[key].availability:
            expected.add((key, "availability", two[key].availability))
    assert noted == expected
    assert expected
    changed = {key for (key,) in crawl.query("SELECT external_id FROM product_versions")}
    assert changed == {key for key, _, _ in expected}
    after = dict(crawl.query("SELECT external_id, xmin::text FROM products"))
    untouched = (set(one) & set(two)) - changed
    assert {key for key in untouched if before[key] != after[key]} == set()


def misses(crawl: Crawl) -> int:
    """Count the times that a worker waited for PostgreSQL; it logs the first of a minute only."""
    told = (said(worker) for worker in crawl.workers.workers)
    return sum(text.count("the crawl waits for the store") for text in told)


def test_a_database_that_goes_away_during_a_crawl_costs_no_row(crawl: Crawl) -> None:
    name = urlsplit(crawl.database_url).path[1:]
    server = urlsplit(crawl.database_url)._replace(path="/postgres").geturl()
    with served(products=PRODUCTS, latency_ms=30) as shop:
        crawl.start_idle()
        crawl.start_idle()
        crawl.seed(shop.url)
        for share in (0.2, 0.5):
            wait_until(lambda s=share: crawl.total("done") >= PRODUCTS * s, 60, "some pages done")
            with held(shop):
                execute(server, f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
                execute(
                    server,
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    f" WHERE datname = '{name}' AND pid <> pg_backend_pid()",
                )
            wait_until(lambda: misses(crawl), 60, "a worker misses its database")
            time.sleep(1)  # the outage itself
            execute(server, f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
        crawl.wait_for_end()
    verdict = judge(catalogue(PRODUCTS), crawl.rows())
    assert verdict.passed, verdict
    assert [w.process.returncode for w in crawl.workers.workers] == [0, 0]
    assert any("the store is back" in said(w) for w in crawl.workers.workers)
    assert crawl.query("SELECT 1 FROM products WHERE item ->> 'name' <> name") == []
    assert crawl.redis.zcard(crawl.keys.leases) == crawl.redis.zcard(crawl.keys.dead) == 0


def test_a_server_killed_twice_during_a_crawl_costs_no_row(crawl: Crawl) -> None:
    """With a durable server: what was committed is there, what was not is written again."""
    with server_folder() as folder:
        url = create_database(embedded.start(folder, which=("postgres",)).database_url)
        migrate(url)
        postmaster = layout(folder).database / "postmaster.pid"
        own = {**crawl.workers.environment, "DATABASE_URL": url}
        with (
            served(products=PRODUCTS, latency_ms=30) as shop,
            fleet(crawl.workers.settings, own, crawl.workers.folder / "own") as workers,
        ):
            found = attrs.evolve(crawl, database_url=url, workers=workers)
            found.start_idle()
            found.start_idle()
            found.seed(shop.url)
            for share in (0.2, 0.5):
                wait_until(lambda s=share: found.total("done") >= PRODUCTS * s, 60, "some are done")
                with held(shop):
                    os.kill(int(postmaster.read_text().split()[0]), signal.SIGKILL)
                wait_until(lambda: misses(found), 60, "a worker misses its database")
                embedded.start(folder, which=("postgres",))
            found.wait_for_end()
            assert [w.process.returncode for w in workers.workers] == [0, 0]
            verdict = judge(catalogue(PRODUCTS), found.rows())
            assert verdict.passed, verdict
            assert found.query("SELECT 1 FROM products WHERE item ->> 'name' <> name") == []
            assert any("the store is back" in said(worker) for worker in workers.workers)


@pytest.fixture(params=["folder", "s3"])
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where a crawl keeps its pages."""
    if request.param == "folder":
        yield str(tmp_path / "archive")
    else:
        with s3_bucket() as place:
            yield place


def files_of(archive: str, folder: Path) -> list[Path]:
    """The archive's files, as they are."""
    if not archive.startswith("s3://"):
        return sorted(Path(archive).rglob("*.warc.gz"))
    client, bucket = boto3.client("s3"), urlsplit(archive).netloc
    found = []
    for number, entry in enumerate(client.list_objects_v2(Bucket=bucket)["Contents"]):
        file = folder / f"{number}.warc.gz"
        client.download_file(bucket, entry["Key"], str(file))
        found.append(file)
    return found


def test_a_crawl_is_replayed_from_its_archive_with_the_shop_switched_off(
    crawl: Crawl, archive: str, tmp_path: Path
) -> None:
    with served(products=PRODUCTS) as shop:
        url = shop.url
        run(crawl, url, SEINE_ARCHIVE=archive, SEINE_ARCHIVE_SECONDS=1)
    first = crawl.query(f"SELECT {SAME} FROM products ORDER BY external_id")
    assert judge(catalogue(PRODUCTS), crawl.rows()).passed
    files = files_of(archive, tmp_path)
    assert files
    for file in files:
        check = subprocess.run(
            [sys.executable, "-m", "warcio.cli", "check", "-v", str(file)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert check.returncode == 0, check.stdout
        assert "digest pass" in check.stdout
    # An archive of another program may lack robots.txt, and old rules are not the site's.
    assert crawl.query("DELETE FROM archive WHERE url LIKE %s RETURNING 1", "%/robots.txt")
    port = urlsplit(url).port
    rules = [key for key in crawl.redis.scan_iter(f"*robots:*{port}*") if crawl.redis.delete(key)]
    assert rules
    crawl.query("DELETE FROM products RETURNING 1")
    run(crawl, url, SEINE_REPLAY=archive)
    assert crawl.query(f"SELECT {SAME} FROM products ORDER BY external_id") == first
    assert not any(crawl.redis.exists(key) for key in rules)


def test_pages_that_somebody_deletes_from_the_archive_are_missed_at_the_end_and_by_a_replay(
    crawl: Crawl, tmp_path: Path
) -> None:
    """The crawl ended with status 0, and a replay waited for minutes for what was not there."""
    folder, settings = tmp_path / "archive", crawl.workers.settings
    crawl.workers.settings = {**settings, "SEINE_ARCHIVE": folder, "SEINE_ARCHIVE_SECONDS": 0.5}
    with served(products=PRODUCTS, latency_ms=20) as shop:
        crawl.seed(shop.url)
        worker = crawl.start()
        wait_until(lambda: list(folder.rglob("*.gz")), 40, "pages are stored")
        with held(shop):
            (deleted, *_) = folder.rglob("*.gz")
            deleted.unlink()
        crawl.wait_for_end(90)
    assert worker.process.returncode == 1
    assert "the archive has lost 1 of the " in said(worker)
    assert str(deleted.relative_to(folder)) in said(worker)
    assert judge(catalogue(PRODUCTS), crawl.rows()).passed
    run(crawl, shop.url, SEINE_REPLAY=folder)
    (log,) = (path for path in crawl.workers.folder.rglob("*.log") if path.parent.name != "logs")
    assert "the archive's copy cannot be read" in log.read_text()


@pytest.mark.parametrize(("name", "reason"), [("none", "No such file"), ("", "nothing is kept")])
def test_a_replay_of_nothing_ends_the_start_in_one_line(
    crawl: Crawl, tmp_path: Path, name: str, reason: str
) -> None:
    """A disk that was not mounted was waited for in silence, page by page."""
    place = tmp_path / "mount" / name
    (tmp_path / "mount").mkdir()
    crawl.workers.settings = {**crawl.workers.settings, "SEINE_REPLAY": place}
    crawl.seed("http://127.0.0.1:1/")
    worker = crawl.start()
    crawl.wait_for_end()
    assert worker.process.returncode == 1
    assert f"SEINE_REPLAY={place} cannot be read: {reason}" in said(worker)
    assert "Traceback" not in said(worker)
