"""I12: PostgreSQL remembers on which frontier a crawl ran."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from crawler.stores.crawls import known_frontier, note_frontier

pytestmark = pytest.mark.postgres


def test_another_frontier_is_told_once_with_the_one_before(database: str) -> None:
    assert known_frontier(database, "catalog") is None
    assert note_frontier(database, "catalog", "a") is None
    assert note_frontier(database, "catalog", "a") is None
    with ThreadPoolExecutor(4) as threads:
        told = list(threads.map(lambda _: note_frontier(database, "catalog", "b"), range(8)))
    assert sorted(told, key=str) == [*[None] * 7, "a"]
    assert known_frontier(database, "catalog") == "b"
    assert known_frontier(database, "other") is None
