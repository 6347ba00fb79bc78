"""The commands: seeds arrive in order, bad ones are named, errors are one line and a status."""

from __future__ import annotations

import argparse
import errno
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg2
import pytest
from redis.asyncio import Redis
from redis.exceptions import NoPermissionError
from redis.exceptions import TimeoutError as RedisTimeout
from scrapy.settings import Settings

from crawler.commands import crawl, migrate
from crawler.stores import embedded
from scrapy_seine.commands import seed
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.commands.one_line_errors import guarded
from scrapy_seine.errors import ConfigError, SeineError
from tests import started
from tests.helpers import patient, server_folder, wait_until

ROOT = Path(__file__).parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def scrapy(redis_url: str, database_url: str) -> Run:
    """Run `scrapy …` in a process of its own, on the session's servers."""

    def run(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
        env = os.environ | {
            "REDIS_URL": redis_url,
            "DATABASE_URL": database_url,
            "SCRAPY_PROJECT": "test",
            **environment,
        }
        modules = ["-s", "SPIDER_MODULES=tests.integration.cli_spiders"]
        if not any(arg.startswith("ITEM_PIPELINES=") for arg in args):
            modules += ["-s", "ITEM_PIPELINES={}"]
        command = [sys.executable, "-m", "scrapy", *args, *modules]
        return started.run(
            command,
            cwd=ROOT,
            env=env,
            capture_output=True,
            text=True,
            timeout=patient(60),
            check=False,
        )

    return run


def perform(command: SeineCommand, args: list[str], **settings: Any) -> int:
    """Run a command in this process; returns its exit status."""
    command.settings = Settings({"SPIDER_MODULES": ["tests.integration.cli_spiders"], **settings})
    options = argparse.Namespace(json=True, spider="plain", check=False, wait=None)
    command.run(args, options)
    return command.exitcode


async def test_seeds_are_pushed_in_their_order_and_bad_ones_named(
    redis_client: Redis,
    redis_url: str,
    namespace: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "seeds.txt"
    file.write_bytes(
        b'\xef\xbb\xbfhttp://a/1\n# a comment\n\n123\r\n{"url": "http://a/2"}\r\nexample.com/x\n\xff\n'
    )
    keys = {"REDIS_URL": redis_url, "REDIS_START_URLS_KEY": namespace}
    assert perform(seed.Command(), [str(file), "http://a/3"], **keys) == 1

    out, err = capsys.readouterr()
    assert json.loads(out) == {"pushed": 3, "bad": 3, "key": namespace}
    assert [line.split(": ")[1] for line in err.splitlines()] == [f"{file}:{n}" for n in (4, 6, 7)]
    assert await redis_client.lrange(namespace, 0, -1) == [  # type: ignore[misc]
        b"http://a/1",
        b'{"url": "http://a/2"}',
        b"http://a/3",
    ]


def test_a_file_without_a_seed_is_no_success(
    redis_url: str, namespace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list of a script that failed is empty: it said "0 pushed", with status 0."""
    file = tmp_path / "seeds.txt"
    file.write_text("# none\n\n")
    keys = {"REDIS_URL": redis_url, "REDIS_START_URLS_KEY": namespace}
    assert perform(seed.Command(), [str(file)], **keys) == 1
    said = f"{file}: no seed is in there; nothing was pushed"
    assert json.loads(capsys.readouterr().out) == {"error": said}


async def test_seeds_of_a_windows_shell_are_utf_16(
    redis_client: Redis, redis_url: str, namespace: str, tmp_path: Path
) -> None:
    file = tmp_path / "seeds.txt"
    file.write_bytes("http://a/ü\r\nhttp://a/2\r\n".encode("utf-16"))
    keys = {"REDIS_URL": redis_url, "REDIS_START_URLS_KEY": namespace}
    assert perform(seed.Command(), [str(file)], **keys) == 0
    pushed = await redis_client.lrange(namespace, 0, -1)  # type: ignore[misc]
    assert pushed == ["http://a/ü".encode(), b"http://a/2"]


@pytest.mark.parametrize(
    ("header", "cut"),
    [("name,url", "cut -d',' -f2"), ('"URL";"name"', "cut -d';' -f1"), ("sku\tlink", "cut -f2")],
)
async def test_a_table_is_refused_because_its_columns_would_be_part_of_the_url(
    *, redis_client: Redis, redis_url: str, namespace: str, tmp_path: Path, header: str, cut: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    file = tmp_path / "seeds.csv"
    file.write_text(f"{header}\nhttp://a/1,3\n", "utf-8")
    keys = {"REDIS_URL": redis_url, "REDIS_START_URLS_KEY": namespace}
    assert perform(seed.Command(), [str(file)], **keys) == 1
    assert cut in capsys.readouterr().err
    assert await redis_client.llen(namespace) == 0  # type: ignore[misc]


def test_a_list_without_any_seed_is_given_up(
    redis_url: str, namespace: str, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe of words has no end, and each word was named."""
    settings = {"REDIS_URL": redis_url, "REDIS_START_URLS_KEY": namespace}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"y\n" * 5000)))
    assert perform(seed.Command(), ["-"], **settings) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "seine: the first 1,000 lines are no seeds; nothing was pushed"


