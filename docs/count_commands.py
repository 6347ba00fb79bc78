"""Count the words of each page, the commands that it shows, and those that a test runs.

`python docs/count_commands.py` prints a table; with --missing the commands that no test runs come
after it. A command is what stands after `$` in a console block and is one of ours (scrapy, make,
python -m); those of other programs have a column of their own. A test runs it where one call in
the tests' code has all its words that are neither values nor addresses: verb, its own verb, and
options. What tests do by a command's class, without its name, is not seen.
"""

from __future__ import annotations

import ast
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
#: Directories of generated or past text.
_LEFT_OUT = ("decisions",)
_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_OURS = re.compile(r"([A-Z_]+=\S* )*((\.venv/)?bin/)?(scrapy|make|python -m) ")
#: What the build server runs: its script is `make test`, which begins with `make lint`.
_SERVER = frozenset({"make test", "make lint"})


def commands(text: str) -> list[str]:
    """Return the commands of a page, lines that go on joined."""
    blocks = "\n".join(_BLOCK.findall(text)).replace("\\\n", " ")
    lines = [re.sub(r"\s#\s.*", "", one[2:]) for one in blocks.splitlines() if one[:2] == "$ "]
    parts = [part.strip() for line in lines for part in re.split(r"\s(?:&&|\|\|?|;)\s", line)]
    return [part for part in parts if not re.search(r"\s\[[A-Za-z-]", part)]  # a usage, no command


def key_words(command: str) -> frozenset[str]:
    """Return what must be in a test's call.

    >>> sorted(key_words("SEINE_RUN=a scrapy crawl catalog -a url=x --loglevel=INFO  # all"))
    ['--loglevel', '-a', 'crawl']
    >>> sorted(key_words("make demo KILL=1")), sorted(key_words("scrapy dlq replay --all"))
    (['demo', 'make'], ['--all', 'dlq', 'replay'])
    """
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        words = command.split()
    words = [word for word in words if not re.match(r"[A-Z_]+=", word)]
    words = [re.sub(r"^(\.venv/)?bin/", "", word) for word in words]
    if words[:1] == ["scrapy"]:
        words = words[1:]
        # The second word is a verb of its own where it is one in lower case, without a place.
        second = [w for w in words[1:2] if re.fullmatch(r"[a-z-]{3,}", w) and w != "catalog"]
        words = [*words[:1], *second, *words[2:]]
    options = [word.partition("=")[0] for word in words if word.startswith("-") and word != "-"]
    plain = [
        word for word in words[:2] if not word.startswith("-") and re.fullmatch(r"[\w.-]+", word)
    ]
    return frozenset([*plain, *options])


def calls(source: str) -> Iterator[frozenset[str]]:
    """Return the texts that stand together in calls, lists and tuples of a test, options cut."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call | ast.List | ast.Tuple):
            texts = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
            words = [w for text in texts if isinstance(text, str) for w in text.split()]
            if words:
                yield frozenset(word.partition("=")[0] for word in words)


def tested() -> list[frozenset[str]]:
    """Return the calls of all tests, and what the build server runs."""
    files = [*(ROOT / "tests").rglob("*.py")]
    found = {one for path in files for one in calls(path.read_text("utf-8"))}
    return [*found, *(frozenset(one.split()) for one in _SERVER)]


def runs(command: str, found: Iterable[frozenset[str]]) -> bool:
    """Whether a test's call has all that the command has."""
    wanted = key_words(command)
    return bool(wanted) and any(wanted <= one for one in found)


def _line(row: list[int], name: str) -> str:
    words, shown, tests, others = row
    return f"{words:7,} {shown:8} {tests:6} {others:6}  {name}"


def main() -> int:
    """Print the table."""
    found, untested = tested(), []
    total = [0, 0, 0, 0]
    print(f"{'words':>7} {'commands':>8} {'tested':>6} {'others':>6}  page")
    for page in PAGES:
        if page.parent.name in _LEFT_OUT:
            continue
        text = page.read_text("utf-8")
        shown = [one for one in commands(text) if _OURS.match(f"{one} ")]
        missing = [command for command in shown if not runs(command, found)]
        untested += [(page, command) for command in missing]
        prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        others = len(commands(text)) - len(shown)
        row = [len(_WORD.findall(prose)), len(shown), len(shown) - len(missing), others]
        total = [a + b for a, b in zip(total, row, strict=True)]
        print(_line(row, str(page.relative_to(ROOT))))
    print(_line(total, "all"))
    if "--missing" in sys.argv[1:]:
        for page, command in untested:
            print(f"{page.relative_to(ROOT)}: {command}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
