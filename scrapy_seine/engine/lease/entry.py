"""One request in flight, and what is noted of it until its lease ends."""

from __future__ import annotations

from contextvars import ContextVar
from datetime import datetime
from typing import Any

import attrs
from scrapy import Request

from scrapy_seine.engine.lease.outcomes import Outcome
from scrapy_seine.frontier.model import Lease, Push


@attrs.define(eq=False, repr=False)
class InFlight:
    """One leased request inside this process."""

    request: Request
    lease: Lease
    children: list[Push] = attrs.Factory(list)
    holds: int = 0
    finished: bool = False
    landed: bool = False
    answered_at: datetime | None = None
    """When the answer was here, by the frontier's clock."""
    spent_at: float | None = None
    """When its time to send was used up by something else, robots.txt (monotonic)."""
    waited_s: float = 0.0
    """Seconds that a connection waited for the time to send."""
    tries: int = 0
    """Tries that failed before this one."""
    proxy: Any = None
    """The proxy that the stored request names; a middleware may choose another one."""
    outcome: Outcome = ""
    """What was stated of its end; empty: nothing yet, and never success."""
    rule: str = ""
    """By which rule the request is ignored."""
    by: str = ""
    """Name of the exception that a third party ignores it by."""
    handled: bool = False
    """An errback, or a callback that takes error statuses, dealt with what had failed."""
    kind: str = ""
    reason: str = ""
    wait_s: float = 0.0
    links_ahead: bool = False
    """Links of it entered ahead of its end, or are on their way."""
    copy: Request | None = None
    seen: Any = None
    """What a middleware notes of the page's state for the pipelines."""

    @property
    def open(self) -> bool:
        """Scrapy or a pipeline still needs it."""
        return not self.finished or self.holds > 0

    def take_proxy_back(self, copy: Request) -> None:
        """Have another try, or a redirect's target, choose a proxy anew.

        One that a middleware chose would come back as one that anybody may have named.
        """
        if self.proxy:
            copy.meta["proxy"] = self.proxy
        else:
            copy.meta.pop("proxy", None)


current: ContextVar[InFlight | None] = ContextVar("seine_entry", default=None)
