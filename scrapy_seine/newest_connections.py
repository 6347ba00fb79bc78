"""An HTTP server that keeps its newest connections: many idle ones leave no file for the others.

Whoever opens connections and sends nothing more would take each file that the process may open: a
worker would reach neither its sites nor Redis, and a dashboard would show nobody a page.
"""

from __future__ import annotations

from typing import Any

from aiohttp import web

from scrapy_seine.unreadable_requests import server_log

#: Connections at a time, at most: browsers and Prometheus need a few each.
MOST = 200


class Runner(web.AppRunner):
    """Runs an application, and closes its oldest connection where there are too many."""

    def __init__(self, app: web.Application, **options: Any) -> None:
        super().__init__(app, access_log=None, logger=server_log(), **options)

    @property
    def server(self) -> Any:
        """What makes the protocol of a new connection; None before `setup`."""
        return None if super().server is None else self._protocol

    def _protocol(self) -> Any:
        server: Any = super().server
        for oldest in server.connections[: 1 - MOST]:
            transport = oldest.transport
            oldest.force_close()
            if transport is not None:  # an answer that nobody reads would keep it open
                transport.abort()
        return server()
