"""Breaks pure modules in one place at a time, and counts how many breaks their tests notice.

usage: python -m tests.mutants [--count 200] [--seed 17] [--jobs 2] [--area NAME] [--json]

A mutant is a module with one operator, comparison, number, condition or jump changed within a
function. It is killed when a unit test of the module, or an example in its docstrings, fails.
Texts and log lines are left as they are, and so are tables and limits outside of functions, as
mutmut does it. What survives is listed, with its line. Each mutant runs in a fork of this process,
in which third-party packages are loaded already.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import json
import multiprocessing
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy
from importlib.machinery import ModuleSpec, SourceFileLoader
from itertools import islice
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import attrs
import pytest

ROOT = Path(__file__).parents[1]
#: Loaded before the first fork, because each mutant would load them anew.
SHARED = (
    "scrapy",
    "scrapy.crawler",
    "lxml.html",
    "redis.asyncio",
    "scrapy_redis.spiders",
)
#: By module: its unit tests, below tests/unit and without `test_`. Each of them takes seconds.
TESTS: dict[str, tuple[str, ...]] = {
    "scrapy_seine.engine.starting.arguments": ("engine/starting/arguments",),
    "scrapy_seine.engine.stored.callbacks": ("engine/stored/callbacks",),
    "scrapy_seine.engine.download.http.head": (
        "engine/download/http_head",
        "engine/download/http_reader",
        "engine/download/http_tolerance",
    ),
    "scrapy_seine.engine.download.http.reader": (
        "engine/download/http_reader",
        "engine/download/http_tolerance",
    ),
    "scrapy_seine.engine.download.lanes": ("engine/download/lanes", "middlewares/limits_per"),
    "scrapy_seine.engine.reading.parse_queue": ("engine/reading/parse_queue",),
    "scrapy_seine.engine.reading.reading_limit": ("engine/reading/reading_limit",),
    "scrapy_seine.engine.lease.outcomes": ("engine/lease/outcomes",),
    "scrapy_seine.engine.lease.uncaught": ("engine/lease/outcomes",),
    "scrapy_seine.engine.lease.page_end": ("engine/lease/outcomes", "middlewares/conditional"),
    "scrapy_seine.engine.reading.freed_pages": ("engine/reading/freed_pages",),
    "scrapy_seine.engine.starting.seed_format": ("engine/starting/seed_format",),
    "scrapy_seine.engine.stored.serializer": (
        "engine/stored/serializer",
        "engine/stored/requests",
        "engine/stored/callbacks",
        "politeness/download_slots",
    ),
    "scrapy_seine.engine.settings_check": ("engine/settings_check",),
    "scrapy_seine.engine.starting.start_requests": ("engine/starting/start_requests",),
    "scrapy_seine.engine.lease.stated_outcomes": (
        "engine/lease/outcomes",
        "engine/download/stored_proxy",
        "middlewares/conditional",
    ),
    "scrapy_seine.engine.reading.watchdog": ("engine/reading/watchdog",),
    "scrapy_seine.frontier.encoding.codec": (
        "frontier/encoding/codec",
        "frontier/encoding/nesting",
        "frontier/encoding/seal",
    ),
    "scrapy_seine.frontier.round_trips.endings": ("frontier/model", "frontier/partitions"),
    "scrapy_seine.frontier.keys": ("frontier/model", "frontier/partitions"),
    "scrapy_seine.frontier.round_trips.lateness": ("politeness/delay",),
    "scrapy_seine.frontier.model": (
        "frontier/model",
        "engine/lease/outcomes",
        "frontier/encoding/seal",
    ),
    "scrapy_seine.frontier.encoding.nesting": ("frontier/encoding/nesting",),
    "scrapy_seine.frontier.partitions.two_looks": ("frontier/partitions",),
    "scrapy_seine.frontier.partitions.redis_pipelines": ("frontier/partitions",),
    "scrapy_seine.frontier.retry_rules": ("frontier/retry_rules",),
    "scrapy_seine.frontier.encoding.seal": ("frontier/encoding/seal",),
    "scrapy_seine.frontier.round_trips.server_clock": ("frontier/round_trips/server_clock",),
    "scrapy_seine.frontier.round_trips.timer": ("frontier/round_trips/timer",),
    "scrapy_seine.frontier.encoding.wire": ("frontier/model", "frontier/encoding/seal"),
    "scrapy_seine.politeness.retry_after": ("politeness/delay",),
    "scrapy_seine.politeness.robots_rules": ("politeness/delay", "readers"),
    "crawler.extract.money.amounts": (
        "extract/money/amounts",
        "extract/values",
        "extract/fuzz",
        "extract/price/rules",
        "extract/rules",
    ),
    "scrapy_seine.attribute_limit": ("readers", "extract/values"),
    "crawler.extract.stock.availability": ("extract/values", "extract/words/words"),
    "crawler.extract.classify": (
        "extract/structured/structured",
        "extract/values",
        "extract/pages",
    ),
    "crawler.extract.structured.breadcrumbs": (
        "extract/values",
        "extract/structured/structured",
        "extract/rules",
    ),
    "crawler.extract.money.currencies": (
        "extract/money/amounts",
        "extract/values",
        "extract/countries",
    ),
    "crawler.extract.visible.facts": (
        "extract/visible/facts",
        "extract/values",
        "extract/words/words",
        "extract/rules",
    ),
    "crawler.extract.links.choice": (
        "extract/listing/listing_pages",
        "extract/links/links",
        "extract/listing/probing",
        "extract/rules",
    ),
    "crawler.extract.scripts.literal": ("extract/scripts/literal", "extract/fuzz"),
    "crawler.extract.merge": (
        "extract/structured/structured",
        "extract/values",
        "extract/pages",
        "extract/rules",
        "extract/price/rules",
    ),
    "crawler.extract.structured.microdata": (
        "extract/structured/structured",
        "extract/pages",
        "extract/rules",
    ),
    "crawler.extract.structured.opengraph": (
        "extract/values",
        "extract/structured/structured",
        "extract/price/rules",
    ),
    "crawler.extract.listing.further_pages": (
        "extract/listing/pagecount",
        "extract/listing/probing",
        "extract/rules",
    ),
    "crawler.extract.price.choice": (
        "extract/price/choice",
        "extract/price/rules",
        "extract/pages",
        "extract/causes",
    ),
    "crawler.extract.listing.probing": ("extract/listing/probing",),
    "crawler.extract.links.registered_domain": ("extract/links/registered_domain", "extract/rules"),
    "crawler.extract.shop_number": (
        "extract/shop_number",
        "extract/causes",
        "extract/structured/structured",
    ),
    "crawler.extract.links.sitemap_format": ("readers", "extract/links/links", "extract/rules"),
    "crawler.extract.links.sitemap_news": ("extract/links/sitemap_news", "readers"),
    "crawler.extract.template.confidence": (
        "extract/template/template",
        "extract/template/template_rules",
    ),
    "crawler.extract.template.page_doubts": (
        "extract/template/template",
        "extract/template/template_rules",
    ),
    "crawler.extract.template.profile": (
        "extract/template/template",
        "extract/template/place_search",
        "extract/template/template_rules",
    ),
    "scrapy_seine.reads.domains": ("reads/reading_counts",),
    "scrapy_seine.reads.prometheus": ("metrics",),
    "scrapy_seine.reads.formatting": ("reads/troubles", "reads/reading_counts"),
    "scrapy_seine.reads.outcome_history": ("reads/troubles", "reads/reading_counts"),
    "scrapy_seine.reads.progress": ("catalogue/jobs", "reads/reading_counts"),
    "crawler.reads.crawl_report": ("reads/crawl_report",),
    "crawler.reads.doctor.setting_sources": ("reads/doctor/setting_sources",),
    "crawler.reads.doctor.start_checks": ("reads/doctor/start_checks",),
    "crawler.reads.unknown_settings": ("reads/unknown_settings",),
    "crawler.reads.troubles": ("reads/troubles",),
}
_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_COUNTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Add, ast.Pow: ast.Mult,
}  # fmt: skip
#: Seconds after which a mutant counts as killed, because its tests never end.
_PATIENCE_S = 240
#: Status of a fork; any other one means that the fork itself has failed.
_SURVIVED, _KILLED = 40, 41
#: What C code ends a fork with where the module that keeps bad data from it is the broken one.
_CRASHED = frozenset({-signal.SIGSEGV, -signal.SIGABRT})


@attrs.frozen
class Mutant:
    """One change of one module."""

    module: str
    line: int
    what: str
    number: int
    """Which of the module's changes it is."""


