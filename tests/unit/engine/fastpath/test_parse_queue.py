"""Pages that came in together are read one after the other, and the loop looks around between."""

from __future__ import annotations

import asyncio

from scrapy_seine.engine.fastpath.parse_queue import ParseQueue
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
