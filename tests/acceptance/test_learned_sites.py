"""What two workers learn of a site: what leads nowhere, how a listing goes on, who is right."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from itertools import count
from urllib.parse import parse_qs, urlsplit

import attrs
import pytest

from crawler.stores.store_endpoints import redis_client
from scrapy_seine.frontier.frontier import Frontier
from tests import started
from tests.acceptance.conftest import Crawl, said
from tests.benchmarks.shops import SHOPS, Thing, things
from tests.helpers import Answering, patient, serving

pytestmark = pytest.mark.acceptance

WOO = next(shop for shop in SHOPS if shop.name == "woo")
#: Two workers leave a shape out after 20 pages each, and those that were under way.
PRODUCTS, SHOWN = 160, 20


def path_of(thing: Thing) -> str:
    return urlsplit(WOO.url(thing)).path


@contextmanager
def shop(answer: Callable[[str, int], str | None]) -> Iterator[tuple[str, Counter[str]]]:
    """Serve what *answer* makes of a path and a page's number; gives the URL and who was asked."""
    asked: Counter[str] = Counter()

    class Handler(Answering):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            asked[self.path] += 1
            number = parse_qs(parts.query).get("page", ["1"])[0]
            text = answer(parts.path, int(number))
            body = (text or "").replace("https://woo.example", "").encode()
            self.answer(404 if text is None else 200, body, charset="utf-8")

    with serving(Handler) as url:
        yield url, asked


def form(path: str) -> str:
    """A page for questions about a product, as useless as its 159 likes."""
    number = path.rpartition("/")[2]
    back = f'<a href="/product/thing-{number}/">back</a>'
    return f"<title>Ask</title><h1>Ask us</h1>{back}<form><textarea></textarea></form>"


def test_forms_are_left_out_and_listings_that_page_by_script_are_read_whole(crawl: Crawl) -> None:
    goods = things(PRODUCTS, 5)
    pages = {path_of(thing): thing for thing in goods}

    def answer(path: str, number: int) -> str | None:
        if thing := pages.get(path):
            ask = f'<a href="/ask/{thing.number}">A question?</a></body>'
            return WOO.page(thing, True).replace("</body>", ask)
        if path.startswith("/ask/"):
            return form(path)
        shelf = {"/": goods[:80], "/c/1": goods[80:]}.get(path)
        if shelf is None or not (shown := shelf[(number - 1) * SHOWN : number * SHOWN]):
            return None
        buttons = "".join(f'<a href="#" class="page">{n}</a>' for n in (1, 2, 3, 4))
        pager = f'<p>{len(shelf)} products</p><div class="pager">{buttons}</div></body>'
        return WOO.listing(shown).replace("</body>", pager)

    with shop(answer) as (url, asked):
        workers = [crawl.start_idle(), crawl.start_idle()]
        crawl.seed(f"{url}/", f"{url}/c/1")
        crawl.wait_for_end(120)

    assert [worker.process.returncode for worker in workers] == [0, 0]
    assert {row["sku"]: row["price"] for row in crawl.rows()} == {t.sku: t.price for t in goods}
    assert max(asked[path] for path in pages) == 1
    forms = sum(times for path, times in asked.items() if path.startswith("/ask/"))
    assert forms < PRODUCTS
    (told,) = domains(crawl)["dead_ends"]
    assert (told["shape"], told["pages"]) == (f"{urlsplit(url).netloc}/ask/*", 20)


def domains(crawl: Crawl) -> dict[str, list[dict[str, object]]]:
    """What `scrapy domains --json` says."""
    stores = {"REDIS_URL": crawl.redis_url, "DATABASE_URL": crawl.database_url}
    made = started.run(
        [sys.executable, "-m", "scrapy", "domains", "--json"],
        env={**os.environ, **stores, "SCRAPY_PROJECT": "test"},
        capture_output=True,
        text=True,
        check=True,
        timeout=patient(60),
    )
    return dict(json.loads(made.stdout))


