"""A text in its normal form."""

from __future__ import annotations

import time
from unicodedata import normalize  # noqa: TID251 - what the form is compared with

import pytest

from crawler.normal_form import normal_form

#: Two marks of which each is moved past all of the other kind.
MARKS = "\u0301\u0327"
#: Four times the marks takes linear code 4 times as long, and 16 times what sorts by insertion.
GROWTH = 9


def seconds(marks: int) -> float:
    text = "e" + MARKS * (marks // 2)
    before = time.thread_time()
    normal_form("NFKD", text)
    return time.thread_time() - before


@pytest.mark.alone
def test_a_run_of_marks_takes_linear_time() -> None:
    assert any(seconds(80_000) < GROWTH * seconds(20_000) for _ in range(3))


@pytest.mark.parametrize("form", ["NFC", "NFKD"])
def test_a_text_of_any_length_is_in_its_form(form: str) -> None:
    text = "Cafe\u0301 ½ " * 1_000  # no letter and its marks stand where two pieces meet
    assert normal_form(form, text) == normalize(form, text)
