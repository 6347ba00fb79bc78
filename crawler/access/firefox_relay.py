#!/usr/bin/env -S python3 -P
"""Firefox for Playwright: becomes Firefox, and leaves a relay between the two.

Playwright drives Firefox by WebDriver BiDi, and sends for each context one command that Firefox
ESR 153 lacks; Playwright gives the context up because of it. The relay answers that command itself,
which changes nothing that a page is rendered by, and passes all others on. Playwright runs this
file as its browser, with Firefox's path in the environment (crawler.access.browser_programs). It
imports nothing of ours, because each start of the browser would wait for it.
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

#: Variable of the environment with Firefox's path; crawler.access.browser_programs sets it.
PROGRAM = "FIREFOX_PROGRAM"
FIREFOX = web.AppKey("firefox", URL)
#: Commands of Playwright 1.65 that Firefox ESR 153 lacks; what they set is left as it is.
LACKING = ("emulation.setMediaFeaturesOverride",)
#: What Firefox prints once it listens, and Playwright waits for.
_LISTENS = re.compile(rb"WebDriver BiDi listening on (ws://\S+)")


def answer_here(message: str) -> bytes | None:
    """Answer a command that Firefox lacks; None: it goes on to Firefox.

    >>> answer_here('{"id": 7, "method": "emulation.setMediaFeaturesOverride", "params": {}}')
    b'{"type":"success","id":7,"result":{}}'
    >>> answer_here('{"id": 8, "method": "script.evaluate", "params": {}}')
    """
    if not any(method in message for method in LACKING):
        return None
    command = orjson.loads(message)
    if command.get("method") not in LACKING:
        return None  # a page's own text has the word
    return orjson.dumps({"type": "success", "id": command["id"], "result": {}})


def may_connect(headers: Mapping[str, str]) -> bool:
    """Whether a program asks, not a page: Firefox itself refuses whoever names an origin.

    >>> may_connect({"Host": "127.0.0.1:4000"}), may_connect({"Origin": "https://shop.example"})
    (True, False)
    """
    return "Origin" not in headers


async def _relay(request: web.Request) -> web.StreamResponse:
    if not may_connect(request.headers):
        raise web.HTTPForbidden
    ours = web.WebSocketResponse(max_msg_size=0)
    await ours.prepare(request)
    where = request.app[FIREFOX].join(URL(request.path))
    async with ClientSession() as session, session.ws_connect(where, max_msg_size=0) as firefox:
        onward = asyncio.create_task(_onward(ours, firefox))
        async for message in firefox:
            await ours.send_str(message.data)
        onward.cancel()
    await ours.close()
    return ours


async def _onward(ours: web.WebSocketResponse, firefox: ClientWebSocketResponse) -> None:
    async for message in ours:
        answer = answer_here(message.data)
        if answer is None:
            await firefox.send_str(message.data)
        else:
            await ours.send_str(answer.decode())
    await firefox.close()


async def serve(log: BinaryIO) -> None:
    """Pass Firefox's log on, with the relay's address in place of its own, until it ends."""
    runner: web.AppRunner | None = None
    while line := await asyncio.to_thread(log.readline):
        if runner is None and (found := _LISTENS.search(line)):
            app = web.Application()
            app[FIREFOX] = URL(found[1].decode())
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
    """Become Firefox, so that who ends this process ends Firefox; a child relays."""
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
