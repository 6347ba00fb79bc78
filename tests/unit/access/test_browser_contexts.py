"""Browser contexts: one a visitor, as many as may be, closed when worn or wanted by others."""

from __future__ import annotations

from crawler.access.browser_contexts import BrowserContext, ContextPool


def entered(house: ContextPool, visitor: str) -> BrowserContext:
    room = house.enter(visitor)
    assert room is not None
    return room


def test_a_visitor_keeps_his_room_and_shares_it_with_nobody() -> None:
    house = ContextPool(3, 10)
    first = entered(house, "a")
    assert entered(house, "a") is first
    assert entered(house, "b") is not first


def test_a_worn_room_is_closed_when_its_last_page_leaves() -> None:
    house = ContextPool(3, 2)
    room = entered(house, "a")
    entered(house, "a")
    assert entered(house, "a") is not room
    assert not house.leave(room)
    assert house.leave(room)


def test_a_full_house_lets_nobody_in_until_an_idle_room_is_closed() -> None:
    house = ContextPool(2, 10)
    oldest, newer = entered(house, "a"), entered(house, "b")
    assert house.enter("c") is None
    assert house.idle() is None
    house.leave(newer)
    house.leave(oldest)
    assert house.idle() is oldest
    del house.rooms[oldest.name]
    entered(house, "c")


def test_nobody_enters_a_spoiled_room() -> None:
    house = ContextPool(2, 10)
    room = entered(house, "a")
    entered(house, "a")
    assert not house.leave(room, spoiled=True)
    assert entered(house, "a") is not room
    assert house.leave(room)
