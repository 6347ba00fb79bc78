"""One ADDONS line makes an ordinary project distributed; what the project sets itself wins."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings
from scrapy_redis.scheduler import Scheduler as RedisScheduler

from scrapy_seine import Addon
from scrapy_seine.addon import LANES, PARQUET, SLOTS
from scrapy_seine.engine.starting import event_loop
from scrapy_seine.errors import ConfigError
from tests import started
from tests.helpers import patient, serving

PAGES, QUOTES = 5, 4
SPIDER = """
import scrapy


class Quotes(scrapy.Spider):
    name = "quotes"

    def __init__(self, url, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [url + "/page/1/"]

    def parse(self, response):
        for quote in response.css("div.quote"):
            yield {"text": quote.css("span::text").get(), "page": response.url.split("/")[-2]}
        following = response.css("li.next a::attr(href)").get()
        if following is not None:
            yield response.follow(following, self.parse)
"""
HTTP11 = "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"
RETRY = "scrapy.downloadermiddlewares.retry.RetryMiddleware"

STARTS = """
    async def start(self):
        async for request in super().start():
            yield request
        raise ValueError("midway")

"""

ENDLESS = """
    async def start(self):
        number = 0
        while True:
            number += 1
            yield scrapy.Request(f"{self.start_urls[0]}?{number}")

"""


#: What fails outside any page, as lines within the spider's class.
FAILING = {
    "Spider.close": """
    def closed(self, reason):
        1 / 0

""",
    "close_spider": """
    class Late:
        def close_spider(self):
            1 / 0

    custom_settings = {"ITEM_PIPELINES": {Late: 1}}

""",
}
#: The same for a handler of each signal of a worker's life.
HANDLER = """
    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider._{signal}, scrapy.signals.{signal})
        return spider

    {way} _{signal}(self):
        1 / 0

"""
FAILING |= {
    f"Quotes._{signal}": HANDLER.format(signal=signal, way=way)
    for signal, way in (
        ("engine_started", "def"),
        ("spider_opened", "async def"),
        ("spider_idle", "def"),
        ("engine_stopped", "def"),
    )
}
#: What a handler of `spider_opened` and `spider_idle` may raise as an answer.
ANSWERING = """
    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.asked = 0
        crawler.signals.connect(spider._idle, scrapy.signals.spider_idle)
        return spider

    def _idle(self):
        self.asked += 1
        error = scrapy.exceptions.DontCloseSpider
        raise error if self.asked == 1 else scrapy.exceptions.CloseSpider("enough")

"""


class Site(BaseHTTPRequestHandler):
    """Pages of quotes, each with a link to the next one."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = b"there is no such page"
        if found := self.path.startswith("/page/"):
            page = int(self.path.split("/")[2])
            quotes = "".join(
                f"<div class=quote><span>{page}.{i}</span></div>" for i in range(QUOTES)
            )
            link = f"<li class=next><a href=/page/{page + 1}/>next</a></li>" if page < PAGES else ""
            body = f"<html><body>{quotes}{link}</body></html>".encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


