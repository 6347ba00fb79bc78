"""`scrapy proxies` and `scrapy domains` on a real server, by the words that people type."""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from scrapy.settings import Settings

from crawler.access.ladder import Decision
from crawler.access.ladder_store import LadderStore
from crawler.access.proxies.list_format import parse
from crawler.access.proxies.pool import ProxyPool, TakenProxy
from crawler.commands import domains, proxies
from crawler.demo.forward_proxies import Forward, forwarders
from scrapy_seine.commands.base import SeineCommand
from tests.acceptance.site import serve_pages

pytestmark = pytest.mark.redis
LINE = "http://me:hunter2@p.example:1 provider=acme country=DE"


class Desk:
    """A terminal on one fleet."""

    def __init__(self, url: str, fleet: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.url, self.fleet, self.capsys = url, fleet, capsys
        self.settings: dict[str, Any] = {}

    def type(self, command: SeineCommand, *words: str) -> tuple[int, str, str]:
        command.settings = Settings(
            {"REDIS_URL": self.url, "SEINE_FLEET": self.fleet, **self.settings}
        )
        parser = argparse.ArgumentParser()
        command.add_options(parser)
        options, args = parser.parse_known_args(list(words))
        command.run(args, options)
        out, err = self.capsys.readouterr()
        return command.exitcode, out, err

    def ban_one(self) -> None:
        async def work(redis: Redis) -> None:
            pool = ProxyPool(redis, self.fleet)
            await pool.register(parse([LINE])[0])
            taken = await pool.take("shop.example")
            assert isinstance(taken, TakenProxy)
            await pool.report("shop.example", taken, "ban")

        self.do(work)

    def climb(self, to: str = "tls") -> None:
        async def work(redis: Redis) -> None:
            steps = LadderStore(redis, self.fleet)
            view = await steps.tally("shop.example", {"plain": (1, 3)})
            await steps.move("shop.example", view, Decision("climb", to, "3 of 4 were bad"))

        self.do(work)

    def do(self, work: Any) -> None:
        async def run() -> None:
            redis = Redis.from_url(self.url)
            await work(redis)
            await redis.aclose()

        asyncio.run(run())


@pytest.fixture
def desk(redis_url: str, namespace: str, capsys: pytest.CaptureFixture[str]) -> Desk:
    return Desk(redis_url, namespace, capsys)


def test_proxies_are_shown_with_their_quarantines_and_without_secrets(desk: Desk) -> None:
    assert "no worker" in desk.type(proxies.Command())[1]
    desk.ban_one()
    status, out, _ = desk.type(proxies.Command())
    assert status == 0
    assert "shop.example" in out
    assert "acme" in out
    for by in proxies.GROUPS:
        assert desk.type(proxies.Command(), "--by", by)[0] == 0
    data = json.loads(desk.type(proxies.Command(), "--json")[1])
    assert data["proxies"][0]["bans"] == 1
    assert "hunter2" not in out + str(data)


def test_a_quarantine_is_ended_by_hand(desk: Desk) -> None:
    desk.ban_one()
    name = parse([LINE])[0][0].id
    assert desk.type(proxies.Command(), "release", name)[0] == 0
    data = json.loads(desk.type(proxies.Command(), "--json")[1])
    assert data["proxies"][0]["domains"] == {}
    status, _, complaint = desk.type(proxies.Command(), "release", "nobody")
    assert (status, "is no proxy" in complaint) == (1, True)


def test_each_proxy_is_tried_and_the_bad_lines_are_named(desk: Desk) -> None:
    ways = [
        Forward("http", "127.0.0.61", user="me", secret="hunter2"),
        Forward("socks5", "127.0.0.62", user="me", secret="hunter2"),
        Forward("http", "127.0.0.63", mode="close"),
    ]
    with forwarders(*ways), serve_pages({"/": "<p>hello</p>"}) as url:
        desk.settings = {"SEINE_PROXIES": [*(way.url for way in ways), "nonsense"]}
        status, out, err = desk.type(proxies.Command(), "test", f"{url}/", "--json")
    trials = json.loads(out)["trials"]
    assert [trial["good"] for trial in trials] == [True, True, False]
    assert status == 1
    assert "line 4" in err
    assert "hunter2" not in out + err
    desk.settings = {}
    assert "no proxies are listed" in desk.type(proxies.Command(), "test")[2]


def test_domains_are_shown_with_their_step_and_the_reason(desk: Desk) -> None:
    assert "no worker" in desk.type(domains.Command())[1]
    desk.climb()
    _, out, _ = desk.type(domains.Command(), "show", "shop.example")
    assert "plain → tls: 3 of 4 were bad" in out
    data = json.loads(desk.type(domains.Command(), "--json")[1])["domains"]
    assert [(d["domain"], d["step"]) for d in data] == [("shop.example", "tls")]
    assert not data[0]["needs_browser_worker"]
    assert desk.type(domains.Command(), "reset", "shop.example")[0] == 0
    assert desk.type(domains.Command(), "reset", "shop.example")[0] == 1


def test_a_look_at_domains_starts_no_database(desk: Desk, tmp_path: Path) -> None:
    desk.settings = {"SEINE_EMBEDDED": True, "SEINE_DATA_DIR": str(tmp_path)}
    status, _, told = desk.type(domains.Command())
    assert status == 0
    assert "PostgreSQL does not run; `scrapy up` starts it" in told
    assert list(tmp_path.iterdir()) == []
    desk.settings = {"DATABASE_URL": "postgresql://me:hunter2@127.0.0.1:1/x"}
    status, _, told = desk.type(domains.Command())
    assert (status, "dead ends are not shown: " in told, "hunter2" in told) == (0, True, False)


def test_a_domain_that_no_living_worker_can_ask_says_so(desk: Desk) -> None:
    desk.climb("browser")
    _, out, _ = desk.type(domains.Command())
    assert "needs a browser worker; none is alive" in " ".join(out.split())
    data = json.loads(desk.type(domains.Command(), "--json")[1])["domains"]
    assert data[0]["needs_browser_worker"]
