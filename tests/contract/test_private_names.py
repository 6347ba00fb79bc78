"""Private names of Scrapy and Twisted are used in one module, which asks for each at the start."""

from __future__ import annotations

import ast
import logging
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from scrapy_seine.engine.fastpath import scrapy_internals as internals

ROOT = Path(__file__).parents[2]
PACKAGES = ("scrapy_seine", "crawler", "middlewares", "pipelines", "spiders")
ONE = "scrapy_seine/engine/fastpath/scrapy_internals.py"
FOREIGN = ("scrapy", "twisted", "scrapy_redis")
#: Private names of other packages: where, and whose.
OTHERS = {
    "crawler/access/browser.py": {
        "_download_request",
        "_maybe_launch_browser",
    },  # scrapy-playwright
    "middlewares/proxies.py": {"_load_policy"},  # rotating_proxies
    "scrapy_seine/commands/seine.py": {"_actions", "_remove_action", "_option_string_actions"},
}
FILES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def own_names(tree: ast.AST) -> set[str]:
    """Private names that a module gives its own things."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            for target in (part for each in targets for part in ast.walk(each)):
                match target:
                    case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self"), attr=name):
                        found.add(name)
    return found


def used(tree: ast.AST) -> Iterator[str]:
    """Private names that a module asks others for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(FOREIGN):
            path = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
            yield from filter(is_private, path)
        elif isinstance(node, ast.Import):
            foreign = [alias.name for alias in node.names if alias.name.startswith(FOREIGN)]
            yield from (part for name in foreign for part in name.split(".") if is_private(part))
        elif isinstance(node, ast.Attribute) and is_private(node.attr):
            yield node.attr
        elif isinstance(node, ast.keyword) and is_private(node.arg or ""):
            yield str(node.arg)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "").endswith("attr"):
            names = [a.value for a in node.args if isinstance(a, ast.Constant)]
            yield from (name for name in names if isinstance(name, str) and is_private(name))


@cache
def parsed(path: Path) -> ast.AST:
    return ast.parse(path.read_text("utf-8"))


def test_no_other_module_uses_a_private_name_of_scrapy() -> None:
    kin = {  # a class of ours may be derived from one in another file
        package: set().union(*(own_names(parsed(p)) for p in FILES if p.parts[-2] == package))
        for package in {path.parts[-2] for path in FILES}
    }
    foreign = {
        str(path.relative_to(ROOT)): names
        for path in FILES
        if (names := set(used(parsed(path))) - kin[path.parts[-2]])
    }
    foreign.pop(ONE)
    assert {
        module: names - OTHERS.get(module, set())
        for module, names in foreign.items()
        if names - OTHERS.get(module, set())
    } == {}


def test_the_one_module_asks_for_each_name_that_it_uses() -> None:
    """Else a worker would find out with its first page."""
    asked = {
        part for known in internals.NAMES.values() for name in known for part in name.split(".")
    }
    asked |= {name.partition(":")[2] for known in internals.NAMES.values() for name in known}
    optional = {
        *("_clientProtocol", "_newConnection", "_aggregator"),  # asked for with a default
        "_warn",  # by the signature of the function
    }
    tree = parsed(ROOT / ONE)
    assert set(used(tree)) - own_names(tree) - asked - optional == set()


@pytest.mark.parametrize("feature", internals.NAMES)
def test_this_scrapy_has_all_names(feature: str) -> None:
    assert internals.missing_names(feature) == []


@pytest.mark.parametrize(
    "name",
    [
        "scrapy.core.gone:Thing.part",
        "scrapy.core.engine:Gone._slot",
        "scrapy.core.engine:ExecutionEngine._gone",
        "scrapy.http.cookies:CookieJar._cookies_lock",  # another object's, within a method
        "scrapy.utils.defer:_gone",
    ],
)
def test_a_name_that_is_gone_is_told_of_once(
    name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(internals.NAMES, "engine", ("scrapy.spiders:Spider._parse", name))
    internals.available.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert [internals.available("engine") for _ in range(2)] == [False, False]
    internals.available.cache_clear()
    (line,) = caplog.messages
    assert name in line
    assert "engine is left to Scrapy's own code" in line
