"""The pipelines from end to end on a real database, with holds as the scheduler gives them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, DropItem
from scrapy.statscollectors import MemoryStatsCollector

from crawler.extract.site import Site
from crawler.items import Product
from pipelines.clean import Clean
from pipelines.dedupe import Dedupe
from pipelines.upsert import Upsert
from pipelines.validate import Validate
from scrapy_seine.engine.lease.entry import InFlight, current
from scrapy_seine.engine.lease.inflight import InFlightTable
from scrapy_seine.engine.spider import FrontierSpider
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.sinks.postgres.batches import Limits
from tests.helpers import execute
from tests.integration.storage.kit import lesser_role, rows_of

pytestmark = pytest.mark.postgres
SHOP = "https://shop.example/p/"


class Line:
    """The pipelines in their order."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler: Any = crawler
        self.stages = [kind.from_crawler(crawler) for kind in (Clean, Validate, Dedupe, Upsert)]
        self.inflight: InFlightTable = worker_of(crawler).inflight
        self.ended: list[tuple[str, str]] = []
        self.inflight.connect(
            lambda entry: self.ended.append((entry.request.url, entry.outcome)),
            lambda *_: 1.0,
        )

    def send(self, item: Any) -> Any:
        for stage in self.stages:
            item = stage.process_item(item)
        return item

    @contextmanager
    def page(self, url: str, **meta: Any) -> Iterator[InFlight]:
        """What the scheduler does around a callback."""
        lease: Any = None
        entry = self.inflight.begin(Request(url, meta=meta), lease)
        token = current.set(entry)
        try:
            yield entry
            self.inflight.state_done(entry)
        finally:
            current.reset(token)
            self.inflight.record_finished(entry.request)


@asynccontextmanager
async def line(database: str, **settings: Any) -> AsyncIterator[Line]:
    crawler: Any = Crawler(FrontierSpider, {"DATABASE_URL": database, **settings})
    crawler._started = True
    crawler.stats = MemoryStatsCollector(crawler)
    made = Line(crawler)
    upsert: Any = made.stages[-1]
    await upsert.open_spider()
    try:
        yield made
    finally:
        await upsert.close_spider()


async def test_a_lease_ends_after_the_commit_and_not_before(database: str) -> None:
    async with line(database) as made:
        with made.page(SHOP + "1", job_id="j1", site_id="demo"):
            made.send(Product(url=SHOP + "1", name="Lamp", price="5"))
        assert made.ended == []
    assert made.ended == [(SHOP + "1", "done")]
    assert rows_of(database, "SELECT name, price::text, job_id, site_id FROM products") == [
        ("Lamp", "5.00", "j1", "demo")
    ]


