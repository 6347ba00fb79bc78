"""A file that cannot be used is one line (file, line, reason), and costs no other file."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from scrapy.settings import Settings

from crawler.extract.site import Site
from scrapy_seine import broken_imports
from scrapy_seine.engine.spider_loader import SpiderLoader
from scrapy_seine.errors import ConfigError
from spiders import which_site

HEAD = "from crawler.extract.site import Site\n\n\nclass Shop(Site):\n"
GOOD = HEAD + "    name = 'good'\n    domains = ('good.example',)\n"
SPIDER = "from scrapy import Spider\n\n\nclass Some(Spider):\n    name = '{name}'\n"
_names = (f"files{number}" for number in itertools.count())
Make = Callable[[Mapping[str, str]], str]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Make a package of some files; returns its name, which no other test has."""
    monkeypatch.setattr(broken_imports, "_broken", {})
    monkeypatch.syspath_prepend(tmp_path)

    def make(files: Mapping[str, str]) -> str:
        name = next(_names)
        folder = tmp_path / name
        folder.mkdir()
        for file, text in {"__init__.py": "", **files}.items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_text(text)
        return name

    return make


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("class :\n", 1, "SyntaxError: invalid syntax"),
        ("\n\nimport nosuchmodule\n", 3, "ModuleNotFoundError: No module named 'nosuchmodule'"),
        ("def f():\n    raise RuntimeError('no')\n\n\nf()\n", 2, "RuntimeError: no"),
        ("raise SystemExit('bye')\n", 1, "SystemExit: bye"),
        ("raise BaseException('odd')\n", 1, "BaseException: odd"),
        ("\x00", 0, ": source code string cannot contain null bytes"),
        (HEAD + "    domains = 'a.example'\n", 5, "a tuple of texts is needed"),
        (HEAD + "    domains = ('http://a.example/',)\n", 5, "is no host name"),
        (HEAD + "    domains = ('a.example',)\n    seeds = 'http://a/'\n", 6, "a tuple of texts"),
        (
            HEAD + "    domains = ('a.example',)\n    seeds = ('a.example',)\n",
            6,
            "is no URL with http",
        ),
        (
            HEAD + "    domains = ('a.example',)\n    seeds = ('http:///p',)\n",
            6,
            "is no URL with http",
        ),
        (
            HEAD + "    domains = ('a.example',)\n    sitemaps = ('/s.xml',)\n",
            6,
            "is no URL with http",
        ),
        (HEAD + "    name = 'shop'\n", 5, "a site with a name needs domains"),
        (HEAD + "    domain = ('a.example',)\n", 5, "no domain; did you mean domains?"),
        (HEAD + "    domains = ('a.example',)\n    delay_ms = '500'\n", 6, "a whole number"),
        (HEAD + "    domains = ('a.example',)\n    delay_ms: int = -1\n", 6, "a whole number"),
        (HEAD + "    domains = ('a.example',)\n    concurrency = 0\n", 6, "of at least 1 is"),
        (HEAD + "    domains = ('a.example',)\n    delay_ms = 10**9\n", 6, "at most 86400000"),
        (HEAD + "    domains = ('a.example',)\n    deny = ('(',)\n", 6, "no regular expression"),
        (HEAD + "    domains = ('a.example',)\n    required = ('nosuch',)\n", 6, "has no nosuch"),
        (HEAD + "    domains = ('a.example',)\n    fields = {'price': '>>'}\n", 6, "selector"),
        (HEAD + "    domains = ('a.example',)\n    fields = {'prise': 'p'}\n", 6, "has no prise"),
        (HEAD + "    domains = ('a.example',)\n    lane = 'tsl'\n", 6, "a lane is one of"),
        (
            HEAD + "    domains = ('a.example',)\n\n    def __init__(self):\n        1 / 0\n",
            4,
            "Shop(): ZeroDivisionError: division by zero",
        ),
        (
            HEAD + "    domains = ('a.example',)\n\n    def __init__(self):\n        exit(4)\n",
            4,
            "Shop(): SystemExit: 4",
        ),
        (
            "from crawler.extract.site import Site\n\n\nclass Kind(type):\n"
            "    domains = property(lambda kind: 1 / 0)\n\n\n"
            "class Shop(Site, metaclass=Kind):\n    pass\n",
            8,
            "Shop(): ZeroDivisionError: division by zero",
        ),
    ],
)
def test_a_broken_site_file_is_one_line_and_costs_no_other_site(
    package: Make, caplog: pytest.LogCaptureFixture, text: str, line: int, reason: str
) -> None:
    name = package({"broken.py": text, "good.py": GOOD})
    with caplog.at_level(logging.ERROR):
        found = which_site.load(name)

    assert [(host, site.name) for host, site in found.items()] == [("good.example", "good")]
    (broken,) = broken_imports.broken_files()
    assert broken.path.endswith(f"{name}/broken.py")
    assert (broken.line, reason in broken.reason) == (line, True), broken
    assert [record.message for record in caplog.records] == [f"{broken}; it is left out"]


