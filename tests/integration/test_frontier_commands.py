"""`scrapy frontier`, `dlq` and `forget` on a real server, by the words that people type."""

from __future__ import annotations

import argparse
import asyncio
import json
import pickle
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import psycopg2
import pytest
from redis import Redis as Blocking
from redis.asyncio import Redis
from scrapy import Request
from scrapy.http import HtmlResponse
from scrapy.linkextractors.lxmlhtml import LxmlLinkExtractor
from scrapy.settings import Settings
from scrapy.utils.request import fingerprint as scrapys_fingerprint
from scrapy_redis.dupefilter import RFPDupeFilter
from scrapy_redis.queue import FifoQueue, PriorityQueue

from crawler.commands import forget
from scrapy_seine.commands import dlq, frontier
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.engine.dupefilter import DupeFilter
from scrapy_seine.fingerprint import fingerprint, within
from scrapy_seine.frontier.encoding.codec import decode, encode
from scrapy_seine.frontier.encoding.legacy import legacy_fingerprint
from scrapy_seine.frontier.encoding.wire import note
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Budgets, Burial, Push
from scrapy_seine.frontier.runs import enter
from scrapy_seine.meta import RUN, run_of
from scrapy_seine.urls import domain
from tests.integration.cli_spiders import Plain

pytestmark = pytest.mark.redis
Told = tuple[int, Any, str]


