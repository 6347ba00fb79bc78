"""What `scrapy watch` shows of how sure it is."""

import io

from crawler.cli.live_table import Progress, headline, least_sure, table
from scrapy_seine.frontier.model import Counts
from scrapy_seine.reads import lazy_rich


def seen(doubtful: int = 0) -> Progress:
    row = {"name": "A lamp", "price": "9.50", "currency": "EUR", "availability": "InStock",
           "url": "https://a.example/", "confidence": {"name": 0.99, "price": 0.61}}  # fmt: skip
    rows = [row, {**row, "confidence": None}]
    names = ("ready", "delayed", "leased", "dead", "seen", "workers", "domains_ready")
    none: dict[str, int] = dict.fromkeys((*names, "domains_waiting"), 0)
    counts = Counts(**none, paused=False, totals={"done": 3})
    return Progress(products=2, doubtful=doubtful, newest=rows, counts=counts, seconds=1.0)


def test_a_product_shows_the_least_sure_of_its_values() -> None:
    out = io.StringIO()
    lazy_rich.Console(file=out, width=100).print(table(seen(), "shop"))
    assert "61%" in out.getvalue()
    assert "99%" not in out.getvalue()
    assert least_sure(None) is least_sure({}) is None


def test_values_that_are_kept_out_are_counted() -> None:
    assert "doubtful" not in headline(seen(), "shop")
    assert "3 doubtful" in headline(seen(3), "shop")
