"""The TLS lane's client: one that greets a server as browsers do (wreq, by Scrapy's incubator)."""

from __future__ import annotations

from typing import ClassVar

from scrapy_download_handlers_incubator import WreqDownloadHandler


class TlsHandler(WreqDownloadHandler):
    """The incubator's handler, without its warning at each start.

    The warning says that its interface may change. Its version is pinned for that reason
    (constraints.txt), and tests/integration/access holds it to what this project needs.
    """

    experimental: ClassVar[bool] = False
