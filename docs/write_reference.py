"""Write docs/reference.md from the code: `python docs/write_reference.py`.

Commands with their options, the fields of a Product, the attributes of a Site, the metrics, the
stats, the JSON API, and the tables that `scrapy export` knows: each where the code declares it,
none copied by hand.
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
from crawler.dashboard.api_document import document  # noqa: E402
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
_API_HEAD = """
## HTTP API

What the dashboard serves for programs, as JSON. A change needs the token as a bearer; a refusal is
`{"error": …}`. `/api/v1/openapi.json` is the same for a program.
"""
#: Options that each command of Scrapy has.
_COMMON = frozenset({"--help", "--json"})


def render() -> str:
    """Lay the whole page out as Markdown."""
    parts = [
        _HEAD,
        "\n## Commands\n\nEach has `--help`, and `--json` where a program reads along; an error is"
        ' `{"error": …}` there, beside the line for people.\n',
        *(_command(name, command) for name, command in commands()),
        "\n## Product\n\nWhat a spider yields and a row holds (`crawler/items.py`).\n",
        _attributes(Product),
        "\n## Site\n\nWhat a site file may say (`crawler/extract/site.py`, "
        "[Adding a site](adding-a-site.md)).\n",
        _attributes(Site),
        "\n## Metrics\n\n`/metrics` of the dashboard, the exporter and each worker "
        "(`scrapy_seine/metrics.py`).\n",
        _metrics(),
        "\n## Stats\n\nWhat Scrapy's stats hold besides its own, at the end of a worker's log with "
        "`STATS_DUMP=1`. A name in `<…>` is filled in.\n",
        _stats(),
        _API_HEAD,
        _api(),
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


#: What the callbacks that count stand for, by the folder or file that calls them.
_COUNTS_AS = {
    "scrapy_seine/sinks/postgres/": "seine/items/",
    "scrapy_seine/": "seine/",
    "crawler/storage.py": "seine/store/",
    "spiders/": "extract/",
}
_COUNTING = frozenset({"inc_value", "set_value", "max_value"})
#: What the callbacks themselves count.
_GENERAL = frozenset({"seine/<name>", "seine/store/<name>", "seine/items/<name>", "extract/<what>"})
_CALLBACKS = frozenset({"count", "_count"})
#: Classes that count under the stat that they are made with, as their last argument.
_COUNTERS = frozenset({"RedisErrors"})


def _stats() -> str:
    rows = ["\n| name | counted by |\n|---|---|\n"]
    rows += [f"| `{name}` | {_cell(told)} |\n" for name, told in sorted(stats().items())]
    return "".join(rows)


def stats() -> dict[str, str]:
    """Names of the stats that the code counts, with the file that counts them."""
    found: dict[str, str] = {}
    for folder in ("scrapy_seine", "crawler", "middlewares", "pipelines", "spiders"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(path.read_text("utf-8"))
            place = str(path.relative_to(ROOT))
            for name in _counted(tree, place):
                found.setdefault(name, f"`{place}`")
    return found


def _counted(tree: ast.Module, place: str) -> Iterator[str]:
    prefix = next((text for start, text in _COUNTS_AS.items() if place.startswith(start)), "")
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        called = getattr(node.func, "attr", "")
        name = _pattern(node.args[0])
        if called in _COUNTING and "/" in name and name not in _GENERAL:
            yield name
        elif getattr(node.func, "id", "") in _COUNTERS:
            yield _pattern(node.args[-1])
        elif called in _CALLBACKS and name.islower() and not name.startswith("<"):
            yield prefix + name


def _pattern(node: ast.expr) -> str:
    """Text of a literal; what is filled in is in `<…>`."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            f"<{ast.unparse(part.value).rpartition('.')[2].lower()}>"
            if isinstance(part, ast.FormattedValue)
            else _pattern(part)
            for part in node.values
        )
    return ""


def _api() -> str:
    lines = ["\n| call | what it does | what it takes | refuses with |\n|---|---|---|---|\n"]
    for path, operations in document()["paths"].items():
        for verb, operation in operations.items():
            query = [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            taken = [*query, *body.get("schema", {}).get("properties", {})]
            codes = [code for code in operation["responses"] if code >= "4"]
            lines.append(
                f"| `{verb.upper()} {path}` | {_cell(operation['summary'])} |"
                f" {', '.join(f'`{name}`' for name in taken) or '–'} | {', '.join(codes)} |\n"
            )
    return "".join(lines)


def _table(name: str, usual: tuple[str, ...], further: tuple[str, ...]) -> str:
    columns = ", ".join(f"`{column}`" for column in usual)
    more = ", ".join(f"`{column}`" for column in further)
    also = f" With `--columns` also {more}." if more else ""
    return f"\n### {name}\n\n{columns}.{also}\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("%%", "%")


if __name__ == "__main__":
    TARGET.write_text(render(), "utf-8")
