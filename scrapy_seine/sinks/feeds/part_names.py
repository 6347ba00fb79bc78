"""How the parts of a feed are named, and the folder in which they are.

A part's name says to which run of the crawl it belongs, when it was written, by which worker, and
as which one of that worker's: so names sort by time, no two workers take the same one, and whoever
joins a run's parts knows them by the beginning of their names.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from functools import partial

import attrs

from scrapy_seine.engine.lease.entry import InFlight, current
from scrapy_seine.engine.worker import Worker
from scrapy_seine.frontier.runs import latest_number
from scrapy_seine.records import Value
from scrapy_seine.retry_until import RetryUntil

logger = logging.getLogger(__name__)
#: Ending of the folder in which a feed's parts are.
PARTS = ".parts"
#: What no part's name holds.
_OTHERS = re.compile(r"[^A-Za-z0-9_-]+")
#: Stands for the run of a worker that never reached Redis.
_NO_RUN = "unjoined"


@attrs.frozen(eq=False, repr=False)
class Naming(Value):
    """How a worker names the parts of one feed, and a page within them."""

    part: Callable[[int], Awaitable[str]]
    """Name of a part, by its number; may ask Redis for the crawl's run."""
    page: Callable[[InFlight], str]
    """Name of a page that no other page ever has."""


class PartNames:
    """Names the parts of one worker's feeds."""

    def __init__(self, worker: Worker, outage_s: float) -> None:
        self._worker, self._outage_s = worker, outage_s
        self._run = ""

    @property
    def prefix(self) -> str:
        """With what the names of all parts of this worker's run begin."""
        return f"{self._run or _NO_RUN}-"

    def of(self, format_: str) -> Naming:
        """Return how the parts of a feed of a format are named."""
        return Naming(partial(self._part, format_), self._page)

    async def learn_run(self) -> None:
        """Learn the run that this worker's items belong to: the crawl's state, and its number.

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
