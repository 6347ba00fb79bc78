"""Rules about the code's shape that no linter knows."""

import ast
import contextlib
import re
from importlib import metadata
from pathlib import Path

from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[3]
PACKAGES = ("scrapy_seine", "crawler", "spiders", "pipelines", "middlewares", "settings")
MODULE_LINES, FUNCTION_LINES, LUA_LINES = 500, 60, 130
CODE = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
LUA = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.lua"))
BASE = (ROOT / "settings" / "base.py").read_text(encoding="utf-8")


def name(path):
    return str(path.relative_to(ROOT))


def functions(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def settings_assigned():
    """Settings of settings/base.py with the line before each."""
    lines = BASE.splitlines()
    for node in ast.parse(BASE).body:
        if isinstance(node, ast.Assign):
            target = node.targets[0]
            assert isinstance(target, ast.Name)
            yield target.id, lines[node.lineno - 2]


def test_a_module_can_be_read_in_one_sitting():
    lines = {name(p): len(p.read_text(encoding="utf-8").splitlines()) for p in [*CODE, *TESTS]}

    assert {module: n for module, n in lines.items() if n > MODULE_LINES} == {}


def test_a_function_fits_on_a_screen():
    lines = {
        f"{name(path)}:{f.name}": f.end_lineno - f.lineno + 1
        for path in CODE
        for f in functions(path)
    }

    assert {function: n for function, n in lines.items() if n > FUNCTION_LINES} == {}


def test_a_script_is_short_and_says_what_it_does():
    scripts = {name(path): path.read_text(encoding="utf-8").splitlines() for path in LUA}

    assert {script: len(x) for script, x in scripts.items() if len(x) > LUA_LINES} == {}
    assert [script for script, lines in scripts.items() if not lines[0].startswith("--")] == []


def test_no_comment_is_a_banner():
    found = {
        name(path): re.findall(r"^\s*#\s*[-=#*~]{2,}.*$", path.read_text("utf-8"), re.MULTILINE)
        for path in [*CODE, *TESTS]
        if path.parent.name != "settings"
    }

    assert {module: banners for module, banners in found.items() if banners} == {}


def test_every_setting_of_ours_is_explained_where_it_is_set():
    ours = [(n, before) for n, before in settings_assigned() if n.startswith(("SEINE_", "REDIS_"))]

    assert [n for n, before in ours if not before.startswith("# ")] == []


def test_every_setting_that_the_code_reads_is_in_the_base_settings():
    used = {
        setting
        for path in CODE
        for setting in re.findall(r"\bSEINE_[A-Z_]*[A-Z]\b", path.read_text(encoding="utf-8"))
    }

    assert sorted(setting for setting in used if not re.search(rf"\b{setting}\b", BASE)) == []


def test_every_setting_of_ours_is_read_by_somebody():
    code = "\n".join(p.read_text(encoding="utf-8") for p in CODE if p.parent.name != "settings")
    ours = [n for n, _ in settings_assigned() if n.startswith("SEINE_")]

    assert [n for n in ours if n not in code] == []


def test_the_readme_names_only_settings_and_files_that_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    settings = set(re.findall(r"`((?:SEINE|REDIS|DATABASE)_[A-Z_]+)`", text))
    links = re.findall(r"\]\(([^)#:]+)\)", text)

    assert sorted(s for s in settings if not re.search(rf"^{s} ", BASE, re.MULTILINE)) == []
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_pinned_package_runs_on_the_oldest_python_that_we_promise():
    """Debian 12 has Python 3.11.2; pip would search for other versions for hours."""
    wrong = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").split():
        package, _, version = line.partition("==")
        with contextlib.suppress(metadata.PackageNotFoundError):
            found = metadata.metadata(package)
            needs = found.json.get("requires_python", "")
            if found["Version"] == version and "3.11.2" not in SpecifierSet(needs):
                wrong[line] = needs

    assert wrong == {}


def test_tests_that_run_alone_are_marked_in_their_own_file():
    """`make test` collects the files with the mark for its second part, and no others."""
    elsewhere = [
        name(path)
        for path in TESTS
        if not path.name.startswith("test_") and "mark.alone" in path.read_text("utf-8")
    ]

    assert elsewhere == []