class _Places(ast.NodeVisitor):
    """Collects what can be changed in a module, in a fixed order."""

    def __init__(self) -> None:
        self.found: list[tuple[ast.AST, str]] = []

    def visit_Module(self, node: ast.Module | ast.ClassDef) -> None:
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.visit(statement)

    visit_ClassDef = visit_Module  # noqa: N815

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for statement in node.body:
            self.visit(statement)

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]  # noqa: N815

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self.found.append((node, "the condition is turned round"))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if type(node.ops[0]) in _COMPARED:
            self.found.append((node, "another comparison"))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.found.append((node, "and instead of or, or the reverse"))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        texts = any(isinstance(n, ast.JoinedStr) or _is_text(n) for n in (node.left, node.right))
        if type(node.op) in _COUNTED and not texts:
            self.found.append((node, "another operator"))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self.found.append((node, "without its sign or its not"))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool | int | float):
            self.found.append((node, f"{node.value!r} is another value"))

    def visit_Break(self, node: ast.Break) -> None:
        self.found.append((node, "continue instead of break"))

    def visit_Continue(self, node: ast.Continue) -> None:
        self.found.append((node, "break instead of continue"))

    def visit_Call(self, node: ast.Call) -> None:
        name = ast.unparse(node.func)
        if name.startswith("logger."):
            return
        self.generic_visit(node)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def source_of(module: str) -> Path:
    """The file of a module."""
    path = ROOT / Path(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _places(tree: ast.Module) -> list[tuple[ast.AST, str]]:
    places = _Places()
    places.visit(tree)
    return places.found


def mutants(module: str) -> Iterator[Mutant]:
    """Yield all changes of a module."""
    for number, (node, what) in enumerate(_places(ast.parse(source_of(module).read_bytes()))):
        yield Mutant(module, getattr(node, "lineno", 0), what, number)


def changed(mutant: Mutant) -> ast.Module:
    """Make the changed module; a number below 0 changes nothing."""
    tree = ast.parse(source_of(mutant.module).read_bytes())
    if mutant.number < 0:
        return tree
    node: Any = _places(tree)[mutant.number][0]
    if isinstance(node, ast.If):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Compare):
        node.ops[0] = _COMPARED[type(node.ops[0])]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.BinOp):
        node.op = _COUNTED[type(node.op)]()
    elif isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    else:
        tree = _Exchange(node).visit(tree)
    return ast.fix_missing_locations(tree)


