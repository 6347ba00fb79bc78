"""What a new user mistypes is answered in one line that says what, where, and what was meant."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import orjson
import pytest
from redis import Redis

from crawler.commands import redis as redis_command
from crawler.commands import sql
from crawler.demo.own_stores import SCHEMA, clean, demo_endpoints
from crawler.demo.shop_process import served
from crawler.extract.site import Site
from crawler.extract.site_check import mistakes
from crawler.stores.store_endpoints import Endpoints
from scrapy_seine.commands.misspelt_commands import commands_below
from scrapy_seine.errors import ConfigError
from tests import started
from tests.helpers import execute, on_full_disk, patient, scrapy_said, server_folder

ROOT = Path(__file__).parents[2]
Said = Callable[..., tuple[int, str]]


@pytest.fixture
def said(redis_url: str, database: str) -> Said:
    """Run `scrapy …` in a process of its own; returns its status and all that it wrote."""

    def run(*args: str, folder: Path = ROOT, **environment: str) -> tuple[int, str]:
        stores = {"REDIS_URL": redis_url, "DATABASE_URL": database, "SCRAPY_PROJECT": "test"}
        return scrapy_said(*args, folder=folder, environment={**stores, **environment})

    return run


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("crawl", "catalgo"), "did you mean catalog?"),
        (("crawl", "catalog", "-a", "site=bookz"), "-a site=bookz: no site file has this name"),
        (("crawl", "catalog", "-o", "/proc/no/x.csv"), "-o /proc/no/x.csv cannot be written"),
        (
            ("crawl", "catalog", "-s", "SEINE_ARCHIVE=/proc/x"),
            "=/proc/x cannot be written: No such",
        ),
        (("crawl", "catalog", "-s", "ASYNCIO_EVENT_LOOP="), "ASYNCIO_EVENT_LOOP='' is not a class"),
        (("crawl", "catalog", "-s", "STATS_CLASS="), "STATS_CLASS='' is not a class"),
        (("crawl", "catalog", "-s", "TWISTED_REACTOR="), "TWISTED_REACTOR is empty, but must be"),
        (("crawl", "catalog", "-s", "TWISTED_REACTOR=no.R"), "names no.R, which cannot be"),
        (("crawl", "catalog", "-s", "TWISTED_REACTOR=os.path"), "TWISTED_REACTOR=os.path must be"),
        (("crawl", "catalog", "-s", "TWISTED_REACTOR_ENABLED=0"), "_ENABLED must be on, because"),
        (("statsu",), "there is no command 'statsu'; did you mean status?"),
        (("status", "--crawl", "nosuch"), "nothing is known of a crawl 'nosuch'"),
        (("frontier", "pause", "--crawl", "nosuch"), "nothing is known of a crawl 'nosuch'"),
        (("dlq", "--crawl", "nosuch"), "nothing is known of a crawl 'nosuch'"),
        (("watch", "htp://127.0.0.1:1"), "'htp://127.0.0.1:1' has no http:// or https:// in front"),
        (("watch", "http://127.0.0.1:1/"), "127.0.0.1:1 cannot be reached"),
        (("watch", "http//shop.example/"), "did you mean http://shop.example/?"),
        (("watch", "http:/127.0.0.1:9/"), "did you mean http://127.0.0.1:9/?"),
        (("watch", "x.example", "--ouput", "x.csv"), "no option --ouput; did you mean --output?"),
        (("archive", "/nosuch"), "/nosuch is no folder"),
        (("archive", ".", "more"), "it takes one argument at most; 'more' is a second one"),
        (("watch", "é☃"), "xn--9ca011q:443 cannot be reached"),
        (("watch", "http://-1/"), "http://-1/: '-1' is no host name"),
        (("crawl", "catalog", "-a", "url=http://-1/"), "-a url=http://-1/: '-1' is no host name"),
        (("seed", "http://-1/"), "'-1' is no host name"),
        (("shell", "a b"), "'a b' cannot be read: 'a b' is no host name"),
        (("redis", ""), "the command is empty; name one, as PING"),
        (("fetch",), "name one URL, with http:// or https:// in front; it is none"),
        (("parse", "shop.example"), "name one URL, with http:// or https:// in front; it is shop"),
        (("view", "http://a/", "http://b/"), "in front; it is http://a/ http://b/"),
        (("crawl", "catalog", "-a", "ulr=http://127.0.0.1:1/"), "did you mean url?"),
        (("newsite", "nota://url"), "'nota://url' is no http:// or https:// URL"),
        (("explain", "nota://url"), "nota://url"),
        (("dashboard", "--port", "99999"), "127.0.0.1:99999 cannot be served"),
        (("exporter", "--port", "99999"), "127.0.0.1:99999 cannot be served"),
        (("crawl", "catalog", "-a", "url="), "-a url= is empty"),
        (("crawl", "catalog", "--logfile", "/proc/no/x"), "--logfile /proc/no/x cannot be written"),
        (("export", "prodcts"), "no table 'prodcts' to export; did you mean products?"),
        (("demo", "--products", "1e400"), "PRODUCTS='1e400' is not a finite number"),
        (("demo", "--workers", "99999999"), "WORKERS=99999999 is above 32; each is a process"),
        (("exporter", "--host", "x" * 99, "--port", "0"), "too long"),
        (("dlq", "show", "\udce9"), r"the argument b'\xe9' is not UTF-8 text"),
        (("shell", "-c", "1", "/proc"), "/proc: it is a folder, not a page's file"),
        (("parse", "--spider", "catalog", "--meta", "[1]", "http://x.example/"), "--meta [1] is"),
        (("crawl", "catalog", "-a", "url=\udce9"), r"b'url=\xe9' is not UTF-8 text"),
        (("export", "products", "--where", "prise=3"), "no field 'prise'; did you mean price?"),
        (
            ("frontier", "clear", "--yes", "--domain", ""),
            "--domain has an empty value; leave it out",
        ),
        (("frontier", "priority", "5", "--site="), "--site has an empty value; leave it out"),
        (("export", "products", "--limit", "-5"), "--limit -5 is less than 0"),
        (("status", "catalog"), "it takes no argument; 'catalog' is one"),
        (("coordinate", "catalog"), "it takes no argument; 'catalog' is one"),
        (("dashboard", "catalog"), "it takes no argument; 'catalog' is one"),
        (("exporter", "catalog"), "it takes no argument; 'catalog' is one"),
        (("migrate", "catalog"), "it takes no argument; 'catalog' is one"),
        (("sql", "SELECT nope"), 'column "nope" does not exist'),
        (("crawl",), "name the spider: scrapy crawl catalog"),
        (("crawl", "catalog", "shop"), "'shop' is a second argument"),
        (("seed", ""), "'' is neither a URL with http:// in front nor a file"),
        (("watch", "http://127.0.0.1:1/", "-o", "x.pdf"), "no format 'pdf'"),
        (("newsite", "http://127.0.0.1:1/"), "127.0.0.1:1 cannot be reached: "),
        (("attempts", "shop.example"), "it takes no argument; 'shop.example' is one"),
        (("down", "redis"), "it takes no argument; 'redis' is one"),
        (("crawl", "catalog", "-a", "site="), "-a site= is empty"),
        (("crawl", "catalog", "--ulr"), "there is no option --ulr"),
        (("crawl", "catalog", "--pidfile", "/proc/no/x"), "--pidfile /proc/no/x cannot be written"),
        (("status", "--profile", "/proc/no/x"), "--profile /proc/no/x cannot be written"),
        (("newsite", "http://127.0.0.1:1/", "--name", "class"), "'class' is a word of Python"),
        (
            ("parse", "-c", "x", "http://127.0.0.1:1/"),
            "which spider is to read http://127.0.0.1:1/?",
        ),
        (("parse", "--spider", "catalog", "-c", "parze", "http://x.example/"), "mean parse?"),
        (
            ("crawl", "catalog", "-s", 'DOWNLOADER_MIDDLEWARES={"nosuch.Mw": 1}'),
            "DOWNLOADER_MIDDLEWARES names nosuch.Mw, which cannot be imported: No module named",
        ),
        (
            ("crawl", "catalog", "-s", 'ITEM_PIPELINES={"pipelines.clean.Clean": "first"}'),
            "is not a table (in JSON, if it is a text), of which each value is a number or None",
        ),
        (("crawl", "catalog", "-s", 'FEEDS={"a": 1}'), "FEEDS='{\"a\": 1}' is not a table"),
        (
            ("crawl", "catalog", "-s", "JOBDIR=/proc/x"),
            "JOBDIR=/proc/x cannot be used: No such file or directory",
        ),
        (
            ("crawl", "catalog", "-s", "HTTPCACHE_ENABLED=1", "-s", "HTTPCACHE_DIR=/proc/x"),
            "HTTPCACHE_DIR=/proc/x cannot be written: No such file or directory",
        ),
        (("crawl", "catalog", "-s", "ADDONS=7"), "ADDONS='7' is not a table"),
        (("crawl", "catalog", "--set=DOWNLOAD_SLOTS=5"), "DOWNLOAD_SLOTS='5' is not a table"),
        (("shell", "-sDNS_RESOLVER=x"), "DNS_RESOLVER='x' is not a class or its path"),
        (("-s", "SEINE_CRAWL=x", "status"), "SEINE_CRAWL=x stands where the command should"),
    ],
)
def test_a_mistake_is_one_line_and_a_status(said: Said, args: tuple[str, ...], words: str) -> None:
    status, text = said(*args)

    assert status == 1, text
    assert words in text.splitlines()[-1]
    assert "Traceback" not in text


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("frontier", "show", "--urls", "x"), "show does not read --urls; that is of import-"),
        (("frontier", "import-scrapy-redis", "--domain", "a.example"), "does not read --domain"),
        (("dlq", "replay", "--all", "--limit", "10"), "replay does not read --limit; that is of"),
        (("dlq", "replay", "--all", "--limit", "50"), "replay does not read --limit; that is of"),
        (("seine", "dlq", "replay", "--all", "--limit=50"), "replay does not read --limit; that"),
        (("dlq", "replay", "1", "--reason", "5xx"), "name ids or a filter, not both"),
        (("jobs", "pause", "1", "--again"), "pause does not read --again; that is of start"),
        (("jobs", "list", "1"), "list takes no argument; `show JOB` shows one job"),
        (("proxies", "test", "--by", "pool"), "test does not read --by; that is of show"),
        (("attempts", "--hours", "3"), "the list does not read --hours; that is of --by-hour"),
        (("quality", "s", "--accept", "price", "--keep"), "--accept does not read --keep; that"),
    ],
)
def test_what_another_action_reads_is_refused(
    said: Said, args: tuple[str, ...], words: str
) -> None:
    """It was ignored: `dlq replay --all --limit 10` replayed each dead letter."""
    status, text = said(*args)

    assert status == 2, text
    assert words in text.splitlines()[-1]


def test_an_export_before_the_first_crawl_says_what_makes_the_tables(
    said: Said, database: str
) -> None:
    execute(database, "ALTER TABLE products RENAME TO elsewhere")
    status, text = said("export")
    assert (status, text.count("\n")) == (1, 1)
    assert "`scrapy migrate` makes them" in text


def test_a_proxy_of_the_environment_that_cannot_be_used_ends_the_start(said: Said) -> None:
    """Each page would fail by it, robots.txt first, and the worker would wait for the site."""
    status, text = said("crawl", "catalog", "-a", "url=http://127.0.0.1:1/", http_proxy="http://[")

    assert status == 1, text
    assert "http_proxy='http://[' is no address of a proxy" in text
    assert "Traceback" not in text


def test_a_full_disk_is_blamed_and_not_a_store(redis_url: str, database: str) -> None:
    stores = {"REDIS_URL": redis_url, "DATABASE_URL": database, "SCRAPY_PROJECT": "test"}
    for words in (("status",), ("sql", "SELECT 1")):
        said = "seine: standard output cannot be written: No space left on device\n"
        assert on_full_disk(words, ROOT, stores) == (1, said)


def test_a_misspelt_project_is_named_instead_of_crawling_without_settings(said: Said) -> None:
    status, text = said("crawl", "catalog", SCRAPY_PROJECT="clustr")

    assert (status, text.count("\n")) == (1, 1)
    assert "SCRAPY_PROJECT=clustr is not in scrapy.cfg" in text
    assert "did you mean cluster?" in text


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("settings.laptp", "SCRAPY_SETTINGS_MODULE=settings.laptp is no module; there is"),
        ("settings.laptp", "did you mean settings.laptop?"),
        ("", "SCRAPY_SETTINGS_MODULE is set and empty; unset it"),
    ],
)
def test_settings_that_are_misspelt_are_one_line(said: Said, module: str, words: str) -> None:
    status, text = said("status", SCRAPY_SETTINGS_MODULE=module)

    assert (status, text.count("\n")) == (1, 1), text
    assert words in text


@pytest.mark.parametrize(
    ("config", "settings", "words"),
    [
        ("[settings\n", "", "scrapy.cfg cannot be read: File contains no section headers."),
        ("[settings]\ndefault = mine\n", "X = (", "mine.py:1: SyntaxError: '(' was never closed"),
        (
            "[settings]\ndefault = mine\n",
            "\nimport nosuch",
            "mine.py:2: ModuleNotFoundError: No module named 'nosuch'",
        ),
        (
            "[settings]\ndefault = none.settings\n",
            "",
            "the settings none.settings cannot be imported: none.settings: ModuleNotFoundError",
        ),
    ],
)
def test_settings_that_scrapy_cannot_read_are_one_line(
    tmp_path: Path, config: str, settings: str, words: str
) -> None:
    """Scrapy reads them before it knows of any add-on."""
    (tmp_path / "scrapy.cfg").write_text(config, "utf-8")
    (tmp_path / "mine.py").write_text(settings, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", "from scrapy_seine.interrupts import main; main()", "list"],
        cwd=tmp_path,
        env={k: v for k, v in os.environ.items() if not k.startswith("SCRAPY_")},
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert words in done.stderr


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("redis://127.0.0.1:1/0?decode_responses=true", "REDIS_URL: leave out decode_responses"),
        ("redis://127.0.0.1:1/shop", "REDIS_URL: the path is no database's number"),
    ],
)
def test_an_address_with_which_nothing_works_is_one_line(said: Said, url: str, words: str) -> None:
    status, text = said("status", REDIS_URL=url)

    assert (status, text.count("\n")) == (1, 1), text
    assert words in text


def test_an_error_is_json_where_json_is_asked_for(redis_url: str, database: str) -> None:
    stores = {"REDIS_URL": redis_url, "DATABASE_URL": database, "SCRAPY_PROJECT": "test"}
    for words, status, told in (
        (("status", "--crawl", "nosuch"), 1, "nothing is known of a crawl 'nosuch'"),
        (("sql", "SELECT 1/0"), 1, "division by zero"),
        (("jobs", "strat"), 2, "'strat' is none of start, list"),
        (("jobs", "pause"), 2, "pause needs a job"),
        (("dlq", "shwo"), 2, "'shwo' is none of list, show, replay, purge; did you mean show?"),
        (("frontier", "pause", "--domain"), 2, "argument --domain: expected one argument"),
        (("seine", "dlq", "shwo"), 2, "'shwo' is none of list, show, replay, purge"),
    ):
        done = started.run(
            [sys.executable, "-m", "scrapy", *words, "--json"],
            cwd=ROOT,
            env={**os.environ, **stores},
            capture_output=True,
            text=True,
            timeout=patient(60),
            check=False,
        )
        assert done.returncode == status
        assert told in orjson.loads(done.stdout)["error"]
        assert told in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_fault_is_told_from_what_is_well_in_plain_ascii(redis_url: str, database: str) -> None:
    plain = {**os.environ, "PYTHONIOENCODING": "ascii:replace", "COLUMNS": "100"}
    stores = {"REDIS_URL": redis_url, "DATABASE_URL": database, "SCRAPY_PROJECT": "test"}
    for redis, mark in ((redis_url, "ok"), ("redis://127.0.0.1:1/0", "FAIL")):
        # A process of its own, because the encoding is chosen when Python begins.
        done = subprocess.run(
            [sys.executable, "-m", "scrapy", "doctor"],
            cwd=ROOT,
            env={**plain, **stores, "REDIS_URL": redis},
            capture_output=True,
            text=True,
            timeout=patient(60),
            check=False,
        )
        begun = [line.split()[:2] for line in done.stdout.splitlines()]
        assert [mark, "redis"] in begun, done.stdout


def test_outside_the_folder_a_command_says_where_it_works(said: Said, tmp_path: Path) -> None:
    status, text = said("status", folder=tmp_path)

    assert (status, text.count("\n")) == (1, 1)
    assert "holds a scrapy.cfg; change to the project's folder first" in text
    assert said("version", folder=tmp_path)[0] == 0


def test_outside_a_project_each_command_of_scrapys_that_needs_none_works(
    said: Said, tmp_path: Path
) -> None:
    for name in commands_below("scrapy.commands"):
        needs = import_module(f"scrapy.commands.{name}").Command.requires_project
        _, text = said(name, "--help", folder=tmp_path)
        assert ("holds a scrapy.cfg" in text) is needs, (name, text)


def test_a_misspelt_attribute_of_a_site_file_is_no_silence() -> None:
    class Shop(Site):
        domains = ("shop.example",)
        delay_m = 500
        PATTERN = "mine"
        helpers = ("mine", "too")

    class Other(Site):
        domains = ("other.example",)
        fields = {"prize": "h1::text"}

    assert list(mistakes(Shop)) == [("delay_m", "a site has no delay_m; did you mean delay_ms?")]
    assert "did you mean price?" in next(iter(mistakes(Other)))[1]


async def test_the_demo_stores_apart_and_is_removed_whole(
    redis_url: str, database: str, tmp_path: Path
) -> None:
    where = Endpoints(redis_url, database)
    place = demo_endpoints(where)
    execute(place.database_url, "CREATE TABLE products (n int)")
    (tmp_path / "demo-77").mkdir()
    (tmp_path / "demo-mine").mkdir()
    with Redis.from_url(redis_url) as redis:
        redis.hset("{demo-77}:control", "id", "x")
        redis.hset("{demo-mine}:control", "id", "x")
        redis.set("seine:taken:demo-77", "1", ex=60)
        with pytest.raises(ConfigError, match="demo-77 still runs"):
            await clean(where, tmp_path)
        redis.delete("seine:taken:demo-77")
        crawls, had = await clean(where, tmp_path)

        assert "demo-77" in crawls
        assert had
        assert not redis.exists("{demo-77}:control")
        assert redis.delete("{demo-mine}:control") == 1
    assert os.listdir(tmp_path) == ["demo-mine"]  # noqa: PTH208  # within a coroutine
    with pytest.raises(ConfigError, match="does not exist"):
        sql._run(database, [f"SELECT 1 FROM {SCHEMA}.products"])
    assert (await clean(where, tmp_path))[1] is False


def test_demos_that_begin_together_share_their_place(database_url_empty: str) -> None:
    """One of two `make demo` ended with a duplicate key."""
    where = Endpoints("redis://unused", database_url_empty)
    for _ in range(3):
        with ThreadPoolExecutor(8) as pool:
            assert len(set(pool.map(lambda _: demo_endpoints(where).database_url, range(8)))) == 1
        execute(database_url_empty, f"DROP SCHEMA {SCHEMA}")


def test_a_statement_shows_rows_and_keeps_the_password_out_of_arguments(database: str) -> None:
    (result,) = sql._run(database, ["SELECT 1 AS n, NULL AS nothing"])

    assert (result.columns, list(result.rows)) == (["n", "nothing"], [(1, None)])
    assert sql.variables("postgresql://me:secret@db/shop")["PGPASSWORD"] == "secret"


def test_a_reply_of_redis_is_shown_as_its_own_client_shows_it() -> None:
    assert list(redis_command.reply_text([b"a", 1, None, [b'b"', b"c"], []])) == [
        '1) "a"',
        "2) (integer) 1",
        "3) (nil)",
        '4) 1) "b\\""',
        '   2) "c"',
        "5) (empty)",
    ]


@pytest.mark.timeout(240)
def test_watch_starts_servers_and_worker_beside_each_other(said: Said) -> None:
    """The worker begins before the servers that it joins, and before its seed is anywhere."""
    own = {"SCRAPY_PROJECT": "default", "REDIS_URL": "", "DATABASE_URL": ""}
    with server_folder() as folder, served(products=12) as shop:
        file, place = folder.parent / "found.csv", {"SEINE_DATA_DIR": str(folder)}
        status, text = said("watch", shop.url, "-o", str(file), **own, **place)

        assert status == 0, text
        assert f"12 products in {file}" in text
        assert len(file.read_text("utf-8").splitlines()) == 13


def test_watch_goes_from_nothing_to_a_file(said: Said, redis_url: str, tmp_path: Path) -> None:
    """Also by a host and port alone: by https the worker would try again, in silence."""
    file = tmp_path / "found.csv"
    with served(products=12) as shop:
        place = shop.url.removeprefix("http://")
        status, text = said("watch", place, "-o", str(file), SEINE_DATA_DIR=str(tmp_path))

    assert status == 0, text
    assert f"{place} speaks no TLS: watching http://{place}" in text
    assert f"12 products in {file}" in text
    assert len(file.read_text("utf-8").splitlines()) == 13
    with Redis.from_url(redis_url) as redis:
        assert list(redis.scan_iter(match="{watch-*")) == []


def test_seeds_before_an_unreadable_file_are_counted(
    said: Said, redis_url: str, namespace: str, tmp_path: Path
) -> None:
    """The line named the file alone, as if nothing had been pushed."""
    seeds, key = tmp_path / "seeds.txt", f"{namespace}:start_urls"
    seeds.write_text("".join(f"http://shop.example/{n}\n" for n in range(1100)))
    setting = f"REDIS_START_URLS_KEY={key}"
    status, text = said("seed", "-s", setting, str(seeds), str(tmp_path / "nosuch.txt"))
    with Redis.from_url(redis_url) as redis:
        assert redis.llen(key) == 1000
    assert status == 1
    assert "nor a file; the 1,000 seeds before were pushed" in text
