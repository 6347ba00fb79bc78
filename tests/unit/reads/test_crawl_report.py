"""What `scrapy crawl` shows: the closing block, the live line, and none of Scrapy's boilerplate."""

from __future__ import annotations

import io
import logging
from typing import Any

import pytest
from scrapy.settings import Settings

from crawler.cli.live_line import Line, quiet
from crawler.reads.crawl_report import End, Moment, closing_block, live_line


def end(**changes: Any) -> End:
    known: dict[str, Any] = {"crawl": "catalog", "reason": "finished", "seconds": 4.0, "sites": 1}
    return End(**{**known, "stats": {}, **changes})


def test_the_block_tells_what_was_stored_skipped_and_given_up() -> None:
    stats = {
        "seine/dequeued": 1075,
        "item_scraped_count": 52,
        "seine/store/new": 40,
        "seine/store/changed": 3,
        "seine/store/unchanged": 7,
        "seine/store/twice": 2,
        "seine/store/rejected": 4,
        "seine/ignored/gone": 1,
        "seine/ignored/filter": 2,
        "seine/ignored/filter/SomeError": 2,
        "seine/buried/timeout": 2,
        "seine/buried/odd": 1,
    }
    lines = closing_block(end(stats=stats, known_links=15, dead=3))

    assert lines == [
        "catalog: the crawl is complete",
        "  fetched      1,075 pages of 1 site in 4.0 s",
        "  products     40 new, 3 changed, 7 unchanged, 2 seen twice",
        "  known        15 links skipped: fetched before",
        "  not read     3 pages: 2 left out by a filter, 1 gone (404, 410)",
        "  rejected     4 items; `scrapy export rejected_items`",
        "  given up     3 pages: 2 timeouts, 1 odd",
        "next:",
        "  scrapy export products -o products.csv  the products as a table",
        "  scrapy dlq                              the pages that were given up, with the reason",
        "  scrapy dashboard                        all of it in a browser",
    ]


def test_the_block_names_the_limit_that_kept_links_out() -> None:
    """A crawl that a limit cut short is complete, and has not read the whole site."""
    refused = {"over_domain_pages": 0, "over_pending": 297}
    told = [" ".join(line.split()) for line in closing_block(end(refused_links=refused))]

    assert "left out up to 297 links over a limit: SEINE_MOST_PENDING" in told


def test_the_block_tells_of_values_that_were_held_back() -> None:
    """What a page told and the table lacks is not left out without a word."""
    told = closing_block(end(stats={"item_scraped_count": 40, "seine/store/doubtful": 19}))
    assert [" ".join(line.split()) for line in told if "doubtful" in line] == [
        "doubtful 19 values; kept out of the products; `scrapy export doubtful` gives the reasons"
    ]
    assert not [line for line in closing_block(end(stats={})) if "doubtful" in line]


def test_a_second_run_says_how_to_fetch_again_what_it_skipped() -> None:
    lines = closing_block(end(crawl="mine", stats={"seine/dequeued": 1}, known_links=21))

    assert "  known        21 links skipped: fetched before" in lines
    assert "scrapy forget '*' --crawl mine" in lines[lines.index("next:") + 1]


@pytest.mark.parametrize("reason", ["outage", "error", "shutdown", "closespider_timeout"])
def test_a_bad_end_is_never_called_complete(reason: str) -> None:
    lines = closing_block(end(reason=reason, waiting=5))

    assert "complete" not in lines[0]
    assert any(line.startswith("  waiting      5 pages") for line in lines)


def test_a_spider_that_stores_nothing_is_promised_no_products() -> None:
    text = "\n".join(closing_block(end(stores=False, stats={"seine/dequeued": 3})))

    assert "products" not in text


@pytest.mark.parametrize(
    ("name", "level", "shown"),
    [
        ("scrapy.middleware", logging.INFO, False),
        ("scrapy.middleware", logging.WARNING, True),  # a part of the settings is disabled
        ("scrapy.spidermiddlewares.httperror", logging.INFO, False),
        ("scrapy.statscollectors", logging.INFO, False),
        ("scrapy.core.engine", logging.INFO, True),
    ],
)
def test_lines_about_scrapys_parts_are_below_info(
    name: str, level: int, shown: bool, caplog: pytest.LogCaptureFixture
) -> None:
    logger = logging.getLogger(name)
    before = list(logger.filters)
    try:
        quiet(Settings({"STATS_DUMP": False}))
        quiet(Settings({"STATS_DUMP": False}))
        with caplog.at_level(logging.DEBUG):
            logger.log(level, "Disabled %s", "x")
        assert (caplog.records[-1].levelno >= logging.INFO) is shown
    finally:
        logger.filters = before


def test_statistics_are_shown_to_who_asks_for_them(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("scrapy.statscollectors")
    before, logger.filters = list(logger.filters), []
    try:
        quiet(Settings({"STATS_DUMP": True}))
        with caplog.at_level(logging.DEBUG):
            logger.info("Dumping Scrapy stats")
        assert caplog.records[-1].levelno == logging.INFO
    finally:
        logger.filters = before


def test_log_lines_never_run_into_the_live_line() -> None:
    out = io.StringIO()
    line = Line(out)
    handler = logging.StreamHandler(out)
    handler.addFilter(line.filter)
    line.show("catalog: 1 page \x1b[31m")
    handler.handle(logging.LogRecord("x", logging.INFO, "", 0, "told", (), None))

    assert out.getvalue().split("\r\x1b[2K")[-1] == "told\n"
    assert "\x1b[31m" not in out.getvalue()


def test_an_estimate_is_a_lower_bound_while_links_still_grow() -> None:
    def now(growing: bool) -> str:
        known: dict[str, Any] = {"crawl": "c", "pages": 5, "products": 0, "sites": 1, "errors": 1}
        return live_line(Moment(**known, rate=10.0, waiting=100, growing=growing))

    assert now(True).endswith("| 1 error | 100 wait | at least 10 s left")
    assert now(False).endswith("| 100 wait | 10 s left")


FETCHED = {"seine/dequeued": 3}
STORED = {**FETCHED, "item_scraped_count": 2}
FORGET, EXPORT = "scrapy forget '*'", "scrapy export products -o products.csv"
SEE = ["scrapy dashboard", "scrapy status"]


@pytest.mark.parametrize(
    ("changes", "commands"),
    [
        ({}, [FORGET, *SEE]),
        ({"stats": FETCHED}, ["scrapy explain URL", *SEE]),
        ({"stats": FETCHED, "known_links": 4}, [FORGET, "scrapy explain URL", "scrapy dashboard"]),
        ({"stats": FETCHED, "stores": False, "embedded": True}, [*SEE, "scrapy down"]),
        ({"reason": "shutdown"}, SEE),
        ({"stats": STORED}, [EXPORT, *SEE]),
        ({"stats": STORED, "known_links": 4}, [EXPORT, *SEE]),
        ({"stats": STORED, "dead": 1, "waiting": 1},
         [EXPORT, "scrapy dlq", "scrapy crawl catalog"]),
        ({"stats": STORED, "site": "books"},
         ["scrapy export products --where site_id=books -o products.csv", *SEE]),
        ({"stats": STORED, "crawl": "mine", "dead": 1},
         [EXPORT, "scrapy dlq --crawl mine", "scrapy dashboard --crawl mine"]),
    ],
)  # fmt: skip
def test_the_block_ends_with_the_three_most_useful_commands(
    changes: dict[str, Any], commands: list[str]
) -> None:
    lines = closing_block(end(**changes))
    last = lines[lines.index("next:") + 1 :]
    assert [line.split("  ")[1] for line in last] == commands
