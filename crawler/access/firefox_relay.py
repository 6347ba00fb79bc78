#!/usr/bin/env -S python3 -P
"""Firefox for Playwright: this program becomes Firefox, and its child relays between the two.

Playwright drives Firefox by WebDriver BiDi, and sends for each context one command that Firefox
ESR 153 lacks, so that the context fails. The relay answers that command itself, which does not
change the rendering of a page, and forwards all others. Playwright runs this file as its browser,
with Firefox's path in the environment (crawler.access.browser_programs). It imports no module of
the project, because each start of the browser would wait for it.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Mapping
from typing import BinaryIO

import orjson
from aiohttp import ClientSession, ClientWebSocketResponse, web
from yarl import URL

#: Environment variable with Firefox's path; crawler.access.browser_programs sets it.
PROGRAM = "FIREFOX_PROGRAM"
FIREFOX = web.AppKey("firefox", URL)
#: Commands of Playwright 1.65 that Firefox ESR 153 lacks; they are answered without any effect.
MISSING = ("emulation.setMediaFeaturesOverride",)
#: The line that Firefox prints once it listens; Playwright waits for it.
_LISTENING = re.compile(rb"WebDriver BiDi listening on (ws://\S+)")


def answer_here(message: str) -> bytes | None:
    """Return the reply to a command that Firefox lacks; None: Firefox has the command.

    >>> answer_here('{"id": 7, "method": "emulation.setMediaFeaturesOverride", "params": {}}')
    b'{"type":"success","id":7,"result":{}}'
    >>> answer_here('{"id": 8, "method": "script.evaluate", "params": {}}')
    """
    if not any(method in message for method in MISSING):
        return None
    command = orjson.loads(message)
    if command.get("method") not in MISSING:
        return None  # the command's name is in a page's text
    return orjson.dumps({"type": "success", "id": command["id"], "result": {}})


def may_connect(headers: Mapping[str, str]) -> bool:
    """Whether the client is a program, because a page sends its origin; Firefox checks the same.

    >>> may_connect({"Host": "127.0.0.1:4000"}), may_connect({"Origin": "https://shop.example"})
    (True, False)
    """
    return "Origin" not in headers


async def _relay(request: web.Request) -> web.StreamResponse:
    if not may_connect(request.headers):
        raise web.HTTPForbidden
    client = web.WebSocketResponse(max_msg_size=0)
    await client.prepare(request)
    target = request.app[FIREFOX].join(URL(request.path))
    async with ClientSession() as session, session.ws_connect(target, max_msg_size=0) as firefox:
        forwarding = asyncio.create_task(_forward(client, firefox))
        async for message in firefox:
            await client.send_str(message.data)
        forwarding.cancel()
    await client.close()
    return client


async def _forward(client: web.WebSocketResponse, firefox: ClientWebSocketResponse) -> None:
    async for message in client:
        reply = answer_here(message.data)
        if reply is None:
            await firefox.send_str(message.data)
        else:
            await client.send_str(reply.decode())
    await firefox.close()


async def serve(log: BinaryIO) -> None:
    """Forward Firefox's log, with the relay's address in place of Firefox's, until it ends."""
    runner: web.AppRunner | None = None
    while line := await asyncio.to_thread(log.readline):
        if runner is None and (match := _LISTENING.search(line)):
            app = web.Application()
            app[FIREFOX] = URL(match[1].decode())
            app.router.add_get("/{path:.*}", _relay)
            runner = web.AppRunner(app)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            line = b"WebDriver BiDi listening on ws://127.0.0.1:%d\n" % runner.addresses[0][1]
        sys.stderr.buffer.write(line)
        sys.stderr.flush()
    if runner:
        await runner.cleanup()


def main() -> None:
    """Become Firefox, so that ending this process ends Firefox; a child process relays."""
    log, firefox_log = os.pipe()
    if os.fork() == 0:
        os.close(firefox_log)
        with os.fdopen(log, "rb") as lines:
            asyncio.run(serve(lines))
        return
    os.dup2(firefox_log, 2)
    program = os.environ[PROGRAM]
    os.execv(program, [program, *sys.argv[1:]])  # noqa: S606  # the path is the project's own setting


if __name__ == "__main__":
    main()