class Desk:
    """A terminal on one crawl."""

    def __init__(self, redis_url: str, crawl: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.url, self.crawl, self.capsys = redis_url, crawl, capsys
        self.database_url = ""
        self.settings: dict[str, Any] = {"DUPEFILTER_CLASS": DupeFilter}

    def type(self, command: SeineCommand, *words: str, plain: bool = False) -> Told:
        """Run a command; its exit status, what it printed (JSON unless *plain*), its complaint."""
        stores = {"REDIS_URL": self.url, "DATABASE_URL": self.database_url}
        command.settings = Settings({**stores, **self.settings})
        parser = argparse.ArgumentParser()
        command.add_options(parser)
        flags = ["--crawl", self.crawl] + ([] if plain else ["--json"])
        options, args = parser.parse_known_args([*words, *flags])
        command.run(args, options)
        out, err = self.capsys.readouterr()
        return command.exitcode, out if plain or not out else json.loads(out), err

    def do(self, work: Callable[[Frontier], Coroutine[Any, Any, Any]]) -> Any:
        """Use the frontier itself."""

        async def run() -> Any:
            client = Redis.from_url(self.url)
            try:
                return await work(Frontier(client, self.crawl))
            finally:
                await client.aclose()

        return asyncio.run(run())


@pytest.fixture
def desk(redis_url: str, namespace: str, capsys: pytest.CaptureFixture[str]) -> Desk:
    return Desk(redis_url, namespace, capsys)


def push(url: str, **meta: Any) -> Push:
    blob = encode({"url": url, "meta": meta})
    return Push(domain=domain(url), blob=blob, fingerprint=fingerprint(url))


async def bury_all(f: Frontier, urls: list[str], reason: str) -> None:
    await f.push([push(url, retry_count=3) for url in urls])
    leased = await f.lease("w", 50, ttl_ms=9000)
    text = note(reason, f"it failed: {reason}", "w")
    await f.bury([Burial(lease=lease, note=text) for lease in leased.leases])


def test_show_says_where_the_requests_are_and_whose(desk: Desk) -> None:
    urls = [f"http://a.example/{n}" for n in range(3)] + ["http://b.example/"]
    desk.do(lambda f: f.push([push(url) for url in urls]))
    status, told, _ = desk.type(frontier.Command())
    assert status == 0
    assert (told["ready"], told["seen"], told["due_now"], told["dead"]) == (4, 4, 4, 0)
    assert {d["name"]: d["queued"] for d in told["domains"]} == {"a.example": 3, "b.example": 1}
    _, told, _ = desk.type(frontier.Command(), "--top", "1")
    assert len(told["domains"]) == 1
    _, text, _ = desk.type(frontier.Command(), "show", plain=True)
    assert f"crawl {desk.crawl}: 4 ready, 0 delayed, 0 leased, 0 dead, 4 seen; 4 due now" in text


def test_pause_and_resume_reach_the_whole_fleet(desk: Desk) -> None:
    desk.do(lambda f: f.push([push("http://a.example/")]))
    assert desk.type(frontier.Command(), "pause")[1] == {"paused": True, "domain": ""}
    assert desk.do(lambda f: f.lease("w", 1, ttl_ms=1)).state == "PAUSED"
    assert desk.type(frontier.Command(), "resume")[1]["resumed"] is True
    assert desk.type(frontier.Command(), "resume")[1]["resumed"] is False
    desk.type(frontier.Command(), "pause", "--domain", "a.example")
    assert len(desk.do(lambda f: f.lease("w", 1, ttl_ms=1)).leases) == 0
    desk.type(frontier.Command(), "resume", "--domain", "a.example")
    assert len(desk.do(lambda f: f.lease("w", 1, ttl_ms=1)).leases) == 1


def test_a_domain_may_be_named_by_a_url_and_a_wrong_one_is_told(desk: Desk) -> None:
    """`pause --domain https://a.example/` paused nothing, and said that it had."""
    desk.do(lambda f: f.push([push("http://a.example/"), push("http://www.b.example/")]))
    words = ("pause", "--domain", "HTTP://A.example/x")
    assert desk.type(frontier.Command(), *words, plain=True)[1] == "a.example is paused\n"
    _, text, _ = desk.type(frontier.Command(), "pause", "--domain", "b.example", plain=True)
    told = (
        "b.example is paused; the crawl has had no request of it yet; did you mean www.b.example?"
    )
    assert text == f"{told}\n"
    leased = desk.do(lambda f: f.lease("w", 9, ttl_ms=1)).leases
    assert [lease.domain for lease in leased] == ["www.b.example"]
    for wrong in ("a.example/x", "http://-1/"):
        status, _, complaint = desk.type(frontier.Command(), "pause", "--domain", wrong)
        assert (status, complaint.count("\n")) == (1, 1)
        assert "is no domain, as shop.example" in complaint


def test_what_is_queued_gets_another_priority(desk: Desk) -> None:
    desk.do(lambda f: f.push([push(f"http://a.example/{n}", site_id="a") for n in range(3)]))
    typed = desk.type(frontier.Command(), "priority", "-20", "--url", "http://*/1")
    assert typed[1] == {"changed": 1, "unchanged": 0, "unreadable": 0}
    _, text, _ = desk.type(frontier.Command(), "priority", "30", "--site", "a", plain=True)
    assert text == "3 requests have priority 30 now, 0 had it\n"
    assert desk.type(frontier.Command(), "priority", "30", "--all")[1]["unchanged"] == 3
    for words in (("priority", "30"), ("priority", "--all"), ("priority", "soon", "--all")):
        status, _, complaint = desk.type(frontier.Command(), *words)
        assert (status, complaint.count("\n")) == (1, 1)


def test_clear_drops_nothing_unless_it_was_confirmed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.do(lambda f: f.push([push("http://a.example/"), push("http://b.example/")]))
    status, _, complaint = desk.type(frontier.Command(), "clear")
    assert (status, "--yes" in complaint) == (1, True)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: "no")
    assert desk.type(frontier.Command(), "clear")[0] == 1
    assert desk.do(lambda f: f.counts()).ready == 2
    told = desk.type(frontier.Command(), "clear", "--domain", "a.example", "--yes")[1]
    assert told == {"dropped": 1, "forgotten": 0, "domain": "a.example"}
    assert desk.type(frontier.Command(), "clear", "--yes")[1]["dropped"] == 1
    assert desk.do(lambda f: f.counts()).undone == 0


def test_dead_letters_are_listed_and_shown_with_their_reason(desk: Desk) -> None:
    desk.do(lambda f: bury_all(f, ["http://a.example/1", "http://b.example/1"], "5xx"))
    desk.do(lambda f: bury_all(f, ["http://a.example/2"], "timeout"))
    listed = desk.type(dlq.Command(), "list")[1]
    assert (len(listed["dead"]), listed["complete"]) == (3, True)
    by_reason = desk.type(dlq.Command(), "list", "--reason", "timeout")[1]["dead"]
    assert [letter["url"] for letter in by_reason] == ["http://a.example/2"]
    by_domain = desk.type(dlq.Command(), "--domain", "b.example")[1]["dead"]
    assert [letter["url"] for letter in by_domain] == ["http://b.example/1"]
    assert desk.type(dlq.Command(), "list", "--older", "1h")[1]["dead"] == []
    assert len(desk.type(dlq.Command(), "list", "--newer", "1h")[1]["dead"]) == 3
    shown = desk.type(dlq.Command(), "show", by_domain[0]["id"])[1]
    assert (shown["reason"], shown["error"]) == ("5xx", "it failed: 5xx")
    assert shown["request"]["meta"] == {"retry_count": 3}
    assert "it failed: timeout" in desk.type(dlq.Command(), "list", plain=True)[1]


