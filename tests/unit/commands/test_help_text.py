"""--help says what it means, at any width, and names commands that there are."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest

from scrapy_seine.commands.help_text import HelpFormatter
from scrapy_seine.commands.misspelt_commands import VERBS

LIBRARY = Path(__file__).parents[3] / "scrapy_seine"


@pytest.mark.parametrize("width", [50, 65, 80, 100])
def test_a_line_of_help_that_ends_with_a_colon_is_no_heading(width: int) -> None:
    def form(prog: str) -> argparse.HelpFormatter:
        return HelpFormatter(prog, width=width)

    parser = argparse.ArgumentParser("scrapy x", formatter_class=form, epilog="example: scrapy x")
    parser.add_argument("--accept", metavar="FIELD", help="believe these values for a day: name")
    parser.add_argument("--a-long-one-with-lines-of-its-own", help="one of:")
    group = parser.add_argument_group("a group")
    group.add_argument("--top", help="so many of them:")
    text = parser.format_help()
    underlined = re.findall(r"^(.*)\n=+$", text, re.MULTILINE)
    assert underlined == ["Usage", "Options", "A Group"]
    assert "for a day:" in re.sub(r"\s+", " ", text)


def test_the_library_names_its_commands_as_any_project_has_them() -> None:
    """In a project with the add-on alone there is no `scrapy frontier`, but `scrapy seine …`."""
    bare = re.compile(rf"scrapy ({'|'.join(VERBS)})\b")
    lines = [
        f"{path.name}: {line.strip()}"
        for path in sorted(LIBRARY.rglob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if bare.search(line) and line.lstrip().startswith(('"', 'f"', "'", "raise"))
    ]
    assert [line for line in lines if '"""' not in line] == []
