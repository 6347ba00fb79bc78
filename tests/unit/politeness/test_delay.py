"""What a site says, and how long it is left alone for it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from scrapy.http import Response

from scrapy_seine.frontier.round_trips.lateness import Lateness, late_ms
from scrapy_seine.middlewares.retry import asked_s
from scrapy_seine.middlewares.robots import RobotsMiddleware
from scrapy_seine.politeness.retry_after import Block, block_of, retry_after_s
from scrapy_seine.politeness.robots_cache import FetchedRobots
from scrapy_seine.politeness.robots_rules import SIZE_LIMIT, Robots
from scrapy_seine.politeness.robots_status import away_s, state_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", None),
        ("0.0", None),
        ("120", 120),
        (" 7 ", 7),
        ("99999999999999999999", 999_999_999),
        ("Thu, 01 Jan 2026 00:01:00 GMT", 60),
        ("Wed, 31 Dec 2025 23:00:00 GMT", None),
        ("Thu, 01 Jan 2026 00:01:00 -0000", 60),  # of no zone: it counts as UTC
        ("Thu, 01 Jan 2026 02:01:00 +0200", 60),
        ("Thursday, 01-Jan-26 00:00:05 GMT", 5),
        ("", None),
        ("-1", None),
        ("1.5", 1.5),
        ("1.", None),
        ("tomorrow", None),
        ("٣", None),
    ],
)
def test_retry_after_is_read_in_both_forms_and_nothing_else(value, seconds):
    assert retry_after_s(value, NOW) == seconds


@pytest.mark.parametrize("date", ["Thu, 01 Jan 2009 00:00:00 GMT", "Thu, 01 Jan 2099 00:00:00 GMT"])
def test_a_date_is_read_by_the_clock_of_the_site_that_names_it(date):
    """By a clock some minutes ahead of the site's, each date was past, and no page waited."""
    headers = {"Date": date, "Retry-After": date.replace("00:00:00", "00:02:00")}
    assert asked_s(Response("http://shop.example/", 429, headers=headers)) == 120
    assert asked_s(Response("http://shop.example/", 429, headers={"Date": date})) is None


@pytest.mark.parametrize(
    ("status", "asked", "block"),
    [
        (429, None, Block(5, grows=True)),
        (429, 30.0, Block(30, grows=False)),
        (503, 900.0, Block(60, grows=False)),
        (503, None, None),
        (500, 30.0, None),
        (200, 30.0, None),
    ],
)
def test_only_429_and_503_block_a_site(status, asked, block):
    assert block_of(status, asked, usual_s=5, limit_s=60) == block


def test_a_request_may_be_as_late_as_the_margin_between_slots():
    assert [late_ms(ms) for ms in (10, 50, 100, 400, 60_000)] == [0.5, 2.5, 5.0, 8.0, 100.0]


def test_a_worker_that_is_nearly_always_late_is_so_with_one_of_four_in_the_end():
    slack, lateness, missed = Lateness(), 120.0, 0
    for n in range(2000):
        on_time = lateness * (1 + (n % 7) / 10) <= slack.ms
        missed += n >= 1000 and not on_time
        slack.record_on_time() if on_time else slack.record_missed()
    assert missed / 1000 < 0.3
    assert 120 < slack.ms < 300


@pytest.mark.parametrize(("together", "every"), [(1, 50), (32, 320)])
def test_a_worker_with_time_to_spare_keeps_to_the_pauses(together, every):
    """Also where all that came in together are late together."""
    slack = Lateness()
    for n in range(3200):
        slack.record_missed() if n % every < together else slack.record_on_time()
        assert slack.ms < late_ms(500)


def test_what_cannot_be_read_forbids_and_what_is_missing_allows():
    assert not Robots.parse(state_of(503), b"").allows("http://a.example/x", "Seine")
    assert Robots.parse(state_of(404), b"").allows("http://a.example/x", "Seine")
    assert away_s(0) < away_s(1) < away_s(20) == 600


def test_rules_behind_the_size_limit_are_not_read():
    body = b"User-agent: *\n" + b"#" * SIZE_LIMIT + b"\nDisallow: /x\n"
    assert Robots.parse("rules", body).allows("http://a.example/x", "Seine")


