"""A shop behind a gate of one button: its pages are seeds to which no link leads, and it may ask
again in mid-crawl."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler
from itertools import count
from typing import ClassVar
from urllib.parse import quote

import pytest

from tests.acceptance.test_recrawl import AGE, plan_again
from tests.helpers import execute, patient, serving

pytestmark = [pytest.mark.acceptance, pytest.mark.redis, pytest.mark.postgres]
BUTTON = "<input type=hidden name=ok value=1><button>Enter</button>"
GATE = f'<html lang=en><h1>Welcome</h1><form method=post action="/enter">{BUTTON}</form>'


class Shop(BaseHTTPRequestHandler):
    """The button's answer waits until both seeds were gates, as with a slow server."""

    gates: ClassVar[threading.Semaphore]
    #: Products of each of the two categories.
    products: ClassVar[int] = 5

    def do_GET(self) -> None:
        if "age=18" not in (self.headers.get("Cookie") or ""):
            self.send(GATE)
            self.gates.release()
        else:
            self.show()

    def show(self) -> None:
        place = self.path.strip("/").partition("/")[2]
        if self.path.startswith("/c/"):
            tiles = "".join(
                f'<li><a href="/product/{place}-{n}">{place} {n}</a>' for n in range(self.products)
            )
            self.send(f"<html lang=en><h1>{place}</h1><ul>{tiles}</ul>")
        elif self.path.startswith("/product/"):
            button = "<button>Add to basket</button>"
            self.send(f"<html lang=en><h1>{place}</h1><p class=price>£9.50</p>{button}")
        else:
            self.send("<html lang=en><h1>Welcome</h1><p>Come in.</p>")

    def do_POST(self) -> None:
        for _ in range(2):
            self.gates.acquire(timeout=patient(10))
        self.gates.release(2)
        self.send("", 303, {"Set-Cookie": "age=18; Path=/", "Location": "/"})

    def send(self, body: str, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "text/html", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Forgetful(Shop):
    """It knows a visitor for so many pages, then it asks again."""

    products = 30
    pages: ClassVar[int] = 15
    visits: ClassVar[dict[str, int]]
    asked: ClassVar[list[str]]
    numbers: ClassVar[count[int]]

    @classmethod
    def open(cls) -> None:
        """Forget all visitors."""
        cls.visits, cls.asked, cls.numbers = {}, [], count()

    def do_GET(self) -> None:
        self.asked.append(self.path)
        name = (self.headers.get("Cookie") or "").partition("visitor=")[2]
        left = self.visits.get(name, 0)
        if self.path == "/robots.txt":
            self.send("", 404)
        elif left > 0:
            self.visits[name] = left - 1
            self.show()
        else:
            self.ask()

    def ask(self) -> None:
        self.send(GATE)

    def do_POST(self) -> None:
        self.asked.append("POST")
        self.send("", 303, {**self.cookie(), "Location": "/"})

    def cookie(self) -> dict[str, str]:
        name = f"v{next(self.numbers)}"
        self.visits[name] = self.pages
        return {"Set-Cookie": f"visitor={name}; Path=/"}


class Led(Forgetful):
    """Each page leads to the gate's page, and the gate's to the front page."""

    def do_GET(self) -> None:
        if self.path.startswith("/gate"):
            self.asked.append(self.path)
            self.send(GATE)
        else:
            super().do_GET()

    def ask(self) -> None:
        self.send("", 302, {"Location": "/gate"})


class Returning(Led):
    """The gate's page names the page before it, and its answer leads to where the cookie is set."""

    def ask(self) -> None:
        self.send("", 302, {"Location": f"/gate?return={quote(self.path, safe='')}"})

    def do_GET(self) -> None:
        if self.path == "/remember":
            self.send("", 302, {**self.cookie(), "Location": "/"})
        else:
            super().do_GET()

    def do_POST(self) -> None:
        self.asked.append("POST")
        self.send("", 302, {"Location": "/remember"})


class Born(Forgetful):
    """It asks for a date of birth, and knows adults only."""

    def ask(self) -> None:
        years = "".join(f"<option>{year}</option>" for year in range(2026, 1929, -1))
        days, months = (
            "".join(f"<option>{number}</option>" for number in range(1, last + 1))
            for last in (31, 12)
        )
        self.send(
            "<html lang=en><h1>Please enter your date of birth</h1><form method=post>"
            f"<select name=day>{days}</select><select name=month>{months}</select>"
            f"<select name=year>{years}</select><button>Enter</button></form>"
        )

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if "day=1&month=1&year=1980" in body:
            super().do_POST()
        else:
            self.send("", 403)


class Endless(Forgetful):
    """It knows nobody."""

    pages = 0


@pytest.mark.parametrize("workers", [1, 2])
def test_each_seed_that_was_a_gate_is_asked_for_again(crawl, workers) -> None:
    Shop.gates = threading.Semaphore(0)
    with serving(Shop) as base:
        crawl.seed(f"{base}/c/lamps", f"{base}/c/chairs")
        for _ in range(workers):
            crawl.start()
        crawl.wait_for_end(60)
    assert crawl.query("SELECT count(*) FROM products") == [(10,)]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("shop", [Forgetful, Led, Returning, Born])
def test_a_gate_that_asks_again_in_mid_crawl_loses_no_page(crawl, shop, workers) -> None:
    shop.open()
    with serving(shop) as base:
        crawl.seed(f"{base}/c/lamps", f"{base}/c/chairs")
        for _ in range(workers):
            crawl.start()
        crawl.wait_for_end(90)
    assert crawl.query("SELECT count(*) FROM products") == [(60,)]
    assert len(shop.asked) < 400


def test_a_gate_that_lets_nobody_in_is_not_asked_without_end(crawl) -> None:
    Endless.open()
    with serving(Endless) as base:
        crawl.seed(f"{base}/c/lamps", f"{base}/c/chairs")
        crawl.start()
        crawl.wait_for_end(60)
    assert crawl.query("SELECT count(*) FROM products") == [(0,)]
    assert len(Endless.asked) < 100


class Aged(Forgetful):
    """It asks by a link, and remembers the answer by what its front page sets."""

    pages = 40

    def ask(self) -> None:
        self.send('<html lang=en><h1>Are you over 18?</h1><a href="/yes">Yes</a>')

    def do_GET(self) -> None:
        if self.path == "/yes":
            self.asked.append("POST")
            self.send("", 302, {"Location": "/come-in"})
        elif self.path == "/come-in":
            self.send("", 302, {**self.cookie(), "Location": "/"})
        else:
            super().do_GET()


@pytest.mark.parametrize("seeds", [100, 300])
@pytest.mark.parametrize("shop", [Aged, Led])
def test_many_seeds_that_are_gates_at_once_are_all_read(crawl, shop, seeds) -> None:
    """More than there are buttons that one worker presses at once, or gates of a shut host."""
    shop.open()
    with serving(shop) as base:
        crawl.seed(*(f"{base}/product/lamp-{number}" for number in range(seeds)))
        crawl.start()
        crawl.wait_for_end(90)
    assert crawl.query("SELECT count(*) FROM products") == [(seeds,)]
    assert len(shop.asked) < 7 * seeds


@pytest.mark.parametrize("shop", [Forgetful, Led])
def test_known_products_behind_a_gate_are_not_missing(crawl, shop) -> None:
    """A re-crawl has neither links nor cookies; each of its pages was a gate, so no product's."""
    shop.open()
    with serving(shop) as base:
        crawl.seed(f"{base}/c/lamps")
        crawl.start()
        crawl.wait_for_end(90)
        execute(crawl.database_url, AGE)
        assert plan_again(crawl) == 30
        crawl.start()
        crawl.wait_for_end(90)
    fresh = "bool_and(scraped_at > now() - interval '1 hour')"
    found = crawl.query(f"SELECT count(*), count(missing_at), {fresh} FROM products")
    assert found == [(30, 0, True)]
