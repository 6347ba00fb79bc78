"""Moves leases in and endings out, off the reactor's path, in one round trip at a time.

Scrapy asks its scheduler synchronously; Redis is asked here, asynchronously. Leases are read
ahead, endings are written behind, both in the same pipeline. What could not be sent stays and is
sent again: each verb is fenced, so that twice is as good as once.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from time import monotonic
from typing import Any

import attrs
from redis.exceptions import RedisError

from scrapy_seine.config import FrontierConfig
from scrapy_seine.frontier.encoding.wire import lanes_arg
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.lost_state import StateError, new_token
from scrapy_seine.frontier.model import Burial, Done, Early, Lease, Leased, Push, Retry
from scrapy_seine.frontier.one_partition import Part
from scrapy_seine.frontier.round_trips.endings import Call, Endings
from scrapy_seine.frontier.round_trips.kept_pushes import Kept
from scrapy_seine.frontier.round_trips.lateness import Lateness
from scrapy_seine.frontier.round_trips.outage import Outage
from scrapy_seine.frontier.round_trips.redis_pipeline import Answer, LeaseRequest
from scrapy_seine.frontier.round_trips.redis_refusals import Refusals, breaks_all
from scrapy_seine.frontier.round_trips.server_clock import ServerClock
from scrapy_seine.frontier.round_trips.timer import Timer, at_random

logger = logging.getLogger(__name__)
#: An idle worker asks this often although nothing woke it, s: at least, a worker of the fleet, and
#: at most. A slot stays unused so long where the worker that was woken for it died.
POLL_S, POLL_EACH_S, MOST_POLL_S = 1.0, 0.25, 10.0
#: The same where nothing is left to do anywhere, and the worker stays all the same: its heartbeats
#: say when there is something, s.
IDLE_POLL_S = 60.0
#: How long endings wait for company before a round trip, s.
LINGER_S = 0.01
#: A domain with a delay is handed out this long before its time, so that the send is on time, ms.
LEAD_MS = 25


class Exchange:
    """One worker's exchange with the frontier."""

    def __init__(
        self,
        frontier: Frontier,
        config: FrontierConfig,
        worker: str,
        *,
        arrived: Callable[[], None],
        confirmed: Callable[[int], None],
        counted: Callable[[str, int], None],
    ) -> None:
        self.frontier = frontier
        self.config = config
        self.worker = worker
        self._arrived = arrived
        self._confirmed = confirmed
        self._count = counted
        self.refusals = Refusals(counted)
        self.outage = Outage(config.outage_s, self.refusals)
        self.endings = Endings()
        self.kept = Kept()
        self.buffer: deque[Lease] = deque()
        self._later: list[tuple[float, int, Lease]] = []
        self._order = count()
        self.paused = False
        self.lost = False
        """Redis has lost the crawl: nothing is said to the one that is there."""
        self.held_back = False
        self.stopping = False
        self.workers = 1
        """Live workers of the fleet, as the last heartbeat told."""
        self._over = False
        self._left: int | None = None
        """How many requests were not done by the last reply; None: it is not known of all."""
        self.undone: int | None = None
        self.undone_at = 0.0
        self.saw_work = False
        self._entered_at_open: int | None = None
        self._starved = False
        self._sending = False
        lease_request = LeaseRequest(
            worker=worker,
            ttl_ms=int(config.lease_s * 1000),
            lead_ms=LEAD_MS,
            lanes=lanes_arg(config.lanes),
        )
        self.lines = frontier.lines(lease_request)
        self.slack = Lateness()
        self._outbox = self._bringing = False
        self._reap_from = 0.0
        self._wake = asyncio.Event()
        self._timer = Timer(self._wake.set)
        #: How many leases Scrapy or a sink has; the worker replaces it.
        self.held: Callable[[], int] = lambda: 0
        #: Whether a lease may be begun beside what Scrapy has; `reading.tried_alone` replaces it.
        self.admits: Callable[[Lease], bool] = lambda lease: True

    def take(self) -> Lease | None:
        """Next lease that may be sent now."""
        if self.paused or self.held_back or self.lost:
            return None
        self._ripen()
        # Where the frontier had nothing more, its timer or a wake-up asks again: not every caller.
        if not self._starved and len(self.buffer) + len(self._later) <= self.config.read_ahead // 2:
            self.kick(LINGER_S if self.buffer else 0.0)
        return self.buffer.popleft() if self.buffer and self.admits(self.buffer[0]) else None

    def push(self, push: Push) -> None:
        """Send a request that no page yielded."""
        if push.force or push.fingerprint is None:  # its call may have to be repeated
            push = attrs.evolve(push, mark=push.mark or new_token())
        self.endings.pushes.append(push)
        self._outgoing()

    def done(self, page: Done) -> None:
        """A page is done and stored."""
        self.endings.done.append(page)
        self._outgoing()

    def early(self, links: Sequence[Early]) -> None:
        """Send links ahead of their page's end."""
        self.endings.early += links
        self._outgoing()

    def retry(self, retry: Retry) -> None:
        """A request is to be tried again."""
        self.endings.retries.append(retry)
        self._outgoing()

    def bury(self, burial: Burial) -> None:
        """A request is given up."""
        self.endings.burials.append(burial)
        self._outgoing()

    def release(self, lease: Lease) -> None:
        """A request goes back unsent."""
        self.endings.releases.append(lease)
        self._outgoing()

    def now_ms(self, lease: Lease) -> float:
        """The time on the clock of a lease's server, as well as it is known here (I6)."""
        return self.lines.clock(lease.id).remote(monotonic()) * 1000

    def clock(self, lease: Lease) -> ServerClock:
        """The clock of a lease's server."""
        return self.lines.clock(lease.id)

    def tell(self, verb: str, *args: Any) -> None:
        """Send a site's wish (`set_delay`, `block_until`), ahead of the next leases."""
        self.endings.limits.append(Call(verb, list(args), []))
        self._outgoing()

    def land(self, lease: Lease) -> None:
        """A download is over: its domain's slot may be used again."""
        if self._starved:
            self.endings.landed.append(lease)
            if not self._has_all:
                self.kick(LINGER_S / 2)

    @property
    def _has_all(self) -> bool:
        """Whether this worker holds all that is left: nobody has a use for a slot that is free."""
        return self._left is not None and self._left <= self.held() + len(self.buffered)

    @property
    def busy(self) -> bool:
        """Something is here, or on its way to Redis."""
        return bool(self.buffer or self._later or self.endings or self._sending)

    @property
    def buffered(self) -> list[Lease]:
        """Leases that Scrapy does not have yet."""
        return [*self.buffer, *(lease for _, _, lease in self._later)]

    def kick(self, delay_s: float = 0.0) -> None:
        """Make a round trip within *delay_s*."""
        if not self._wake.is_set():
            self._timer.within(delay_s)

    def _outgoing(self) -> None:
        self.undone = None
        self.kick(0.0 if len(self.endings) >= 2 * self.config.read_ahead else LINGER_S)

    async def run(self) -> None:
        """Exchange until cancelled; raises RedisError when an outage outlasts its limit."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self.round_trip()
            except StateError:
                self.kick(LINGER_S)  # what is to be done was done where it was noticed
            except (RedisError, OSError) as error:
                self._wait_out(error)
            else:
                self.outage.over()

    def _wait_out(self, error: Exception) -> None:
        wait_s = self.outage.next_try(error)
        # Leases of live workers may look expired when Redis returns: let them renew first.
        self._reap_from = monotonic() + self.config.lease_s / 3 + 1
        self._count("outage_retries", 1)
        self.kick(wait_s)

    async def round_trip(self) -> None:
        """One round trip: leases in, endings out.

        Raises:
            RedisError: a server does not answer; what it was to be told is kept.
        """
        if self.lost:
            return
        wanted = self._wanted()
        outgoing, self.endings = self.endings, Endings()
        if not wanted and not outgoing:
            return
        self._sending = True
        asked = monotonic()
        try:
            slack_ms, alone = int(self.slack.ms), self.workers <= 1
            answers = await self.lines.round_trip(outgoing, wanted, slack_ms, alone=alone)
        except BaseException:
            self.endings.put_back(outgoing)
            raise
        finally:
            self._sending = False
        self._count("redis_round_trips", 1)
        errors = [answer.error for answer in answers if answer.error is not None]
        for answer in answers:
            self._failed(answer)
            for made, reply in answer.ended:
                self._ended(made, reply)
        if found := [(x, x.leased) for x in answers if x.leased is not None]:
            self._leased(found, wanted, asked, fresh=not outgoing)
        if errors:
            raise errors[0]
        if outgoing and not self.buffer and not self._starved:  # else it is told of the slot
            self.kick(LINGER_S / 4)

    def _failed(self, answer: Answer) -> None:
        """Keep what a server did not do; what it refuses for good is not said again."""
        kept = answer.failed
        if "WRONGTYPE" in str(answer.error) and not breaks_all(answer.error):
            for made in kept:
                if made in answer.sent.limits:
                    logger.error("%s of %s is refused: %s", made.name, made.args[:1], answer.error)
                    self._count("refused", 1)
            kept = [made for made in kept if made not in answer.sent.limits]
        self.endings.take_back(kept, lost=isinstance(answer.error, StateError))

    def _wanted(self) -> int:
        if self.stopping or self.held_back:
            return 0
        have = len(self.buffer) + len(self._later)
        return 0 if have > self.config.read_ahead // 2 else self.config.read_ahead - have

    def _leased(
        self, found: Sequence[tuple[Answer, Leased]], wanted: int, asked: float, *, fresh: bool
    ) -> None:
        now = monotonic()
        for answer, reply in found:
            answer.line.clock.learn(reply.now_ms / 1000, asked, answer.got_at)
        leases = self.lines.in_order([reply for _, reply in found])
        for key in (key for _, reply in found for key in reply.broken_keys):
            logger.error("key %s is of the wrong type; whatever needs it waits for 60 s", key)
            self._count("broken_keys", 1)
        for name in (name for _, reply in found for name in reply.spoilt_numbers):
            logger.error("%s in Redis holds no number of Seine's; the count begins anew", name)
            self._count("spoilt_numbers", 1)
        self.paused = any(reply.state == "PAUSED" for _, reply in found)
        for lease in leases:
            # Ahead of its time: the connection is made meanwhile, and the gate lets it out on time.
            slot = self.clock(lease).local((lease.slot_ms - LEAD_MS) / 1000)
            if slot <= now:
                self.buffer.append(lease)
            else:
                heapq.heappush(self._later, (slot, next(self._order), lease))
                asyncio.get_running_loop().call_at(_loop_time(slot), self._arrived)
        self._starved = len(leases) < wanted
        self.workers = max([self.workers, *(reply.workers for _, reply in found)])
        self._learn_progress([reply for _, reply in found], fresh=fresh)
        expired = [answer.line.part for answer, reply in found if reply.expired]
        if expired and now >= self._reap_from:
            self._reap_from = now + 1
            _spawn(self._reap(expired))
        if self._starved:
            waits = [x.next_due_ms - x.now_ms - LEAD_MS for _, x in found if x.next_due_ms]
            stays = self.config.keep_alive or not self.saw_work
            # An answer that endings came along with says nothing for certain: ask again soon.
            self._over = stays and self.undone == 0
            poll_s = self._poll_s()
            self.kick(max(0.002, min([*waits, 1000 * poll_s]) / 1000))
        self._arrived()

    def _poll_s(self) -> float:
        """Until the next question that nothing causes, s."""
        if self._over:
            return at_random(IDLE_POLL_S)
        return max(POLL_S, at_random(min(POLL_EACH_S * self.workers, MOST_POLL_S)))

    def learn_fleet(self, workers: int, undone: int) -> None:
        """Learn from a heartbeat how many workers live, and how much is left to do."""
        self.workers = workers
        if undone and self._over:
            self._over = False
            self.kick()

    def _learn_progress(self, replies: Sequence[Leased], *, fresh: bool) -> None:
        """Learn how much is left, where the frontier answered as a whole."""
        entered, whole = sum(reply.entered for reply in replies), len(replies) == len(self.lines)
        if self._entered_at_open is None and whole:
            self._entered_at_open = entered
        self._left = sum(reply.undone for reply in replies) if whole else None
        worked = whole and entered > (self._entered_at_open or 0)
        if worked or any(reply.undone for reply in replies):
            self.saw_work = True
        known = None
        if not whole or not fresh or self.endings:
            self.lines.forget()
        elif (known := self.lines.undone(replies)) is None:
            self.kick(LINGER_S)
        if known == 0 and self.undone != 0:
            self.undone_at = monotonic()
        self.undone = known

    def _ended(self, made: Call, reply: Any) -> None:
        if made.name.startswith("commit"):
            for page, word in zip(made.about, reply, strict=True):
                if word == b"OK":
                    for child in page.children:
                        if child.fingerprint is not None:
                            self._confirmed(child.fingerprint)
                else:
                    self._count("lost", 1)
            if self.lines.leaves_links(made):
                self._bring_on()
        elif made.name == "push" and isinstance(made.about[0], Early):
            self._entered(made.about, reply)
        elif made.name == "push":
            known = sum(word == b"DUPLICATE" for word in reply)
            self._count("duplicates", known)
            self._count("start_known", known)
            self._count("over_budget", sum(word == b"OVER" for word in reply))
            self.kept.add(made.about)

    def _entered(self, links: Sequence[Early], words: Sequence[bytes]) -> None:
        """Links are in the frontier ahead of their page's end."""
        self._count("duplicates", sum(word == b"DUPLICATE" for word in words))
        self._count("over_budget", sum(word == b"OVER" for word in words))
        for link in links:
            if link.push.fingerprint is not None:
                self._confirmed(link.push.fingerprint)
            link.entered()

    def _ripen(self) -> None:
        now = monotonic()
        while self._later and self._later[0][0] <= now:
            self.buffer.append(heapq.heappop(self._later)[2])

    def _bring_on(self) -> None:
        """Links to other partitions are in an outbox: bring them there, off the workers' path."""
        self._outbox = True
        if not self._bringing:
            self._bringing = True
            _spawn(self._bring())

    async def _bring(self) -> None:
        try:
            while self._outbox:
                self._outbox = False
                await self.frontier.forward()
        except (RedisError, OSError) as error:
            if not self.refusals.tell(error, "Links to other partitions wait in the outbox"):
                logger.debug("the next heartbeat moves the outbox on: %s", error)
        finally:
            self._bringing = False

    async def _reap(self, parts: Sequence[Part]) -> None:
        returned = buried = 0
        for part in parts:
            try:
                found = await part.reap(max_deliveries=self.config.max_deliveries)
            except (RedisError, OSError):
                continue
            returned, buried = returned + found[0], buried + found[1]
        if returned or buried:
            logger.info("took back %d leases of silent workers, buried %d", returned, buried)
            self.kick()

    def give_back(self, domain: str = "") -> None:
        """Hand back what Scrapy does not have yet, of all domains or of one."""
        given = [x for x in self.buffered if not domain or x.domain == domain]
        self.endings.releases += given
        self.drop([lease.id for lease in given])
        self.kick()

    def drop(self, ids: Sequence[str]) -> None:
        """Leases that are no longer ours must not be sent."""
        gone = set(ids)
        self.buffer = deque(lease for lease in self.buffer if lease.id not in gone)
        self._later = [entry for entry in self._later if entry[2].id not in gone]
        heapq.heapify(self._later)

    def let_go(self, of: Callable[[Lease], bool]) -> list[Lease]:
        """Drop what Redis forgot that it gave to this worker; returns these leases."""
        gone = [lease for lease in self.buffered if of(lease)]
        self.drop([lease.id for lease in gone])
        self.undone = None
        self.lines.forget()
        return gone + self.endings.let_go(of)

    async def drain(self, leases: Sequence[Lease], limit_s: float) -> None:
        """Send everything that is left, and hand back *leases*; give up after *limit_s*."""
        self.stopping = True
        self.endings.releases += leases
        self.give_back()
        until = monotonic() + limit_s
        while (self.endings or self._sending) and not self.lost:
            try:
                await self.round_trip()
            except (RedisError, OSError) as error:
                if monotonic() > until:
                    logger.warning("leases are left to expire: %s", error)
                    return
                await asyncio.sleep(0.2)
            else:
                await asyncio.sleep(0)
        if self._outbox or self._bringing:
            self._outbox = True
            await self._bring()


def _loop_time(at: float) -> float:
    """Turn a monotonic time into the loop's, which may have another origin."""
    return asyncio.get_running_loop().time() + max(0.0, at - monotonic())


_tasks: set[asyncio.Task[None]] = set()


def _spawn(coroutine: Any) -> None:
    task = asyncio.ensure_future(coroutine)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
