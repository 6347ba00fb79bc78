"""Each `make …` and `pytest …` that a page shows resolves to programs and tests that are there.

Make says what it would run, and runs nothing: an install, an image or the whole suite take minutes.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
MAKE = [
    "make coverage",
    "make demo",
    "make demo KILL=1",
    "make digests",
    "make docs",
    "make format",
    "make image",
    "make lint",
    "make lock",
    "make mutants",
    "make sbom",
    "make test",
]
PYTEST = [
    ".venv/bin/python -m pytest -q tests/unit",
    ".venv/bin/python -m pytest -q tests/integration/test_acks.py",
    '.venv/bin/python -m pytest -q tests/integration/test_stock_path.py -m ""',
]
#: A program of the project in what make prints: a module, a script of Python, a file of .ci.
_OURS = re.compile(r"-m ((?:tests|docs|crawler)[\w.]*)|(?<= )((?:docs|tests|\.ci)/[\w./-]+)")


def shown(pattern: str) -> set[str]:
    """Commands of the documents' console blocks, without their comments."""
    text = "\n".join(path.read_text("utf-8") for path in DOCUMENTS)
    return {found.strip() for found in re.findall(rf"^\$ ({pattern}[^#\n]*)", text, re.MULTILINE)}


def test_every_command_that_a_page_shows_is_tried_here() -> None:
    assert shown("make [a-z]") - set(MAKE) == set()
    assert shown(r"\.venv/bin/python -m pytest ") == set(PYTEST)


@pytest.mark.parametrize("command", MAKE)
def test_what_make_would_run_is_there(command: str) -> None:
    done = subprocess.run(
        ["make", "--dry-run", "--always-make", *command.split()[1:]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    named = _OURS.findall(done.stdout)
    assert [module for module, _ in named if module and find_spec(module) is None] == []
    assert [path for _, path in named if path and not (ROOT / path).exists()] == []


def test_a_misspelt_variable_of_the_command_line_is_one_line() -> None:
    command = ["make", "--dry-run", "demo", "KIL=1"]
    env = {name: value for name, value in os.environ.items() if "MAKE" not in name}  # of make test
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=env)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "KIL changes nothing here; there is HOSTILE KILL" in line


def test_an_environment_whose_making_was_interrupted_is_completed(tmp_path: Path) -> None:
    """It had a Python and no pip, and each later `make demo` ended with "No module named pip"."""
    half = tmp_path / "half"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(half)], check=True)
    env = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    command = ["make", f"VENV={half}", f"PYTHON={sys.executable}", f"{half}/.made"]
    subprocess.run(command, cwd=ROOT, check=True, env=env, capture_output=True)
    subprocess.run([half / "bin" / "python", "-m", "pip", "--version"], check=True)


@pytest.mark.parametrize("command", PYTEST)
def test_the_tests_that_a_command_names_are_there(command: str) -> None:
    (path,) = re.findall(r"tests/\S+", command)
    assert (ROOT / path).exists()
