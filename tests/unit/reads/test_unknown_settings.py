"""A name that is no setting is said: it ends the start on the command line, or where it must."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import pytest
from scrapy.settings import Settings

from crawler.reads.unknown_settings import name_findings, refuse_unknown_names, unknown_variables
from scrapy_seine.errors import ConfigError
from tests import started
from tests.helpers import patient

ROOT = Path(__file__).parents[3]
DEFAULTS = {
    name: value
    for name, value in runpy.run_path(str(ROOT / "settings" / "base.py")).items()
    if name.isupper()
}
KNOWN = set(DEFAULTS)


def test_kubernetes_own_variables_are_no_mistake() -> None:
    own = {
        "SEINE_SERVICE_HOST": "10.0.0.1",
        "SEINE_SERVICE_PORT": "80",
        "SEINE_SERVICE_PORT_HTTP": "80",
        "SEINE_PORT": "tcp://10.0.0.1:80",
        "SEINE_PORT_80_TCP": "tcp://10.0.0.1:80",
        "SEINE_PORT_80_TCP_ADDR": "10.0.0.1",
    }
    assert unknown_variables(own, KNOWN) == []
    assert unknown_variables({"SEINE_PORT": "80"}, KNOWN), "that one somebody meant"


def test_files_and_other_names_of_variables_are_known() -> None:
    given = {"SEINE_SECRET_FILE": "x", "SEINE_LOG_LEVEL": "INFO", "SEINE_DASHBOARD_TOKEN_FILE": "x"}
    assert unknown_variables(given, KNOWN) == []
    assert unknown_variables({"SEINE_SEEN_FILE": "x"}, KNOWN)


def test_a_misspelt_name_warns_in_the_environment_and_ends_on_the_command_line() -> None:
    settings, astray = Settings(DEFAULTS), {"SEINE_DOMAIN_DELAY": "1"}
    meant = "SEINE_DOMAIN_DELAY is no setting of Seine and changes nothing; did you mean"
    assert refuse_unknown_names(settings, astray, KNOWN) == [f"{meant} SEINE_DOMAIN_DELAY_MS?"]
    settings.set("SEINE_DOMAIN_DELAY", "1", priority="cmdline")
    with pytest.raises(ConfigError, match="did you mean SEINE_DOMAIN_DELAY_MS"):
        refuse_unknown_names(settings, {}, KNOWN)


def test_strict_ends_for_a_variable_too() -> None:
    settings = Settings({**DEFAULTS, "SEINE_STRICT": "1"})
    with pytest.raises(ConfigError, match="SEINE_SEENN"):
        refuse_unknown_names(settings, {"SEINE_SEENN": "bloom"}, KNOWN)


def test_other_peoples_variables_are_nobodys_business() -> None:
    assert unknown_variables({"PATH": "/bin", "USERAGENT": "x", "SEINERIVER": "x"}, KNOWN) == []


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("REDIS_ULR", "REDIS_URL"),
        ("REDIS_URL_FLIE", "REDIS_URL_FILE"),
        ("DATABSE_URL", "DATABASE_URL"),
        ("PROXYLIST", "PROXY_LIST"),
        ("SIENE_READ_AHEAD", "SEINE_READ_AHEAD"),
    ],
)
def test_a_misspelt_variable_of_a_store_is_said_at_the_start_and_by_doctor(
    name: str, meant: str
) -> None:
    """Without it a worker begins a server of its own, and shares no crawl."""
    settings = Settings(DEFAULTS)
    said = f"{name} is no setting of Seine or Scrapy; did you mean {meant}?"
    assert refuse_unknown_names(settings, {name: "x"}, KNOWN) == [said]
    assert said in [finding.text for finding in name_findings(settings, {name: "x"}, KNOWN)]


def test_a_misspelt_setting_of_scrapys_on_the_command_line_is_said() -> None:
    settings, known = Settings(DEFAULTS), {*KNOWN, "CONCURRENT_REQUESTS"}
    settings.set("CONCURENT_REQUESTS", "1", priority="cmdline")
    settings.set("COLOURS_OF_MY_SPIDER", "1", priority="cmdline")
    (said,) = refuse_unknown_names(settings, {}, known)
    assert "did you mean CONCURRENT_REQUESTS?" in said


def test_the_usual_variables_of_a_machine_are_like_none_of_ours() -> None:
    usual = "HOME USER LANG TERM PWD SHELL EDITOR PAGER TZ LOGNAME HOSTNAME PYTHONPATH VIRTUAL_ENV"
    names = [*usual.split(), "REDIS_HOST", "REDIS_PORT", "DATABASE_HOST", "HTTP_PROXY", "NO_PROXY"]
    assert refuse_unknown_names(Settings(DEFAULTS), dict.fromkeys(names, "x"), KNOWN) == []


@pytest.mark.parametrize(
    "command",
    [
        ["crawl", "catalog"],
        ["coordinate", "--once"],
        ["exporter"],
        ["frontier", "clear", "--yes"],
        ["seed", "https://shop.example/"],
        ["sql", "SELECT 1"],
    ],
)
def test_a_start_with_a_misspelt_name_is_one_line(command: list[str]) -> None:
    environ = {n: v for n, v in os.environ.items() if not n.startswith("SEINE_")}
    done = started.run(
        [sys.executable, "-m", "scrapy", *command, "-s", "SEINE_LEASE_SECOND=5"],
        cwd=ROOT,
        env={**environ, "REDIS_URL": "redis://127.0.0.1:1/0", "DATABASE_URL": "postgresql://x/x"},
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "seine: SEINE_LEASE_SECOND is no setting of Seine and changes nothing; "
        "did you mean SEINE_LEASE_SECONDS?"
    ]


@pytest.mark.parametrize("command", [["status"], ["fetch", "http://127.0.0.1:1/"], ["jobs"]])
def test_each_command_warns_of_a_misspelt_variable(command: list[str]) -> None:
    environ = {n: v for n, v in os.environ.items() if not n.startswith("SEINE_")}
    stores = {"REDIS_URL": "redis://127.0.0.1:1/0", "DATABASE_URL": "postgresql://127.0.0.1:1/x"}
    done = started.run(
        [sys.executable, "-m", "scrapy", *command],
        cwd=ROOT,
        env={**environ, **stores, "SEINE_CRAWLL": "x"},
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )
    warning = (
        "settings: SEINE_CRAWLL is no setting of Seine and changes nothing; "
        "did you mean SEINE_CRAWL?"
    )
    assert [line[-len(warning) :] for line in done.stderr.splitlines() if "CRAWLL" in line] == [
        warning
    ]
