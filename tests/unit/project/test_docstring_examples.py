"""Each example in a docstring shows what happens, whatever module it is in."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDERS = ("scrapy_seine", "crawler", "spiders", "middlewares", "pipelines", "settings", "tests")


def modules() -> list[str]:
    """Names of the modules that show an example."""
    files = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    shown = (path.relative_to(ROOT) for path in files if "\n    >>> " in path.read_text("utf-8"))
    return sorted(".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in shown)


@pytest.mark.parametrize("name", modules())
def test_the_examples_of_a_module_hold(name: str) -> None:
    done = doctest.testmod(importlib.import_module(name))
    assert done.attempted, "no example is found: one behind a decorator is not, for instance"
    assert done.failed == 0