def test_a_module_that_answers_any_name_costs_no_other_site(package: Make) -> None:
    name = package(
        {"odd.py": "def __getattr__(name):\n    raise RuntimeError(name)\n", "good.py": GOOD}
    )
    assert list(which_site.load(name)) == ["good.example"]
    assert len(list(broken_imports.walk(name))) == 3
    assert broken_imports.broken_files() == []


def test_a_host_of_two_files_is_the_first_one_s_and_the_line_names_both(package: Make) -> None:
    name = package({"a.py": GOOD, "b.py": GOOD.replace("('good", "('b.example', 'GOOD")})
    found = which_site.load(name)

    assert {host: type(site).__module__ for host, site in found.items()} == {
        "good.example": f"{name}.a",
        "b.example": f"{name}.b",
    }
    (broken,) = broken_imports.broken_files()
    assert str(broken).endswith("b.py:6: good.example is already a host of a.py, which counts"), (
        broken
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("'good'", "'other'"), "; the class Shop of good.py has name = 'other'"),
        ("x = 1\n", "; good.py has no class of Site"),
    ],
    ids=["another name", "no class"],
)
def test_a_site_that_is_not_found_by_its_files_name_says_what_the_file_says(
    package: Make, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    name = package({"good.py": text})
    found = which_site.load(name)
    monkeypatch.setattr(which_site, "load", lambda: found)
    monkeypatch.setattr(which_site, "_PACKAGE", name)

    with pytest.raises(ConfigError) as caught:
        which_site.require("good")

    assert str(caught.value) == f"-a site=good: no site file has this name{said}"


def test_a_wrong_schedule_leaves_its_site_out_of_the_plan_only(
    package: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = GOOD.replace("good", "other") + "    schedule = 'each day'\n"
    found = which_site.load(package({"good.py": GOOD, "other.py": other}))
    monkeypatch.setattr(which_site, "load", lambda: found)

    assert [plan.site_id for plan in which_site.plans()] == ["good"]
    assert which_site.site_named("other") is not None
    (broken,) = broken_imports.broken_files()
    assert "schedule='each day' is no cron expression" in broken.reason
    assert broken.line == 7


def test_each_default_of_a_site_passes_its_check() -> None:
    from crawler.extract.site_check import mistakes

    assert list(mistakes(Site)) == []
    assert [list(mistakes(type(site))) for site in which_site.load().values()] == [[], [], [], []]


def test_a_broken_spider_file_costs_no_other_spider(
    package: Make, caplog: pytest.LogCaptureFixture
) -> None:
    name = package(
        {
            "one.py": SPIDER.format(name="one"),
            "broken.py": "class :\n",
            "raises.py": "1 / 0\n",
            "below/__init__.py": "",
            "below/two.py": SPIDER.format(name="two"),
            "below/lacks.py": "from nowhere import nothing\n",
        }
    )
    with caplog.at_level(logging.ERROR):
        loader = SpiderLoader.from_settings(Settings({"SPIDER_MODULES": [name]}))
        SpiderLoader.from_settings(Settings({"SPIDER_MODULES": [name]}))

    assert sorted(loader.list()) == ["one", "two"]
    said = [record.message for record in caplog.records]
    assert sorted(text.rpartition("/")[2].partition(":")[0] for text in said) == [
        "broken.py",
        "lacks.py",
        "raises.py",
    ]
