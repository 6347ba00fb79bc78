"""What crosses the frontier's border, and the names of its keys."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_seine.config import FrontierConfig
from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier.encoding.wire import MAX_CHILDREN, domain_of, escape, parse_leased
from scrapy_seine.frontier.keys import Keys, SeedKeys
from scrapy_seine.frontier.model import Burial, Done, Early, Latency, Lease, Push, Retry
from scrapy_seine.frontier.priority_level import level_of
from scrapy_seine.frontier.round_trips.endings import MAX_PAGES, Call, Endings


def lease(n: int) -> Lease:
    return Lease(id=str(n), token="1", slot_ms=0, deliveries=0, stored=b"4000 a\nblob\nwith lines")


@given(st.integers(), st.integers())
def test_a_higher_priority_is_never_a_later_level(one: int, other: int) -> None:
    low, high = sorted((one, other))
    assert 0 <= level_of(high) <= level_of(low) <= 8000


@pytest.mark.parametrize(("ahead", "at_once", "leased"), [(32, 4, 4), (8, 32, 8), (32, 32, 32)])
def test_a_worker_keeps_no_more_slots_from_others_than_it_uses_itself(
    ahead: int, at_once: int, leased: int
) -> None:
    given = {"SEINE_READ_AHEAD": ahead, "CONCURRENT_REQUESTS": at_once}
    assert FrontierConfig.from_settings(given).read_ahead == leased


@pytest.mark.parametrize(
    ("name", "value"), [("SEINE_READ_AHEAD", 0), ("SEINE_LEASE_SECONDS", "nan")]
)
def test_a_worker_with_a_setting_that_loses_pages_does_not_start(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=name):
        FrontierConfig.from_settings({name: value})


def test_the_largest_score_is_an_exact_number() -> None:
    assert float(8000 * 2**40 + 2**40 - 1) == 8000 * 2**40 + 2**40 - 1 < 2**53


def test_a_push_is_stored_with_its_level_and_domain_in_front() -> None:
    push = Push(domain="a.example", blob=b"\x01\n\x00", priority=4)
    assert push.to_stored() == b"3996 a.example\n\x01\n\x00"
    assert lease(1).blob == b"blob\nwith lines"


@pytest.mark.parametrize(
    ("fingerprint", "force", "argument"),
    [(None, False, ""), (7, False, "7"), (7, True, "!7"), (None, True, "!"), (-9, False, "-9")],
)
def test_the_filter_argument(fingerprint: int | None, force: bool, argument: str) -> None:
    assert Push(domain="a", blob=b"", fingerprint=fingerprint, force=force).args()[0] == argument


def test_every_key_of_a_crawl_has_its_hash_tag() -> None:
    keys = Keys("shop")
    assert keys.requests == "{shop}:requests"
    assert keys.queue("a.example") == "{shop}:q:a.example"
    assert keys.domain("a.example") == "{shop}:d:a.example"
    with pytest.raises(AttributeError):
        _ = keys._private


@pytest.mark.parametrize(
    ("seeds", "claimed"),
    [("shop:start_urls", "{shop:start_urls}:claimed"), ("{x}:urls", "{x}:urls:claimed")],
)
def test_claims_share_the_slot_of_their_seeds(seeds: str, claimed: str) -> None:
    assert SeedKeys(seeds).claimed == claimed


def test_a_pattern_of_keys_matches_nothing_but_itself() -> None:
    assert escape("{a*b?[c]}:") == r"{a\*b\?\[c\]}:"


def test_endings_are_cut_into_calls_that_lua_can_carry() -> None:
    endings = Endings()
    child = Push(domain="a", blob=b"x")
    endings.done = [Done(lease=lease(n), children=[child] * 40) for n in range(250)]
    endings.pushes = [child] * 1200
    endings.releases = [lease(n) for n in range(250)]
    calls = list(endings.calls())
    sizes = {name: [len(c.about) for c in calls if c.name == name] for name in ("push", "release")}
    assert sizes == {"push": [500, 500, 200], "release": [100, 100, 50]}
    commits = [c for c in calls if c.name == "commit"]
    assert sum(len(c.about) for c in commits) == 250
    assert all(len(c.about) <= MAX_PAGES for c in commits)
    assert all(sum(len(p.children) for p in c.about) <= MAX_CHILDREN for c in commits)


def test_a_page_with_many_children_is_never_split() -> None:
    endings = Endings()
    many = [Push(domain="a", blob=b"x")] * (3 * MAX_CHILDREN)
    endings.done = [Done(lease=lease(1)), Done(lease=lease(2), children=many), Done(lease=lease(3))]
    assert [len(c.about) for c in endings.calls()] == [1, 1, 1]


def test_what_could_not_be_sent_goes_first_next_time() -> None:
    sent, since = Endings(), Endings()
    sent.releases, since.releases = [lease(1)], [lease(2)]
    since.put_back(sent)
    assert [x.id for x in since.releases] == ["1", "2"]
    assert bool(since)
    assert not Endings()


def _nothing() -> None:
    """Hear that a link entered."""


def every_kind(n: int) -> Endings:
    """One ending of each kind, of leases from *n* on, a push, and a link ahead of its page."""
    push = Push(domain="a", blob=b"x")
    return Endings(
        done=[Done(lease=lease(n))],
        retries=[Retry(lease=lease(n + 1), wait_ms=5, push=push)],
        burials=[Burial(lease=lease(n + 2), note=b"{}")],
        releases=[lease(n + 3)],
        landed=[lease(n + 4)],
        pushes=[push],
        early=[Early(push=push, lease=lease(n + 5), entered=_nothing)],
        limits=[Call("set_delay", ["a", 5], ["a"])],
    )


def test_what_failed_calls_speak_of_goes_first_next_time() -> None:
    """Nothing that a worker has to tell is lost with a call."""
    told, since = every_kind(1), every_kind(11)
    calls = [*told.limits, *told.calls()]
    assert [call.name for call in calls] == [
        "set_delay", "free_slots", "push", "push", "commit", "retry", "bury", "release",
    ]  # fmt: skip
    since.return_failed(calls)
    for field in attrs.fields(Endings):
        mine, later = getattr(told, field.name), getattr(every_kind(11), field.name)
        assert getattr(since, field.name) == [*mine, *later], field.name


def test_a_page_that_is_given_up_with_its_links_is_told_with_those_that_are_done() -> None:
    """I3: one script takes its links in and ends its lease; it stays a burial where that fails."""
    links = [Push(domain="a", blob=b"x")] * 2
    told, since = every_kind(1), Endings()
    told.burials.append(Burial(lease=lease(7), note=b'{"reason":"parse"}', children=links))
    calls = {call.name: call for call in told.calls()}
    assert [page.lease.id for page in calls["commit"].about] == ["1", "7"]
    assert [page.lease.id for page in calls["bury"].about] == ["3"]
    assert b'buried {"reason":"parse"}' in calls["commit"].args
    since.return_failed(list(calls.values()))
    assert [x.lease.id for x in since.done] == ["1"]
    assert sorted(x.lease.id for x in since.burials) == ["3", "7"]


def test_pages_that_ended_and_pushes_hasten_a_round_trip_and_nothing_else_does() -> None:
    endings = every_kind(1)
    endings.done.append(Done(lease=lease(9)))
    assert len(endings) == 6


def test_of_leases_that_redis_forgot_only_pushes_are_told_again() -> None:
    """I12: a limit and a link need no lease; what ends one would end somebody else's."""
    told, since = every_kind(1), Endings()
    since.return_failed([*told.limits, *told.calls()], is_lease_lost=True)
    assert since == Endings(pushes=told.pushes, limits=told.limits)


