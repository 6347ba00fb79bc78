"""Write docs/reference.md from the code: `python docs/write_reference.py`.

Commands with their options, the fields of a Product, the attributes of a Site, the metrics, and
the tables that `scrapy export` knows: each where the code declares it, none copied by hand.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from scrapy.settings import Settings  # noqa: E402  # the path comes first

import crawler.commands  # noqa: E402
from crawler.extract.site import Site  # noqa: E402
from crawler.items import Product  # noqa: E402
from crawler.stores.export import TABLES  # noqa: E402
from scrapy_seine import metrics  # noqa: E402

TARGET = ROOT / "docs" / "reference.md"
_HEAD = """\
# Reference

Written from the code by `python docs/write_reference.py`; change it there. Settings have
[a page of their own](settings.md), keys of `request.meta` [as well](meta.md).
"""
#: Options that each command of Scrapy has.
_COMMON = frozenset({"--help", "--json"})


def render() -> str:
    """Lay the whole page out as Markdown."""
    parts = [
        _HEAD,
        "\n## Commands\n\nEach has `--help`, and `--json` where a program reads along.\n",
        *(_command(name, command) for name, command in commands()),
        "\n## Product\n\nWhat a spider yields and a row holds (`crawler/items.py`).\n",
        _attributes(Product),
        "\n## Site\n\nWhat a site file may say (`crawler/extract/site.py`, "
        "[Adding a site](adding-a-site.md)).\n",
        _attributes(Site),
        "\n## Metrics\n\n`/metrics` of the dashboard, the exporter and each worker "
        "(`scrapy_seine/metrics.py`).\n",
        _metrics(),
        "\n## Tables\n\nWhat `scrapy export TABLE` and `scrapy sql` read.\n",
        *(_table(name, *columns[:2]) for name, columns in TABLES.items()),
    ]
    return "".join(parts)


def commands() -> Iterator[tuple[str, Any]]:
    """Yield this project's commands by name."""
    for info in pkgutil.iter_modules(crawler.commands.__path__):
        module = importlib.import_module(f"crawler.commands.{info.name}")
        command = module.Command()
        command.settings = Settings()
        yield info.name, command


def _command(name: str, command: Any) -> str:
    parser = argparse.ArgumentParser(prog=name, conflict_handler="resolve")
    command.add_options(parser)
    lines = [f"\n### scrapy {name}\n\n{command.short_desc()}.\n\n"]
    lines.append(f"```console\n$ scrapy {name} {command.syntax()}\n```\n")
    rows = [_option(action) for action in _own(parser)]
    if rows:
        lines.append("\n| option | meaning |\n|---|---|\n")
        lines += rows
    if parser.epilog:
        lines.append(f"\n`{parser.epilog.removeprefix('example: ')}`\n")
    return "".join(lines)


def _own(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Options that are this command's: those of every command of Scrapy are in a group."""
    everywhere = {
        id(action)
        for group in parser._action_groups
        if group.title == "Global Options"
        for action in group._group_actions
    }
    for action in parser._actions:
        shown = action.help != argparse.SUPPRESS and action.option_strings
        if shown and id(action) not in everywhere and not _COMMON & {*action.option_strings}:
            yield action


def _option(action: argparse.Action) -> str:
    names = ", ".join(f"`{name}`" for name in action.option_strings)
    return f"| {names} | {_cell(action.help or '')} |\n"


def _attributes(kind: type) -> str:
    """A table of a class' attributes, each with the docstring below it."""
    tree = ast.parse(inspect.getsource(kind))
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef)).body
    rows = ["\n| name | type | meaning |\n|---|---|---|\n"]
    for node, after in pairwise(body):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        text = ast.get_docstring(ast.Module([after], [])) or ""
        kind_name = ast.unparse(node.annotation).removeprefix("ClassVar[")
        kind_name = kind_name[:-1] if "ClassVar[" in ast.unparse(node.annotation) else kind_name
        rows.append(f"| `{node.target.id}` | `{_cell(kind_name)}` | {_cell(text)} |\n")
    return "".join(rows)


def _metrics() -> str:
    rows = ["\n| name | kind | labels | meaning |\n|---|---|---|---|\n"]
    for one in sorted(metrics.SPECS, key=lambda one: one.name):
        labels = ", ".join(f"`{label}`" for label in one.label_names) or "–"
        rows.append(f"| `{one.name}` | {one.kind} | {labels} | {_cell(one.help)} |\n")
    return "".join(rows)


def _table(name: str, usual: tuple[str, ...], further: tuple[str, ...]) -> str:
    columns = ", ".join(f"`{column}`" for column in usual)
    more = ", ".join(f"`{column}`" for column in further)
    also = f" With `--columns` also {more}." if more else ""
    return f"\n### {name}\n\n{columns}.{also}\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("%%", "%")


if __name__ == "__main__":
    TARGET.write_text(render(), "utf-8")