class _Exchange(ast.NodeTransformer):
    """Puts something else in the place of one node."""

    def __init__(self, node: ast.AST) -> None:
        self.node = node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if node is not self.node:
            return super().generic_visit(node)
        if isinstance(node, ast.UnaryOp):
            return deepcopy(node.operand)
        other = ast.Continue() if isinstance(node, ast.Break) else ast.Break()
        return ast.copy_location(other, node)


class _Changed(SourceFileLoader):
    """Loads one module as it was changed, all others as they are."""

    tree: ast.Module

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.tree, self.path, "exec")


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, module: str, tree: ast.Module) -> None:
        self.module, self.tree = module, tree

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.module:
            return None
        loader = _Changed(fullname, str(source_of(fullname)))
        loader.tree = self.tree
        return importlib.util.spec_from_file_location(fullname, loader.path, loader=loader)


def tests_of(module: str) -> list[str]:
    """The files of a module's unit tests."""
    parted = [name.rpartition("/") for name in TESTS[module]]
    return [f"tests/unit/{folder}{slash}test_{name}.py" for folder, slash, name in parted]


def _try(mutant: Mutant) -> None:
    """Run a mutant's tests in this process, which ends with what became of it."""
    os.setsid()
    sys.meta_path.insert(0, _Finder(mutant.module, changed(mutant)))
    files = tests_of(mutant.module)
    examples = "tests/unit/project/test_docstring_examples.py"
    if "\n    >>> " in source_of(mutant.module).read_text("utf-8"):
        files.append(f"{examples}::test_the_examples_of_a_module_hold[{mutant.module}]")
    options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-m", "not alone", "--tb=no"]
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        status = pytest.main([*options, *files])
    # 2: the changed module cannot be imported.
    known = {0: _SURVIVED, 1: _KILLED, 2: _KILLED}
    os._exit(known.get(int(status), 1))


