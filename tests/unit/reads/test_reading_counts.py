"""What people read of the counters: steps of time, domains, spans, sizes, estimates."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import attrs
import pytest

from scrapy_seine.frontier.keys import Keys
from scrapy_seine.reads import domains
from scrapy_seine.reads.domains import Domain, free_slots, list_domains, read_domains, state_of
from scrapy_seine.reads.formatting import share, size, span, time_left
from scrapy_seine.reads.outcome_history import (
    HOURS,
    MINUTES,
    TENS,
    Grain,
    Minute,
    pages_a_minute,
    read_minutes,
    read_steps,
    record,
)
from scrapy_seine.reads.progress import Estimate, Pace, estimate, follow

KEYS = Keys("c")
NOON = 1_800_000_000  # the beginning of an hour


class Kept:
    """The few commands that the readings need, on tables of this process."""

    def __init__(self) -> None:
        self.hashes: dict[str, dict[bytes, bytes]] = defaultdict(dict)
        self.sets: dict[str, dict[bytes, float]] = defaultdict(dict)
        self.expires: dict[str, int] = {}
        self.replies: list[Any] = []
        self.transaction = False

    def pipeline(self, *, transaction: bool) -> Kept:
        self.transaction, self.replies = transaction, []
        return self

    def hincrby(self, key: str, field: str, n: int) -> None:
        held = self.hashes[key]
        held[field.encode()] = b"%d" % (int(held.get(field.encode(), 0)) + n)

    def zincrby(self, key: str, n: float, name: str) -> None:
        self.sets[key][name.encode()] = self.sets[key].get(name.encode(), 0) + n

    def expire(self, key: str, seconds: int) -> None:
        self.expires[key] = seconds

    def hgetall(self, key: str) -> None:
        self.replies.append(self.hashes.get(key, {}))

    def hmget(self, key: str, *fields: Any) -> None:
        names = fields[0] if isinstance(fields[0], tuple) else fields
        self.replies.append([self.hashes[key].get(name.encode()) for name in names])

    def zcard(self, key: str) -> None:
        self.replies.append(len(self.sets[key]))

    def zrange(self, key: str, first: int, last: int, reverse: bool = False) -> None:
        ranked = sorted(self.sets[key], key=lambda name: self.sets[key][name], reverse=reverse)
        self.replies.append(ranked[first : last + 1])

    def zrevrange(self, key: str, first: int, last: int) -> None:
        self.zrange(key, first, last, reverse=True)

    async def execute(self, raise_on_error: bool = True) -> list[Any]:
        return self.replies


async def noted(kept: Any, at_s: float, *, done: int = 0, items: int = 0, **more: Any) -> None:
    await record(kept, KEYS, {"a.example": {"done": done}}, items, at_s, **more)


@pytest.mark.parametrize(
    ("grain", "keep_s"), [(TENS, 7200), (MINUTES, 2 * 86400), (HOURS, 9 * 86400)]
)
async def test_steps_are_the_oldest_first_with_empty_ones_over_the_end_of_a_bucket(
    grain: Grain, keep_s: int
) -> None:
    kept: Any = Kept()
    edge = NOON - NOON % grain.bucket_s  # a bucket begins: what is before it is in another hash
    await noted(kept, edge - 1, done=2)
    await noted(kept, edge, done=3, items=1, answers=4, took_s=0.25)
    await noted(kept, edge + grain.step_s - 1, done=5)
    steps = await read_steps(kept, KEYS, grain, edge + grain.step_s, 4)
    assert [(step.at - edge) // grain.step_s for step in steps] == [-2, -1, 0, 1]
    assert [step.done for step in steps] == [0, 2, 8, 0]
    assert attrs.astuple(steps[2])[1:] == (8, 0, 0, 1, 4, 250)
    assert {seconds for key, seconds in kept.expires.items() if f"{grain.name}:" in key} == {keep_s}


async def test_minutes_are_read_from_what_was_recorded_and_other_fields_are_left_out() -> None:
    kept: Any = Kept()
    await record(kept, KEYS, {"a.example": {"done": 1}, "b.example": {"bury": 2}}, 0, NOON + 61.9)
    kept.hincrby(MINUTES.key(KEYS, NOON), f"{NOON + 60} of another version", 9)
    (last,) = await read_minutes(kept, KEYS, NOON + 119, 1)
    assert (last.at, last.done, last.bury, last.retry) == (NOON + 60, 1, 2, 0)
    assert kept.sets[KEYS.busiest] == {b"a.example": 1, b"b.example": 2}


@pytest.mark.parametrize(
    ("done", "pages"),
    [
        ([], 0.0),
        ([7], 7.0),  # nothing but the current minute
        ([4, 0], 4.0),
        ([0, 0, 6, 3, 99], 4.5),  # from the first that saw work; the current one is not over
        ([50, 1, 2, 3, 4, 5, 99], 3.0),  # five at most
        ([0, 0, 8], 8.0),
    ],
)
def test_pages_a_minute_are_those_of_the_last_whole_minutes(done: list[int], pages: float) -> None:
    assert pages_a_minute([Minute(at=60 * n, done=one) for n, one in enumerate(done)]) == pages


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, "ready"),
        ({"due_in_s": 0.1}, "waiting"),
        ({"active": 1}, "ready"),
        ({"active": 2}, "busy"),
        ({"active": 2, "due_in_s": 0.1}, "busy"),
        ({"queued": 0}, "idle"),
        ({"queued": 0, "active": 1}, "busy"),
        ({"paused": True, "active": 2}, "paused"),
    ],
)
def test_a_domain_is_where_the_frontier_would_put_it(changes: dict[str, Any], state: str) -> None:
    usual = {"queued": 3, "active": 0, "cap": 2, "paused": False, "due_in_s": 0.0}
    assert state_of(**{**usual, **changes}) == state


@pytest.mark.parametrize(
    ("delay_ms", "queued", "active", "free"),
    [(0, 5, 1, 3), (0, 2, 1, 2), (0, 5, 9, 0), (1, 5, 0, 1), (1, 0, 0, 0)],
)
def test_a_delay_hands_out_one_at_a_time(delay_ms: int, queued: int, active: int, free: int):
    usual = {"name": "a", "state": "ready", "concurrency": 4, "due_in_s": 0.0, "paused": False}
    made = Domain(queued=queued, active=active, delay_ms=delay_ms, **usual)  # type: ignore[arg-type]
    assert free_slots(made) == free
    tried = attrs.evolve(made, done=1, retry=2, bury=5)
    assert (made.success, tried.ended, tried.success) == (None, 8, 0.125)


async def test_a_domain_is_read_with_the_limits_that_hold() -> None:
    kept: Any = Kept()
    kept.hashes[KEYS.control] = {b"delay": b"100", b"cap": b"3", b"jitter": b"2.0"}
    kept.hashes[KEYS.domain("own")] = {b"delay": b"50", b"cap": b"1", b"jitter": b"0.5"}
    kept.hashes[KEYS.domain("site")] = {b"site_delay": b"70", b"site_cap": b"9", b"done": b"3"}
    kept.hashes[KEYS.domain("late")] = {b"due": b"2500", b"blocked": b"9000", b"retry": b"1"}
    kept.hashes[KEYS.domain("asks")] = {domains._ASKED[0].encode(): b"4000", b"paused": b""}
    kept.sets[KEYS.queue("own")] = {b"1": 1.0}
    own, site, late, asks = await read_domains(kept, KEYS, ["own", "site", "late", "asks"], 2.0)
    assert (own.delay_ms, own.concurrency, own.queued, own.state) == (50, 1, 1, "ready")
    assert (site.delay_ms, site.concurrency, site.ended, site.success) == (70, 9, 3, 1.0)
    assert (late.delay_ms, late.concurrency, late.due_in_s, late.success) == (100, 3, 7.0, 0.0)
    longest = [one.delay_max_ms for one in (own, site, late, asks)]
    assert longest == [75, 70, 300, 4000]  # the pause of one domain is not random
    assert (asks.delay_ms, asks.paused, asks.due_in_s, asks.success) == (4000, True, 0.0, None)


async def test_the_busiest_domains_come_first_and_then_those_with_work() -> None:
    kept: Any = Kept()
    kept.sets[KEYS.busiest] = {b"some": 2, b"most": 9, b"few": 1}
    kept.sets[KEYS.ready] = {b"most": 1, b"new": 2}
    kept.sets[KEYS.waiting] = {b"later": 1}
    assert await list_domains(kept, KEYS, limit=1) == ["most"]
    assert kept.replies == [[b"most"], [b"most"], [b"later"]]  # no more is read than is shown
    assert await list_domains(kept, KEYS, limit=9) == ["most", "some", "few", "new", "later"]
    assert await list_domains(kept, KEYS, limit=2) == ["most", "some"]
    assert await list_domains(kept, KEYS, limit=2, start=1) == ["some", "few"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (9.9, "9.9 s"),
        (10, "10 s"),
        (59, "59 s"),
        (60, "1 min 0 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 0 min"),
        (86399, "23 h 59 min"),
        (86400, "1 d 0 h"),
    ],
)
def test_a_span_has_its_two_largest_units(seconds: float, text: str) -> None:
    assert span(seconds) == text


def test_sizes_and_shares_change_their_unit_where_it_is_full() -> None:
    assert [size(n) for n in (0, 1023, 1024, 1024**2, 1024**4)] == [
        "0 B", "1023 B", "1.0 KiB", "1.0 MiB", "1024.0 GiB",
    ]  # fmt: skip
    assert (share(0.0), share(0.9999), share(1)) == ("0.0 %", "100.0 %", "100 %")


def test_what_is_left_is_said_only_where_it_is_known() -> None:
    assert time_left(Estimate(rate=1.0, eta_s=90.0, growing=False)) == "1 min 30 s"
    assert time_left(Estimate(rate=0.0, eta_s=None, growing=True)) == "–"


def test_a_pace_is_smoothed_over_the_time_since_the_last_look() -> None:
    assert follow(None, 5.0, 10, 5, 5.0).rate == 0.0  # it began this moment
    assert follow(None, 5.0, 10, 5, 1.0) == Pace(5.0, 10, 5, rate=1.25, growth=0.0)
    before = Pace(at_s=100.0, total=50, ended=10, rate=1.0, growth=0.0)
    assert follow(before, 100.0, 99, 99, 0.0) is before
    after = follow(before, 220.0, 170, 250, 0.0)  # 2 a second, 1 a second more, for 120 s
    assert after.rate == pytest.approx(1.632, abs=0.001)
    assert after.growth == pytest.approx(0.632, abs=0.001)
    assert follow(before, 110.0, 50, 4, 0.0).rate < 1.0  # a counter that went back is no speed


@pytest.mark.parametrize(
    ("pace", "eta_s", "growing"),
    [
        (Pace(0.0, 10, 10, 1.0, 9.0), 0.0, False),
        (Pace(0.0, 10, 12, 0.0, 0.0), 0.0, False),
        (Pace(0.0, 11, 10, 0.0, 0.0), None, False),
        (Pace(0.0, 20, 10, 2.0, 1.0), 5.0, False),
        (Pace(0.0, 20, 10, 2.0, 1.1), 5.0, True),
    ],
)
def test_an_end_is_told_where_something_moves(pace: Pace, eta_s: float, growing: bool) -> None:
    found = estimate(pace)
    assert (found.eta_s, found.growing) == (eta_s, growing)