def test_more_patterns_than_can_be_tried_on_a_url_forbid_it():
    """I11: the work of a rule is that of the URL's length, so that both together need a bound."""
    lines = b"".join(b"Disallow: /*x%d\n" % n for n in range(20_000))
    robots = Robots.parse("rules", b"User-agent: *\n" + lines)
    assert robots.allows("http://a.example/short", "Seine")
    assert not robots.allows("http://a.example/x7", "Seine")
    assert not robots.allows("http://a.example/" + "a" * 2_000, "Seine")
    assert robots.is_too_long("http://a.example/" + "a" * 2_000, "Seine")


def test_patterns_of_other_agents_and_plain_rules_forbid_no_long_url():
    theirs = b"".join(b"Disallow: /*x%d\n" % n for n in range(10_000))
    mine = b"".join(b"Disallow: /x%d\n" % n for n in range(10_000))
    body = b"User-agent: Other\n" + theirs + b"User-agent: Seine\n" + mine + b"Disallow: /*z\n"
    robots = Robots.parse("rules", body)
    assert robots.allows("http://a.example/" + "a" * 4_000, "Seine")
    assert not robots.allows("http://a.example/x7", "Seine")


@pytest.mark.parametrize("body", [b"\xff\xfe\x00", b"<html>not rules</html>", b"", b"\x00" * 99])
def test_a_robots_txt_that_is_none_allows_everything(body):
    robots = Robots.parse("rules", body)
    assert robots.allows("http://a.example/x", "Seine")
    assert robots.delay_s("Seine") is None


@pytest.mark.parametrize("heads", [("Seine", "Other"), ("Other", "Seine")])
def test_a_group_of_several_agents_is_each_ones_and_ends_with_its_rules(heads):
    names = "".join(f"User-agent: {name}\n" for name in heads)
    body = f"{names}Disallow: /mine\nUser-agent: Else\nDisallow: /theirs\n".encode()
    robots = Robots.parse("rules", body)
    assert not robots.allows("http://a.example/mine", "Seine")
    assert robots.allows("http://a.example/theirs", "Seine")


@pytest.mark.parametrize(
    ("status", "state"),
    [(200, "rules"), (299, "rules"), (300, "free"), (428, "free"), (430, "free"), (499, "free"),
     (429, "away"), (500, "away"), (599, "away"), (199, "free")],
)  # fmt: skip
def test_a_status_says_whether_there_are_rules(status, state):
    assert state_of(status) == state


@pytest.mark.parametrize(
    ("body", "delay"),
    [
        ("Crawl-delay: 2\nRequest-rate: 1/4", 4.0),  # the longer one
        ("Crawl-delay: 9\nRequest-rate: 1/4", 9.0),
        ("Request-rate: 2/4", 2.0),
        ("Request-rate: 0/4", None),
        ("Crawl-delay: 0", None),
        ("Crawl-delay: 0,7", 0.7),
        ("Crawl-delay: 10s", 10.0),
        ("crawl delay: 3 Seconds", 3.0),
        ("Crawl-delay: 1 hour", None),
        ("Crawl-delay: soon", None),
        ("Disallow: /x", None),
    ],
)
def test_a_site_asks_for_the_longest_pause_that_it_names(body, delay):
    robots = Robots.parse("rules", f"User-agent: *\n{body}\n".encode())
    assert robots.delay_s("Seine") == delay
    assert Robots.parse("free", f"User-agent: *\n{body}\n".encode()).delay_s("Seine") is None