async def test_a_worker_starts_without_the_templates_that_it_may_not_read(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    """They only help it: a table that is missing or closed stopped each new worker."""
    execute(database, "DROP TABLE site_templates, dead_ends CASCADE")
    async with line(database) as made:
        with made.page(SHOP + "1", site_id="demo"):
            made.send(Product(url=SHOP + "1", name="Lamp", price="5"))
    assert made.ended == [(SHOP + "1", "done")]
    (told,) = [text for text in caplog.messages if "no template is read" in text]
    assert "the database has no such tables yet: `scrapy migrate` makes them" in told


async def test_a_database_that_refuses_the_start_ends_it_with_a_line(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    parts = urlsplit(database)
    role = f"role_{parts.path[1:]}"
    netloc = f"{role}:x@{parts.netloc.rpartition('@')[2]}"
    with lesser_role(database):
        execute(database, f"REVOKE ALL ON seine_migrations FROM {role}")
        with pytest.raises(CloseSpider):
            async with line(parts._replace(netloc=netloc).geturl()):
                pass
    (told,) = [text for text in caplog.messages if "worker exits" in text]
    assert "permission denied" in told
    assert "\n" not in told


async def test_a_rejected_item_is_kept_with_its_reason_under_its_lease(database: str) -> None:
    async with line(database) as made:
        for url, fields in [
            (SHOP + "1", {}),
            (SHOP + "2", {"name": "x\0", "price": -5}),
            (SHOP + "3", {"name": "x", "currency": "doubloons"}),
            (SHOP + "4", {"name": "x", "images": 5, "rating": object(), "attributes": {1: {}}}),
            (SHOP + "5", {"name": "x", "variants": [{"a": 10**400}]}),
        ]:
            with made.page(url):
                try:
                    made.send(Product(url=url, **fields))
                except DropItem:
                    continue
        assert made.ended == []
    assert {outcome for _, outcome in made.ended} == {"done"}
    assert len(made.ended) == 5
    found = rows_of(database, "SELECT url, reason FROM rejected_items ORDER BY url")
    assert found == [
        (SHOP + "1", "no name"),
        (SHOP + "2", "price -5.00 is negative"),
        (SHOP + "3", "unknown currency 'DOUBLOONS'"),
    ]
    # A number beyond 64 bits is left out, and costs the product nothing else.
    kept = rows_of(database, "SELECT url, item -> 'variants' FROM products ORDER BY url")
    assert kept == [(SHOP + "4", None), (SHOP + "5", [{"a": None}])]


async def test_a_site_file_adds_rules_of_its_own(database: str) -> None:
    class Shop(Site):
        required = ("brand",)

    class Odd(Site):
        def problem(self, product: Product) -> str | None:
            raise KeyError("x")

    async with line(database) as made:
        kinds = {SHOP + "1": Shop(), SHOP + "2": Shop(), SHOP + "3": Odd()}
        made.crawler.spider = SimpleNamespace(site_of=kinds.get)
        made.send(Product(url=SHOP + "1", name="Lamp", brand="Acme"))
        for number in ("2", "3"):
            with pytest.raises(DropItem):
                made.send(Product(url=SHOP + number, name="Lamp"))
    assert rows_of(database, "SELECT url FROM products") == [(SHOP + "1",)]
    reasons = rows_of(database, "SELECT reason FROM rejected_items ORDER BY url")
    assert reasons == [("no brand",), ("the site's rules failed: KeyError: 'x'",)]


async def test_the_same_page_refused_again_is_one_row(database: str) -> None:
    for _ in range(3):
        async with line(database) as made:
            with pytest.raises(DropItem):
                made.send(Product(url=SHOP + "1"))
    assert rows_of(database, "SELECT times FROM rejected_items") == [(3,)]


async def test_other_items_pass_and_mappings_with_a_name_are_stored(database: str) -> None:
    async with line(database) as made:
        for item in ({"title": "no product"}, 5, None):
            assert made.send(item) is item
        made.send({"url": SHOP + "1", "name": "Lamp", "colour": "red"})
    assert rows_of(database, "SELECT item #>> '{attributes,colour}' FROM products") == [("red",)]


async def test_a_repeat_is_dropped_but_not_one_with_another_address(database: str) -> None:
    async with line(database) as made:
        first = {"url": SHOP + "1", "name": "Lamp", "sku": "s"}
        made.send(dict(first))
        with pytest.raises(DropItem, match="seen already"):
            made.send(dict(first))
        made.send({**first, "url": SHOP + "2"})
    assert rows_of(database, "SELECT count(*) FROM product_addresses") == [(2,)]


async def test_a_repeat_without_the_doubt_of_before_is_stored(database: str) -> None:
    """What a second look at a page clears would else stay held back until the next crawl."""
    lamp = {"url": SHOP + "1", "name": "Lamp", "external_id": "s", "site_id": "shop"}
    priced = {**lamp, "price": "3.00", "currency": "EUR", "confidence": {"price": 0.9}}
    async with line(database) as made:
        made.send(Product(**priced, doubts={"currency": ["turned", "it was USD"]}))
        made.send(Product(**priced))
        with pytest.raises(DropItem, match="seen already"):
            made.send(Product(**priced))
    assert rows_of(database, "SELECT price::text, currency FROM products") == [("3.00", "EUR")]
    assert rows_of(database, "SELECT * FROM doubtful") == []


async def test_what_was_not_stored_is_retried_and_let_through_again(database: str) -> None:
    async with line(database, SEINE_BUFFER_BYTES=100, SEINE_BATCH_SECONDS=5) as made:
        big = {"name": "Lamp", "description": "x" * 5000}
        for number in range(3):
            with made.page(SHOP + str(number)):
                made.send({"url": SHOP + str(number), **big})
        retried = [url for url, outcome in made.ended if outcome == "retry"]
        assert retried  # the buffer was full
        made.stages[3].storage.writer.queue.limits = Limits()  # type: ignore[attr-defined]
        for url in retried:
            with made.page(url):
                made.send({"url": url, **big})
    assert rows_of(database, "SELECT count(*) FROM products") == [(3,)]


async def test_a_fleet_s_database_must_be_migrated_and_a_laptop_s_is(
    database_url_empty: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(CloseSpider) as closed:
        async with line(database_url_empty):
            pass
    assert closed.value.reason == "error"
    assert "run `scrapy migrate`" in caplog.text
    async with line(database_url_empty, SEINE_EMBEDDED=True):
        pass
    assert rows_of(database_url_empty, "SELECT count(*) FROM products") == [(0,)]


async def test_an_unreachable_database_stops_the_start(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(CloseSpider) as closed:
        async with line("postgresql://127.0.0.1:1/none"):
            pass
    assert closed.value.reason == "outage"
    assert "DATABASE_URL=postgresql://127.0.0.1:1/none does not answer" in caplog.text


async def test_a_site_all_of_whose_items_are_rejected_is_told_of_once(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with line(database) as made:
        for number in range(50):
            with made.page(SHOP + str(number), site_id="demo"), suppress(DropItem):
                made.send(Product(url=SHOP + str(number)))
            if number % 10 == 0:  # one in ten is good: nothing to tell of
                with made.page(SHOP + "x", site_id="other"):
                    made.send(Product(url=SHOP + f"x{number}", name="Lamp"))
            with made.page(SHOP + "y", site_id="other"), suppress(DropItem):
                made.send(Product(url=SHOP + f"y{number}"))
    told = [line for line in caplog.messages if "each of the last" in line]
    assert len(told) == 1
    assert told[0].startswith("site demo: ")
    assert "no name" in told[0]
