"""Forward proxies to test a crawler with, http and socks5, each with its own exit address.

A site sees the proxies as 127.0.0.N, so that it can ban each one. A proxy's mode is its kind of
misbehaviour; nothing listens on the port of a `gone` proxy.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import threading
from collections.abc import Iterator
from typing import Literal
from urllib.parse import urlsplit

import attrs

from scrapy_seine.attrs_bases import Record

NO_LOGIN = (
    b"HTTP/1.1 407 Proxy Authentication Required\r\nConnection: close\r\n"
    b'Proxy-Authenticate: Basic realm="proxy"\r\nContent-Length: 0\r\n\r\n'
)
_Misdeed = Literal["hang", "garbage", "close", "cut", "auth", "rewrite", "gone", "portal", "login"]
Mode = Literal["good", _Misdeed, "busy", "unchanged"]
_PORTAL = (
    b"<html lang=en><title>Hotel</title><h1>Welcome to the hotel</h1><a href=/help>Help</a>"
    b"<form><input type=hidden value=%d></form></html>"
)
_LOGIN_HOST = b"login.hotel.example"


@attrs.define(eq=False, repr=False)
class Forward(Record):
    """One proxy."""

    kind: Literal["http", "socks5"]
    exit: str
    """The address from which the proxy sends requests."""
    user: str = ""
    secret: str = ""
    mode: Mode = "good"
    port: int = 0
    connections: int = 0
    """Number of accepted connections."""
    misbehaves: int = 1_000_000
    """Number of connections in which the proxy misbehaves; then it is good."""

    @property
    def url(self) -> str:
        """The proxy's URL, with credentials."""
        login = f"{self.user}:{self.secret}@" if self.user else ""
        return f"{self.kind}://{login}127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        self.connections += 1
        with (
            contextlib.closing(writer),
            contextlib.suppress(OSError, EOFError, ValueError, asyncio.CancelledError),
        ):
            if self.mode not in {"good", "cut"} and self.connections <= self.misbehaves:
                await self._misbehave(reader, writer)
            elif self.kind == "http":
                await self._http(reader, writer)
            else:
                await self._socks(reader, writer)

    async def _misbehave(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.mode == "close":
            return
        head = await reader.read(4096)
        page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n"
        page += _PORTAL % self.connections  # a token, as forms have it
        to_login = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: http://%b/\r\n\r\n"
        replies = {
            "portal": page,
            "login": page if _LOGIN_HOST in head else to_login % _LOGIN_HOST,
            "busy": b"HTTP/1.1 429 x\r\nContent-Length: 0\r\nRetry-After: 3600\r\n\r\n",
            "unchanged": b"HTTP/1.1 304 Not Modified\r\n\r\n",
            "garbage": b"\x00\xff\x13garbage" * 50,
            "auth": NO_LOGIN,
            "rewrite": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 73\r\n\r\n"
            b"<title>ERROR: The requested URL could not be retrieved</title><p>Squid</p>",
        }
        if self.mode == "hang":
            await asyncio.sleep(60)
        writer.write(replies.get(self.mode, b""))
        await writer.drain()

    async def _http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        request_line, *header_lines = head.decode("latin-1").split("\r\n")
        method, target, _ = request_line.split()
        login = base64.b64encode(f"{self.user}:{self.secret}".encode()).decode()
        if self.user and f"proxy-authorization: basic {login}".lower() not in head.decode().lower():
            writer.write(NO_LOGIN)
            await writer.drain()
            return
        if method == "CONNECT":
            host, _, port = target.partition(":")
            remote = await self._dial(host, int(port))
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        else:
            url = urlsplit(target)
            remote = await self._dial(url.hostname or "", url.port or 80)
            headers = [
                x for x in header_lines if x and not x.lower().startswith(("proxy-", "connection:"))
            ]
            path = (url.path or "/") + (f"?{url.query}" if url.query else "")
            text = "\r\n".join([f"{method} {path} HTTP/1.1", *headers, "Connection: close", "", ""])
            remote[1].write(text.encode("latin-1"))
        await self._join((reader, writer), remote)

    async def _socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, count = await reader.readexactly(2)
        await reader.readexactly(count)
        writer.write(b"\x05\x02" if self.user else b"\x05\x00")
        if self.user:
            size = (await reader.readexactly(2))[1]
            user = await reader.readexactly(size)
            secret = await reader.readexactly((await reader.readexactly(1))[0])
            is_valid = (user.decode(), secret.decode()) == (self.user, self.secret)
            writer.write(b"\x01\x00" if is_valid else b"\x01\x01")
            if not is_valid:
                return
        _, _, _, kind = await reader.readexactly(4)
        if kind == 1:
            host = ".".join(map(str, await reader.readexactly(4)))
        else:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        port = int.from_bytes(await reader.readexactly(2))
        remote = await self._dial(host, port)
        writer.write(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
        await self._join((reader, writer), remote)

    async def _dial(
        self, host: str, port: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(host, port, local_addr=(self.exit, 0))

    async def _join(
        self,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        remote: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        async def exchange(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError):
                while data := await source.read(65536):
                    sink.write(data[:300] if self.mode == "cut" and sink is client[1] else data)
                    await sink.drain()
                    if self.mode == "cut" and sink is client[1]:
                        break
            sink.close()

        with contextlib.closing(remote[1]):
            await asyncio.gather(exchange(client[0], remote[1]), exchange(remote[0], client[1]))


@contextlib.contextmanager
def forwarders(*proxies: Forward) -> Iterator[list[Forward]]:
    """Run proxies in a thread during the block; each gets its own port.

    Raises:
        RuntimeError: the proxies did not start.
    """
    loop = asyncio.new_event_loop()
    started, stop = threading.Event(), asyncio.Event()

    async def main() -> None:
        servers = []
        for proxy in proxies:
            server = await asyncio.start_server(proxy.serve, "127.0.0.1", proxy.port)
            proxy.port = server.sockets[0].getsockname()[1]
            if proxy.mode == "gone":
                server.close()
            else:
                servers.append(server)
        started.set()
        await stop.wait()
        for server in servers:
            server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.1)  # transports close in later steps of the loop

    thread = threading.Thread(target=loop.run_until_complete, args=(main(),), daemon=True)
    thread.start()
    if not started.wait(10):
        raise RuntimeError("the forward proxies did not start")
    try:
        yield list(proxies)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()