def outcomes(drawn: Iterable[Mutant], jobs: int) -> Iterator[tuple[Mutant, int]]:
    """Run each mutant's tests in a fork, some forks at a time; yield each with its status.

    A fork that does not end in time counts as killed.
    """
    context, running = multiprocessing.get_context("fork"), list[_Fork]()
    left = iter(drawn)
    while True:
        for mutant in islice(left, jobs - len(running)):
            process = context.Process(target=_try, args=(mutant,))
            process.start()
            running.append(_Fork(mutant, process, time.monotonic() + _PATIENCE_S))
        if not running:
            return
        wait([fork.process.sentinel for fork in running], timeout=5)
        for fork in [fork for fork in running if fork.over()]:
            running.remove(fork)
            yield fork.mutant, fork.status()


@attrs.frozen
class _Fork:
    mutant: Mutant
    process: ForkProcess
    until: float

    def over(self) -> bool:
        return self.process.exitcode is not None or time.monotonic() > self.until

    def status(self) -> int:
        if self.process.exitcode is not None:
            return _KILLED if self.process.exitcode in _CRASHED else self.process.exitcode
        os.killpg(self.process.pid or 0, signal.SIGKILL)
        self.process.join()
        return _KILLED


def sample(count: int, seed: int, area: str) -> list[Mutant]:
    """Draw mutants, each as likely as any other."""
    every = [mutant for name in TESTS if area in name for mutant in mutants(name)]
    return random.Random(seed).sample(every, min(count, len(every)))


def main() -> None:
    """Print a line for each survivor, and how many mutants were killed, by area."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--area", default="", help="only modules whose name has this")
    parser.add_argument("--json", action="store_true", help="print one JSON object last")
    options = parser.parse_args()
    os.chdir(ROOT)
    for name in SHARED:
        importlib.import_module(name)
    drawn = sample(options.count, options.seed, options.area)
    if not drawn:
        sys.exit(f"no module is called {options.area}")
    unchanged = [Mutant(name, 0, "", -1) for name in sorted({mutant.module for mutant in drawn})]
    failing = [m.module for m, status in outcomes(unchanged, options.jobs) if status != _SURVIVED]
    if failing:
        sys.exit(f"the tests fail without any change: {', '.join(failing)}")
    began, killed, tried = time.monotonic(), Counter[str](), Counter[str]()
    for mutant, status in outcomes(drawn, options.jobs):
        area = ".".join(mutant.module.split(".")[:2])
        tried[area] += 1
        killed[area] += status == _KILLED
        if status != _KILLED:
            state = "survived" if status == _SURVIVED else "could not be tried"
            place = f"{source_of(mutant.module).relative_to(ROOT)}:{mutant.line}"
            print(f"{place} {state}: {mutant.what}", flush=True)
    for area in sorted(tried):
        print(f"{area}: {killed[area]} of {tried[area]} killed")
    dead, all_, seconds = killed.total(), tried.total(), time.monotonic() - began
    print(f"{dead} of {all_} killed ({dead / all_:.0%}) in {seconds:.0f} s")
    if options.json:
        print(json.dumps({"mutants": all_, "killed": dead, "seed": options.seed}))


if __name__ == "__main__":
    main()