def test_what_would_end_leases_that_are_no_longer_held_is_dropped_and_named() -> None:
    endings = every_kind(1)
    for field in ("done", "retries", "burials", "releases", "landed", "early"):
        getattr(endings, field).extend(getattr(every_kind(11), field))
    gone = endings.drop_lost(lambda held: int(held.id) < 10)
    assert [held.id for held in gone] == ["1", "2", "3"]
    left = every_kind(11)
    left.pushes, left.limits = endings.pushes, endings.limits
    assert endings == left
    assert (len(endings.pushes), len(endings.limits)) == (1, 1)


@pytest.mark.parametrize("field", [field.name for field in attrs.fields(Endings)])
def test_each_kind_of_ending_is_something_to_tell(field: str) -> None:
    """A round trip that has nothing to tell is left out."""
    assert Endings(**{field: getattr(every_kind(1), field)})


def test_a_landed_lease_that_ends_in_the_same_trip_is_told_once() -> None:
    endings = Endings()
    endings.done, endings.landed = [Done(lease=lease(1))], [lease(1), lease(2)]
    (land,) = (c for c in endings.calls() if c.name == "free_slots")
    assert [x.id for x in land.about] == ["2"]


def test_a_stored_requests_header_names_its_domain() -> None:
    assert domain_of(b"4000 a.example job-1\nsome blob") == "a.example"