async def test_seeds_come_from_standard_input_in_more_than_one_batch(
    redis_client: Redis, redis_url: str, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(f"http://a/{n}\n" for n in range(2500))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    settings = {"REDIS_URL": redis_url, "REDIS_START_URLS_KEY": namespace}
    assert perform(seed.Command(), ["-"], **settings) == 0
    assert await redis_client.llen(namespace) == 2500  # type: ignore[misc]
    assert await redis_client.lindex(namespace, 2499) == b"http://a/2499"  # type: ignore[misc]


@pytest.mark.parametrize("kind", ["set", "zset"])
async def test_seeds_join_whatever_kind_of_key_there_is(
    redis_client: Redis, redis_url: str, namespace: str, kind: str
) -> None:
    if kind == "set":
        await redis_client.sadd(namespace, "http://a/0")  # type: ignore[misc]
    else:
        await redis_client.zadd(namespace, {"http://a/0": 5})
    settings = {"REDIS_URL": redis_url, "REDIS_START_URLS_KEY": namespace}
    assert perform(seed.Command(), ["http://a/1"], **settings) == 0
    count = redis_client.scard if kind == "set" else redis_client.zcard
    assert await count(namespace) == 2  # type: ignore[misc]


@pytest.mark.parametrize("argument", ["no/such/file", "example.com"])
def test_what_is_neither_url_nor_file_is_said_so(
    redis_url: str, argument: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert perform(seed.Command(), [argument], REDIS_URL=redis_url) == 1
    assert "neither a URL with http:// in front nor a file" in capsys.readouterr().err


def test_migrations_run_once(
    database_url_empty: str, redis_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"DATABASE_URL": database_url_empty, "REDIS_URL": redis_url}
    assert perform(migrate.Command(), [], **settings) == 0
    assert json.loads(capsys.readouterr().out)["applied"]
    assert perform(migrate.Command(), [], **settings) == 0
    assert json.loads(capsys.readouterr().out)["applied"] == []


@pytest.mark.parametrize(
    "words",
    [
        ("importance", "http://a.example/1"),
        ("quality",),
        ("domains",),
        ("export", "products"),
        ("attempts",),
        ("forget", "http://a.example/*"),
    ],
    ids=["importance", "quality", "domains", "export", "attempts", "forget"],
)
def test_a_database_without_tables_is_told_in_one_line(
    scrapy: Run, database_url_empty: str, namespace: str, words: tuple[str, ...]
) -> None:
    run = scrapy(*words, DATABASE_URL=database_url_empty, SEINE_CRAWL=namespace)

    assert run.returncode == 1
    line = "seine: the database has no such tables yet: `scrapy migrate` makes them, or the"
    assert line in run.stderr.splitlines()[-1]
    assert "Traceback" not in run.stderr


def test_a_pod_waits_until_another_has_migrated(scrapy: Run, database_url_empty: str) -> None:
    """The init container of a worker: a first apply starts it before the Job is done."""
    where = {"DATABASE_URL": database_url_empty}
    early = scrapy("migrate", "--check", "--wait", "0.1", **where)
    assert early.returncode == 1
    assert "missing 0001" in early.stdout
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(scrapy, "migrate", "--check", "--wait", "60", **where)
        assert scrapy("migrate", **where).returncode == 0
        assert waiting.result().returncode == 0
    assert scrapy("migrate", "--wait", "60", **where).returncode == 2, "it would wait for itself"
    assert (
        "'soon' is not a number" in scrapy("migrate", "--check", "--wait", "soon", **where).stderr
    )


def test_a_pod_that_waits_says_for_what(scrapy: Run) -> None:
    where = {"DATABASE_URL": "postgresql://seine:very-secret@127.0.0.1:1/seine"}
    run = scrapy("migrate", "--check", "--wait", "0.5", **where)
    assert run.returncode == 1
    assert run.stderr.count("waiting for `scrapy migrate`: DATABASE_URL") == 1
    assert "very-secret" not in run.stderr


def test_an_error_is_one_line_without_the_password(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        raise ConfigError("redis://u:hunter2@h/0\nis wrong")

    assert guarded(work) == 1
    assert capsys.readouterr().err == "seine: redis://***@h/0 is wrong\n"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            NoPermissionError("User u has no permissions to run 'time'"),
            "Redis refuses it: User u has no "
            "permissions to run 'time' (the user of REDIS_URL needs",
        ),
        (RedisTimeout("Timeout reading from h"), "Redis does not answer: Timeout reading"),
    ],
)
def test_what_redis_refuses_is_one_line(
    capsys: pytest.CaptureFixture[str], error: Exception, told: str
) -> None:
    def work() -> None:
        raise error

    assert guarded(work) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"seine: {told}")


