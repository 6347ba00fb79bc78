"""A complete crawl whose jobs cannot be ended is not called finished (I12)."""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace
from typing import Any

import psycopg2
import pytest
from redis.exceptions import ResponseError

from scrapy_seine.engine.ending import completion as module
from scrapy_seine.engine.ending.completion import Completion
from scrapy_seine.errors import StoreUnreachable
from scrapy_seine.store_wait import log_failure
from tests.helpers import wait_until_async


def complete(ended: Any) -> tuple[Completion, list[str]]:
    """Make the judge of a crawl in which nothing is left but its jobs; *ended* ends these."""
    stops: list[str] = []
    exchange: Any = SimpleNamespace(has_work=False, undone=0, undone_at=0.0, saw_work=True)

    class Table(dict[str, Any]):
        completed = staticmethod(ended)

    made = Completion(
        exchange=exchange,
        inflight=Table(),  # type: ignore[arg-type]
        intake=None,
        starts=SimpleNamespace(waiting=False, any=False, record_end=lambda: None),  # type: ignore[arg-type]
        local=[],  # type: ignore[arg-type]
        wake=lambda: None,
        stop=stops.append,
        idle_limit_s=0.0,
    )
    return made, stops


@pytest.mark.parametrize(
    ("error", "reason", "tries"),
    [
        (psycopg2.errors.InsufficientPrivilege("permission denied"), "error", 4),
        (StoreUnreachable("DATABASE_URL: refused"), "outage", 1),
        (ResponseError("WRONGTYPE of one job"), "error", 4),
        (KeyError("a mistake of ours"), "error", 4),
    ],
)
async def test_jobs_that_cannot_be_ended_stop_the_worker_with_an_error(
    monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str, tries: int
) -> None:
    monkeypatch.setattr(module, "RETRY_PAUSE_S", 0.0)
    calls = 0

    async def ended() -> bool:
        nonlocal calls
        calls += 1
        raise error

    judge, stops = complete(ended)

    async def is_told() -> bool:
        assert not judge.may_exit()
        await asyncio.sleep(0)
        return bool(stops)

    await wait_until_async(is_told, 10, "the worker is told to stop")
    assert not judge.may_exit()
    assert (stops, calls) == ([reason], tries)


async def test_jobs_that_are_ended_at_the_second_try_let_the_worker_leave(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "RETRY_PAUSE_S", 0.0)
    errors: list[Exception] = [psycopg2.errors.LockNotAvailable("busy")]

    async def ended() -> bool:
        if errors:
            raise errors.pop()
        return False

    judge, stops = complete(ended)

    async def reached() -> bool:
        return judge.may_exit()

    await wait_until_async(reached, 10, "the worker may leave")
    assert stops == []


class Refused(psycopg2.ProgrammingError):
    """As the server sends it; the driver's own error takes its code from a reply alone."""

    pgcode = "42501"


@pytest.mark.parametrize(
    ("error", "lines", "traceback"),
    [
        (Refused("no\nLINE 1: SELECT"), "not done: PostgreSQL refuses it (42501): no", False),
        (psycopg2.ProgrammingError("the query has placeholders"), "not done", True),
        (StoreUnreachable("a:b@ postgres://me:pw@db away"), "postgres://***@db away", False),
        (
            psycopg2.InterfaceError(""),
            "not done: PostgreSQL does not answer: InterfaceError",
            False,
        ),
        (KeyError("x"), "not done", True),
    ],
)
def test_what_a_store_says_is_one_line_and_a_mistake_has_its_traceback(
    caplog: pytest.LogCaptureFixture, error: Exception, lines: str, traceback: bool
) -> None:
    log_failure(logging.getLogger("x"), "not done", error)
    (record,) = caplog.records
    assert record.getMessage().endswith(lines)
    assert (record.exc_info is not None) == traceback
