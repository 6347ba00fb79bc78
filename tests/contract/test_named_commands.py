"""Each command that the documents name starts, and has the options that they give it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests import started
from tests.helpers import patient

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXT = "\n".join(path.read_text("utf-8") for path in DOCUMENTS)
#: Prints the help of each command, in one process, as starting Python takes longer than all else.
HELPS = """
import contextlib, io, json, runpy, sys

found = {}
for name in sys.argv[1:]:
    out = io.StringIO()
    module, *words = name.split()
    sys.argv = [name, *words, "--help"]
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    found[name] = out.getvalue()
print(json.dumps(found))
"""


def named(pattern: str) -> dict[str, set[str]]:
    """Commands that the documents name, with the options that are given to each."""
    found: dict[str, set[str]] = defaultdict(set)
    for command, rest in re.findall(pattern + r"([^`\n|>;&#]*)", TEXT):
        try:
            words = shlex.split(rest)
        except ValueError:  # a quotation that goes on elsewhere
            words = rest.split()
        found[command] |= {re.split("[=,.)]", w)[0] for w in words if re.match("--[a-z]", w)}
    return dict(found)


BENCHMARKS = named(r"python -m (tests\.benchmarks[\w.]*)")
VERBS = named(r"(?:^|[`$] ?)scrapy ((?:seine )?[a-z]+)\b")
TARGETS = named(r"(?:`|\$ )make ([a-z]+)\b")


def helps(commands: list[str]) -> dict[str, str]:
    run = subprocess.run(
        [sys.executable, "-c", HELPS, *commands],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=patient(120),
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    loaded: dict[str, str] = json.loads(run.stdout.splitlines()[-1])
    return loaded


@pytest.fixture(scope="module")
def benchmarks() -> dict[str, str]:
    return helps(sorted(BENCHMARKS))


@pytest.mark.parametrize("command", sorted(BENCHMARKS))
def test_a_benchmark_starts_and_has_the_options_that_documents_give_it(
    benchmarks: dict[str, str], command: str
) -> None:
    text = benchmarks[command]
    assert text.startswith(("usage:", "Usage:")), text
    assert {option for option in BENCHMARKS[command] if option not in text} == set()


def test_the_make_targets_that_documents_name_are_there() -> None:
    known = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(TARGETS) - known == set()


@pytest.mark.parametrize("verb", sorted(verb for verb in VERBS if VERBS[verb] - {"--help"}))
def test_a_verb_has_the_options_that_documents_give_it(verb: str) -> None:
    command = [sys.executable, "-m", "scrapy", *verb.split(), "--help"]
    run = started.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert {option for option in VERBS[verb] if option not in run.stdout} == set()
