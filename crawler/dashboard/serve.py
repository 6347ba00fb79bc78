"""Serve the dashboard until SIGTERM or Ctrl-C."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Callable
from typing import Any

from aiohttp import web

from scrapy_seine.errors import ConfigError
from scrapy_seine.newest_connections import Runner
from scrapy_seine.once_a_minute import OnceAMinute

logger = logging.getLogger(__name__)
#: Time for open event streams to end, seconds.
SHUTDOWN_S = 3.0


def serve(app: web.Application, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve *app* until SIGTERM or Ctrl-C; call *announce* with the address.

    Raises:
        ConfigError: the address cannot be used.
    """
    asyncio.run(_serve(app, host, port, announce))


async def _serve(
    app: web.Application, host: str, port: int, announce: Callable[[str], None]
) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.set_exception_handler(accept_failure_handler())
    runner = Runner(app, shutdown_timeout=SHUTDOWN_S)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        bound, number = runner.addresses[0][:2]
        name = f"[{bound}]" if ":" in bound else bound
        announce(f"http://{name}:{number}/")
        sys.stdout.flush()
        await stop.wait()
    except (OSError, OverflowError, UnicodeError) as error:
        # OverflowError: the port is out of range; UnicodeError: no host may have this name.
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{host}:{port} cannot be served: {reason}") from None
    finally:
        await runner.cleanup()


def accept_failure_handler() -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """Create a handler that logs once a minute that no connection can be accepted.

    asyncio logs each try with a traceback: 2,000 a second if the process has no file left.
    """
    limiter = OnceAMinute()

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, OSError) or "accept" not in str(context.get("message")):
            loop.default_exception_handler(context)
        elif limiter.is_due("accept"):
            logger.error("no connection can be accepted: %s (ulimit -n)", error)

    return handle
