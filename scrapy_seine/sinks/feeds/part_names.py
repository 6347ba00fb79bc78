"""The names of a feed's parts, and of the folder that holds them.

A part's name contains the run of the crawl, the time of writing, the worker, and the worker's
number for it: so names sort by time, no two workers use the same one, and the parts of a run share
a prefix.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from functools import partial

import attrs

from scrapy_seine.attrs_bases import Value
from scrapy_seine.engine.lease.entry import InFlight, current
from scrapy_seine.engine.worker import Worker
from scrapy_seine.frontier.runs import latest_number
from scrapy_seine.store_wait import RetryUntil

logger = logging.getLogger(__name__)
#: Suffix of the folder that holds a feed's parts.
PARTS = ".parts"
#: Characters that a part's name does not contain.
_OTHERS = re.compile(r"[^A-Za-z0-9_-]+")
#: Run in the names of a worker that never reached Redis.
_NO_RUN = "unjoined"


@attrs.frozen(eq=False, repr=False)
class Naming(Value):
    """How a worker names the parts of one feed, and pages within them."""

    part: Callable[[int], Awaitable[str]]
    """Returns the name of a part, by its number; may ask Redis for the crawl's run."""
    page: Callable[[InFlight], str]
    """Returns the unique name of a page."""


class PartNames:
    """Names the parts of one worker's feeds."""

    def __init__(self, worker: Worker, outage_s: float) -> None:
        self._worker, self._outage_s = worker, outage_s
        self._run = ""

    @property
    def prefix(self) -> str:
        """Common prefix of the names of this worker's run."""
        return f"{self._run or _NO_RUN}-"

    def of(self, format_: str) -> Naming:
        """Return how the parts of a feed of a format are named."""
        return Naming(partial(self._part, format_), self._page)

    async def learn_run(self) -> None:
        """Read the run that this worker's items belong to: the crawl's state, and its number.

        Raises:
            StoreUnreachable: Redis has not answered for SEINE_OUTAGE_LIMIT.
        """
        member = self._worker.member
        if not self._run and member is not None:
            patience = RetryUntil(self._outage_s, logger.warning)
            number = await patience.try_until_async(lambda: latest_number(member.frontier))
            self._run = f"{self._worker.state}.{number}"

    def _page(self, entry: InFlight) -> str:
        return f"{self._worker.state} {entry.lease.id}"

    async def _part(self, format_: str, number: int) -> str:
        await self.learn_run()
        at_ms = round(self._worker.inflight.now(current.get()).timestamp() * 1000)
        worker = _OTHERS.sub("-", self._worker.name)
        return f"{self.prefix}{at_ms:013d}-{worker}-{number:06d}.{format_}"