def test_good_and_bad_answers_of_a_domain_are_added_up_apart() -> None:
    latency = Latency()
    for seconds, good in ((1.0, True), (2.0, True), (4.0, False), (8.0, False)):
        latency.add(seconds, good=good)
    assert latency == Latency(good=2, good_s=3.0, bad=2, bad_s=12.0)


@pytest.mark.parametrize(
    ("rule", "ended"), [("", "done"), ("robots", "ignored"), ("cancelled", "cancelled")]
)
def test_a_page_counts_for_its_job_as_it_ended(rule: str, ended: str) -> None:
    assert Done(lease=lease(1), rule=rule).job_outcome == ended


def test_latencies_are_means_of_good_and_bad_answers_apart() -> None:
    latency = Latency()
    assert latency.args() == (0, 0.0, 0, 0.0)
    for seconds, good in [(0.1, True), (0.3, True), (0.05, False)]:
        latency.add(seconds, good=good)
    assert latency.args() == (2, 200.0, 1, 50.0)


@pytest.mark.parametrize(
    ("stored", "level", "domain", "job"),
    [
        (b"4000 a.example\nblob", 4000, "a.example", ""),
        (b"4000 a.example job-1\nblob", 4000, "a.example", "job-1"),
        (b"4000 a.example job 1\nblob", 4000, "a.example", "job 1"),
    ],
)
def test_a_lease_tells_its_level_domain_and_job(
    stored: bytes, level: int, domain: str, job: str
) -> None:
    one = Lease(id="1", token="1", slot_ms=0, deliveries=0, stored=stored)
    assert (one.level, one.domain, one.job) == (level, domain, job)


def test_a_reply_of_three_leases_is_read_field_by_field() -> None:
    turns = [
        [b"1000", 250, b"1", b"t1", b"4000 a.example\n1"],
        [2000, b"100 50 3", b"2", b"t2", b"4000 b.example\n2", b"3", b"t3", b"4000 b.example\n3"],
    ]
    shown: list[object] = [b"id", [b"broken\xff"], 2, b"counters leased\ncontrol seq", [b"2", 2]]
    reply = [b"OK", b"900", b"0", b"2", b"7", 0, turns, *shown]
    found = parse_leased(reply, slack_ms=1.5)
    one, two, three = found.leases
    assert (three.id, three.token, three.slot_ms, three.deliveries) == ("3", "t3", 2000, 0)
    assert (one.id, one.token, one.slot_ms, one.delay_ms, one.deliveries, one.domain) == (
        "1", "t1", 1000, 250, 0, "a.example",
    )  # fmt: skip
    assert (two.id, two.token, two.slot_ms, two.deliveries, two.slack_ms) == (
        "2",
        "t2",
        2000,
        2,
        1.5,
    )
    assert (two.delay_ms, two.each_ms, two.each_cap) == (100, 50, 3)
    assert (found.state, found.now_ms, found.undone, found.entered) == ("OK", 900, 2, 7)
    assert (found.expired, found.broken_keys, found.workers) == (False, ["broken\ufffd"], 2)
    assert found.spoilt_numbers == ["counters leased", "control seq"]
    assert parse_leased([b"PAUSED", *reply[1:5], 1, [], b"", [], 0, b"", []]).state == "PAUSED"
