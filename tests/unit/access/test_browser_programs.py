"""Which browser is launched, and with what options."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from aiohttp import ClientSession, WSServerHandshakeError, web
from aiohttp.test_utils import TestServer

from crawler.access import firefox_relay
from crawler.access.browser_programs import find_browser, launch_options
from scrapy_seine.errors import ConfigError


@pytest.mark.parametrize("kind", ["webkit", "Chromium", ""])
def test_an_unknown_browser_ends_the_start_in_a_line(kind: str) -> None:
    """Playwright would start another one's program, and each page would be a dead letter."""
    with pytest.raises(ConfigError, match="only 'chromium' and 'firefox' are launched") as refused:
        find_browser(kind=kind)
    assert "\n" not in str(refused.value)


def test_a_path_that_is_no_program_is_named() -> None:
    with pytest.raises(ConfigError, match="SEINE_BROWSER_PATH='/no/such' is no program"):
        find_browser("/no/such")


def test_the_projects_own_launch_options_win() -> None:
    asked = {"args": ["--lang=de"], "executable_path": "/opt/chrome", "headless": False}
    options = launch_options("chromium", "", asked)
    assert (options["executable_path"], options["headless"]) == ("/opt/chrome", False)
    assert options["args"][-1] == "--lang=de"
    asked = {
        "executable_path": "/opt/firefox",
        "firefox_user_prefs": {"dom.x": 1},
        "env": {"A": "b"},
    }
    options = launch_options("firefox", "", asked)
    assert options["env"]["A"] == "b"
    assert options["env"][firefox_relay.PROGRAM] == "/opt/firefox"
    assert options["firefox_user_prefs"]["dom.x"] == 1
    # I9: else a page would reach this machine beside the proxy that guards it.
    assert options["firefox_user_prefs"]["network.proxy.allow_hijacking_localhost"] is True
    assert options["firefox_user_prefs"]["network.proxy.failover_direct"] is False


async def test_the_relay_answers_what_firefox_lacks_and_passes_all_else_on(tmp_path: Path) -> None:
    """A program of ours listens as Firefox does, and says what it was sent."""
    heard: list[str] = []

    async def listen(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            heard.append(message.data)
            await socket.send_str(f"heard {len(heard)}")
        return socket

    app = web.Application()
    app.router.add_get("/session", listen)
    async with TestServer(app) as server:
        program = tmp_path / "firefox"
        address = str(server.make_url("/")).rstrip("/").replace("http", "ws")
        program.write_text(
            f"#!/bin/sh\necho starts >&2\necho WebDriver BiDi listening on {address} >&2\ncat\n"
        )
        program.chmod(0o700)
        environment = {**os.environ, firefox_relay.PROGRAM: str(program)}
        relay = await asyncio.create_subprocess_exec(
            *(sys.executable, firefox_relay.__file__),
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert relay.stderr is not None
        assert await relay.stderr.readline() == b"starts\n"
        found = (await relay.stderr.readline()).decode().split()[-1]
        assert found != address
        async with ClientSession() as session:
            with pytest.raises(WSServerHandshakeError):  # a page of the browser's own
                await session.ws_connect(f"{found}/session", origin="https://shop.example")
            async with session.ws_connect(f"{found}/session") as socket:
                lacking = f'{{"id": 1, "method": "{firefox_relay.MISSING[0]}", "params": {{}}}}'
                await socket.send_str(lacking)
                assert (await socket.receive_json())["type"] == "success"
                await socket.send_str('{"id": 2, "method": "script.evaluate"}')
                assert (await socket.receive()).data == "heard 1"
        assert heard == ['{"id": 2, "method": "script.evaluate"}']
        relay.stdin.close()  # Firefox ends
        assert await relay.wait() == 0