@pytest.mark.parametrize("rise", ["1.10", "0.55"], ids=["dearer", "sale"])
def test_visible_prices_win_over_structured_data_that_was_left_as_it_was(
    crawl: Crawl, redis_url: str, rise: str
) -> None:
    """No price of before is stored as today's without a doubt, whatever order pages come in."""
    goods = {path_of(thing): attrs.evolve(thing, regular=None) for thing in things(60, 5)}
    new = {path: (t.price * Decimal(rise)).quantize(Decimal("0.01")) for path, t in goods.items()}
    today = {"new": False}

    def answer(path: str, number: int) -> str | None:
        if path == "/":
            return WOO.listing(list(goods.values()))
        if (thing := goods.get(path)) is None:
            return None
        if not today["new"]:
            return with_state(thing)
        html = with_state(attrs.evolve(thing, price=new[path]))
        stale, fresh = (
            f'"price": "{price}", "priceCurrency"' for price in (thing.price, new[path])
        )
        assert fresh in html
        return html.replace(fresh, stale)

    def wrong_rows() -> set[str]:
        rows = {urlsplit(row["url"]).path: row for row in crawl.rows()}
        assert rows.keys() == goods.keys()
        doubted = {
            key for (key,) in crawl.query("SELECT external_id FROM doubtful WHERE field = 'price'")
        }
        wrong = {path for path, row in rows.items() if row["price"] != new[path]}
        assert not [path for path in wrong if rows[path]["external_id"] not in doubted]
        return wrong

    # Two workers may have read nearly all of so small a shop before either notices: what they
    # doubted is then stored by the next crawl.
    with shop(answer) as (url, _):
        for day in range(4):
            today["new"] = day > 0
            asyncio.run(clear(redis_url, crawl.name))
            workers = [crawl.start_idle(), crawl.start_idle()]
            crawl.seed(f"{url}/")
            crawl.wait_for_end(120)
            assert [worker.process.returncode for worker in workers] == [0, 0]
            if day > 0 and len(wrong_rows()) < len(goods) / 2:
                return
    pytest.fail("after three crawls most products still have the price of before, in doubt")


def with_state(thing: Thing) -> str:
    """A page with structured data, OpenGraph and the shop's own state."""
    meta = f'<meta property="product:price:amount" content="{thing.price}">'
    state = json.dumps(
        {"product": {"name": thing.name, "price": str(thing.price), "sku": thing.sku}}
    )
    script = f"<script>window.__INITIAL_STATE__ = {state};</script></body>"
    html = WOO.page(thing, True).replace("</head>", f"{meta}</head>")
    return html.replace("</body>", script)


async def clear(redis_url: str, crawl: str) -> None:
    async with redis_client(redis_url) as redis:
        await Frontier(redis, crawl).clear()


@pytest.mark.parametrize("of_visitor", [True, False], ids=["of the visitor", "of a section"])
def test_a_first_crawl_keeps_no_price_in_a_currency_that_came_with_the_visitor(
    crawl: Crawl, of_visitor: bool
) -> None:
    """And all prices of a shop that has one currency for some products, another for others."""
    goods = {path_of(thing): attrs.evolve(thing, regular=None) for thing in things(PRODUCTS, 5)}
    order = count(1)  # each page has one place, whichever threads answer at the same time

    def answer(path: str, number: int) -> str | None:
        if path == "/":
            return WOO.listing(list(goods.values()))
        if (thing := goods.get(path)) is None:
            return None
        place = next(order)
        html = WOO.page(thing, True)
        if (place > 40) if of_visitor else (thing.number >= 60):
            html = html.replace("$", "£").replace('"USD"', '"GBP"')
        return html

    with shop(answer) as (url, _):
        crawl.seed(f"{url}/")
        worker = crawl.start()
        crawl.wait_for_end(120)
    assert worker.process.returncode == 0
    told = Counter(row["currency"] for row in crawl.rows())
    held = crawl.query("SELECT DISTINCT external_id FROM doubtful WHERE field = 'currency'")
    lines = said(worker).count("not the one of the pages before")
    if of_visitor:
        assert told == {"USD": 40, None: PRODUCTS - 40}
        assert len(held) >= told[None]
        assert lines == 1
    else:
        assert (told, held, lines) == (Counter(USD=60, GBP=PRODUCTS - 60), [], 0)
