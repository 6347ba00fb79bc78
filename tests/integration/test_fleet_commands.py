"""`scrapy status`, `workers`, `progress` and `doctor`: what they print, and when they complain."""

import asyncio
import json
import os
import sys
from urllib.parse import urlsplit

import orjson
import pytest

from scrapy_seine.frontier.encoding.codec import encode
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.frontier.model import Push
from scrapy_seine.reads.audit import read_actions
from scrapy_seine.store_errors import with_advice
from tests import started
from tests.helpers import execute, patient

pytestmark = pytest.mark.redis


@pytest.fixture
def scrapy(redis_url, database, namespace):
    """Run a command on the test's crawl; gives its output and exit status."""

    def run(*command, status=0, **environment):
        stores = {"REDIS_URL": redis_url, "DATABASE_URL": database, "SCRAPY_PROJECT": "test"}
        env = {**os.environ, **stores, "SEINE_CRAWL": namespace, "COLUMNS": "120", **environment}
        call = [sys.executable, "-m", "scrapy", *command]
        done = started.run(
            call, check=False, env=env, capture_output=True, text=True, timeout=patient(60)
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout if status == 0 else done.stdout + done.stderr

    return run


@pytest.fixture
async def _some_work(redis_client, namespace):
    frontier = Frontier(redis_client, namespace)
    blob = encode({"url": "https://shop.example/1"})
    await frontier.push([Push(domain="shop.example", blob=blob) for _ in range(7)])
    info = orjson.dumps({"pages": 12, "host": "node-1", "started": 1.0})
    await frontier.renew("worker-1", [], ttl_ms=60_000, info=info)


@pytest.mark.usefixtures("_some_work")
def test_status_shows_the_crawl_on_one_screen(scrapy, namespace):
    text = scrapy("status")

    assert len(text.splitlines()) < 40
    for part in (f"crawl {namespace} runs", "shop.example", "worker-1", "pages/min"):
        assert part in text


@pytest.mark.usefixtures("_some_work")
def test_json_is_one_object(scrapy):
    status = json.loads(scrapy("status", "--json"))
    workers = json.loads(scrapy("workers", "--json"))

    assert status["counts"]["ready"] == status["counts"]["undone"] == 7
    assert [(w["name"], w["pages"], w["alive"]) for w in workers["workers"]] == [
        ("worker-1", 12, True)
    ]


@pytest.mark.usefixtures("_some_work")
def test_progress_says_what_is_left(scrapy):
    assert "0 of 7 done, 7 to do" in scrapy("progress", "--once")


def test_an_empty_crawl_is_no_error(scrapy):
    assert "nothing left to do" in scrapy("status")


@pytest.mark.usefixtures("_some_work")
def test_the_doctor_finds_the_suites_servers_as_they_are(scrapy):
    told = json.loads(scrapy("doctor", "--json", status=1).splitlines()[0])
    subjects = {(f["subject"], f["level"]) for f in told["findings"]}

    # The suite's Redis keeps nothing on disk, which a crawl should not do.
    assert ("persistence", "fail") in subjects
    # No worker is alive, and the settings carry an example's name.
    assert ("identity", "warn") in subjects
    assert {("redis", "ok"), ("postgresql", "ok"), ("schema", "ok"), ("clock", "ok")} <= subjects


def test_the_doctor_says_which_store_is_away_and_hides_its_password(scrapy):
    text = scrapy(
        "doctor",
        status=1,
        REDIS_URL="redis://user:secret@127.0.0.1:1/0",
        DATABASE_URL="postgresql://user:secret@127.0.0.1:1/x",
    )

    assert "check REDIS_URL" in text
    assert "check DATABASE_URL" in text
    assert "secret" not in text


@pytest.mark.parametrize("command", ["status", "workers", "progress"])
def test_without_redis_a_command_says_so_in_a_line(scrapy, command):
    text = scrapy(command, status=1, REDIS_URL="redis://127.0.0.1:1/0")

    assert text.count("\n") == 1
    assert "REDIS_URL" in text


def test_an_open_dashboard_without_a_token_does_not_start(scrapy):
    text = scrapy("dashboard", "--host", "0.0.0.0", "--port", "0", status=1)

    assert "SEINE_DASHBOARD_TOKEN" in text
    assert "Traceback" not in text


async def test_what_is_done_in_a_terminal_is_written_down(scrapy, redis_client, namespace):
    for command in (("frontier", "pause", "--domain", "shop.example"), ("dlq", "replay", "--all")):
        await asyncio.to_thread(scrapy, *command)

    actions = await read_actions(redis_client, Keys(namespace))

    assert [(d.verb, d.target) for d in actions] == [("replay", ""), ("pause", "shop.example")]
    assert all(d.origin.startswith("terminal on ") and d.who for d in actions)


def test_attempts_are_listed_and_summed_up_by_provider_and_hour(scrapy, database):
    columns = "at, url, domain, outcome, status, duration_ms, bytes, proxy_provider"
    for url, outcome, provider in (("/1", "ok", "NULL"), ("/2", "timeout", "'acme'")):
        values = f"'https://shop.example{url}', 'shop.example', '{outcome}', 200, 1, 9, {provider}"
        execute(database, f"INSERT INTO attempts ({columns}) VALUES (now(), {values})")

    newest = json.loads(scrapy("attempts", "--outcome", "timeout", "--json"))["attempts"]
    hours = json.loads(scrapy("attempts", "--by-hour", "--json"))["attempts"]

    assert [row["url"] for row in newest] == ["https://shop.example/2"]
    assert {(row["provider"], row["attempts"], row["ok"]) for row in hours} == {
        ("direct", 1, 1),
        ("acme", 1, 0),
    }
    assert "shop.example" in scrapy("attempts")
    assert "acme" in scrapy("attempts", "--by-hour")
    assert "no attempt matches" in scrapy("attempts", "--outcome", "nosuch")


def test_the_doctor_names_each_of_many_mistakes_in_a_line(scrapy, tmp_path):
    (tmp_path / "proxies").write_text("# none\n")
    mistakes = {
        "SEINE_ARCHIVE": "/proc/archive",
        "SEINE_REPLAY": str(tmp_path / "none"),
        "USER_AGENT": "",
        "PLAYWRIGHT_BROWSER_TYPE": "opera",
        "PROXY_LIST": str(tmp_path / "proxies"),
        "SEINE_DOMIAN_DELAY_MS": "3",
        "CONCURRENT_REQUESTS": "many",
        "SEINE_PROXY_POOL": "residental",
        "SEINE_LANES": '{"fast": "no.such.Thing"}',
        "SEINE_SECRET": "short",
        "SEINE_BROWSER_PATH": "/no/browser",
        "SEINE_WEBHOOK_URL": "https://me.test/hook",
        "REDIS_URL": "127.0.0.1:6379",
        "DATABASE_URL": "redis://user:secret@127.0.0.1/0",
    }
    told = json.loads(scrapy("doctor", "--json", status=1, **mistakes).splitlines()[0])
    found = [one["text"] for one in told["findings"] if one["level"] != "ok"]

    shown = dict.fromkeys(mistakes, 1) | {"USER_AGENT": 2, "PROXY_LIST": 0}
    # An empty USER_AGENT leaves an example in its place, and of the list its file is named.
    shown["SEINE_BROWSER_PATH"] = 0  # of a browser that is none, the path is not looked at
    names = {name: sum(name in text for text in found) for name in mistakes}
    assert names == shown, found
    assert any(str(tmp_path / "proxies") in text for text in found)
    assert "secret@" not in json.dumps(told)


@pytest.mark.parametrize("words", ["may not write", "takes no writes"])
def test_the_doctor_names_a_user_that_may_not_write(scrapy, database, words):
    role = f"reader_{os.getpid()}_{len(words)}"
    execute(database, f"CREATE ROLE {role} LOGIN PASSWORD 'x'")
    try:
        execute(database, f"GRANT USAGE ON SCHEMA public TO {role}")
        execute(database, f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
        if words == "takes no writes":
            execute(database, f"ALTER ROLE {role} SET default_transaction_read_only TO on")
        url = urlsplit(database)
        netloc = f"{role}:x@{url.netloc.rpartition('@')[2]}"
        text = scrapy("doctor", status=1, DATABASE_URL=url._replace(netloc=netloc).geturl())
        assert words in text
    finally:
        execute(database, f"DROP OWNED BY {role}")
        execute(database, f"DROP ROLE {role}")


async def test_a_user_with_the_rights_that_are_named_sees_the_fleet(
    scrapy, redis_client, redis_url, namespace
):
    """INFO is one of Redis' dangerous commands: all that shows memory was refused."""
    advice = with_advice("this user has no permissions to run the 'x' command")
    rights = advice.partition(" needs ")[2].partition(":")[0].split()
    user = f"user-{namespace}"
    await redis_client.execute_command("ACL", "SETUSER", user, "on", ">word", *rights)
    try:
        url = f"{redis_url}&username={user}&password=word"
        assert f"crawl {namespace}" in await asyncio.to_thread(scrapy, "status", REDIS_URL=url)
    finally:
        await redis_client.execute_command("ACL", "DELUSER", user)


@pytest.mark.parametrize("missing", ["-eval -evalsha", "resetchannels"])
async def test_the_doctor_names_a_user_whose_scripts_or_channels_are_refused(
    scrapy, redis_client, redis_url, namespace, missing
):
    """Such a server answers, so that it was found well; no worker starts there, or none ends."""
    user = f"user-{namespace}"
    words = "~* &* +@all -@admin -@dangerous +info"
    rights = [*words.split(), *missing.split()]
    await redis_client.execute_command("ACL", "SETUSER", user, "on", ">word", *rights)
    try:
        url = f"{redis_url}&username={user}&password=word"
        text = await asyncio.to_thread(scrapy, "doctor", status=1, REDIS_URL=url)
        assert "refuses what workers need" in text
        assert words in " ".join(text.split())
    finally:
        await redis_client.execute_command("ACL", "DELUSER", user)