def test_a_folder_that_may_not_be_written_is_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Such as the data folder of somebody else, in which a watch keeps its worker's log."""

    def work() -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "/srv/seine/watch")

    assert guarded(work) == 1
    assert capsys.readouterr().err == (
        "seine: /srv/seine/watch cannot be used: Permission denied\n"
    )


def test_a_name_that_no_file_can_have_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert guarded(lambda: (tmp_path / ("x" * 300)).write_text("")) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("cannot be used: File name too long")


def test_a_keyboard_interrupt_is_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        raise KeyboardInterrupt

    assert guarded(work) == 130
    assert capsys.readouterr().err == "seine: stopped\n"


def test_a_bug_stays_visible() -> None:
    def work() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        guarded(work)
    assert not issubclass(ZeroDivisionError, SeineError)


def test_a_crawl_with_an_unreachable_store_is_one_line_and_status_1(scrapy: Run) -> None:
    limit = ("-s", "SEINE_OUTAGE_LIMIT=0")
    done = scrapy("crawl", "plain", *limit, REDIS_URL="redis://:hunter2@127.0.0.1:1/0")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("seine: REDIS_URL=redis://***@127.0.0.1:1/0 does not answer")
    assert done.stderr.count("\n") == 1
    assert "hunter2" not in done.stderr


def test_help_needs_no_server(scrapy: Run) -> None:
    done = scrapy("crawl", "--help", REDIS_URL="redis://127.0.0.1:1", DATABASE_URL="")
    assert done.returncode == 0
    assert "example: scrapy crawl catalog" in done.stdout


