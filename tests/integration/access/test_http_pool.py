"""Connections are kept within limits, and given up when they are of no more use."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import ParseResult, urlparse

import pytest
import uvloop
from scrapy.exceptions import DownloadConnectionRefusedError, DownloadTimeoutError

from scrapy_seine.engine.download.http import pool as pools
from scrapy_seine.engine.download.http.connection import Connection, Unanswered
from scrapy_seine.engine.download.http.pool import Pool
from scrapy_seine.engine.download.http.reader import Reader
from tests.helpers import wait_until_async


@asynccontextmanager
async def accepting() -> AsyncIterator[tuple[ParseResult, list[asyncio.StreamWriter]]]:
    """A site that takes connections and says nothing."""
    met: list[asyncio.StreamWriter] = []

    def note(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met.append(writer)

    server = await asyncio.start_server(note, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield urlparse(f"http://127.0.0.1:{port}/"), met
    finally:
        server.close()
        for writer in met:
            writer.transport.abort()


@pytest.fixture
def pool():
    def no_tls():
        raise AssertionError("no TLS is needed")

    made = Pool(2, no_tls)
    yield made
    made.close()


async def test_the_last_one_kept_is_taken_first_and_each_site_keeps_few(pool: Pool) -> None:
    async with accepting() as (site, _):
        one, two, three = [await pool.connect(site, 5, list) for _ in range(3)]
        for connection in (one, two, three):
            pool.keep(site, connection)
        assert one.closed
        assert [pool.take_idle(site) for _ in range(3)] == [three, two, None]


async def test_all_sites_together_keep_not_too_many(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "MAX_IDLE", 2)
    async with accepting() as (a, _), accepting() as (b, _), accepting() as (c, _):
        kept = [(site, await pool.connect(site, 5, list)) for site in (a, b, c)]
        for site, connection in kept:
            pool.keep(site, connection)
        assert [connection.closed for _, connection in kept] == [True, False, False]
        assert pool.take_idle(a) is None
        assert pool.take_idle(b) is kept[1][1]


async def test_what_was_not_used_for_long_is_closed(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "IDLE_S", 0.2)
    async with accepting() as (site, _):
        connection = await pool.connect(site, 5, list)
        pool.keep(site, connection)
        await wait_until_async(_true(lambda: connection.closed), 5, "it is closed")
        assert pool.take_idle(site) is None


@pytest.mark.parametrize("says", [b"", b"HTTP/1.1 408 Request Timeout\r\n\r\n"])
async def test_what_the_site_ended_or_spoke_on_unasked_is_not_given_out(
    pool: Pool, says: bytes
) -> None:
    async with accepting() as (site, met):
        connection = await pool.connect(site, 5, list)
        pool.keep(site, connection)
        await wait_until_async(_true(lambda: met), 5, "it is accepted")
        met[0].write(says)
        if not says:
            met[0].close()
        await wait_until_async(_true(lambda: connection.closed), 5, "it is of no more use")
        assert pool.take_idle(site) is None


async def test_what_ended_before_anything_was_written_says_so(pool: Pool) -> None:
    async with accepting() as (site, met):
        connection = await pool.connect(site, 5, list)
        await wait_until_async(_true(lambda: met), 5, "it is accepted")
        met[0].close()
        await wait_until_async(_true(lambda: connection.closed), 5, "it is closed")
        answered = asyncio.get_running_loop().create_future()
        assert not connection.ask(b"GET / HTTP/1.1\r\n\r\n", Reader("GET", Nobody()), answered)
        with pytest.raises(Unanswered) as caught:
            await answered
        assert not caught.value.may_be_seen


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_a_request_leaves_at_once(pool: Pool, run: Callable[..., None]) -> None:
    async def ask() -> None:
        async with accepting() as (site, _):
            connection = await pool.connect(site, 5, list)
            answered = asyncio.get_running_loop().create_future()
            assert connection.ask(b"x" * 3000, Reader("POST", Nobody()), answered)
            assert connection.transport.get_write_buffer_size() == 0
            connection.abort()
            with pytest.raises(Unanswered) as caught:
                await answered
            assert caught.value.may_be_seen

    run(ask())


async def test_a_host_that_refuses_or_says_nothing_has_its_name(pool: Pool) -> None:
    async with accepting() as (site, _):
        pass
    with pytest.raises(DownloadConnectionRefusedError):
        await pool.connect(site, 5, list)

    class Mute(Connection):
        async def wait_ready(self) -> None:
            await asyncio.Event().wait()

    async with accepting() as (site, _):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pools, "Connection", Mute)
            with pytest.raises(DownloadTimeoutError):
                await pool.connect(site, 0.2, list)


class Nobody:
    """Takes an answer that does not come."""

    def head(self, head: object) -> None:
        raise AssertionError(head)

    def body(self, data: bytes) -> None:
        raise AssertionError(data)


def _true(condition):
    async def now() -> bool:
        return bool(condition())

    return now