@pytest.mark.parametrize(
    ("body", "allowed"),
    [
        ("Disallow: /x\nUser-agent: Seine\nDisallow: /y", True),  # rules of no group
        ("User-agent: Seine\nDisallow: /x", False),
        ("User agent: Seine\nDisallow: /x", False),  # without its hyphen, as some write it
        ("User-agent Seine\nDisallow: /x", False),
        ("user-AGENT: seine\nDisallow: /x", False),
        ("User-agent: Seine*\nDisallow: /x", False),
        ("User-agent: Sein\nDisallow: /x", False),
        ("User-agent: eine\nDisallow: /x", True),  # a part of a word is another name
        ("User-agent: Seine\nAllow: /x\nUser-agent: *\nDisallow: /x", True),
        ("User-agent: *\nDisallow: /x\nUser-agent: Seine\nAllow: /x", True),
        ("User-agent: Seine\nUser-agent: *\nDisallow: /x", False),
        ("User-agent: Seine\nDisallow: /y\nUser-agent: Else\nDisallow: /x", True),
        ("User-agent: Seine\nSitemap: http://a.example/s\nUser-agent: Else\nDisallow: /x", False),
        ("User-agent: # nobody\nDisallow: /x", True),
        ("User-agent: Seine\nDisallow: /x # all of it", False),
        ("Unknown: Seine\nDisallow: /x", True),
    ],
)
def test_the_rules_for_an_agent_are_those_of_the_group_that_fits_best(body, allowed):
    robots = Robots.parse("rules", body.encode())
    for agent in ("Seine/1.0 (+https://a.example)", "Seine (+https://a.example)"):
        assert robots.allows("http://a.example/x", agent) is allowed


@pytest.mark.parametrize(("agent", "allowed"), [("my-seine/1", True), ("The Seine/1", False)])
def test_a_name_is_found_where_a_word_begins(agent, allowed):
    robots = Robots.parse("rules", b"User-agent: Seine\nDisallow: /x")
    assert robots.allows("http://a.example/x", agent) is allowed


def test_an_address_is_too_long_for_no_patterns():
    robots = Robots.parse("rules", b"User-agent: *\nDisallow: /x")
    assert not robots.is_too_long("http://a.example/" + "a" * 8_000, "Seine")
    assert robots.allows("http://a.example/" + "a" * 8_000, "Seine")


def test_a_worker_says_why_pages_wait_for_what_an_earlier_run_could_not_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Only the worker that asked for robots.txt saw it fail; the others would wait in silence."""
    middleware = object.__new__(RobotsMiddleware)
    middleware._log_away("http://a.example", FetchedRobots("free", b"", 42.0))
    middleware._log_away("http://a.example", FetchedRobots("rules", b"", 42.0))
    assert not caplog.records
    middleware._log_away("http://a.example", FetchedRobots("away", b"", 42.0))
    assert "robots.txt of http://a.example could not be read lately" in caplog.text
    assert "its pages wait 42 s" in caplog.text


@pytest.mark.parametrize(
    ("body", "allowed"),
    [
        ("User-agent: seine\nUnicorn: /x\nUser-agent: *\nDisallow: /x", False),
        ("User-agent: seine\nClean-param: a /\nUser-agent: other\nDisallow: /x", False),
        ("User-agent: Seine/2.1\nDisallow: /x", False),
        ("User-agent: Seine crawler\nDisallow: /x", False),
        ("User-agent: * bots\nDisallow: /x", False),
        ("User-agent: *bot\nDisallow: /x", True),
        ("User-agent: *\nDisallow: /x\n\nUser-agent: *bot*\nAllow: /x", False),
        ("User-agent: Seine/1\nDisallow: /x\n\nUser-agent: Seine\nDisallow: /y", False),
        ("User-agent: bot\nDisallow: /x\n\nUser-agent: example\nDisallow: /x", True),
        ("User-agent: *\nDisallow:\n# see\u2028Disallow: /x", True),
        ("User-agent: *\nDisallow:\n# see\x0cDisallow: /x", True),
    ],
)
def test_lines_and_names_are_read_as_the_standards_parser_reads_them(
    body: str, *, allowed: bool
) -> None:
    """RFC 9309, 2.2: unknown lines end no group, names have no version, CR and LF end a line."""
    robots = Robots.parse("rules", body.encode())
    assert robots.allows("http://a.example/x", "Seine (+https://example.com/bot)") is allowed


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-8"])
def test_a_robots_txt_with_a_byte_order_mark_is_obeyed(encoding: str) -> None:
    body = "\ufeffUser-agent: *\r\nDisallow: /x\r\n".encode(encoding)
    assert not Robots.parse("rules", body).allows("http://a.example/x", "Seine")
