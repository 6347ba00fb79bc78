"""A project's middleware that takes robots.txt for a page it has no use for, once."""

from __future__ import annotations

import attrs
from scrapy import Request
from scrapy.exceptions import IgnoreRequest


@attrs.define
class IgnoresOnce:
    """Ignores the first request for robots.txt."""

    ignored: bool = False

    def process_request(self, request: Request) -> None:
        """Ignore it, or let it pass.

        Raises:
            IgnoreRequest: it is the first one for robots.txt.
        """
        if request.url.endswith("/robots.txt") and not self.ignored:
            self.ignored = True
            raise IgnoreRequest("not yet")
