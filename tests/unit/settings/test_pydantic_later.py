"""A worker without pydantic's models does not load pydantic; one that has some loses nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
#: Imports what each crawl imports, in the order in which `scrapy crawl` does.
START = "import scrapy.cmdline, settings, scrapy.commands.parse, itemadapter, sys, json\n"
PLAIN = START.replace("settings, ", "")
LOADED = START + 'print(json.dumps([name for name in sys.modules if "pydantic" in name]))'
MODELS = """
import importlib.util
assert importlib.util.find_spec("pydantic")  # who only looks for it does not load it
import pydantic, pydantic.v1
class New(pydantic.BaseModel):
    name: str
    price: float = pydantic.Field(default=1.5, gt=0, json_schema_extra={"unit": "EUR"})
class Old(pydantic.v1.BaseModel):
    name: str
    price: float = pydantic.v1.Field(2.5, unit="EUR")
told = []
for kind in (New, Old):
    adapter = itemadapter.ItemAdapter(kind(name="a"))
    told.append([
        itemadapter.is_item(adapter.item),
        adapter.asdict(),
        list(adapter.field_names()),
        repr(sorted(dict(adapter.get_field_meta("price")).items(), key=str)),
        itemadapter.ItemAdapter.get_json_schema(kind),
    ])
print(json.dumps(told))
"""


def said(code: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_crawl_does_not_load_pydantic() -> None:
    pytest.importorskip("pydantic")
    assert said(LOADED) == []
    assert said(LOADED.replace("settings, ", "")) != []  # itemadapter alone loads it


def test_models_of_pydantic_are_items_as_they_are_without_these_settings() -> None:
    pytest.importorskip("pydantic")
    found = said(START + MODELS)
    assert found == said(PLAIN + MODELS)
    assert [told[0] for told in found] == [True, True]


def test_a_project_may_import_pydantic_first() -> None:
    pytest.importorskip("pydantic")
    assert said("import pydantic\n" + START + MODELS) == said(PLAIN + MODELS)