def test_a_crawl_on_a_database_without_schema_is_one_line(
    scrapy: Run, database_url_empty: str
) -> None:
    pipelines = 'ITEM_PIPELINES={"pipelines.upsert.Upsert": 400}'
    run = scrapy("crawl", "plain", "-s", pipelines, DATABASE_URL=database_url_empty)
    assert run.returncode == 1
    assert "run `scrapy migrate` first" in run.stderr
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "settings", "line"),
    [
        (["plain"], {}, "REDIS_URL and DATABASE_URL must be set"),
        (["plain", "-a", "url=example.com/x"], {}, "has no http:// or https:// in front"),
        (["nosuch"], {}, "seine: no spider is named 'nosuch'; there is plain"),
    ],
)
def test_a_crawl_that_cannot_start_says_why_in_one_line(
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    settings: dict[str, str],
    line: str,
) -> None:
    command = crawl.Command()
    command.settings = Settings({"SPIDER_MODULES": ["tests.integration.cli_spiders"], **settings})
    parser = argparse.ArgumentParser(conflict_handler="resolve")
    command.add_options(parser)
    options, names = parser.parse_known_args(arguments)
    with pytest.raises(SystemExit) as caught:
        command.process_options(names, options)
    said = capsys.readouterr().err
    assert (caught.value.code, said.count("\n")) == (1, 1)
    assert line in said


def test_a_crawl_seeds_itself_and_ends_with_status_0(scrapy: Run, namespace: str) -> None:
    # A refused connection is an end like any other; the crawl is complete then.
    arguments = ("-a", "url=http://127.0.0.1:1/x", "-s", f"SEINE_CRAWL={namespace}")
    done = scrapy("crawl", "plain", *arguments, "-s", "RETRY_TIMES=0", "-s", "ROBOTSTXT_OBEY=0")
    assert done.returncode == 0, done.stderr
    assert "gave up http://127.0.0.1:1/x" in done.stderr


def test_laptop_mode_migrates_a_fresh_database_by_itself(
    scrapy: Run, namespace: str, database_url_empty: str
) -> None:
    done = scrapy(
        *("crawl", "plain", "-a", "url=http://127.0.0.1:1/x", "-s", f"SEINE_CRAWL={namespace}"),
        *("-s", "RETRY_TIMES=0", "-s", "ROBOTSTXT_OBEY=0"),
        SCRAPY_PROJECT="default",
        DATABASE_URL=database_url_empty,
    )
    assert done.returncode == 0, done.stderr
    connection = psycopg2.connect(database_url_empty)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM seine_migrations")
        row = cursor.fetchone()
    connection.close()
    assert row is not None
    assert row[0] >= 1


def test_an_outage_ends_a_worker_with_status_1(
    database_url: str, namespace: str, tmp_path: Path
) -> None:
    with server_folder() as data, (tmp_path / "log").open("w+") as log:
        servers = embedded.start(data, which=("redis",), durable=False)
        env = os.environ | {
            "REDIS_URL": servers.redis_url,
            "DATABASE_URL": database_url,
            "SCRAPY_PROJECT": "test",
        }
        command = [sys.executable, "-m", "scrapy", "crawl", "plain", "-s", "ITEM_PIPELINES={}"]
        command += ["-s", "SPIDER_MODULES=tests.integration.cli_spiders"]
        command += ["-s", f"SEINE_CRAWL={namespace}", "-s", "SEINE_OUTAGE_LIMIT=0"]
        with started.Popen(command, cwd=ROOT, env=env, stderr=log) as worker:
            said = tmp_path / "log"
            wait_until(lambda: "joins crawl" in said.read_text(), 30, "the worker joins")
            embedded.stop(data)
            assert worker.wait(timeout=patient(30)) == 1
        assert "Spider closed (outage)" in said.read_text()


def test_a_crawl_loads_no_other_command() -> None:
    """They are a part of each worker's start, and of its memory for good."""
    told = (
        "import sys; from scrapy.cmdline import execute\n"
        "try: execute(['scrapy', *sys.argv[1:], '--help'])\n"
        "except SystemExit: print(*(n for n in sys.modules if n.startswith('crawler.commands.')))"
    )
    env = {**os.environ, "SCRAPY_SETTINGS_MODULE": "settings.test"}
    loaded = {}
    for name in ("crawl", "status"):
        done = subprocess.run(
            [sys.executable, "-c", told, name],
            check=True,
            cwd=ROOT,
            env=env,
            capture_output=True,
            text=True,
            timeout=patient(60),
        )
        loaded[name] = done.stdout.splitlines()[-1].split()
    assert loaded["crawl"] == ["crawler.commands.crawl"]
    assert "crawler.commands.status" in loaded["status"]
