"""No commit makes reading a page some per cent dearer without saying so."""

from __future__ import annotations

import pytest

from tests.benchmarks.reading_work import KEPT, VERSION, changed, instructions, kept, measured


def test_reading_a_page_takes_as_many_instructions_as_are_kept() -> None:
    expected = kept()
    if expected is None:
        pytest.skip(
            f"no numbers for Python {VERSION}: python -m tests.benchmarks.reading_work --write"
        )

    off = changed(measured(), expected)

    assert not off, (
        f"{'; '.join(off)} ({KEPT.name}). Where it is meant, run "
        "`python -m tests.benchmarks.reading_work --write` and say why in the commit's message."
    )


def test_each_instruction_of_a_called_function_counts() -> None:
    def once() -> int:
        return sum(n for n in range(10))

    def twice() -> None:
        once()
        once()

    assert instructions(once) > 20
    assert instructions(once) == instructions(once)
    assert 1.9 < instructions(twice) / instructions(once) < 2.3


def test_three_per_cent_more_or_less_is_told() -> None:
    assert changed({"shops": 97, "saved_20kb": 100}, {"shops": 100, "saved_20kb": 100}) == [
        "shops: 97 instructions a page, 100 are kept (-3.0 %)"
    ]
