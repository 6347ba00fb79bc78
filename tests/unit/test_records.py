"""Classes that share their comparison behave as those for which attrs writes one."""

from __future__ import annotations

import inspect
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import attrs
import pytest

from scrapy_seine.attrs_bases import Record, Value

FIELDS: dict[str, Any] = {
    "name": attrs.field(),
    "size": attrs.field(default=None),
    "secret": attrs.field(default="", repr=False),
    "note": attrs.field(default="", eq=False),
}
#: One class for which attrs writes the methods, and one that has those that all share.
Written: Any = attrs.make_class("Written", FIELDS, frozen=True)
Shared: Any = attrs.make_class(
    "Shared", FIELDS, bases=(Value,), frozen=True, eq=False, repr=False, slots=True
)


@attrs.define(eq=False, repr=False)
class Changing(Record):
    """What may change."""

    inner: Any = None


CASES: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = [
    (("a", 1), ("a", 1)),
    (("a", 1), ("a", 2)),
    (("a", 1, "x"), ("a", 1, "y")),
    (("a", 1, "x", "one"), ("a", 1, "x", "two")),
    (("a", float("nan")), ("a", float("nan"))),
    (("a", [1]), ("a", [1])),
]


@pytest.mark.parametrize(("one", "other"), CASES)
def test_a_class_compares_and_shows_itself_as_attrs_would(
    one: tuple[Any, ...], other: tuple[Any, ...]
) -> None:
    assert (Shared(*one) == Shared(*other)) is (Written(*one) == Written(*other))
    assert (Shared(*one) != Shared(*other)) is (Written(*one) != Written(*other))
    assert repr(Shared(*one)) == repr(Written(*one)).replace("Written", "Shared")


def test_equal_values_have_one_hash_and_what_changes_has_none() -> None:
    assert len({Shared("a", 1), Shared("a", 1, note="x"), Shared("b", 1)}) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(Changing())
    with pytest.raises(TypeError, match="unhashable"):
        hash(Shared("a", []))


def test_a_record_is_equal_to_nothing_of_another_class() -> None:
    assert Shared("a") != Written("a")
    assert Changing() != Shared("a")


def test_a_record_within_itself_is_shown() -> None:
    one = Changing()
    one.inner = [one]
    assert repr(one) == "Changing(inner=[...])"


def test_a_worker_compiles_no_comparison() -> None:
    """Each class for which attrs writes one takes a start 0.3 ms; these are loaded by a crawl."""
    packages = ("scrapy_seine.frontier", "scrapy_seine.engine.lease", "crawler.stores")
    names = [
        found.name
        for package in packages
        for found in walk_packages(import_module(package).__path__, f"{package}.")
    ]
    ours = {
        found
        for name in names
        for _, found in inspect.getmembers(import_module(name), inspect.isclass)
        if attrs.has(found) and found.__module__ == name
    }
    assert len(ours) > 30
    assert {found for found in ours if "__eq__" in vars(found)} == set()
