"""The settings' reference is what settings/base.py says, and says something of each of our own."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WRITER = runpy.run_path(str(ROOT / "docs" / "write_settings.py"))
SOURCE = (ROOT / "settings" / "base.py").read_text("utf-8")
SETTINGS = list(WRITER["read"](SOURCE))


def test_the_reference_is_current() -> None:
    text = (ROOT / "docs" / "settings.md").read_text("utf-8")
    assert text == WRITER["render"](SETTINGS), "run: python docs/write_settings.py"


@pytest.mark.parametrize("name", [s.name for s in SETTINGS if s.name.startswith("SEINE_")])
def test_each_setting_of_ours_is_explained(name: str) -> None:
    setting = next(s for s in SETTINGS if s.name == name)
    assert len(setting.text) > 20, f"{name} has no comment above it"


def test_each_setting_that_the_code_reads_is_in_the_reference() -> None:
    known = {name for setting in SETTINGS for name in (setting.name, setting.variable)}
    read = {
        name
        for package in ("scrapy_seine", "crawler", "middlewares", "pipelines", "spiders")
        for path in (ROOT / package).rglob("*.py")
        for name in re.findall(r'"(SEINE_[A-Z_]+)"', path.read_text("utf-8"))
    }
    assert read - known == set()
