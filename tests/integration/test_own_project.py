"""A mistake in a project with nothing of ours but the add-on is one line, and the status is 1."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from crawler.demo.shop_process import served
from tests.helpers import on_full_disk, scrapy_said, server_folder

CONFIG = "[settings]\ndefault = shop.settings\n"
SETTINGS = """
BOT_NAME = "shop"
SPIDER_MODULES = ["shop.spiders"]
ADDONS = {"scrapy_seine.Addon": 500}
"""
SPIDER = """
import scrapy


class Quotes(scrapy.Spider):
    name = "quotes"
    start_urls = ["http://127.0.0.1:1/"]

    def __init__(self, start_urls="", **arguments):
        super().__init__(**arguments)
        self.start_urls = [start_urls] if start_urls else Quotes.start_urls

    def parse(self, response):
        pass
"""
Called = Callable[..., tuple[int, str]]


@pytest.fixture
def called(tmp_path: Path) -> Called:
    """Run `scrapy …` in the project with further lines of settings; returns status and output."""
    package = tmp_path / "shop"
    (package / "spiders").mkdir(parents=True)
    (tmp_path / "scrapy.cfg").write_text(CONFIG, "utf-8")
    (package / "__init__.py").touch()
    (package / "spiders" / "__init__.py").write_text(SPIDER, "utf-8")

    def call(*words: str, settings: str = "") -> tuple[int, str]:
        (package / "settings.py").write_text(f"{SETTINGS}{settings}\n", "utf-8")
        environment = {"SCRAPY_SETTINGS_MODULE": "shop.settings"}
        return scrapy_said(*words, folder=tmp_path, environment=environment)

    return call


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("COMMANDS_MODULE = 'nosuch'", "COMMANDS_MODULE names nosuch, which is no module"),
        (
            "ADDONS = {'scrapy_seine.Adon': 5}",
            "ADDONS names scrapy_seine.Adon, which cannot be imported",
        ),
        ("ASYNCIO_EVENT_LOOP = 'no.Loop'", "ASYNCIO_EVENT_LOOP names no.Loop, which cannot be"),
        ("TWISTED_REACTOR = 'no.Reactor'", "TWISTED_REACTOR names no.Reactor, which cannot be"),
        (
            "TWISTED_REACTOR = 'twisted.internet.selectreactor.SelectReactor'",
            "SelectReactor must be twisted.internet.asyncioreactor.AsyncioSelectorReactor",
        ),
        (
            "REFERRER_POLICY = 'nonsense'",
            "REFERRER_POLICY=nonsense cannot be used: Could not load referrer policy",
        ),
        ("HTTPAUTH_USER = 'me'", "HTTPAUTH_DOMAIN must be set when HTTPAUTH_USER or"),
        ("DOWNLOAD_HANDLERS = {'https': 'no.Handler'}", "names no.Handler for https, which cannot"),
        ("SPIDER_MIDDLEWARES = {'own': 5}", "SPIDER_MIDDLEWARES names own, which cannot be import"),
    ],
)
def test_a_wrong_setting_is_one_line(called: Called, settings: str, words: str) -> None:
    status, text = called("crawl", "quotes", settings=settings)

    assert status == 1, text
    assert words in text.splitlines()[-1], text
    assert "Traceback" not in text


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--pidfile=/proc/no/x", "--pidfile /proc/no/x cannot be written: No such file"),
        ("--profile=/proc/no/x", "--profile /proc/no/x cannot be written: No such file"),
        ('-sADDONS={"no.Addon": 1}', "ADDONS names no.Addon, which cannot be imported: No mod"),
    ],
)
def test_a_wrong_option_is_one_line(called: Called, option: str, words: str) -> None:
    status, text = called("crawl", "quotes", option)

    assert (status, text.count("\n")) == (1, 1), text
    assert words in text


def test_a_format_that_this_installation_lacks_hides_no_other_fault(called: Called) -> None:
    """One optional package that was missing made a traceback of every other fault."""
    status, text = called(
        "crawl",
        "quotes",
        settings="import sys\nsys.modules['pyarrow'] = None\nSTATS_CLASS = 'no.Stats'",
    )

    assert status == 1, text
    assert "STATS_CLASS names no.Stats, which cannot be imported" in text.splitlines()[-1]
    assert "Traceback" not in text


@pytest.mark.parametrize("words", [("list",), ("settings", "--get", "BOT_NAME")])
def test_a_full_disk_is_one_line_of_scrapys_own_commands(
    called: Called, tmp_path: Path, words: tuple[str, ...]
) -> None:
    called("version")  # writes the project
    environment = {"SCRAPY_SETTINGS_MODULE": "shop.settings", "PYTHONUNBUFFERED": "1"}
    said = "seine: standard output cannot be written: No space left on device\n"
    assert on_full_disk(words, tmp_path, environment) == (1, said)


def test_down_stops_the_embedded_redis(called: Called, tmp_path: Path) -> None:
    """Its process had to be looked up in the data folder."""
    with server_folder() as data:
        settings = f"SEINE_EMBEDDED = True\nSEINE_DATA_DIR = {str(data)!r}"
        assert called("seine", "status", settings=settings)[0] == 0
        assert (data / "valkey.pid").exists()

        status, text = called("seine", "down", "--json", settings=settings)
        assert status == 0, text
        assert json.loads(text)["stopped"] == ["redis"]
        assert not (data / "valkey.pid").exists()
        assert called("seine", "down", settings=settings) == (0, f"nothing runs in {data}\n")


def test_scrapy_alone_lists_the_commands(called: Called) -> None:
    """A look at the options failed where there was no word."""
    status, text = called()

    assert status == 0, text
    assert "Available commands" in text
    assert "seine" in text


@pytest.mark.redis
def test_the_commands_and_the_port_show_what_a_worker_did(
    called: Called, redis_url: str, tmp_path: Path
) -> None:
    """Without the extensions behind them `seine logs` had no worker, and `status` no page."""
    with served(log=tmp_path / "access.log", products=3) as shop:
        settings = f"REDIS_URL = {redis_url!r}"
        options = f"start_urls={shop.url}", "-s", "SEINE_METRICS_PORT=0"
        name = f"SEINE_CRAWL=quotes-{uuid4().hex}"
        status, text = called("crawl", "quotes", "-s", name, "-a", *options, settings=settings)
    assert status == 0, text
    assert "metrics at http://127.0.0.1:" in text

    status, text = called("seine", "logs", "-s", name, settings=settings)
    assert status == 0, text
    assert "begins run 1" in text
    assert "DEBUG" not in text  # Scrapy's default level, with two lines a page

    status, text = called("seine", "status", "--json", "-s", name, settings=settings)
    assert status == 0, text
    assert sum(minute["done"] for minute in json.loads(text)["minutes"]) == 1


@pytest.mark.redis
def test_a_spider_and_a_verb_that_are_misspelt_are_named(called: Called, redis_url: str) -> None:
    """The crawl of a spider that does not exist was shown as one with nothing left to do."""
    settings = f"REDIS_URL = {redis_url!r}"
    status, text = called("seine", "status", "--spider", "quots", settings=settings)
    assert (status, text.count("\n")) == (1, 1), text
    assert "no spider is named 'quots'; there is quotes; did you mean quotes?" in text
    assert called("seine", "status", "--spider", "quotes", settings=settings)[0] == 0

    status, text = called("seine", "statsu", settings=settings)
    assert status == 2
    assert "did you mean status?" in text


def test_a_module_that_cannot_be_imported_is_shown_with_its_own_traceback(
    called: Called, tmp_path: Path
) -> None:
    """It shows the line to mend; the report of errors must not fail by it."""
    (tmp_path / "shop" / "spiders" / "other.py").write_text("import nosuchmodule\n", "utf-8")
    status, text = called("list")

    assert status == 1
    assert text.count("Traceback") == 1, text
    assert "other.py" in text
    assert "No module named 'nosuchmodule'" in text.splitlines()[-1]
