"""What is kept of rows that were committed, and what of it counts as lost (I12)."""

from __future__ import annotations

from typing import Any

import pytest

from scrapy_seine.sinks.postgres import lost_commits as module
from scrapy_seine.sinks.postgres.lost_commits import Committed


class Server:
    """A connection and its cursor, to a server that lacks some transactions."""

    def __init__(self, *missing: int, started: str = "at noon") -> None:
        self.missing, self.started = missing, started

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        """End."""

    cursor = lambda self: self  # noqa: E731

    def execute(self, statement: str, values: Any = None) -> None:
        asked = [(number,) for number in values[0] if number in self.missing] if values else None
        self.found: list[Any] = [(self.started,)] if asked is None else asked

    def fetchall(self) -> list[Any]:
        return self.found


def kept(most: int = 100) -> Committed:
    made = Committed(most)
    made.take_missing(Server())  # type: ignore[arg-type]
    for number in (1, 2, 3):
        made.note([f"row {number}"], 10, number)
    return made


@pytest.mark.parametrize(
    ("missing", "rows", "known", "more"),
    [
        ((), [], False, False),
        ((3,), ["row 3"], True, False),
        ((2, 3), ["row 2", "row 3"], True, False),
        ((1, 2, 3), ["row 1", "row 2", "row 3"], True, False),
    ],
)
def test_the_rows_after_the_last_known_transaction_are_missing(
    missing: tuple[int, ...], rows: list[str], known: bool, more: bool
) -> None:
    made = kept()
    found = made.take_missing(Server(*missing))  # type: ignore[arg-type]
    assert (found.rows, found.is_confirmed, found.is_incomplete) == (rows, known, more)
    assert made.take_missing(Server()).rows == []  # type: ignore[arg-type]


def test_rows_of_transactions_without_a_number_are_written_again_in_silence() -> None:
    made = kept()
    made.note(["row 4"], 10, None)
    found = made.take_missing(Server())  # type: ignore[arg-type]
    assert (found.rows, found.is_confirmed, found.is_incomplete) == (["row 4"], False, False)


def test_a_server_that_was_started_meanwhile_gets_the_rows_of_the_last_minute_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another worker may have been given the numbers that were lost."""
    found = kept().take_missing(Server(started="later"))  # type: ignore[arg-type]
    assert (found.rows, found.is_confirmed) == (["row 1", "row 2", "row 3"], False)
    made = kept()
    made.stretches[0].committed_at -= 61
    found = made.take_missing(Server(started="later"))  # type: ignore[arg-type]
    assert found.rows == ["row 2", "row 3"]


def test_what_is_too_large_to_keep_is_said_to_be_missing() -> None:
    made = kept(most=15)
    assert [stretch.number for stretch in made.stretches] == [3]
    assert made.take_missing(Server(3)).is_incomplete  # type: ignore[arg-type]
    made.note(["large"], 16, 4)
    found = made.take_missing(Server(4))  # type: ignore[arg-type]
    assert (found.rows, found.is_confirmed, found.is_incomplete) == ([], True, True)


def test_rows_are_kept_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT_S", -1.0)
    made = kept()
    assert len(made.stretches) == 1