def run(folder: Path, out: Path, url: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the spider outside any project; its items are in *out*."""
    given = [arg for key, value in settings.items() for arg in ("-s", f"{key}={value}")]
    command = [sys.executable, "-m", "scrapy", "runspider", "quotes.py", "-a", f"url={url}"]
    return started.run(
        [*command, "-O", str(out), *given],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )


def crawl(folder: Path, name: str, url: str, **settings: str) -> list[dict[str, str]]:
    """Run the spider to its end; returns its items, in order of their texts."""
    out = folder / f"{name}.json"
    done = run(folder, out, url, **settings)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    items: list[dict[str, str]] = json.loads(out.read_text("utf-8"))
    return sorted(items, key=lambda item: item["text"])


Crawled = Callable[..., tuple[subprocess.CompletedProcess[str], list[dict[str, str]]]]


@pytest.fixture
def crawled_with(tmp_path: Path, redis_url: str, namespace: str) -> Crawled:
    """Run the spider with further lines in its class; returns its end and its items."""

    def crawled(
        lines: str, **settings: str
    ) -> tuple[subprocess.CompletedProcess[str], list[dict[str, str]]]:
        spider = SPIDER.replace("    def parse", lines + "    def parse", 1)
        (tmp_path / "quotes.py").write_text(spider, "utf-8")
        stores = {"REDIS_URL": redis_url, "SEINE_CRAWL": namespace}
        addons = {"ADDONS": '{"scrapy_seine.Addon": 500}'}
        with serving(Site) as url:
            done = run(tmp_path, tmp_path / "items.json", url, **stores, **addons, **settings)
        return done, json.loads((tmp_path / "items.json").read_text("utf-8"))

    return crawled


@pytest.mark.redis
def test_a_spider_of_the_tutorial_yields_the_same_items_with_the_one_line(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    (tmp_path / "quotes.py").write_text(SPIDER, "utf-8")
    with serving(Site) as url:
        plain = crawl(tmp_path, "plain", url)
        ours = crawl(
            tmp_path,
            "ours",
            url,
            ADDONS='{"scrapy_seine.Addon": 500}',
            REDIS_URL=redis_url,
            SEINE_CRAWL=namespace,
        )
    assert len(plain) == PAGES * QUOTES
    assert ours == plain


@pytest.mark.redis
def test_a_start_that_raises_midway_keeps_its_items_and_exits_with_1(
    crawled_with: Crawled,
) -> None:
    """What it had not asked for yet was never entered: an exit with 0 would call that complete."""
    done, items = crawled_with(STARTS)
    assert done.returncode == 1, done.stderr
    assert "Spider closed (start_error)" in done.stderr
    assert len(items) == PAGES * QUOTES


@pytest.mark.redis
@pytest.mark.parametrize(
    ("failing", "path"),
    [*((name, "on") for name in FAILING), ("Quotes._spider_idle", "off")],
)
def test_code_that_fails_outside_any_page_is_named_and_the_status_is_1(
    crawled_with: Crawled, failing: str, path: str
) -> None:
    """A pipeline that writes its items in `close_spider` has lost them."""
    done, items = crawled_with(FAILING[failing], SEINE_FASTPATH=path)
    assert done.returncode == 1, done.stderr
    assert f"{failing} failed; its traceback is in the log" in done.stderr
    assert len(items) == PAGES * QUOTES


@pytest.mark.redis
def test_a_start_that_fails_names_no_handler_of_the_end(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    """Handlers of the end may fail then, because the spider was never opened."""
    lines = FAILING["close_spider"].replace("close_spider", "open_spider")
    (tmp_path / "quotes.py").write_text(SPIDER.replace("    def parse", lines + "    def parse", 1))
    ours = {"ADDONS": '{"scrapy_seine.Addon": 500}', "REDIS_URL": redis_url}
    out = tmp_path / "items.json"
    done = run(tmp_path, out, "http://127.0.0.1:1", SEINE_CRAWL=namespace, **ours)
    assert done.returncode == 1, done.stderr
    assert "ZeroDivisionError" in done.stderr.splitlines()[-1]
    assert "the worker will exit with 1" not in done.stderr


@pytest.mark.redis
def test_an_answer_of_an_idle_handler_is_no_failure(crawled_with: Crawled) -> None:
    done, _ = crawled_with(ANSWERING)
    assert done.returncode == 0, done.stderr
    assert "'finish_reason': 'enough'" in done.stderr


@pytest.mark.redis
def test_an_endless_start_gives_way_to_the_pages_and_to_the_end(crawled_with: Crawled) -> None:
    """I11: with a full downloader Scrapy reads a start that awaits nothing without a pause."""
    limits = {
        "CONCURRENT_REQUESTS": "2",
        "CLOSESPIDER_ITEMCOUNT": "20",
        "SEINE_READ_SECONDS": "1",
    }
    done, items = crawled_with(ENDLESS, **limits)
    assert done.returncode == 0, done.stderr
    assert "Spider closed (closespider_itemcount)" in done.stderr
    assert len(items) >= 20


@pytest.mark.parametrize(
    ("custom_settings", "words"),
    [
        ({"DOWNLOAD_TIMEOUT": "abc"}, "DOWNLOAD_TIMEOUT='abc' is not a number"),
        # Scrapy reads these before it makes its engine.
        ({"DOWNLOAD_SLOTS": 5}, "custom_settings of quotes.Quotes: DOWNLOAD_SLOTS=5 is not a tab"),
        ({"LOG_LEVEL": "x"}, "custom_settings of quotes.Quotes: LOG_LEVEL='x' is not a level"),
        (7, "custom_settings of quotes.Quotes is no table"),
    ],
)
def test_a_wrong_setting_of_a_spider_ends_the_start_in_one_line(
    tmp_path: Path, custom_settings: object, words: str
) -> None:
    """Scrapy raises it to nobody, while its engine is half open: two tracebacks otherwise."""
    own = f"    custom_settings = {custom_settings!r}\n"
    (tmp_path / "quotes.py").write_text(
        SPIDER.replace("    name =", f"{own}    name =", 1), "utf-8"
    )
    addon = '{"scrapy_seine.Addon": 500}'
    done = run(tmp_path, tmp_path / "items.json", "http://127.0.0.1:1", ADDONS=addon)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert f"the worker does not start: {words}" in done.stderr


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("EXTENSIONS", '{"nosuch.Part": 1}', "names nosuch.Part, which cannot be imported: No mod"),
        ("ITEM_PIPELINES", '{"scrapy.Nosuch": 1}', "names scrapy.Nosuch, which cannot be imported"),
        ("JOBDIR", "/proc/x", "=/proc/x cannot be used: No such file or directory"),
        ("LOG_FILE", "no/x.log", "=no/x.log cannot be used: No such file or directory"),
        ("HTTPCACHE_DIR", "/proc/x", "=/proc/x cannot be written: No such file or directory"),
    ],
)
def test_a_setting_that_a_start_fails_by_is_named_in_one_line(
    tmp_path: Path, name: str, value: str, words: str
) -> None:
    (tmp_path / "quotes.py").write_text(SPIDER, "utf-8")
    ours = {"ADDONS": '{"scrapy_seine.Addon": 500}', "HTTPCACHE_ENABLED": "1", name: value}
    done = run(tmp_path, tmp_path / "items.json", "http://127.0.0.1:1", **ours)

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert f"the worker does not start: {name}{' ' * (words[0] == 'n')}{words}" in done.stderr


@pytest.mark.parametrize(
    ("signature", "words"),
    [
        ("site, **kwargs", "__init__() missing 1 required positional argument: 'site'"),
        ("*, site=1", "__init__() got an unexpected keyword argument 'url'"),
    ],
)
def test_an_argument_that_a_spider_lacks_or_does_not_take_is_named_in_one_line(
    tmp_path: Path, signature: str, words: str
) -> None:
    text = SPIDER.replace("self, url, **kwargs", f"self, {signature}")
    (tmp_path / "quotes.py").write_text(text, "utf-8")
    addon = '{"scrapy_seine.Addon": 500}'
    done = run(tmp_path, tmp_path / "items.json", "http://127.0.0.1:1", ADDONS=addon)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert f"the worker does not start: spider quotes: Quotes.{words}; an arg" in done.stderr


def test_a_wrong_level_of_the_log_is_one_line() -> None:
    """Scrapy reads it while there is no log and no crawler: it was a traceback."""
    settings = {"ADDONS": {"scrapy_seine.Addon": 500}, "LOG_LEVEL": "loud"}
    with pytest.raises(SystemExit, match="LOG_LEVEL='loud' is not a level of the log: CRITICAL"):
        CrawlerProcess(settings)


@pytest.mark.parametrize(
    ("redis", "said"),
    [
        ({}, "worker exits: REDIS_URL must be set"),
        ({"REDIS_URL": "localhost:6379"}, "worker exits: REDIS_URL is no URL"),
        ({"REDIS_URL": "redis:/localhost"}, "worker exits: REDIS_URL is no URL"),
        ({"REDIS_URL": "redis://127.0.0.1:1/0", "SEINE_OUTAGE_LIMIT": "0"}, "does not answer"),
    ],
)
def test_a_worker_that_cannot_join_says_why_and_exits_with_1(
    tmp_path: Path, redis: dict[str, str], said: str
) -> None:
    """Else a supervisor takes the crawl for complete."""
    (tmp_path / "quotes.py").write_text(SPIDER, "utf-8")
    ours = {"ADDONS": '{"scrapy_seine.Addon": 500}', **redis}
    done = run(tmp_path, tmp_path / "items.json", "http://127.0.0.1:1", **ours)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert said in done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TWISTED_REACTOR", "twisted.internet.selectreactor.SelectReactor"),
        ("TWISTED_REACTOR_ENABLED", False),
    ],
)
def test_another_event_loop_is_refused_by_its_setting(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=name):
        Addon().update_settings(Settings({name: value}))


def test_twisteds_default_loop_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrapy runs on it where the setting is empty; the worker died there with a traceback."""
    monkeypatch.setattr(event_loop, "is_reactor_installed", lambda: False)
    with pytest.raises(ConfigError, match="TWISTED_REACTOR is empty"):
        Addon().update_settings(Settings({"TWISTED_REACTOR": ""}))


def test_a_scripts_own_asyncio_loop_needs_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("is_reactor_installed", "is_asyncio_reactor_installed"):
        monkeypatch.setattr(event_loop, name, lambda: True)
    Addon().update_settings(Settings({"TWISTED_REACTOR": None}))


def test_what_a_project_sets_itself_wins() -> None:
    settings = Settings({"DOWNLOADER_MIDDLEWARES": {RETRY: 77}, "STATS_CLASS": "mine.Stats"})
    Addon().update_settings(settings)
    assert settings["STATS_CLASS"] == "mine.Stats"
    middlewares = settings["DOWNLOADER_MIDDLEWARES"]
    assert middlewares[RETRY] == 77
    assert "Retry" not in {getattr(key, "__name__", key) for key in middlewares}
    assert "RobotsMiddleware" in {getattr(key, "__name__", key) for key in middlewares}


class Mine(RedisScheduler):  # type: ignore[misc]
    """A scheduler of the project."""


def test_beside_another_scheduler_nothing_is_changed() -> None:
    settings = Settings({"SCHEDULER": Mine})
    before = settings.copy_to_dict()
    with pytest.raises(NotConfigured, match="Mine; delete that setting"):
        Addon().update_settings(settings)
    assert settings.copy_to_dict() == before


def test_a_cache_without_a_project_folder_leaves_the_add_on_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings named by the environment, as Scrapyd does, need no scrapy.cfg. Such a worker had the
    frontier, but Scrapy's retries and feeds: each wrote its own feed over those of the others."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "scrapy.settings.default_settings")
    settings = Settings({"HTTPCACHE_ENABLED": True})
    Addon().update_settings(settings)
    replaced = {getattr(key, "__name__", key) for key in settings["EXTENSIONS"]}
    assert replaced >= {"FeedExporter", "CloseSpider"}


@pytest.mark.parametrize("priority", ["project", "spider"])
def test_a_mapping_of_the_projects_is_added_to_and_its_own_entries_stay(priority: str) -> None:
    settings = Settings()
    settings.set("DOWNLOAD_HANDLERS", {"http": HTTP11, "ftp": None}, priority)
    settings.set("FEED_EXPORTERS", {"csv": "mine.Csv"}, priority)
    Addon().update_settings(settings)
    handlers = settings.getdict("DOWNLOAD_HANDLERS")
    assert handlers == {"http": HTTP11, "ftp": None, "https": LANES}
    assert settings.getdict("FEED_EXPORTERS") == {"csv": "mine.Csv", "parquet": PARQUET}


@pytest.mark.parametrize("priority", ["project", "spider", "cmdline"])
@pytest.mark.parametrize("named", ["scrapy.core.scheduler.Scheduler", "", None])
def test_the_place_of_scrapys_own_scheduler_is_taken_where_settings_name_it_or_none(
    named: str | None, priority: str
) -> None:
    """It stayed beside the rest of the add-on, so that workers shared nothing and said nothing."""
    settings = Settings()
    settings.set("SCHEDULER", named, priority)
    Addon().update_settings(settings)
    assert settings["SCHEDULER"] == SLOTS["SCHEDULER"]


def test_the_places_of_scrapy_redis_are_taken() -> None:
    settings = Settings(
        {
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        }
    )
    Addon().update_settings(settings)
    assert settings["SCHEDULER"] == SLOTS["SCHEDULER"]
    assert settings["DUPEFILTER_CLASS"] == SLOTS["DUPEFILTER_CLASS"]
