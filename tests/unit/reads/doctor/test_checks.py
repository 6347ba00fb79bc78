"""The doctor names each trap, and finds nothing where nothing is."""

import importlib

import pytest

from crawler.reads.doctor import facts
from crawler.reads.doctor.checks import (
    PostgresFacts,
    RedisFacts,
    browser_findings,
    ladder_findings,
    postgres_findings,
    redis_findings,
    settings_findings,
    version_findings,
)
from crawler.reads.doctor.clocks import clock_findings
from crawler.stores.migrations import Damage
from settings.environment import apply

BASE = {
    name: value
    for name, value in vars(importlib.import_module("settings.base")).items()
    if name.isupper()
}
HEALTHY = {
    "redis_version": "7.2.4",
    "maxmemory_policy": "noeviction",
    "maxmemory": 1000,
    "used_memory": 100,
    "aof_enabled": 1,
    "aof_last_write_status": "ok",
}


def judged(findings):
    return [(f.level, f.subject) for f in findings if f.level != "ok"]


def redis(info=None, **more):
    facts = {"info": {**HEALTHY, **(info or {})}, "round_trip_s": 0.001, "skew_s": 0.0, **more}
    return redis_findings(RedisFacts(**facts))


def test_our_own_settings_hold_no_trap():
    assert judged(settings_findings(BASE)) == []


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"SCHEDULER": "scrapy_redis.scheduler.Scheduler"}, "SCHEDULER_PERSIST"),
        ({"SCHEDULER": "scrapy.core.scheduler.Scheduler"}, "SCHEDULER is"),
        ({"SCHEDULER_FLUSH_ON_START": True}, "FLUSH"),
        ({"DUPEFILTER_CLASS": "scrapy.dupefilters.RFPDupeFilter"}, "DUPEFILTER_CLASS"),
        ({"STATS_CLASS": "scrapy_redis.stats.RedisStatsCollector"}, "RedisStatsCollector"),
        ({"TWISTED_REACTOR": "twisted.internet.selectreactor.SelectReactor"}, "asyncio"),
        ({"ITEM_PIPELINES": {"scrapy_redis.pipelines.RedisPipeline": 300}}, "RedisPipeline"),
        ({"DOWNLOADER_MIDDLEWARES": {}}, "RetryMiddleware"),
        ({"REMOTE_CONTROL_ENABLED": True}, "REMOTE_CONTROL"),
        ({"TELNETCONSOLE_ENABLED": "1"}, "TELNETCONSOLE"),
        ({"JOBDIR": "x"}, "JOBDIR"),
        ({"HTTPCACHE_ENABLED": True}, "HTTPCACHE"),
        ({"CONCURRENT_ITEMS": 100}, "CONCURRENT_ITEMS"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_trap_is_named(change, word):
    found = settings_findings({**BASE, **change})

    assert any(word in finding.text and finding.advice for finding in found)


def test_a_healthy_redis_is_found_healthy():
    assert judged(redis()) == []


@pytest.mark.parametrize(
    ("info", "level", "subject"),
    [
        ({"redis_version": "5.0.1"}, "fail", "redis"),
        ({"role": "slave"}, "fail", "redis"),
        ({"maxmemory_policy": "allkeys-lru"}, "fail", "memory"),
        ({"evicted_keys": 3}, "fail", "memory"),
        ({"used_memory": 900}, "fail", "memory"),
        ({"maxmemory": 0, "total_system_memory": 5000}, "warn", "memory"),
        ({"maxmemory": 0, "total_system_memory": 110}, "warn", "memory"),
        ({"aof_last_write_status": "err"}, "fail", "persistence"),
        ({"aof_enabled": 0, "rdb_changes_since_last_save": 7}, "fail", "persistence"),
        ({"aof_enabled": 0, "rdb_last_save_time": 1}, "warn", "persistence"),
        ({"rdb_last_bgsave_status": "err"}, "fail", "persistence"),
    ],
)
def test_what_endangers_the_frontier_is_found(info, level, subject):
    assert judged(redis(info)) == [(level, subject)]


def test_clocks_latency_and_old_keys_are_looked_at():
    assert judged(redis(skew_s=-3.0)) == [("warn", "clock")]
    assert judged(redis(round_trip_s=0.05)) == [("warn", "redis")]
    assert judged(redis(old_keys=("catalog:requests",))) == [("warn", "redis")]


def test_a_clock_that_is_wrong_is_told_with_its_side():
    (ahead,) = clock_findings(90.0, "Redis")
    assert ahead.text.endswith("ahead of Redis'")
    (behind,) = clock_findings(-86_400.0, "PostgreSQL")
    assert behind.text.endswith("behind PostgreSQL's")
    assert clock_findings(1.0, "Redis") == []


def postgres(migrates_itself=False, **change):
    healthy = {
        "version": 16,
        "damage": Damage(),
        "skew_s": 0.0,
        "connections": 5,
        "max_connections": 100,
    }
    facts = PostgresFacts(**{**healthy, **change})
    return postgres_findings(facts, migrates_itself=migrates_itself)


def test_the_database_is_judged():
    assert judged(postgres()) == []
    assert judged(postgres(version=13)) == [("fail", "postgresql")]
    behind = Damage(pending=("0002_attempts",))
    assert judged(postgres(damage=behind)) == [("fail", "schema")]
    assert judged(postgres(damage=behind, migrates_itself=True)) == []
    assert judged(postgres(unfilled_columns=("products.shelf",))) == [("fail", "schema")]
    assert judged(postgres(damage=Damage(rounding=("products.price (integer)",)))) == [
        ("warn", "schema")
    ]
    assert judged(postgres(connections=95)) == [("warn", "postgresql")]
    assert judged(postgres(skew_s=5.0)) == [("warn", "clock")]
    assert judged(postgres(owner=False)) == [("warn", "postgresql")]
    assert judged(postgres(closed_tables=("products",), owner=False)) == [("fail", "postgresql")]


def test_versions_and_browser_are_judged():
    assert judged(version_findings({"scrapy": "2.19.0", "redis": "8"})) == []
    assert judged(version_findings({"scrapy": "2.20.0"})) == [("fail", "versions")]
    assert judged(version_findings({"redis": None})) == [("fail", "versions")]
    assert judged(browser_findings("/usr/bin/chromium", "1")) == []
    assert judged(browser_findings(None, "1")) == [("warn", "browser")]


@pytest.mark.parametrize("name", ["PLAYWRIGHT_CDP_URL", "PLAYWRIGHT_CONNECT_URL"])
def test_a_remote_browser_is_one_and_its_address_may_be_a_variable(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A worker of a fleet, whose settings are variables, started a local one; none was there."""
    monkeypatch.setattr(facts, "installed", lambda package: "1")
    monkeypatch.setenv("PATH", "/nowhere")
    local = {**BASE, "SEINE_BROWSER": True}
    assert judged(facts._browser(local)) == [("fail", "browser")]
    apply(remote := dict(local), {name: "ws://browsers.example:3000/"})
    assert judged(facts._browser(remote)) == []


def test_domains_that_wait_for_a_browser_worker_are_named():
    assert ladder_findings([]) == []
    (found,) = ladder_findings([f"shop-{n}.example" for n in range(7)])
    assert found.level == "warn"
    assert "7 domains need a browser worker; none is alive: shop-0.example" in found.text
    assert "shop-6" not in found.text
    assert "SEINE_BROWSER=1" in found.advice
