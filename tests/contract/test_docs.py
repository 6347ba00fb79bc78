"""The documentation names what exists: files, commands, settings and metrics."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs").glob("*.md"))]
TEXTS = {page.name: page.read_text("utf-8") for page in PAGES}
SOURCES = "\n".join(
    path.read_text("utf-8")
    for folder in ("scrapy_seine", "crawler", "settings", "middlewares", "pipelines")
    for path in (ROOT / folder).rglob("*.py")
)
#: Scrapy's own commands, and the library's, which is an entry point.
SCRAPYS = {"crawl", "list", "runspider", "seine", "shell"}

pages = pytest.mark.parametrize("name", sorted(TEXTS))


@pages
def test_links_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", TEXTS[name]):
        if "://" not in target:
            assert (ROOT / "docs" / target).exists(), target


@pages
def test_commands_exist(name: str) -> None:
    ours = {path.stem for path in (ROOT / "crawler" / "commands").glob("*.py")}
    for verb in re.findall(r"(?:^|[`$/ ])scrapy ([a-z]+)", TEXTS[name], re.MULTILINE):
        assert verb in ours | SCRAPYS, verb


@pages
def test_settings_and_metrics_exist(name: str) -> None:
    for word in re.findall(r"\bSEINE_[A-Z_]*[A-Z]\b|\bseine_[a-z_]+[a-z]\b", TEXTS[name]):
        if word != "SEINE_DOMAIN":
            assert word.removesuffix("_FILE") in SOURCES, word


@pages
def test_modules_that_are_run_exist(name: str) -> None:
    for module in re.findall(r"python -m ([\w.]+)", TEXTS[name]):
        if module.startswith("tests."):
            path = ROOT / module.replace(".", "/")
            assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module


def test_the_table_of_features_names_every_project_that_is_run() -> None:
    styles = (ROOT / "tests" / "benchmarks" / "projects" / "styles").glob("[!_]*.py")
    text = TEXTS["scrapy-features.md"]
    assert [style.stem for style in styles if f"| {style.stem} |" not in text] == []


def test_the_table_of_files_names_files_that_exist() -> None:
    """A name beside another one stands in its folder."""
    missing, folder = [], ROOT
    rows = "\n".join(line for line in TEXTS["where.md"].splitlines() if line.startswith("|"))
    for name in re.findall(r"`([\w./-]+\.(?:py|lua|toml))`", rows):
        path = ROOT / name if (ROOT / name).exists() else folder / name
        folder = path.parent
        if not path.is_file():
            missing.append(name)
    assert missing == []
