"""The reference is the code's, each command in the docs exists, and the site has every page."""

from __future__ import annotations

import argparse
import re
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WRITER = runpy.run_path(str(DOCS / "write_reference.py"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
#: Scrapy's own commands that the docs name, and the library's.
OTHERS = {"seine", "startproject", "runspider", "shell", "list", "genspider", "version", "fetch"}
_CALL = re.compile(r"^\$ (?:\w+=\S+ )*(?:\.venv/bin/)?scrapy (\S.*?)(?:\s+#.*)?$", re.MULTILINE)


def options() -> dict[str, set[str]]:
    """Option strings by command."""
    found = {}
    for name, command in WRITER["commands"]():
        parser = argparse.ArgumentParser(conflict_handler="resolve")
        command.add_options(parser)
        found[name] = {text for action in parser._actions for text in action.option_strings}
    return found


def calls() -> Iterator[tuple[str, str]]:
    """Each call of scrapy that a console shows, with the page's name."""
    for page in PAGES:
        for block in re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            for call in _CALL.findall(block):
                yield page.name, call


def test_the_reference_is_current() -> None:
    text = (DOCS / "reference.md").read_text("utf-8")
    assert text == WRITER["render"](), "run: python docs/write_reference.py"


def test_each_command_and_option_in_the_docs_exists() -> None:
    known, wrong, n = options(), [], 0
    for page, call in calls():
        if "…" in call.split()[0] or "|" in call.split()[0]:
            continue
        n += 1
        first = re.split(r"\s(?:&&|\|)\s|;", call)[0]
        name, *words = shlex.split(first, comments=True) if first.count("'") % 2 == 0 else [first]
        if name in OTHERS:
            continue
        given = {
            re.match(r"-{1,2}[\w-]+", word)[0] for word in words if re.match(r"--?[a-z]", word)
        }
        missing = sorted(given - known.get(name, set())) if name in known else [name]
        wrong += [f"{page}: scrapy {call}: {', '.join(missing)}"] if missing else []

    assert n > 30, "the search finds what it is for"
    assert wrong == []


def test_the_site_shows_every_page_of_the_folder() -> None:
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    named = set(re.findall(r"[\w/-]+\.md", repr(site["nav"])))
    there = {str(page.relative_to(DOCS)) for page in DOCS.glob("*.md")}

    assert there - named == set()
    assert {page for page in named if not (DOCS / page).exists()} == set()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[`settings/base.py`](../settings/base.py)", "`settings/base.py`"),
        ("[the code](../crawler/items.py)", "the code (`crawler/items.py`)"),
        ("[Settings](settings.md#a)", "[Settings](settings.md#a)"),
        ("[out](https://a.example/x)", "[out](https://a.example/x)"),
    ],
)
def test_a_link_out_of_the_folder_becomes_the_path_that_it_names(text: str, shown: str) -> None:
    hooks = runpy.run_path(str(DOCS / "site_hooks.py"))
    page = SimpleNamespace(file=SimpleNamespace(src_uri="concepts.md"))

    assert hooks["on_page_markdown"](text, page) == shown
