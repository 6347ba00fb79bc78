"""Every setting may come from the environment, and secrets are not shown."""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import SETTINGS_PRIORITIES, Settings

from crawler.reads.doctor import setting_sources
from crawler.reads.doctor.setting_sources import source_findings, sources
from settings import environment
from tests import started
from tests.helpers import patient

ROOT = Path(__file__).parents[4]
DEFAULTS = {
    name: value
    for name, value in runpy.run_path(str(ROOT / "settings" / "base.py")).items()
    if name.isupper()
}
#: A text for each type of default, and what it becomes.
EXAMPLES: dict[type, tuple[str, Any]] = {
    bool: ("on", True),
    int: ("7", 7),
    float: ("0.75", 0.75),
    str: ("a text", "a text"),
    list: ("a, b", ["a", "b"]),
    dict: ('{"a": 1}', {"a": 1}),
}
KNOWN = set(DEFAULTS)


def read(module: str, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A settings module, as a process with these variables has it."""
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    for name in [n for n in sys.modules if n in {"settings.base", f"settings.{module}"}]:
        monkeypatch.delitem(sys.modules, name)
    return runpy.run_path(str(ROOT / "settings" / f"{module}.py"))


@pytest.mark.parametrize(
    "name", [n for n, v in DEFAULTS.items() if environment.takes_variable(n, v)]
)
def test_each_setting_comes_from_its_variable_in_its_type(name: str) -> None:
    text, value = EXAMPLES[type(DEFAULTS[name])]
    names = dict(DEFAULTS)
    environment.apply(names, {environment.VARIABLES.get(name, name): text})
    assert names[name] == value
    assert {n for n in names if names[n] is not DEFAULTS[n]} <= {name}


@pytest.mark.parametrize("module", ["cluster", "laptop", "test"])
def test_a_variable_wins_over_the_settings_module(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"SEINE_KEEP_ALIVE": "0", "SEINE_EMBEDDED": "no", "SEINE_LEASE_SECONDS": "11"}
    found = read(module, {**given, "SEINE_SEEN": "bloom"}, monkeypatch)
    assert found["SEINE_KEEP_ALIVE"] is found["SEINE_EMBEDDED"] is False
    assert (found["SEINE_LEASE_SECONDS"], found["SEINE_SEEN"]) == (11, "bloom")


def test_what_is_no_value_of_the_type_is_left_for_the_check() -> None:
    names = {"SEINE_SEEN_CAPACITY": 10, "SEINE_DETECT": True, "SEINE_RENDER": {}}
    environment.apply(names, {"SEINE_SEEN_CAPACITY": "many", "SEINE_DETECT": "maybe"})
    environment.apply(names, {"SEINE_RENDER": "[1, 2]"})
    assert names == {
        "SEINE_SEEN_CAPACITY": "many",
        "SEINE_DETECT": "maybe",
        "SEINE_RENDER": "[1, 2]",
    }


def test_an_empty_variable_is_none_and_components_come_from_no_variable() -> None:
    names = {"SEINE_DRAIN_SECONDS": 20, "SEINE_SEEN": "exact", "ITEM_PIPELINES": {"a.B": 1}}
    given = {"SEINE_DRAIN_SECONDS": "", "SEINE_SEEN": "  ", "ITEM_PIPELINES": "{}"}
    before = dict(names)
    environment.apply(names, given)
    assert names == before


def test_a_service_called_seine_dashboard_moves_no_port() -> None:
    """Kubernetes sets SEINE_DASHBOARD_PORT for it, in each pod that has service links."""
    names = {"SEINE_DASHBOARD_PORT": "8800"}
    environment.apply(names, {"SEINE_DASHBOARD_PORT": "tcp://10.0.0.7:8800"})
    assert names == {"SEINE_DASHBOARD_PORT": "8800"}


def test_both_tables_of_variables_agree() -> None:
    for name, variable in environment.VARIABLES.items():
        assert setting_sources.VARIABLES[name] == (variable,)
    assert all(
        setting_sources.SECRET.search(n) or n in {"REDIS_URL", "DATABASE_URL"}
        for n in environment.SECRETS
    )


def test_the_priorities_are_scrapys() -> None:
    own = (setting_sources.SPIDER, setting_sources.COMMAND_LINE)
    assert own == (SETTINGS_PRIORITIES["spider"], SETTINGS_PRIORITIES["cmdline"])


def test_doctor_says_that_the_logs_level_has_another_variable() -> None:
    settings = Settings(DEFAULTS)
    for environ, is_said in (
        ({"LOG_LEVEL": "LOUD"}, True),
        ({"LOG_LEVEL": "INFO"}, False),
        ({"LOG_LEVEL": "DEBUG", "SEINE_LOG_LEVEL": "INFO"}, False),
    ):
        lines = [finding.text for finding in source_findings(settings, environ, KNOWN)]
        assert any("the variable is SEINE_LOG_LEVEL" in line for line in lines) is is_said


def test_each_value_says_where_it_comes_from_and_no_secret() -> None:
    secret = "0123456789abcdef0123456789abcdef"
    settings = Settings(
        {**DEFAULTS, "SEINE_SECRET": secret, "REDIS_URL": f"redis://me:{secret}@host:6379/0"}
    )
    settings.set("SEINE_SEEN", "bloom", priority="cmdline")
    settings.set("DEPTH_LIMIT", 3, priority="spider")
    given = {"SEINE_SECRET": secret, "SEINE_CRAWL": "shoes", "PROXY_LIST": f"http://u:{secret}@p:1"}
    settings.set("SEINE_PROXIES", given["PROXY_LIST"])
    found = sources(settings, {**given, "REDIS_URL_FILE": "/run/redis"}, {*KNOWN, "DEPTH_LIMIT"})
    told = {one.name: (one.value, one.origin) for one in found}
    assert told["SEINE_SECRET"] == ("***", "environment SEINE_SECRET")
    assert told["SEINE_PROXIES"] == ("***", "environment PROXY_LIST")
    assert told["REDIS_URL"] == ("redis://***@host:6379/0", "file /run/redis")
    assert told["SEINE_SEEN"] == ("bloom", "command line")
    assert told["DEPTH_LIMIT"] == ("3", "spider")
    assert "SEINE_READ_AHEAD" not in told
    lines = [finding.text for finding in source_findings(settings, given, KNOWN)]
    assert not [line for line in lines if secret in line]


MISTAKES = {
    "SEINE_DOMAIN_DELAY": "5",
    "SEINE_SEEN_CAPACITY": "many",
    "SEINE_RENDER": "{x",
    "SEINE_BROWSER": "perhaps",
    "CONCURRENT_REQUESTS": "0",
    "SEINE_LADDER": "up",
    "SEINE_SECRET": "too-short-to-be-one",
    "SEINE_IDENTITY": "robot",
    "SEINE_METRICS_PORT": "99999",
}


def test_doctor_has_a_line_for_each_of_ten_mistakes(redis_url: str, database: str) -> None:
    environ = {n: v for n, v in os.environ.items() if not n.startswith("SEINE_")}
    done = started.run(
        [sys.executable, "-m", "scrapy", "doctor", "--json", "-s", "SEINE_CRAWLL=x"],
        cwd=ROOT,
        env={**environ, **MISTAKES, "REDIS_URL": redis_url, "DATABASE_URL": database},
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )
    assert done.returncode == 1
    findings = json.loads(done.stdout)["findings"]
    wrong = [f["text"] for f in findings if f["subject"] == "settings"]
    assert len(wrong) == 10
    for name in [*MISTAKES, "SEINE_CRAWLL"]:
        assert [text for text in wrong if text.startswith((f"{name} ", f"{name}="))], name
    assert MISTAKES["SEINE_SECRET"] not in done.stdout
