"""A way to a store that fails for a while, from a chosen message of its client on."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from time import monotonic

import attrs


@attrs.define(eq=False)
class FaultyWay:
    """Passes a TCP port on to a unix socket.

    *fault* says how it fails: `reset` and `close` end each connection, `silent` holds messages
    back, `redis LOADING …` answers each command by this error, and `postgres 57P03 …` ends each
    connection by these last words of a server.
    """

    fault: str = ""
    at: int = 0
    """The message of the client at which the fault begins; 0: none."""
    lasts_s: float = 0.0
    messages: int = 0
    port: int = 0
    _until: float = 0.0
    _open: set[asyncio.StreamWriter] = attrs.Factory(set)

    @property
    def fails(self) -> bool:
        """Whether it fails now."""
        return monotonic() < self._until

    def end(self, writer: asyncio.StreamWriter) -> None:
        """End a connection in the manner of the fault."""
        kind, _, rest = self.fault.partition(" ")
        if kind == "reset":
            found: socket.socket = writer.get_extra_info("socket")
            with suppress(OSError):
                found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return
        if kind == "postgres":
            code, _, text = rest.partition(" ")
            fields = f"SFATAL\0VFATAL\0C{code}\0M{text}\0\0".encode()
            writer.write(b"E" + struct.pack("!I", len(fields) + 4) + fields)
        writer.close()

    def hear(self) -> None:
        """Count a message, at which the fault may begin."""
        self.messages += 1
        if self.messages == self.at:
            self._until = monotonic() + self.lasts_s
            if self.fault.startswith(("reset", "close", "postgres")):
                for writer in list(self._open):
                    self.end(writer)

    async def wait(self) -> None:
        """Wait for the end of a silence."""
        if self.fault == "silent":
            await asyncio.sleep(max(0.0, self._until - monotonic()))

    async def accepted(
        self, path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Pass a connection on."""
        await self.wait()
        if self.fails and self.fault != "silent" and not self.fault.startswith("redis"):
            if self.fault.startswith("postgres"):
                await reader.read(1000)
            self.end(writer)
            return
        far_reader, far_writer = await asyncio.open_unix_connection(path)
        self._open.add(writer)
        back = asyncio.ensure_future(self._bring_back(far_reader, writer))
        try:
            while said := await reader.read(65536):
                self.hear()
                await self.wait()
                if self.fails and self.fault.startswith("redis"):
                    writer.write(b"-%s\r\n" % self.fault[6:].encode() * _commands(said))
                    continue
                far_writer.write(said)
        except OSError:
            pass
        finally:
            self._open.discard(writer)
            back.cancel()
            far_writer.close()
            writer.close()

    async def _bring_back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while said := await reader.read(65536):
                await self.wait()
                writer.write(said)
        writer.close()


def _commands(said: bytes) -> int:
    """How many commands a message of a Redis client holds.

    >>> _commands(b"*1\\r\\n$4\\r\\nPING\\r\\n*2\\r\\n$3\\r\\nGET\\r\\n$1\\r\\n*\\r\\n")
    2
    """
    count = at = 0
    while said[at : at + 1] == b"*":
        end = said.index(b"\r\n", at)
        words, at, count = int(said[at + 1 : end]), end + 2, count + 1
        for _ in range(words):
            end = said.find(b"\r\n", at)
            if end < 0:  # the rest is another message
                return count
            at = end + 4 + int(said[at + 1 : end])
    return count


@asynccontextmanager
async def faulty_way(path: Path) -> AsyncIterator[FaultyWay]:
    """Open a way to the unix socket at *path* on a free port."""
    way = FaultyWay()

    async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            await way.accepted(str(path), reader, writer)

    server = await asyncio.start_server(accepted, "127.0.0.1", 0)
    way.port = server.sockets[0].getsockname()[1]
    try:
        yield way
    finally:
        server.close()
