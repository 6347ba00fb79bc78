"""Every saved page under tests/pages is read as its folder says."""

import pytest

from tests.pages import Case, cases, judged, same

CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_saved_page(case: Case) -> None:
    found = case.found()
    assert found.kind == case.kind, found.verdict.reasons
    wrong = {
        name: {"expected": expected, "read": value}
        for name, (expected, value) in judged(case, found).items()
        if not same(name, expected, value)
    }
    assert wrong == {}


def test_the_corpus_is_wide_enough() -> None:
    assert len(CASES) >= 60
    assert len({case.name.partition("-")[0] for case in CASES}) >= 15
