"""A way to Redis that takes its time, and can be cut."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable


@contextlib.asynccontextmanager
async def slow_way(socket_path: str, *, wait_s: float | Callable[[], float]) -> AsyncIterator[str]:
    """Pass a TCP port on to a unix socket, each chunk *wait_s* later; gives the Redis URL.

    What *wait_s* returns may grow on the way, not shrink: a chunk would overtake another.
    """
    wait = wait_s if callable(wait_s) else lambda: wait_s
    tasks: set[asyncio.Task[None]] = set()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Keep the distance without narrowing the way: chunks travel side by side."""
        loop = asyncio.get_running_loop()
        try:
            while chunk := await reader.read(65536):
                loop.call_later(wait(), writer.write, chunk)
        except ConnectionError:
            pass
        finally:
            loop.call_later(wait(), writer.close)

    async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_unix_connection(socket_path)
        for pair in ((reader, far_writer), (far_reader, writer)):
            task = asyncio.ensure_future(pass_on(*pair))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accepted, "127.0.0.1", 0)
    try:
        yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.sleep(2 * wait() + 0.05)
