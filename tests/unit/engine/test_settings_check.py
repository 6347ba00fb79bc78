"""Each setting has a kind; a wrong value ends the start in a line that says what is allowed."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings, default_settings

from crawler.reads.catalogue_settings import TABLE
from scrapy_seine.addon import Addon
from scrapy_seine.engine.download.which_client import CLIENTS
from scrapy_seine.engine.settings_check import (
    FLAG,
    OURS,
    check,
    unknown_names,
    unknown_settings,
    wrong_values,
)
from scrapy_seine.errors import ConfigError
from scrapy_seine.misspelt_names import nearest

ROOT = Path(__file__).parents[3]
DEFAULTS = {name: value for name, value in vars(default_settings).items() if name.isupper()}
FOLDERS = ("scrapy_seine", "crawler", "middlewares", "pipelines", "spiders")
#: Settings that their own readers check.
ELSEWHERE = {"REDIS_URL", "DATABASE_URL", "REDIS_START_URLS_KEY"}
#: Read from the environment, or the beginning of names.
NO_SETTINGS = {"SEINE_LOG_LEVEL", "SEINE_", "FRONTIER_"}


def sources() -> Iterator[ast.AST]:
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            yield from ast.walk(ast.parse(path.read_text("utf-8")))


def reads() -> Iterator[tuple[str, str, list[ast.expr], dict[str, ast.expr]]]:
    """Calls of `number` and `flag`: function, name of the setting, other arguments."""
    for node in sources():
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        name = ast.literal_eval(node.args[1]) if _is_text(node.args[1:2]) else ""
        if node.func.id in {"number", "flag"} and name.isupper():
            more = {str(one.arg): one.value for one in node.keywords}
            yield node.func.id, name, node.args[2:], more


def _is_text(args: list[ast.expr]) -> bool:
    return bool(args) and isinstance(args[0], ast.Constant) and isinstance(args[0].value, str)


def test_every_setting_of_ours_is_in_the_table() -> None:
    names = {
        str(node.value)
        for node in sources()
        if isinstance(node, ast.Constant)
        and re.fullmatch(r"(SEINE|FRONTIER)_[A-Z_]*", str(node.value))
    }
    base = vars(importlib.import_module("settings.base"))
    names |= {name for name in base if name.startswith(OURS)}
    assert names - NO_SETTINGS <= set(TABLE)


def test_every_setting_in_the_project_s_file_is_in_the_table() -> None:
    """Those of other packages too: a wrong one of them ended in a traceback."""
    names = {name for name in vars(importlib.import_module("settings.base")) if name.isupper()}
    assert names - set(TABLE) == ELSEWHERE


def test_the_table_allows_what_its_readers_read_and_nothing_else() -> None:
    """A bound that stands in both places is the same in both."""
    found = 0
    for function, name, args, more in reads():
        kind = TABLE.get(name)
        if kind is None:
            assert name in {"HOSTILE", "KILL", "MINUTES", "PRODUCTS", "WORKERS"}, (
                name
            )  # `make demo`'s
            continue
        found += 1
        if function == "flag":
            assert kind is FLAG or not name.startswith(OURS), name
            continue
        low = ast.literal_eval(more["low"]) if "low" in more else 0
        assert not kind.allows(low - 1), name
        assert kind.allows(low) or name == "DOWNLOAD_TIMEOUT", name
        if isinstance(args[0], ast.Constant):
            assert kind.allows(args[0].value), name
    assert found > 60


def test_every_client_may_be_set() -> None:
    assert TABLE["SEINE_CLIENT"].text == f"one of {', '.join(CLIENTS)}"


@pytest.mark.parametrize("project", ["test", "laptop", "cluster"])
def test_the_project_s_own_settings_are_allowed(project: str) -> None:
    settings = Settings()
    settings.setmodule(f"settings.{project}")
    assert list(wrong_values(settings, TABLE)) == []
    assert list(unknown_settings(settings, TABLE)) == []


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("DOWNLOAD_TIMEOUT", "abc", "DOWNLOAD_TIMEOUT='abc' is not a number of 0.001 or more"),
        ("SEINE_READ_SECONDS", "x", "SEINE_READ_SECONDS='x' is not a number of 0 or more"),
        ("SEINE_ARCHIVE", "s3:// ", "SEINE_ARCHIVE='s3:// ' is not a folder or s3://bucket/prefix"),
        ("SEINE_ARCHIVE", "s3://me:pw@b/x", r"SEINE_ARCHIVE='s3://\*\*\*@b/x' is not"),
        ("CONCURRENT_ITEMS", 0, "CONCURRENT_ITEMS=0 is not a whole number of 1 or more"),
        ("SEINE_LIMIT_PER", "x", "SEINE_LIMIT_PER='x' is not one of site, egress"),
        ("SEINE_LIMITS_PER", '{"a": "b"}', "SEINE_LIMITS_PER=.* each value is one of site, egress"),
        ("SEINE_LADDER", "maybe", "SEINE_LADDER='maybe' is not one of auto, on, off"),
        ("SEINE_LADDER_CAPS", "{", "SEINE_LADDER_CAPS='{' is not a table"),
        ("SEINE_LEASE_SECONDS", float("inf"), "SEINE_LEASE_SECONDS=inf is not a number of 1"),
        ("SEINE_BATCH_ROWS", "2.5", "SEINE_BATCH_ROWS='2.5' is not a whole number of 1 or more"),
        ("SEINE_SECRET", "short", r"SEINE_SECRET=\*\*\* is not a text of 32 characters"),
        ("SEINE_IDENTITY", "robot", "SEINE_IDENTITY='robot' is not bot, browser"),
        ("SEINE_PUBLIC_NETWORKS", "10/x", "SEINE_PUBLIC_NETWORKS='10/x' is not networks"),
        ("ROBOTSTXT_OBEY", "maybe", "ROBOTSTXT_OBEY='maybe' is not 1 or 0"),
        ("LOG_LEVEL", "loud", "LOG_LEVEL='loud' is not a level of the log"),
        ("LOG_LEVEL", "10", "LOG_LEVEL='10' is not a level of the log"),
        ("LOG_FORMAT", "%q", "LOG_FORMAT='%q' is not a format of Python's logging"),
        ("FEED_EXPORT_ENCODING", "utf-99", "FEED_EXPORT_ENCODING='utf-99' is not the name of a"),
        ("FEEDS", {"a.csv": {"encoding": "utf-99"}}, "FEEDS=.* is not a table"),
        ("ROTATING_PROXY_BAN_POLICY", "x", "ROTATING_PROXY_BAN_POLICY='x' is not a class or its"),
        ("SEINE_BROWSER_BLOCK", "imges", "SEINE_BROWSER_BLOCK='imges' is not a list .* image, me"),
        ("WREQ_HTTP2_ENABLED", "maybe", "WREQ_HTTP2_ENABLED='maybe' is not 1 or 0"),
        ("RETRY_TIMES", -1, "RETRY_TIMES=-1 is not a whole number of 0 or more"),
        ("RETRY_HTTP_CODES", "abc", "RETRY_HTTP_CODES='abc' is not a list"),
        ("DOWNLOAD_MAXSIZE", "1e6", "DOWNLOAD_MAXSIZE='1e6' is not a whole number"),
        ("SCHEDULER", "x", "SCHEDULER='x' is not a class or its path"),
        ("TELNETCONSOLE_PORT", 7, "TELNETCONSOLE_PORT=7 is not a list"),
        ("RETRY_EXCEPTIONS", ["x"], "RETRY_EXCEPTIONS=.* of which each value is a class"),
        ("DOWNLOAD_DELAY", 1e9, "DOWNLOAD_DELAY=1000000000.0 is not a number from 0 to 86400$"),
        ("SEINE_DOMAIN_DELAY_MS", 1e9, "SEINE_DOMAIN_DELAY_MS=.* is not a number from 0 to"),
        ("DOWNLOAD_SLOTS", {"a.example": {"delay": 1e9}}, "DOWNLOAD_SLOTS=.* at most 86400 s"),
        ("JOBDIR", 7, "JOBDIR=7 is not a text"),
        ("LOG_DATEFORMAT", 7, "LOG_DATEFORMAT=7 is not a text"),
        ("ASYNCIO_EVENT_LOOP", "x", "ASYNCIO_EVENT_LOOP='x' is not a class"),
        ("DOWNLOADER_CLIENT_TLS_METHOD", "x", "DOWNLOADER_CLIENT_TLS_METHOD='x' is not one of TLS"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(name: str, value: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=f"^{says}"):
        check(Settings({name: value}), TABLE)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DOWNLOAD_TIMEOUT", "2.5"),
        ("DOWNLOAD_DELAY", 0.25),
        ("DOWNLOAD_SLOTS", {"a.example": {"delay": "2", "concurrency": 1}, "b.example": {}}),
        ("SEINE_KEEP_ALIVE", ""),
        ("SEINE_LIMITS_PER", '{"shop.example": "egress"}'),
        ("RETRY_HTTP_CODES", "500,503"),
        ("RETRY_HTTP_CODES", []),
        ("LOG_LEVEL", 20),
        ("LOG_FORMAT", "%(asctime)s|%(message)s"),
        ("FEED_EXPORT_ENCODING", None),
        ("FEEDS", {"a.csv": {"encoding": "latin-1"}, "b.json": {"format": "json"}}),
        ("LOG_LEVEL", "INFO"),
        ("RETRY_GIVE_UP_LOG_LEVEL", 20),
        ("TELNETCONSOLE_PORT", "6023,6073"),
        ("SCHEDULER", Addon),
        ("TWISTED_REACTOR", None),
        ("DOWNLOADER_CLIENTCONTEXTFACTORY", "SENTINEL"),
        ("DOWNLOAD_HANDLERS", {"s3": None, "http": "own.handlers.Http"}),
        ("EXTENSIONS", None),
        ("JOBDIR", Path("crawls/one")),
        ("SEINE_METRICS_PORT", ""),
        ("SEINE_ARCHIVE", "s3://pages/shop-1"),
        ("SEINE_ARCHIVE", "./pages of a shop"),
        ("SEINE_PROXIES", "http://a:1\nhttp://b:2"),
    ],
)
def test_a_right_value_passes(name: str, value: Any) -> None:
    check(Settings({name: value}), TABLE)


@pytest.mark.parametrize("value", [7, "7", "x", [1]])
def test_each_table_and_each_list_of_scrapy_s_must_be_one(value: Any) -> None:
    """Scrapy would fail with a traceback that names no setting."""
    found = list(wrong_values(dict.fromkeys(DEFAULTS, value)))
    for name, default in DEFAULTS.items():
        if isinstance(default, dict):
            assert any(fault.startswith(f"{name}={value!r} is not a table") for fault in found)
        elif isinstance(default, list) and value == 7:
            assert any(fault.startswith(f"{name}=7 is not a list") for fault in found)


def test_scrapy_s_own_values_are_allowed() -> None:
    assert list(wrong_values(DEFAULTS)) == []


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(
        ConfigError, match=r"^CONCURRENT_ITEMS=0 .*; SEINE_SEEN='most' is not one of"
    ):
        check({"SEINE_SEEN": "most", "CONCURRENT_ITEMS": 0})


def test_a_mistyped_name_is_told_with_the_one_that_is_meant() -> None:
    assert list(unknown_settings(Settings({"SEINE_LEASE_SECOND": 1}), TABLE)) == [
        "SEINE_LEASE_SECOND is no setting of Seine and changes nothing; "
        "did you mean SEINE_LEASE_SECONDS?"
    ]


@pytest.mark.parametrize(
    "name", ["SIENE_LEASE_SECONDS", "seine_lease_seconds", "SEIN_LEASE_SECOND"]
)
def test_a_mistyped_beginning_of_a_name_is_told_as_well(name: str) -> None:
    assert list(unknown_names([name], TABLE)) == [
        f"{name} is no setting of Seine and changes nothing; did you mean SEINE_LEASE_SECONDS?"
    ]


@pytest.mark.parametrize("name", ["SCENE_FOLDER", "SINE_WAVES", "SEEN_PAGES", "FEEDS", "RUN"])
def test_a_name_of_the_project_s_own_is_not_doubted(name: str) -> None:
    assert list(unknown_names([name], TABLE)) == []


def test_the_nearest_name_is_difflib_s() -> None:
    names = sorted(TABLE)
    wrong = [part for name in names for part in (name, name[1:], name[::-1], name[:5])]
    wrong += ["", "A", "REDIS_ULR", "CONCURENT_REQUESTS", "ÄÖ", "X" * 300]
    for name in [*wrong[::41], *wrong[-6:]]:
        for least in (0.6, 0.85, 1.0):
            found = get_close_matches(name, names, 1, least)
            assert nearest(name, names, least) == (found[0] if found else ""), (name, least)
    assert nearest("", [""], 0.85) == ""


def test_any_project_s_settings_are_checked() -> None:
    with pytest.raises(ConfigError, match=r"^DOWNLOAD_TIMEOUT='abc' is not a number"):
        Addon().update_settings(Settings({"DOWNLOAD_TIMEOUT": "abc"}))