def test_a_replay_is_paced_and_purge_is_final(desk: Desk) -> None:
    desk.do(lambda f: bury_all(f, [f"http://a.example/{n}" for n in range(4)], "5xx"))
    assert desk.type(dlq.Command(), "replay")[0] == 1  # which ones?
    told = desk.type(dlq.Command(), "replay", "--reason", "5xx", "--pace", "60000")[1]
    assert told == {"replayed": 4, "over_s": 240.0}
    assert desk.do(lambda f: f.counts()).delayed == 4
    (lease,) = desk.do(lambda f: f.lease("w", 9, ttl_ms=9000)).leases
    assert decode(lease.blob) == {"url": "http://a.example/0", "meta": {"seine_replayed": True}}
    desk.do(lambda f: bury_all(f, ["http://b.example/1"], "404"))
    assert desk.type(dlq.Command(), "purge", "--all")[0] == 1  # not confirmed
    assert desk.type(dlq.Command(), "purge", "--reason", "404", "--yes")[1] == {"purged": 1}
    assert desk.do(lambda f: f.counts()).dead == 0


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("list", "--older", "soon"), "is no age"),
        (("show", "99"), "no dead letter has the id '99'"),
        (("replay", "99"), "no dead letter has the id '99'"),
        (("purge", "99", "--yes"), "no dead letter has the id '99'"),
        (("purge", "--all"), "--yes"),
    ],
)
def test_what_dlq_cannot_do_is_one_line(desk: Desk, words: tuple[str, ...], complaint: str) -> None:
    desk.do(lambda f: f.push([push("http://a.example/1")]))
    status, _, said = desk.type(dlq.Command(), *words)
    assert status == 1
    assert complaint in said
    assert said.count("\n") == 1


def test_a_forgotten_url_is_new_again(desk: Desk) -> None:
    url = "http://a.example/x?b=1&a=2"
    desk.do(lambda f: f.push([push(url)]))
    told = desk.type(forget.Command(), "http://A.example/x?a=2&b=1#top", "http://a.example/y")[1]
    assert told == {"urls": 2, "forgotten": 1}
    assert desk.do(lambda f: f.push([push(url)])) == ["OK"]
    assert "no http:// or https:// URL" in desk.type(forget.Command(), "ftp://x")[2]


def test_a_url_that_a_run_remembers_is_new_again(desk: Desk) -> None:
    """What a start request leads to is remembered by its run, under another number."""
    url = "http://a.example/x"
    number, _ = desk.do(lambda f: enter(f, name="", keep=False, age_ms=0))
    within_run = within(run_of({RUN: number}), fingerprint(url))
    of_run = attrs.evolve(push(url), fingerprint=within_run)
    desk.do(lambda f: f.push([of_run]))
    assert desk.do(lambda f: f.push([of_run])) == ["DUPLICATE"]
    assert desk.type(forget.Command(), url)[1] == {"urls": 1, "forgotten": 1}
    assert desk.do(lambda f: f.push([of_run])) == ["OK"]


def test_forget_says_that_a_bloom_filter_cannot(desk: Desk) -> None:
    limits = {"delay_ms": 0, "concurrency": 1, "half_window_ms": 10**9}
    desk.do(lambda f: f.configure(**limits, seen="bloom", capacity=1000))
    desk.do(lambda f: f.push([push("http://a.example/")]))
    status, _, complaint = desk.type(forget.Command(), "http://a.example/")
    assert (status, "cannot forget" in complaint) == (1, True)


@pytest.mark.postgres
def test_a_pattern_forgets_the_stored_urls_that_match(desk: Desk, database: str) -> None:
    urls = ["http://a.example/sale/1", "http://a.example/sale/2_x", "http://a.example/other"]
    with closing(psycopg2.connect(database)) as connection, connection, connection.cursor() as c:
        for url in urls:
            c.execute("INSERT INTO attempts (at, url, outcome) VALUES (now(), %s, 'ok')", (url,))
    desk.database_url = database
    desk.do(lambda f: f.push([push(url) for url in urls]))
    told = desk.type(forget.Command(), "http://a.example/sale/*")[1]
    assert told == {"urls": 2, "forgotten": 2}
    assert desk.do(lambda f: f.push([push(url) for url in urls])) == ["OK", "OK", "DUPLICATE"]


