"""The sampler of mutants names modules and tests that are there, and its changes are changes."""

from __future__ import annotations

import ast

import pytest

from tests import mutants


def test_the_modules_and_their_tests_are_there() -> None:
    for module, names in mutants.TESTS.items():
        assert mutants.source_of(module).exists(), module
        files = mutants.tests_of(module)
        assert [file for file in files if not (mutants.ROOT / file).exists()] == [], module
        assert names or "\n    >>> " in mutants.source_of(module).read_text("utf-8"), module


@pytest.mark.parametrize(
    "module", ["scrapy_seine.engine.lease.outcomes", "crawler.extract.listing.further_pages"]
)
def test_each_mutant_is_another_program_in_one_place(module: str) -> None:
    right = ast.unparse(ast.parse(mutants.source_of(module).read_bytes())).splitlines()
    for mutant in mutants.mutants(module):
        changed = mutants.changed(mutant)
        compile(changed, module, "exec")
        pairs = zip(right, ast.unparse(changed).splitlines(), strict=True)
        assert sum(before != after for before, after in pairs) == 1, mutant


def test_a_sample_is_the_same_each_time() -> None:
    assert mutants.sample(20, 1, "engine") == mutants.sample(20, 1, "engine")
    assert mutants.sample(20, 1, "engine") != mutants.sample(20, 2, "engine")
