"""Spiders and commands of any project, with the add-on's one line: as in plain Scrapy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from redis import Redis

from tests import started
from tests.benchmarks.projects.run import Scene, compare
from tests.benchmarks.projects.site import Site
from tests.helpers import patient, serving, serving_noted, wait_until

ROOT = Path(__file__).parents[2]
SETTINGS = """
BOT_NAME = "mine"
SPIDER_MODULES = ["mine"]
NEWSPIDER_MODULE = "mine"
ADDONS = {"scrapy_seine.Addon": 500}
REDIS_URL = "redis://127.0.0.1:1/0"  # nobody answers there
ROBOTSTXT_OBEY = True
"""
SPIDER = '''
import scrapy


class Mine(scrapy.Spider):
    name = "mine"
    allowed_domains = ["127.0.0.1"]

    def parse(self, response):
        """
        @url %s/page/1/
        @returns items 1
        """
        yield {"quotes": len(response.css("div.quote"))}
'''


def project(folder: Path, url: str) -> Path:
    """Write a project that has the one line, and a Redis that does not answer."""
    (folder / "mine").mkdir()
    (folder / "mine" / "__init__.py").write_text(SPIDER % url, "utf-8")
    (folder / "mine_settings.py").write_text(SETTINGS, "utf-8")
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = mine_settings\n", "utf-8")
    return folder


def scrapy(folder: Path, *args: str) -> subprocess.Popen[str]:
    """Start a command of Scrapy's."""
    return started.Popen(
        [sys.executable, "-m", "scrapy", *args],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_commands_that_look_at_a_page_join_no_crawl(tmp_path: Path) -> None:
    with serving(Site) as url:
        folder, page = project(tmp_path, url), f"{url}/page/1/"
        said = {
            ("shell", page, "-c", "len(response.css('div.quote'))"): "5",
            ("fetch", "--nolog", page): "Quote 1.0",
            ("fetch", "--nolog", "--spider", "mine", page): "Quote 1.0",
            ("parse", "--spider", "mine", page): "'quotes': 5",
            ("check",): "Ran 1 contract",
            ("list",): "mine",
            ("settings", "--get", "BOT_NAME"): "mine",
            ("version",): "Scrapy",
            ("bench", "-s", "CLOSESPIDER_TIMEOUT=1"): "closespider_timeout",
        }
        running = {args: scrapy(folder, *args) for args in said}
        for args, process in running.items():
            out, err = process.communicate(timeout=patient(60))
            assert process.returncode == 0, f"{args}: {err}"
            assert said[args] in out + err, f"{args}: {out}{err}"
            assert "joins crawl" not in err


def test_commands_that_look_at_a_page_fail_where_none_comes(tmp_path: Path) -> None:
    with serving(Site) as url:
        here = project(tmp_path, url)
    dead = f"{url}/page/1/"  # nobody serves there any more
    running = [
        scrapy(folder, *args, dead)
        for folder, spider in ((here, "mine"), (ROOT, "catalog"))
        for args in (("fetch", "--nolog"), ("view",), ("parse", "--spider", spider))
    ]
    for process in running:
        out, err = process.communicate(timeout=patient(60))
        assert process.returncode == 1, f"{process.args}: {out}{err}"
        assert "no page reached the spider" in err or "--nolog" in process.args, err


@pytest.mark.redis
@pytest.mark.parametrize("style", ["crawl_rules", "redis_seeds", "middlewares", "lambdas"])
def test_a_project_yields_the_items_of_a_plain_run(
    style: str, tmp_path: Path, redis_url: str, namespace: str
) -> None:
    said: list[str] = []
    with serving(Site) as site:
        found = compare(Scene(site, redis_url, tmp_path), style, namespace, said.append, [2])
    assert (found["missing"], found["added"], found["failed"]) == (0, 0, []), said
    assert found["items"]


@pytest.mark.redis
def test_seeds_that_a_redis_spider_claimed_outlive_its_worker(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    """I1: scrapy-redis pops a seed, so that it dies with its worker."""
    (tmp_path / "slow.py").write_text(
        "from scrapy_redis.spiders import RedisSpider\n"
        "import time\n"
        "class Slow(RedisSpider):\n"
        "    name = 'slow'\n"
        f"    redis_key = '{namespace}:urls'\n"
        "    def make_request_from_data(self, data):\n"
        "        print('reads', flush=True)\n"
        "        time.sleep(60)\n",
        "utf-8",
    )
    settings = ("ADDONS={'scrapy_seine.Addon': 500}".replace("'", '"'), f"REDIS_URL={redis_url}")
    args = [part for setting in (*settings, f"SEINE_CRAWL={namespace}") for part in ("-s", setting)]
    with Redis.from_url(redis_url) as redis:
        redis.rpush(f"{namespace}:urls", json.dumps({"url": "http://127.0.0.1:1/"}))
        process = scrapy(tmp_path, "runspider", "slow.py", *args)
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "reads\n"
        finally:
            process.kill()
            process.communicate()
        claimed = f"{{{namespace}:urls}}:claimed"
        wait_until(lambda: redis.hlen(claimed) == 1, 5, "the claim is kept")


@pytest.mark.redis
def test_a_start_crawls_again_and_a_named_run_does_not(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    """What is skipped as known is said, with what changes it."""
    with serving(Site) as site:
        scene = Scene(site, redis_url, tmp_path)
        first = scene.distributed("quotes_tutorial", 3, namespace, out="first")
        second = scene.distributed("quotes_tutorial", 1, namespace, out="second")
        named, over = (
            scene.distributed("quotes_tutorial", 1, namespace, out=out, SEINE_RUN="monday")
            for out in ("named", "over")
        )
    assert [run.statuses for run in (first, second, named, over)] == [[0] * 3, [0], [0], [0]]
    assert list(first.items) == list(second.items) == list(named.items)
    assert not over.items
    assert "1 start requests were known in run 3" in over.logs[0], over.logs[0]
    assert "SEINE_RUN" in over.logs[0]


@pytest.mark.redis
def test_a_request_that_cannot_be_stored_outlives_its_worker(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    """I1: its page's lease is held until it ends, so that another worker reads the page again."""
    spider = (
        "import scrapy, time\n"
        "class Nested(scrapy.Spider):\n"
        "    name = 'nested'\n"
        "    start_urls = ['%s/page/1/']\n"
        "    def parse(self, response):\n"
        "        yield response.follow('/author/1/', lambda page: self.slow(page))\n"
        "    def slow(self, page):\n"
        "        print('reads', flush=True)\n"
        "        time.sleep(float(self.pause))\n"
        "        yield {'author': page.css('h3::text').get()}\n"
    )
    values = {
        "ADDONS": '{"scrapy_seine.Addon": 500}',
        "REDIS_URL": redis_url,
        "SEINE_CRAWL": namespace,
        "SEINE_LEASE_SECONDS": "2",
        "SEINE_READ_SECONDS": "0",
    }
    args = [part for pair in values.items() for part in ("-s", "=".join(pair))]
    command = ("runspider", "nested.py", *args, "-a")
    with serving(Site) as url:
        (tmp_path / "nested.py").write_text(spider % url, "utf-8")
        killed = scrapy(tmp_path, *command, "pause=60")
        try:
            assert killed.stdout is not None
            assert killed.stdout.readline() == "reads\n"
        finally:
            killed.kill()
            killed.communicate()
        out, err = scrapy(tmp_path, *command, "pause=0").communicate(timeout=patient(60))
    assert out == "reads\n", err
    assert "Author 1" in err
    assert "callback Nested.parse.<locals>.<lambda> cannot be stored" in err


@pytest.mark.redis
def test_a_projects_delay_holds_for_all_workers_together(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    """I5: two workers with DOWNLOAD_DELAY are as fast as one."""
    with serving_noted(Site) as (site, asked):
        scene = Scene(site, redis_url, tmp_path)
        pace = {"DOWNLOAD_DELAY": "0.25", "RANDOMIZE_DOWNLOAD_DELAY": "False"}
        run = scene.distributed("quotes_tutorial", 2, namespace, **pace)
    assert len(run.items) == 35
    # Three quarters: the first one may have been late at the site. Two paces would need half.
    assert asked[-1][0] - asked[0][0] > 0.75 * 0.25 * (len(asked) - 1)


GATHERING = """
from operator import setitem

import scrapy


class Quotes(scrapy.Spider):
    name = "quotes"
    start_urls = ["%s/page/1/"]

    def parse(self, response):
        left = [2]
        for n in range(2):
            yield response.follow(f"/author/{n}/", self.author, cb_kwargs={"left": left})

    def author(self, response, left):
        COUNT
        yield {"author": response.url[-2], "left": left[0]}
"""


@pytest.mark.parametrize(
    ("counts", "left", "line"),
    [
        ("left[0] -= 1", [0, 1], "callbacks change what requests share as left, and each worker"),
        (
            "setitem(left, 0, left[0] - 1)",
            [1, 1],
            "requests with callback Quotes.author share one list in cb_kwargs",
        ),
    ],
    ids=["the callback counts", "its source does not show it, so each has a copy"],
)
def test_a_feed_is_written_and_a_list_that_requests_share_is_named(
    tmp_path: Path, redis_url: str, namespace: str, *, counts: str, left: list[int], line: str
) -> None:
    with serving(Site) as url:
        project(tmp_path, url)
        (tmp_path / "mine" / "__init__.py").write_text(
            (GATHERING % url).replace("COUNT", counts), "utf-8"
        )
        own = ("-s", f"REDIS_URL={redis_url}", "-s", f"SEINE_CRAWL={namespace}")
        worker = scrapy(tmp_path, "crawl", "quotes", "-O", "quotes.jsonl", *own)
        _, err = worker.communicate(timeout=patient(60))
    items = [json.loads(line) for line in (tmp_path / "quotes.jsonl").read_text().splitlines()]
    assert sorted(item["author"] for item in items) == ["0", "1"], err
    assert sorted(item["left"] for item in items) == left, err
    assert err.count(line) == 1


ALONE = """
import scrapy


class Drops:
    def __init__(self):
        self.ids = set()

    def open_spider(self):
        self.file = open("own.txt", "w")

    def process_item(self, item):
        if item["page"] in self.ids:
            raise scrapy.exceptions.DropItem("known")
        self.ids.add(item["page"])
        return item


class Quotes(scrapy.Spider):
    name = "quotes"
    page = 1
    start_urls = ["%s/page/1/"]
    custom_settings = {"ITEM_PIPELINES": {Drops: 1}}

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.idle, scrapy.signals.spider_idle)
        return spider

    def parse(self, response):
        yield {"page": response.url[-2]}
        self.page += 1
        if self.page < 4:
            yield response.follow(f"/page/{self.page}/", self.parse)

    def idle(self):
        if self.page < 6:
            self.page = 6
            for n in range(2):
                url = f"{self.start_urls[0][:-2]}{n + 5}/"
                self.crawler.engine.crawl(scrapy.Request(url, dont_filter=True))
            raise scrapy.exceptions.DontCloseSpider
"""


def test_what_each_worker_has_for_itself_is_said_in_a_line_each(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    with serving(Site) as url:
        project(tmp_path, url)
        (tmp_path / "mine" / "__init__.py").write_text(ALONE % url, "utf-8")
        own = ("-s", f"REDIS_URL={redis_url}", "-s", f"SEINE_CRAWL={namespace}")
        worker = scrapy(tmp_path, "crawl", "quotes", "-O", "quotes.jsonl", *own)
        _, err = worker.communicate(timeout=patient(60))
    items = [json.loads(line) for line in (tmp_path / "quotes.jsonl").read_text().splitlines()]
    assert sorted(item["page"] for item in items) == ["1", "2", "3", "5", "6"], err
    for line in (
        "spider 'quotes': callbacks change self.page, and each worker has its own",
        "pipeline Drops remembers items in self.ids",
        "pipeline Drops opens a file to write it anew",
        f"a handler sends {url}/page/5/ with dont_filter: such a request enters from each worker",
    ):
        assert err.count(line) == 1, err


CHAIN = """
import sys

import scrapy


class Quotes(scrapy.Spider):
    name = "quotes"
    page = 0
    start_urls = ["%s/page/1/"]

    def parse(self, response):
        yield {"page": self.page}
        self.page += 1
        if self.page == 100:
            sys.setrecursionlimit(350)
        if self.page < 120:
            yield scrapy.Request(f"data:,{self.page}", self.parse)
"""


def test_a_long_chain_of_requests_that_stay_ends(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    """Each page waits for the next one; their ends were a recursion as deep as the chain."""
    with serving(Site) as url:
        project(tmp_path, url)
        (tmp_path / "mine" / "__init__.py").write_text(CHAIN % url, "utf-8")
        own = ("-s", f"REDIS_URL={redis_url}", "-s", f"SEINE_CRAWL={namespace}")
        worker = scrapy(tmp_path, "crawl", "quotes", "-O", "quotes.jsonl", *own)
        _, err = worker.communicate(timeout=patient(60))
    assert "RecursionError" not in err
    lines = (tmp_path / "quotes.jsonl").read_text().splitlines()
    # Two pages may be acknowledged in either order.
    assert sorted(json.loads(line)["page"] for line in lines) == list(range(120)), err


@pytest.mark.redis
def test_a_crawl_is_one_spiders(tmp_path: Path, redis_url: str, namespace: str) -> None:
    """Another spider's `parse` would take its pages, and their items were never missed."""
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(
            "import scrapy\n"
            f"class Any(scrapy.Spider):\n    name = '{name}'\n"
            "    def parse(self, response):\n        yield {'url': response.url}\n",
            "utf-8",
        )
    (tmp_path / "mine_settings.py").write_text(
        'ADDONS = {"scrapy_seine.Addon": 1}\n'
        f"REDIS_URL = {redis_url!r}\nSEINE_CRAWL = {namespace!r}\n",
        "utf-8",
    )
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = mine_settings\n", "utf-8")

    def run(*words: str) -> tuple[int, str]:
        command = scrapy(tmp_path, *words)
        _, told = command.communicate(timeout=patient(60))
        return command.returncode, told

    assert run("runspider", "first.py")[0] == 0
    status, told = run("runspider", "second.py")
    assert status == 1
    assert f"crawl '{namespace}' is of spider 'first'" in told
    assert "Traceback" not in told
    assert run("seine", "frontier", "clear", "--yes", "--crawl", namespace)[0] == 0
    assert run("runspider", "second.py")[0] == 0


@pytest.mark.redis
def test_two_projects_that_start_at_once_do_not_share_a_crawl(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    """Both found nothing that waits, and each made dead letters of the other's pages."""
    begun, go = tmp_path / "begun", tmp_path / "go"
    with serving(Site) as site:
        for name in ("first", "second"):
            folder = tmp_path / name
            folder.mkdir()
            (folder / "spider.py").write_text(
                "import asyncio, pathlib, scrapy\n"
                "class Any(scrapy.Spider):\n    name = 'any'\n"
                "    async def start(self):\n"
                f"        pathlib.Path({str(begun)!r}).touch()\n"
                f"        while not pathlib.Path({str(go)!r}).exists():\n"
                "            await asyncio.sleep(0.02)\n"
                f"        yield scrapy.Request('{site}/page/1/', self.{name})\n"
                f"    def {name}(self, response):\n        yield {{'url': response.url}}\n",
                "utf-8",
            )
            (folder / "mine_settings.py").write_text(
                'ADDONS = {"scrapy_seine.Addon": 1}\n'
                f"BOT_NAME = {name!r}\nREDIS_URL = {redis_url!r}\nSEINE_CRAWL = {namespace!r}\n",
                "utf-8",
            )
            (folder / "scrapy.cfg").write_text("[settings]\ndefault = mine_settings\n", "utf-8")

        first = scrapy(tmp_path / "first", "runspider", "spider.py", "-O", "items.jsonl")
        wait_until(begun.exists, patient(30), "the first one's start runs")
        second = scrapy(tmp_path / "second", "runspider", "spider.py")
        _, told = second.communicate(timeout=patient(60))
        go.touch()
        _, told_first = first.communicate(timeout=patient(60))

    assert second.returncode == 1
    assert f"workers are in crawl '{namespace}' that are of the project 'first'" in told
    assert "Traceback" not in told
    assert first.returncode == 0, told_first
    assert (tmp_path / "first" / "items.jsonl").read_text("utf-8").count("\n") == 1


def test_a_start_that_scrapy_no_longer_calls_is_named(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    """Such a spider ends at once without a page, which otherwise looks like success."""
    (tmp_path / "old.py").write_text(
        "import scrapy\n\n\nclass Old(scrapy.Spider):\n    name = 'old'\n\n"
        "    def start_requests(self):\n        yield scrapy.Request('http://shop.example/')\n",
        "utf-8",
    )
    own = ("-s", f"REDIS_URL={redis_url}", "-s", f"SEINE_CRAWL={namespace}")
    addon = ("-s", 'ADDONS={"scrapy_seine.Addon": 1}')
    worker = scrapy(tmp_path, "runspider", "old.py", *own, *addon)
    _, told = worker.communicate(timeout=patient(60))
    assert "does not call start_requests(); write async def start()" in told


def test_a_misspelt_spider_or_module_ends_in_one_line(tmp_path: Path) -> None:
    """Scrapy raises before it logs anything."""
    folder = project(tmp_path, "http://127.0.0.1:1")
    for words, said in {
        ("crawl", "mien"): "no spider is named 'mien'; there is mine; did you mean mine?",
        ("crawl", "mine", "-s", "SPIDER_MODULES=no.such"): "SPIDER_MODULES names no.such, which is",
    }.items():
        command = scrapy(folder, *words, "--nolog")
        _, complaint = command.communicate(timeout=patient(60))
        assert (command.returncode, complaint.count("\n")) == (1, 1), complaint
        assert complaint.startswith(f"the worker does not start: {said}")


def test_help_names_the_verbs_of_seine(tmp_path: Path) -> None:
    """`scrapy seine --help` is a question, not a mistake."""
    (tmp_path / "mine_settings.py").write_text('ADDONS = {"scrapy_seine.Addon": 1}\n', "utf-8")
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = mine_settings\n", "utf-8")
    command = scrapy(tmp_path, "seine", "--help")
    said, complaint = command.communicate(timeout=patient(60))
    assert (command.returncode, complaint) == (0, "")
    assert "usage: scrapy seine status|" in said