LINK = b"<a href='/0'>all of it</a>"


def legacy_requests(spider: Plain) -> list[Request]:
    # As CrawlSpider makes them: its meta holds the link's text, which is of a class of lxml's.
    (link,) = LxmlLinkExtractor().extract_links(HtmlResponse("http://a.example/", body=LINK))
    meta = {"depth": 2, "rule": 0, "link_text": link.text}
    assert type(link.text) is not str
    more = {"headers": {"Accept": "x"}, "meta": meta, "callback": spider.parse}
    return [Request(f"http://a.example/{n}", priority=n, **more) for n in range(3)]


@pytest.mark.parametrize("queue_class", [PriorityQueue, FifoQueue])
def test_scrapy_redis_queue_is_taken_over_in_its_order(desk: Desk, queue_class: Any) -> None:
    with Blocking.from_url(desk.url) as redis:
        queue = queue_class(redis, Plain(), f"{desk.crawl}:requests")
        for request in legacy_requests(queue.spider):
            queue.push(request)
        keys = ("--requests", f"{desk.crawl}:requests", "--dupefilter", f"{desk.crawl}:df")
        status, refused, _ = desk.type(frontier.Command(), "import-scrapy-redis", *keys)
        assert status == 1  # a script must not start workers on half of a queue
        assert (refused["queued"], refused["refused"]) == (0, 3)
        assert "--unpickle" in refused["reasons"][0]
        status, told, _ = desk.type(frontier.Command(), "import-scrapy-redis", "--unpickle", *keys)
        assert status == 0
        assert (told["queued"], told["refused"]) == (3, 0)
        again = desk.type(frontier.Command(), "import-scrapy-redis", "--unpickle", *keys)[1]
        assert (again["queued"], again["duplicates"]) == (0, 3)
        assert len(queue) == 3
    leases = desk.do(lambda f: f.lease("w", 9, ttl_ms=9000)).leases
    first = decode(leases[0].blob)
    assert [decode(x.blob)["url"][-1] for x in leases] == ["2", "1", "0"]
    assert first["callback"] == "parse"
    assert first["headers"] == {b"Accept": [b"x"]}
    assert first["meta"] == {"depth": 2, "rule": 0, "link_text": "all of it"}


def test_imported_requests_are_those_that_the_projects_workers_know(desk: Desk) -> None:
    """They compare by the project's own fingerprints, and fetched each imported page twice."""
    desk.settings = {
        "ADDONS": {"scrapy_seine.Addon": 500},
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
    }
    with Blocking.from_url(desk.url) as redis:
        queue = PriorityQueue(redis, Plain(), f"{desk.crawl}:requests")
        for request in legacy_requests(queue.spider):
            queue.push(request)
    keys = ("--requests", f"{desk.crawl}:requests", "--dupefilter", f"{desk.crawl}:df")
    desk.type(frontier.Command(), "import-scrapy-redis", "--unpickle", *keys)
    link = Request("http://a.example/1")
    number = int.from_bytes(scrapys_fingerprint(link)[:8])
    same = attrs.evolve(push(link.url), fingerprint=number)
    assert desk.do(lambda f: f.push([same])) == ["DUPLICATE"]


class ByPage:
    """A project's fingerprints: one address has many pages."""

    def fingerprint(self, request: Request) -> bytes:
        return f"{request.url} {request.meta['page']}".encode()


def test_an_import_compares_by_all_that_a_projects_fingerprint_reads(desk: Desk) -> None:
    """And one that lacks it is refused, and ends the import of no other."""
    desk.settings = {
        "ADDONS": {"scrapy_seine.Addon": 500},
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "REQUEST_FINGERPRINTER_CLASS": ByPage,
    }
    with Blocking.from_url(desk.url) as redis:
        for meta in ({"page": 1}, {}, {"page": 2}):
            fields = {"url": "http://a.example/ajax", "meta": meta}
            redis.rpush(f"{desk.crawl}:requests", json.dumps(fields))
    keys = ("--requests", f"{desk.crawl}:requests", "--dupefilter", f"{desk.crawl}:df")
    told = desk.type(frontier.Command(), "import-scrapy-redis", *keys)[1]
    assert (told["queued"], told["duplicates"], told["refused"]) == (2, 0, 1)
    assert "no fingerprint: KeyError: 'page'" in told["reasons"][0]


