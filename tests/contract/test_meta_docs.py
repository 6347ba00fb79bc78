"""The table of request meta is whole: the docs say it, and no code uses a key that is not in it."""

from __future__ import annotations

import ast
import runpy
from collections.abc import Iterator
from pathlib import Path

from crawler.access import detect, identities
from crawler.conditional_headers import KEY
from middlewares import identities as dressing
from middlewares import ladder, proxies, render
from scrapy_seine import meta as m
from spiders import page_reading

ROOT = Path(__file__).parents[2]
WRITER = runpy.run_path(str(ROOT / "docs" / "write_meta.py"))
#: Names of keys that are constants elsewhere.
CONSTANTS = {
    detect.VERDICT,
    detect.RULE,
    detect.REFUSED_AT,
    identities.PROFILE,
    KEY,
    ladder.STEP,
    dressing._JAR,
    proxies.PROXY_ID,
    proxies.LEASE,
    proxies.AT,
    proxies._PROBE,
    proxies._TRIES,
    proxies._UNTIL,
    proxies._TOLD,
    render.RENDER,
    page_reading.SHELF,
}
#: Methods of a mapping whose first argument is a key.
METHODS = {"get", "pop", "setdefault"}


def test_the_reference_is_current() -> None:
    text = (ROOT / "docs" / "meta.md").read_text("utf-8")
    assert text == WRITER["render"](), "run: python docs/write_meta.py"


def _is_meta(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name == "meta"


def used_in(source: str) -> Iterator[str]:
    """Yield literal keys that code reads from or writes to something called meta."""
    for node in ast.walk(ast.parse(source)):
        key: ast.expr | None = None
        if isinstance(node, ast.Subscript) and _is_meta(node.value):
            key = node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in METHODS and _is_meta(node.func.value) and node.args:
                key = node.args[0]
        elif isinstance(node, ast.Compare) and _is_meta(node.comparators[0]):
            key = node.left
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value


def test_each_key_that_the_code_uses_is_in_the_table() -> None:
    used = {
        key
        for package in ("crawler", "middlewares", "pipelines", "spiders")
        for path in (ROOT / package).rglob("*.py")
        if "extract" not in path.parts  # there, meta is an element of HTML
        for key in used_in(path.read_text("utf-8"))
    }
    assert len(used) > 20, "the search finds what it is for"
    own = {
        v for n, v in vars(m).items() if n.isupper() and n[0] != "_" and isinstance(v, str)
    } - m.RANK.keys()
    assert {key for key in used | own | CONSTANTS if m.key_of(key) is None} == set()
    assert {key for key in m.INHERITED if m.key_of(key) is None} == set()
