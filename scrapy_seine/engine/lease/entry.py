"""One request in flight, and what is recorded of it until its lease ends."""

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
    """When the response had arrived, by the frontier's clock."""
    spent_at: float | None = None
    """When its slot was used for another request, robots.txt (monotonic)."""
    waited_s: float = 0.0
    """Seconds that an open connection waited for the slot."""
    tries: int = 0
    """Tries that failed before this one."""
    proxy: Any = None
    """The proxy in the stored request; a middleware may choose another one."""
    outcome: Outcome = ""
    """The stated outcome; empty: none was stated yet, and it never means success."""
    rule: str = ""
    """The rule by which the request is ignored."""
    by: str = ""
    """Name of the exception by which a project's code ignores it."""
    handled: bool = False
    """Whether an errback, or a callback that takes error statuses, handled the failure."""
    kind: str = ""
    reason: str = ""
    wait_s: float = 0.0
    links_ahead: bool = False
    """Whether links of it entered before its end, or are on their way."""
    copy: Request | None = None
    seen: Any = None
    """What a middleware records of the page's state for the pipelines."""

    @property
    def open(self) -> bool:
        """Whether Scrapy or a pipeline still needs it."""
        return not self.finished or self.holds > 0

    def take_proxy_back(self, copy: Request) -> None:
        """Restore the stored proxy, so that another try, or a redirect's target, chooses a new one.

        Else a proxy that a middleware chose would be stored as one that anybody may have named.
        """
        if self.proxy:
            copy.meta["proxy"] = self.proxy
        else:
            copy.meta.pop("proxy", None)


current: ContextVar[InFlight | None] = ContextVar("seine_entry", default=None)