def test_an_import_refuses_what_no_worker_of_the_spider_could_send(desk: Desk) -> None:
    """It was queued, and the requests were dead letters once workers had begun."""
    desk.settings["SPIDER_MODULES"] = [Plain.__module__]
    with Blocking.from_url(desk.url) as redis:
        for fields in ({"callback": "parse_old"}, {"_class": "mine.Ajax"}, {"callback": "parse"}):
            request = {"url": "http://a.example/1", **fields}
            redis.rpush(f"{desk.crawl}:requests", json.dumps(request))
    keys = ("--requests", f"{desk.crawl}:requests", "--dupefilter", f"{desk.crawl}:df")
    words = ("import-scrapy-redis", "--spider", Plain.name)
    status, told, _ = desk.type(frontier.Command(), *words, *keys)
    assert (status, told["queued"], told["refused"]) == (1, 1, 2)
    assert any("'parse_old' is no callback of spider" in reason for reason in told["reasons"])
    assert any("'mine.Ajax' is not a request class" in reason for reason in told["reasons"])


def test_an_import_of_a_spider_that_left_nothing_fails(desk: Desk) -> None:
    """A misspelt key was an import of no requests, with status 0."""
    keys = ("--requests", f"{desk.crawl}:reqests", "--dupefilter", f"{desk.crawl}:df")
    status, told, _ = desk.type(frontier.Command(), "import-scrapy-redis", *keys)
    assert status == 1
    assert f"neither {desk.crawl}:reqests nor {desk.crawl}:df is there" in told["error"]


def test_what_a_budget_leaves_behind_is_said(desk: Desk) -> None:
    budgets = Budgets(most_pending=1)
    limits = {"delay_ms": 0, "concurrency": 9, "half_window_ms": 60_000, "budgets": budgets}
    desk.do(lambda f: f.configure(**limits))
    with Blocking.from_url(desk.url) as redis:
        for n in range(3):
            redis.rpush(f"{desk.crawl}:requests", json.dumps({"url": f"http://a.example/{n}"}))
    keys = ("--requests", f"{desk.crawl}:requests", "--dupefilter", f"{desk.crawl}:df")
    told = desk.type(frontier.Command(), "import-scrapy-redis", *keys)[1]
    assert (told["queued"], told["duplicates"], told["refused"]) == (1, 0, 2)
    assert "budget" in told["reasons"][0]


class Bomb:
    def __reduce__(self) -> Any:
        return (Path.touch, (Path("/tmp/seine-bomb"),))


def test_i9_a_pickle_that_names_code_is_refused_and_runs_nothing(desk: Desk) -> None:
    with Blocking.from_url(desk.url) as redis:
        redis.rpush(f"{desk.crawl}:requests", pickle.dumps({"url": Bomb()}), b"{}", b"\x80junk")
    keys = ("--requests", f"{desk.crawl}:requests", "--dupefilter", f"{desk.crawl}:df")
    told = desk.type(frontier.Command(), "import-scrapy-redis", "--unpickle", *keys)[1]
    assert (told["queued"], told["refused"]) == (0, 3)
    assert any("no plain data" in reason for reason in told["reasons"])
    assert not Path("/tmp/seine-bomb").exists()


def test_urls_that_scrapy_redis_crawled_count_as_seen(desk: Desk, tmp_path: Path) -> None:
    url = "http://a.example/x?b=1&a=2"
    with Blocking.from_url(desk.url) as redis:
        theirs = RFPDupeFilter(redis, f"{desk.crawl}:df")
        assert not theirs.request_seen(Request(url))
        assert theirs.request_fingerprint(Request(url)) == legacy_fingerprint(url)
    file = tmp_path / "urls.txt"
    file.write_text(f"{url}\nhttp://a.example/never\n")
    keys = ("--requests", f"{desk.crawl}:requests", "--dupefilter", f"{desk.crawl}:df")
    bare = desk.type(frontier.Command(), "import-scrapy-redis", *keys, plain=True)[1]
    assert "cannot be translated" in bare
    told = desk.type(frontier.Command(), "import-scrapy-redis", "--urls", str(file), *keys)[1]
    assert (told["seen"], told["hashes"]) == (1, 1)
    never = push("http://a.example/never")
    assert desk.do(lambda f: f.push([push(url), never])) == ["DUPLICATE", "OK"]
