"""The local SOCKS proxy of the lanes that resolve names themselves, on the loop of a worker."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Awaitable
from typing import Any

import uvloop

from scrapy_seine.engine.download.private_addresses import AddressPolicy, Reach
from scrapy_seine.engine.download.socks_relay import Relay
from scrapy_seine.engine.lease.inflight import InFlightTable
from tests.helpers import wait_until_async


def test_a_site_that_closes_first_is_no_error() -> None:
    """Each such connection of the TLS lane or the browser left a traceback in the log."""
    assert uvloop.new_event_loop().run_until_complete(_close_first()) == []


async def _close_first() -> list[dict[str, Any]]:
    errors: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context))
    relay = Relay(Reach(AddressPolicy("allow"), InFlightTable()))
    with socket.create_server(("127.0.0.1", 0)) as site:
        reader, writer = await _connected(relay, site)
        connection, _ = site.accept()
        writer.write(b"GET")
        await asyncio.to_thread(connection.recv, 1, socket.MSG_PEEK)
        connection.close()  # with bytes unread, which resets it
        with contextlib.suppress(OSError):
            await reader.read()
        writer.close()
        await wait_until_async(_is_idle, 10, "the relay is done with the connection")
    await relay.close()
    return errors


async def _is_idle() -> bool:
    return len(asyncio.all_tasks()) == 1


async def test_a_site_that_speaks_before_it_is_asked_is_refused() -> None:
    """Its bytes were the answer to the page that the client asked for next."""
    relay = Relay(Reach(AddressPolicy("allow"), InFlightTable()))
    with socket.create_server(("127.0.0.1", 0)) as site:
        reader, writer = await _connected(relay, site)
        connection, _ = site.accept()
        with connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno")
            with contextlib.suppress(ConnectionError):
                assert await asyncio.wait_for(reader.read(1), 10) == b""
        writer.close()
    await relay.close()


async def test_a_site_that_speaks_while_a_further_request_waits_is_refused() -> None:
    """Its second answer on the connection was taken for that of the request that waited."""
    is_held, release = asyncio.Event(), asyncio.Event()

    def hold(_: str, data: bytes) -> Awaitable[Any] | None:
        if b"/second" not in data:
            return None
        is_held.set()
        return release.wait()

    relay = Relay(Reach(AddressPolicy("allow"), InFlightTable()), hold=hold)
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno"
    with socket.create_server(("127.0.0.1", 0)) as site:
        reader, writer = await _connected(relay, site)
        connection, _ = site.accept()
        with connection:
            writer.write(b"GET /first HTTP/1.1\r\nX: " + b"x" * 100 + b"\r\n\r\n")
            await asyncio.to_thread(connection.recv, 200)
            connection.sendall(answer)
            assert await asyncio.wait_for(reader.readexactly(len(answer)), 10) == answer
            writer.write(b"GET /second HTTP/1.1\r\nX: " + b"x" * 100 + b"\r\n\r\n")
            await asyncio.wait_for(is_held.wait(), 10)
            connection.sendall(answer)
            with contextlib.suppress(ConnectionError):
                assert await asyncio.wait_for(reader.read(1), 10) == b""
        release.set()
        writer.close()
    await relay.close()


async def test_a_site_that_sends_without_an_end_is_cut_off() -> None:
    relay = Relay(Reach(AddressPolicy("allow"), InFlightTable()), most_bytes=1000)
    with socket.create_server(("127.0.0.1", 0)) as site:
        place = f"127.0.0.1:{site.getsockname()[1]}"
        reader, writer = await _connected(relay, site)
        connection, _ = site.accept()
        with connection:
            for _ in range(2):  # each request has the limit for itself
                writer.write(b"GET / HTTP/1.1\r\nX: " + b"x" * 100 + b"\r\n\r\n")
                await asyncio.to_thread(connection.recv, 200)
                connection.sendall(b"x" * 900)
                assert await asyncio.wait_for(reader.readexactly(900), 10)
                assert not relay.was_cut_off("", place, 0)
            connection.sendall(b"x" * 200)
            with contextlib.suppress(ConnectionError):
                assert await asyncio.wait_for(reader.read(1), 10) == b""
        assert relay.was_cut_off("", place, 0)
        writer.close()
    await relay.close()


async def _connected(
    relay: Relay, site: socket.socket
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to a site through the relay."""
    reader, writer = await asyncio.open_connection("127.0.0.1", await relay.port_of(""))
    port = site.getsockname()[1].to_bytes(2, "big")
    writer.write(b"\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01" + port)
    await reader.readexactly(12)
    return reader, writer


async def test_a_site_that_speaks_while_the_request_waits_is_refused() -> None:
    """A server's 408 for a silent connection was the answer to a page that waited for its slot."""
    asked, released = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        asked.set()
        await released.wait()

    relay = Relay(Reach(AddressPolicy("allow"), InFlightTable()), hold=lambda *_: hold())
    with socket.create_server(("127.0.0.1", 0)) as site:
        reader, writer = await _connected(relay, site)
        connection, _ = site.accept()
        with connection:
            writer.write(b"GET / HTTP/1.1\r\nX: " + b"x" * 100 + b"\r\n\r\n")
            await asyncio.wait_for(asked.wait(), 10)
            connection.sendall(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
            with contextlib.suppress(ConnectionError):
                assert await asyncio.wait_for(reader.read(1), 10) == b""
        released.set()
        writer.close()
    await relay.close()
