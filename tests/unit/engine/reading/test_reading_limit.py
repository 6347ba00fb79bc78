"""I11: reading is interrupted after so much CPU, within a stretch only, and nothing else is."""

from __future__ import annotations

import asyncio
import itertools
import re
import signal
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import suppress

import pytest

from crawler.extract import parse
from scrapy_seine.engine.reading.reading_limit import Endless, ReadingLimit, Unreadable
from tests.measuring import within_cpu

LIMIT_S = 0.2


@pytest.fixture
def limit() -> Iterator[ReadingLimit]:
    made = ReadingLimit(LIMIT_S)
    made.install()
    yield made
    made.remove()


def burn(seconds: float) -> str:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        sum(range(10_000))
    return "done"


def test_a_loop_is_interrupted(limit: ReadingLimit) -> None:
    before = time.thread_time()
    with pytest.raises(Unreadable, match="took more than"):
        limit.call(burn, 30)
    assert time.thread_time() - before < 5


def test_a_pattern_is_interrupted(limit: ReadingLimit) -> None:
    with pytest.raises(Unreadable):
        limit.call(re.match, r"(a+)+$", "a" * 60 + "b")


def test_what_catches_every_exception_is_interrupted_all_the_same(limit: ReadingLimit) -> None:
    def stubborn() -> None:
        while True:
            with suppress(Exception):
                burn(1)

    with pytest.raises(Unreadable):
        limit.call(stubborn)


def test_libxml2_is_interrupted_between_two_pieces_of_a_page(limit: ReadingLimit) -> None:
    closed = b"<h1>Lamp</h1>" + b"<div>" * 2000 + b"</b>" * 950_000
    with within_cpu(3), pytest.raises(Unreadable):  # the whole takes twice as long
        limit.call(parse, closed, "http://a.example/")


def test_a_callbacks_arguments_may_have_any_name(limit: ReadingLimit) -> None:
    def callback(*given: object, **named: object) -> dict[str, object]:
        return named

    named = {"function": 1, "self": 2, "arguments": 3, "named": 4}
    assert limit.call(callback, "page", **named) == named


def test_waiting_counts_for_nothing(limit: ReadingLimit) -> None:
    assert limit.call(lambda: time.sleep(3 * LIMIT_S)) is None


def test_nothing_is_interrupted_between_two_stretches(limit: ReadingLimit) -> None:
    assert limit.call(burn, 0.01) == "done"
    assert burn(4 * LIMIT_S) == "done"


def test_each_step_of_a_callback_has_the_whole_limit(limit: ReadingLimit) -> None:
    def steps() -> Iterator[str]:
        for _ in range(4):
            yield burn(LIMIT_S / 2)
        yield burn(30)

    outputs = limit.outputs(steps())
    assert [next(outputs) for _ in range(4)] == ["done"] * 4
    with pytest.raises(Unreadable):
        next(outputs)


async def test_code_between_two_waits_is_interrupted(limit: ReadingLimit) -> None:
    async def callback(seconds: float) -> str:
        await asyncio.sleep(0.01)
        burn(LIMIT_S / 4)
        await asyncio.sleep(0.01)
        return burn(seconds)

    assert await limit.awaited(callback(0.01)) == "done"
    with pytest.raises(Unreadable):
        await limit.awaited(callback(30))


async def test_an_asynchronous_callback_is_interrupted(limit: ReadingLimit) -> None:
    async def callback() -> AsyncIterator[str]:
        yield "first"
        await asyncio.sleep(0)
        yield burn(30)

    outputs = limit.outputs_async(callback())
    assert await anext(outputs) == "first"
    with pytest.raises(Unreadable):
        await anext(outputs)


async def test_a_cancellation_reaches_what_is_awaited(limit: ReadingLimit) -> None:
    seen: list[str] = []

    async def callback() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def carry() -> None:
        await limit.awaited(callback())

    task = asyncio.ensure_future(carry())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["cancelled"]


async def test_code_that_waited_for_the_same_event_blocks_the_loop_for_one_stretch_at_a_time(
    limit: ReadingLimit,
) -> None:
    """The watchdog ends a worker after three times the limit without an iteration."""
    arrived, longest, counted = asyncio.Event(), 0.0, time.thread_time()

    async def callback() -> str:
        await arrived.wait()
        return burn(LIMIT_S * 0.7)

    async def outputs() -> AsyncIterator[str]:
        yield burn(LIMIT_S * 0.7)

    async def first_output() -> str:
        await arrived.wait()
        return await anext(limit.outputs_async(outputs()))

    def tick() -> None:
        nonlocal longest, counted
        longest, counted = max(longest, time.thread_time() - counted), time.thread_time()
        loop.call_soon(tick)

    loop = asyncio.get_running_loop()
    callbacks = [asyncio.ensure_future(_carry(limit.awaited(callback()))) for _ in range(6)]
    callbacks += [asyncio.ensure_future(first_output()) for _ in range(6)]
    await asyncio.sleep(0)
    tick()
    arrived.set()
    assert await asyncio.gather(*callbacks) == ["done"] * 12
    assert longest < 2 * LIMIT_S


async def _carry(awaitable: Awaitable[str]) -> str:
    return await awaitable


def test_other_tasks_computing_meanwhile_interrupt_nothing(limit: ReadingLimit) -> None:
    other = threading.Thread(target=burn, args=(3 * LIMIT_S,))
    other.start()
    assert limit.call(lambda: time.sleep(4 * LIMIT_S)) is None
    other.join()


def test_the_signal_is_given_back() -> None:
    def own(*_: object) -> None: ...

    before = signal.signal(signal.SIGVTALRM, own)
    try:
        limit = ReadingLimit(1)
        limit.install()
        assert signal.getsignal(signal.SIGVTALRM) != own
        limit.remove()
        assert signal.getsignal(signal.SIGVTALRM) == own
        assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    finally:
        signal.signal(signal.SIGVTALRM, before)


def test_another_thread_has_no_limit_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    limit = ReadingLimit(LIMIT_S)
    thread = threading.Thread(target=limit.install)
    thread.start()
    thread.join()
    assert "SEINE_READ_SECONDS has no effect" in caplog.text
    assert limit.call(burn, 0.01) == "done"


def test_what_yields_without_end_is_interrupted() -> None:
    limit = ReadingLimit(0, most_outputs=5)
    outputs = limit.outputs(itertools.count())
    assert [next(outputs) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(Endless, match="more than 5 outputs; set SEINE_PAGE_OUTPUTS"):
        next(outputs)


async def test_what_is_awaited_and_yields_without_end_is_interrupted() -> None:
    async def callback() -> AsyncIterator[int]:
        for number in itertools.count():
            yield number

    outputs = ReadingLimit(0, most_outputs=5).outputs_async(callback())
    assert [await anext(outputs) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(Endless):
        await anext(outputs)


def test_without_a_limit_outputs_are_not_counted() -> None:
    assert len(list(ReadingLimit(0, most_outputs=0).outputs(range(10)))) == 10
    assert not ReadingLimit(0, most_outputs=0).too_many(10**9)
