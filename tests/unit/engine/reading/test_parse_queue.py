"""Pages that came in together are read one after the other, and the loop looks around between."""

from __future__ import annotations

import asyncio

from scrapy_seine.engine.reading.parse_queue import FIRST_TURNS, ParseQueue
from tests.helpers import patient


async def _read(turns: ParseQueue, name: str, log: list[str]) -> None:
    await turns.wait()
    log.append(name)
    # Whoever is called soon now is called before the next page's turn.
    asyncio.get_running_loop().call_soon(log.append, "loop")


async def test_the_loop_has_its_turn_between_two_pages() -> None:
    turns, log = ParseQueue(), list[str]()
    await asyncio.gather(*(_read(turns, name, log) for name in "abc"))
    await asyncio.sleep(0)
    assert log == ["a", "loop", "b", "loop", "c", "loop"]


async def test_a_page_that_has_begun_goes_on_before_others_begin() -> None:
    """Each page that has begun keeps its tree until it ends."""
    turns, log = ParseQueue(), list[str]()

    async def read(name: str) -> None:
        for number in range(3):
            await turns.wait(number)
            log.append(f"{name}{number}")

    await asyncio.gather(*(read(name) for name in "ab"))
    assert log == ["a0", "a1", "a2", "b0", "b1", "b2"]


async def test_a_page_that_does_not_end_lets_others_begin() -> None:
    turns, log = ParseQueue(), list[str]()

    async def read_without_end() -> None:
        number = 0
        while "other" not in log:
            await turns.wait(number)
            number += 1
        assert number == FIRST_TURNS + 2

    async with asyncio.timeout(patient(5)):
        await asyncio.gather(read_without_end(), _read(turns, "other", log))


async def test_a_page_that_is_given_up_holds_nobody_up() -> None:
    turns, log = ParseQueue(), list[str]()
    pages = [asyncio.ensure_future(_read(turns, name, log)) for name in "abc"]
    await asyncio.sleep(0)
    pages[0].cancel()
    pages[1].cancel()
    await asyncio.wait(pages, timeout=patient(5))
    assert [name for name in log if name != "loop"] == ["c"]
    await _read(turns, "d", log)
    assert "d" in log


async def test_the_loop_runs_for_a_while_after_a_page_that_took_long() -> None:
    """An answer to a probe needs several iterations: the connection, its bytes, the reply."""
    turns, log = ParseQueue(), list[str]()

    async def parse(name: str) -> None:
        await turns.wait()
        log.append(name)
        turns.is_busy = turns.needs_pause = True

    async def answer_probe() -> None:
        for _ in range(20):
            await asyncio.sleep(0)
        log.append("answer")

    await asyncio.gather(parse("long"), parse("next"), answer_probe())
    assert log == ["long", "answer", "next"]
    await turns.wait()
    await asyncio.sleep(0)
    assert not turns.is_busy
