"""The hostile sites, and the canaries that nobody should reach: sockets on loopback addresses."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping, Sequence

import attrs

from tests.benchmarks.hostile.kinds import CLOSE, RESET, Answer, Step

#: A body larger than this is read no further, and a client that sends nothing is left, seconds.
MOST_BODY, PATIENCE_S = 1 << 20, 30.0
_HEAD_LIMIT = 1 << 21
_FREE = Answer("robots.txt of nobody", [b"HTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n"])
_MISSING = Answer(
    "nothing", [b"HTTP/1.1 410 X\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\ngone"]
)


@attrs.frozen
class Visit:
    """One request that came in."""

    at: float
    """Monotonic s."""
    host: str
    """The address that was connected to."""
    path: str
    head: bytes


@attrs.define
class Server:
    """Answers on any number of loopback addresses, all on one port."""

    name: str
    port: int = 0
    sites: dict[str, Mapping[str, Answer]] = attrs.Factory(dict)
    """By address, then by path."""
    visits: list[Visit] = attrs.Factory(list)
    _loop: asyncio.AbstractEventLoop = attrs.Factory(asyncio.new_event_loop)
    _listeners: list[asyncio.Server] = attrs.Factory(list)
    _open: set[asyncio.StreamWriter] = attrs.Factory(set)

    def add(self, host: str, answers: Mapping[str, Answer]) -> str:
        """Open one more site; returns its base URL, with no slash at its end."""
        self.sites[host] = answers
        asyncio.run_coroutine_threadsafe(self._listen(host), self._loop).result(10)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    async def _listen(self, host: str) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, self.port))
        self.port = listener.getsockname()[1]
        made = await asyncio.start_server(self._serve, sock=listener, limit=_HEAD_LIMIT)
        self._listeners.append(made)

    def asked(self) -> set[tuple[str, str]]:
        """Address and path of each request so far."""
        return {(visit.host, visit.path) for visit in list(self.visits)}

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host = writer.get_extra_info("sockname")[0]
        self._open.add(writer)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, TimeoutError, ValueError):
            while await self._one(host, reader, writer):
                pass
        self._open.discard(writer)
        with contextlib.suppress(OSError):
            writer.close()

    async def _one(
        self, host: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request; returns whether the connection goes on."""
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_S)
        words = head.split(b"\r\n", 1)[0].split(b" ")
        path = words[1].decode("latin-1") if len(words) > 1 else ""
        self.visits.append(Visit(time.monotonic(), host, path, head[:2000]))
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length" and value.strip().isdigit():
                await reader.readexactly(min(int(value), MOST_BODY))
        return await _send(self._answer(host, path).steps, writer)

    def _answer(self, host: str, path: str) -> Answer:
        answers = self.sites.get(host, {})
        found = answers.get(path) or answers.get(path.partition("?")[0]) or answers.get("*")
        return found or (_FREE if path == "/robots.txt" else _MISSING)


async def _send(steps: Sequence[Step], writer: asyncio.StreamWriter) -> bool:
    for step in steps:
        if isinstance(step, bytes):
            writer.write(step)
            await writer.drain()
        elif isinstance(step, str):
            if step == RESET:
                raw = writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        else:
            await asyncio.sleep(step)
    return True


@contextlib.contextmanager
def server(name: str) -> Iterator[Server]:
    """Run a server's loop in a thread of its own, as long as the block."""
    made = Server(name)
    loop = made._loop
    thread = threading.Thread(target=loop.run_forever, name=name, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        asyncio.run_coroutine_threadsafe(_end(made), loop).result(20)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end(made: Server) -> None:
    """Cancel whatever still serves or listens."""
    for listener in made._listeners:
        listener.close()
    for writer in made._open:
        writer.transport.abort()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.wait(others, timeout=5) if others else None
    await asyncio.sleep(0)  # what was aborted is closed in the loop's next turn


__all__ = ["CLOSE", "RESET", "Server", "Visit", "server"]
