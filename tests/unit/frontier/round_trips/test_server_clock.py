"""The server's clock must never seem ahead: a request would be sent early (I5, I6)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_seine.frontier.round_trips.server_clock import DRIFT, ENOUGH, QUICK_S, ServerClock

latencies = st.lists(
    st.tuples(st.floats(0, 0.5), st.floats(0, 0.5), st.floats(0, 5)), min_size=1, max_size=30
)


@given(latencies)
def test_the_clock_is_never_ahead_of_the_server(exchanges):
    clock, now = ServerClock(), 100.0
    for there, back, pause in exchanges:
        asked = now + pause
        sampled, now = asked + there, asked + there + back
        clock.learn(sampled + 5000, asked_at=asked, got_at=now)
        assert clock.remote(now) <= now + 5000 + 1e-6


def test_one_quick_answer_is_enough_among_slow_ones():
    clock = ServerClock()
    for second in range(60):
        back = 0.0002 if second == 3 else 0.1
        clock.learn(second + 5000.0, asked_at=second - 0.001, got_at=second + back)
    assert abs(clock.remote(60.0) - 5060.0) < 0.007


def test_a_clock_set_back_is_noticed_at_once():
    clock = ServerClock()
    clock.learn(5000.0, asked_at=0.0, got_at=0.001)
    clock.learn(4990.0, asked_at=1.0, got_at=1.001)
    assert abs(clock.remote(2.0) - 4991.0) < 0.01


def test_a_clock_set_forward_is_noticed_at_once():
    clock = ServerClock()
    clock.learn(5000.0, asked_at=0.0, got_at=3.0)
    clock.learn(5004.9, asked_at=1.0, got_at=3.0)
    assert clock.stepped_ms == 0, "the first reply may have been that slow on its way"
    clock.learn(5011.0, asked_at=3.0, got_at=3.001)
    assert clock.stepped_ms == 5_011_000.0
    clock.learn(5012.0, asked_at=4.0, got_at=4.001)
    assert clock.stepped_ms == 5_011_000.0


def test_a_clock_set_back_again_has_no_times_from_before_it_was_set_forward():
    """Of a crawl that began anew each lease went back until that time had come."""
    clock = ServerClock()
    clock.learn(5000.0, asked_at=0.0, got_at=0.001)
    clock.learn(8601.0, asked_at=1.0, got_at=1.001)
    assert clock.stepped_ms == 8_601_000.0
    clock.learn(5002.0, asked_at=2.0, got_at=2.001)
    assert clock.stepped_ms == 0
    clock.learn(5013.0, asked_at=3.0, got_at=3.001)
    assert clock.stepped_ms == 5_013_000.0


@given(latencies)
def test_no_slow_reply_is_taken_for_a_clock_set_forward(exchanges):
    clock, now = ServerClock(), 100.0
    for there, back, pause in exchanges:
        asked = now + pause
        sampled, now = asked + 9 * there, asked + 9 * (there + back)
        clock.learn(sampled + 5000, asked_at=asked, got_at=now)
        assert clock.stepped_ms == 0


def test_a_clock_is_trusted_after_a_quick_answer_or_several():
    quick, slow = ServerClock(), ServerClock()
    assert not quick.trusted
    quick.learn(5000.0, asked_at=0.0, got_at=QUICK_S)
    assert quick.trusted
    for n in range(ENOUGH):
        assert not slow.trusted
        slow.learn(5000.0 + n, asked_at=float(n), got_at=n + 2 * QUICK_S)
    assert slow.trusted


def test_a_clock_that_nobody_told_anything_is_ones_own():
    clock = ServerClock()
    assert (clock.remote(7.0), clock.local(7.0)) == (7.0, 7.0)


def test_an_offset_loses_by_drift_what_a_later_answer_does_not_give_back():
    clock = ServerClock()
    clock.learn(5000.0, asked_at=0.0, got_at=0.0)
    clock.learn(5100.0 - 0.4, asked_at=99.0, got_at=100.0)
    assert clock.remote(100.0) == 5100.0 - DRIFT * 100
