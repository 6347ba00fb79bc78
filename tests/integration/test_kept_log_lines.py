"""`scrapy logs` shows a worker's last lines from Redis, bounded, and without secrets."""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace

import pytest

from scrapy_seine import endpoints
from scrapy_seine.commands.logs import find_log
from scrapy_seine.engine.telemetry import log_stream
from scrapy_seine.engine.telemetry.log_stream import Collector, LogStream
from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.reads.kept_log_lines import KEEP, LIFETIME_S, LONGEST, read_log, write_log
from tests.helpers import patient


@pytest.fixture
def keys(namespace):
    return Keys(namespace)


def record(message, *args, level=logging.INFO):
    return logging.LogRecord("crawler.x", level, __file__, 1, message, args, None)


def stream(redis, keys, monkeypatch):
    monkeypatch.setattr(log_stream, "worker_of", lambda crawler: SimpleNamespace(name="w-1"))
    made = LogStream.__new__(LogStream)
    made.crawler = SimpleNamespace(settings={})
    made.keys, made.collector, made._redis, made._task = keys, Collector("INFO"), redis, None
    made._closing = asyncio.Event()
    return made


async def test_lines_are_sent_once_and_in_order(redis_client, keys, monkeypatch):
    made = stream(redis_client, keys, monkeypatch)
    for n in range(3):
        made.collector.handle(record("line %d", n))
    await made.send()
    await made.send()
    lines = await read_log(redis_client, keys, "w-1")
    assert [line.rpartition(": ")[2] for line in lines] == ["line 0", "line 1", "line 2"]
    assert 0 < await redis_client.ttl(f"{keys.log}:w-1") <= LIFETIME_S


async def test_lines_wait_for_redis_and_the_newest_stay(redis_client, keys, monkeypatch):
    made = stream(endpoints.redis_client("redis://127.0.0.1:1/0"), keys, monkeypatch)
    for n in range(2 * KEEP):
        made.collector.handle(record("line %d", n))
    await made.send()
    assert len(made.collector.lines) == KEEP
    await made._redis.aclose()
    made._redis = redis_client
    await made.send()
    assert (await read_log(redis_client, keys, "w-1"))[-1].endswith(f"line {2 * KEEP - 1}")


async def test_lines_that_are_under_way_at_the_end_arrive(redis_client, keys, monkeypatch):
    begun, goes_on = asyncio.Event(), asyncio.Event()

    async def slow(*args):
        begun.set()
        await goes_on.wait()
        await write_log(*args)

    monkeypatch.setattr(log_stream, "write_log", slow)
    monkeypatch.setattr(log_stream, "PAUSE_S", 0.01)
    own = endpoints.redis_client("redis://127.0.0.1:1/0")
    own.connection_pool = redis_client.connection_pool
    made = stream(own, keys, monkeypatch)
    made.collector.handle(record("under way"))
    made._task = asyncio.ensure_future(made._run())
    await asyncio.wait_for(begun.wait(), patient(10))
    made.collector.handle(record("at the end"))
    closed = asyncio.ensure_future(made._closed())
    await asyncio.sleep(0)
    goes_on.set()
    await asyncio.wait_for(closed, patient(10))
    lines = await read_log(redis_client, keys, "w-1")
    assert [line.rpartition(": ")[2] for line in lines] == ["under way", "at the end"]


def test_a_line_holds_no_secret_and_no_control_character():
    collector = Collector("INFO")
    collector.handle(record("asked %s \x1b[31m", "http://me:very-secret@proxy:1/"))
    collector.handle(record("%d of them", "three"))
    collector.handle(record("%d of http://me:very-secret@proxy:1/", "three"))
    first, second, third = collector.lines
    assert "very-secret" not in first + third
    assert "\x1b" not in first
    assert "%d of them" in second


async def test_a_long_line_is_cut(redis_client, keys):
    await write_log(redis_client, keys, "w-1", ["x" * 100_000])
    assert [len(line) for line in await read_log(redis_client, keys, "w-1")] == [LONGEST]


async def test_the_beginning_of_one_workers_name_is_enough(redis_client, keys):
    await write_log(redis_client, keys, "pod-b-1", ["ho"])
    await write_log(redis_client, keys, "pod-a-1", ["hello"])
    await write_log(redis_client, keys, "gone-1", ["bye"])
    await redis_client.zadd(keys.logs, {"of-last-week": 1})
    await write_log(redis_client, keys, "gone-1", [])
    assert await find_log(redis_client, keys, "", 10) == ("gone-1", ["bye"])
    assert await find_log(redis_client, keys, "pod-a", 10) == ("pod-a-1", ["hello"])
    assert await find_log(redis_client, keys, "gone-1", 10) == ("gone-1", ["bye"])
    for name in ("pod-", "nobody"):
        with pytest.raises(ConfigError, match=r"pod-a-1, pod-b-1$"):
            await find_log(redis_client, keys, name, 10)
