"""Exchanges leases and endings with Redis, off the reactor's path, in one round trip at a time.

Scrapy calls its scheduler synchronously; Redis is asked asynchronously. Leases are read ahead and
endings written behind, in the same pipeline. Endings that could not be sent are sent again: each
verb is fenced, so that a repetition changes nothing.
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
from scrapy_seine.frontier.round_trips.kept_pushes import RecentPushes
from scrapy_seine.frontier.round_trips.lateness import Lateness
from scrapy_seine.frontier.round_trips.outage import Outage
from scrapy_seine.frontier.round_trips.read_ahead import lease_count
from scrapy_seine.frontier.round_trips.redis_pipeline import Answer, LeaseRequest
from scrapy_seine.frontier.round_trips.redis_refusals import Refusals, breaks_all
from scrapy_seine.frontier.round_trips.server_clock import ServerClock
from scrapy_seine.frontier.round_trips.timer import Timer, at_random

logger = logging.getLogger(__name__)
#: Intervals at which an idle worker asks without a wake-up, s: the shortest, per worker of the
#: fleet, and the longest. If a woken worker dies, its slot stays unused for that long.
POLL_S, POLL_EACH_S, MAX_POLL_S = 1.0, 0.25, 10.0
#: The same if nothing is left to do anywhere, and the worker is kept alive: its heartbeats report
#: new work, s.
IDLE_POLL_S = 60.0
#: How long endings wait for others before a round trip, s.
LINGER_S = 0.01
#: A page that is open for so long after its download may wait for a request to its site, s.
OPEN_S = 1.0
#: A domain with a delay is leased this long before its slot, so that the send is on time, ms.
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
        add_to_stat: Callable[[str, int], None],
    ) -> None:
        self.frontier = frontier
        self.config = config
        self.worker = worker
        self._arrived = arrived
        self._confirmed = confirmed
        self._count = add_to_stat
        self.refusals = Refusals(add_to_stat)
        self.outage = Outage(config.outage_s, self.refusals)
        self.endings = Endings()
        self.recent_pushes = RecentPushes()
        self.buffer: deque[Lease] = deque()
        self._later: list[tuple[float, int, Lease]] = []
        self._order = count()
        self.paused = False
        self.is_state_lost = False
        """Redis has lost the crawl: nothing is sent to the one that is there."""
        self.held_back = False
        self.stopping = False
        self.workers = 1
        """Live workers of the fleet, by the last heartbeat."""
        self._all_done = False
        self._last_undone: int | None = None
        """Undone requests by the last reply; None: not all partitions answered."""
        self.undone: int | None = None
        self.undone_at = 0.0
        self.saw_work = False
        self._entered_at_open: int | None = None
        self._starved = False
        self._landed: dict[tuple[str, str], tuple[float, Lease]] = {}
        """Leases whose slots are to be reported, by `Lease.key`, and when their downloads ended."""
        self._sending = False
        lease_request = LeaseRequest(
            worker=worker,
            ttl_ms=int(config.lease_s * 1000),
            lead_ms=LEAD_MS,
            lanes=lanes_arg(config.lanes),
        )
        self.lines = frontier.lines(lease_request)
        self.slack = Lateness()
        self._outbox = self._moving = False
        self._reap_from = 0.0
        self._wake = asyncio.Event()
        self._timer = Timer(self._wake.set)
        #: Number of leases that Scrapy or a sink holds; the worker replaces it.
        self.held_count: Callable[[], int] = lambda: 0
        #: Whether a lease may start beside Scrapy's requests; `reading.tried_alone` replaces it.
        self.admits: Callable[[Lease], bool] = lambda lease: True

    def take(self) -> Lease | None:
        """Return the next lease that may be sent now."""
        if self.paused or self.held_back or self.is_state_lost:
            return None
        self._move_due_leases()
        # If the frontier had nothing more, the timer or a wake-up asks again, not every caller.
        if not self._starved and len(self.buffer) + len(self._later) <= self.config.read_ahead // 2:
            self.schedule_round_trip(LINGER_S if self.buffer else 0.0)
        return self.buffer.popleft() if self.buffer and self.admits(self.buffer[0]) else None

    def push(self, push: Push) -> None:
        """Send a request that no page yielded."""
        if push.force or push.fingerprint is None:  # its call may have to be repeated
            push = attrs.evolve(push, mark=push.mark or new_token())
        self.endings.pushes.append(push)
        self._schedule_sending()

    def commit(self, page: Done) -> None:
        """Report that a page is done and stored."""
        self._landed.pop(page.lease.key, None)
        self.endings.done.append(page)
        self._schedule_sending()

    def push_early(self, links: Sequence[Early]) -> None:
        """Send links before their page ends."""
        self.endings.early += links
        self._schedule_sending()

    def retry(self, retry: Retry) -> None:
        """Report that a request is to be tried again."""
        self._landed.pop(retry.lease.key, None)
        self.endings.retries.append(retry)
        self._schedule_sending()

    def bury(self, burial: Burial) -> None:
        """Give a request up."""
        self._landed.pop(burial.lease.key, None)
        self.endings.burials.append(burial)
        self._schedule_sending()

    def release(self, lease: Lease) -> None:
        """Hand back a request that was not sent."""
        self._landed.pop(lease.key, None)
        self.endings.releases.append(lease)
        self._schedule_sending()

    def now_ms(self, lease: Lease) -> float:
        """The time on the clock of a lease's server, as accurately as known here (I6)."""
        return self.lines.clock(lease.id).remote(monotonic()) * 1000

    def clock(self, lease: Lease) -> ServerClock:
        """The clock of a lease's server."""
        return self.lines.clock(lease.id)

    def set_limit(self, verb: str, *args: Any) -> None:
        """Set a limit of a site (`set_delay`, `block_until`), before the next leases."""
        self.endings.limits.append(Call(verb, list(args), []))
        self._schedule_sending()

    def free_slot(self, lease: Lease) -> None:
        """Report that a download is over: its domain's slot is free.

        It is reported once this worker gets fewer leases than it asks for, or the page is open for
        OPEN_S. Until then the end of the page frees the slot, at no cost.
        """
        self._landed[lease.key] = monotonic(), lease
        if self._starved:
            self._report_free_slots()

    def _report_free_slots(self, open_s: float = 0.0) -> None:
        """Report the slots of pages that are open for *open_s*, with the next round trip."""
        ended_by = monotonic() - open_s
        while self._landed and next(iter(self._landed.values()))[0] <= ended_by:
            _, lease = self._landed.pop(next(iter(self._landed)))
            self.endings.landed.append(lease)
        if not open_s and not self._has_all:
            self.schedule_round_trip(LINGER_S / 2)

    @property
    def _has_all(self) -> bool:
        """Whether this worker holds all undone requests, so that nobody needs a free slot."""
        return self._last_undone is not None and self._last_undone <= self.held_count() + len(
            self.buffered
        )

    @property
    def has_work(self) -> bool:
        """Whether a lease or an ending is here, or on its way to Redis."""
        return bool(self.buffer or self._later or self.endings or self._sending)

    @property
    def buffered(self) -> list[Lease]:
        """Leases that Scrapy does not have yet."""
        return [*self.buffer, *(lease for _, _, lease in self._later)]

    def schedule_round_trip(self, delay_s: float = 0.0) -> None:
        """Make a round trip within *delay_s*."""
        if not self._wake.is_set():
            self._timer.within(delay_s)

    def _schedule_sending(self) -> None:
        self.undone = None
        self.schedule_round_trip(
            0.0 if len(self.endings) >= 2 * self.config.read_ahead else LINGER_S
        )

    async def run(self) -> None:
        """Exchange until cancelled; raises RedisError when an outage outlasts its limit."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self.round_trip()
            except StateError:
                self.schedule_round_trip(LINGER_S)  # the recovery ran where the change was noticed
            except (RedisError, OSError) as error:
                self._wait_out(error)
            else:
                self.outage.record_answer()

    def _wait_out(self, error: Exception) -> None:
        wait_s = self.outage.next_try(error)
        # Leases of live workers may look expired when Redis returns: let them renew first.
        self._reap_from = monotonic() + self.config.lease_s / 3 + 1
        self._count("outage_retries", 1)
        self.schedule_round_trip(wait_s)

    async def round_trip(self) -> None:
        """Make one round trip: leases in, endings out.

        Raises:
            RedisError: a server does not answer; its endings are kept.
        """
        if self.is_state_lost:
            return
        lease_limit = self._lease_count()
        self._report_free_slots(OPEN_S)
        outgoing, self.endings = self.endings, Endings()
        if not lease_limit and not outgoing:
            return
        self._sending = True
        asked_at = monotonic()
        try:
            slack_ms, is_only_worker = int(self.slack.ms), self.workers <= 1
            answers = await self.lines.round_trip(
                outgoing, lease_limit, slack_ms, is_only_worker=is_only_worker
            )
        except BaseException:
            self.endings.put_back(outgoing)
            raise
        finally:
            self._sending = False
        self._count("redis_round_trips", 1)
        errors = [answer.error for answer in answers if answer.error is not None]
        for answer in answers:
            self._keep_failed_calls(answer)
            for call, reply in answer.replies:
                self._handle_reply(call, reply)
        if leased := [(item, item.leased) for item in answers if item.leased is not None]:
            self._take_leases(leased, lease_limit, asked_at, fresh=not outgoing)
        if errors:
            raise errors[0]
        if outgoing and not self.buffer and not self._starved:  # if starved, a wake-up follows
            self.schedule_round_trip(LINGER_S / 4)

    def _keep_failed_calls(self, answer: Answer) -> None:
        """Keep calls that a server did not run; calls it refuses for good are not sent again."""
        calls = answer.failed_calls
        if "WRONGTYPE" in str(answer.error) and not breaks_all(answer.error):
            for call in calls:
                if call in answer.endings.limits:
                    logger.error("%s of %s is refused: %s", call.name, call.args[:1], answer.error)
                    self._count("refused", 1)
            calls = [call for call in calls if call not in answer.endings.limits]
        self.endings.return_failed(calls, is_lease_lost=isinstance(answer.error, StateError))

    def _lease_count(self) -> int:
        if self.stopping or self.held_back:
            return 0
        return lease_count(len(self.buffer) + len(self._later), self.config.read_ahead)

    def _take_leases(
        self,
        leased: Sequence[tuple[Answer, Leased]],
        lease_limit: int,
        asked_at: float,
        *,
        fresh: bool,
    ) -> None:
        now = monotonic()
        for answer, reply in leased:
            answer.line.clock.learn(reply.now_ms / 1000, asked_at, answer.got_at)
        leases = self.lines.in_order([reply for _, reply in leased])
        for key in (key for _, reply in leased for key in reply.broken_keys):
            logger.error("key %s is of the wrong type; whatever needs it waits for 60 s", key)
            self._count("broken_keys", 1)
        for name in (name for _, reply in leased for name in reply.spoilt_numbers):
            logger.error("%s in Redis holds no number of Seine's; the count begins anew", name)
            self._count("spoilt_numbers", 1)
        self.paused = any(reply.state == "PAUSED" for _, reply in leased)
        for lease in leases:
            # Ahead of its slot: the connection opens meanwhile, and the send gate sends it on time.
            slot = self.clock(lease).local((lease.slot_ms - LEAD_MS) / 1000)
            if slot <= now:
                self.buffer.append(lease)
            else:
                heapq.heappush(self._later, (slot, next(self._order), lease))
                asyncio.get_running_loop().call_at(_loop_time(slot), self._arrived)
        self._starved = len(leases) < lease_limit
        self.workers = max([self.workers, *(reply.workers for _, reply in leased)])
        self._learn_progress([reply for _, reply in leased], fresh=fresh)
        expired = [answer.line.part for answer, reply in leased if reply.expired]
        if expired and now >= self._reap_from:
            self._reap_from = now + 1
            _spawn(self._reap(expired))
        if self._starved:
            waits = [x.next_due_ms - x.now_ms - LEAD_MS for _, x in leased if x.next_due_ms]
            stays = self.config.keep_alive or not self.saw_work
            # A reply that came with endings is not conclusive: ask again soon.
            self._all_done = stays and self.undone == 0
            poll_s = self._poll_s()
            self.schedule_round_trip(max(0.002, min([*waits, 1000 * poll_s]) / 1000))
            if self._landed:  # pages that stay open, for instance for a request they yielded
                self._report_free_slots()
        self._arrived()

    def _poll_s(self) -> float:
        """Seconds until the next unprompted question."""
        if self._all_done:
            return at_random(IDLE_POLL_S)
        return max(POLL_S, at_random(min(POLL_EACH_S * self.workers, MAX_POLL_S)))

    def learn_fleet(self, workers: int, undone: int) -> None:
        """Learn from a heartbeat how many workers live, and how many requests are undone."""
        self.workers = workers
        if undone and self._all_done:
            self._all_done = False
            self.schedule_round_trip()

    def _learn_progress(self, replies: Sequence[Leased], *, fresh: bool) -> None:
        """Learn how many requests are undone, if all partitions answered."""
        entered, complete = sum(reply.entered for reply in replies), len(replies) == len(self.lines)
        if self._entered_at_open is None and complete:
            self._entered_at_open = entered
        self._last_undone = sum(reply.undone for reply in replies) if complete else None
        worked = complete and entered > (self._entered_at_open or 0)
        if worked or any(reply.undone for reply in replies):
            self.saw_work = True
        undone = None
        if not complete or not fresh or self.endings:
            self.lines.forget()
        elif (undone := self.lines.undone(replies)) is None:
            self.schedule_round_trip(LINGER_S)
        if undone == 0 and self.undone != 0:
            self.undone_at = monotonic()
        self.undone = undone

    def _handle_reply(self, call: Call, reply: Any) -> None:
        if call.name.startswith("commit"):
            for page, word in zip(call.about, reply, strict=True):
                if word == b"OK":
                    for child in page.children:
                        self._remember(child)
                else:
                    self._count("lost", 1)
            if self.lines.leaves_links(call):
                self._start_moving()
        elif call.name == "push" and isinstance(call.about[0], Early):
            self._handle_early_links(call.about, reply)
        elif call.name == "push":
            duplicates = sum(word == b"DUPLICATE" for word in reply)
            self._count("duplicates", duplicates)
            self._count("start_known", duplicates)
            self._count("over_budget", sum(word == b"OVER" for word in reply))
            self.recent_pushes.add(call.about)

    def _handle_early_links(self, links: Sequence[Early], words: Sequence[bytes]) -> None:
        """Handle links that entered before their page ended."""
        self._count("duplicates", sum(word == b"DUPLICATE" for word in words))
        self._count("over_budget", sum(word == b"OVER" for word in words))
        for link in links:
            self._remember(link.push)
            link.entered()

    def _remember(self, link: Push) -> None:
        """Remember that the frontier has a link, unless it may have refused the link for now."""
        if link.fingerprint is not None and not self.config.most_pending:
            self._confirmed(link.fingerprint)

    def _move_due_leases(self) -> None:
        now = monotonic()
        while self._later and self._later[0][0] <= now:
            self.buffer.append(heapq.heappop(self._later)[2])

    def _start_moving(self) -> None:
        """Move links to other partitions out of the outbox, off the workers' path."""
        self._outbox = True
        if not self._moving:
            self._moving = True
            _spawn(self._move_links())

    async def _move_links(self) -> None:
        try:
            while self._outbox:
                self._outbox = False
                await self.frontier.forward()
        except (RedisError, OSError) as error:
            if not self.refusals.log_refusal(error, "Links to other partitions wait in the outbox"):
                logger.debug("the next heartbeat moves the outbox on: %s", error)
        finally:
            self._moving = False

    async def _reap(self, parts: Sequence[Part]) -> None:
        returned = buried = 0
        for part in parts:
            try:
                counts = await part.reap(max_deliveries=self.config.max_deliveries)
            except (RedisError, OSError) as error:
                self.refusals.log_refusal(error, "Leases of silent workers are not taken back")
                continue
            returned, buried = returned + counts[0], buried + counts[1]
        if returned or buried:
            logger.info("took back %d leases of silent workers, buried %d", returned, buried)
            self.schedule_round_trip()

    def release_buffered(self, domain: str = "") -> None:
        """Hand back leases that Scrapy does not have yet, of all domains or of one."""
        leases = [item for item in self.buffered if not domain or item.domain == domain]
        self.endings.releases += leases
        self.drop([lease.id for lease in leases])
        self.schedule_round_trip()

    def drop(self, ids: Sequence[str]) -> None:
        """Drop leases that are no longer this worker's; they must not be sent."""
        dropped = set(ids)
        self.buffer = deque(lease for lease in self.buffer if lease.id not in dropped)
        self._later = [entry for entry in self._later if entry[2].id not in dropped]
        heapq.heapify(self._later)

    def drop_lost(self, is_lost: Callable[[Lease], bool]) -> list[Lease]:
        """Drop leases that Redis lost, with their endings; returns them."""
        lost_leases = [lease for lease in self.buffered if is_lost(lease)]
        self.drop([lease.id for lease in lost_leases])
        self._landed = {key: at for key, at in self._landed.items() if not is_lost(at[1])}
        self.undone = None
        self.lines.forget()
        return lost_leases + self.endings.drop_lost(is_lost)

    async def drain(self, leases: Sequence[Lease], limit_s: float) -> None:
        """Send all endings, and hand back *leases*; give up after *limit_s*."""
        self.stopping = True
        self.endings.releases += leases
        self.release_buffered()
        give_up_at = monotonic() + limit_s
        while (self.endings or self._sending) and not self.is_state_lost:
            try:
                await self.round_trip()
            except (RedisError, OSError) as error:
                if monotonic() > give_up_at:
                    logger.warning("leases are left to expire: %s", error)
                    return
                await asyncio.sleep(0.2)
            else:
                await asyncio.sleep(0)
        if self._outbox or self._moving:
            self._outbox = True
            await self._move_links()


def _loop_time(monotonic_s: float) -> float:
    """Turn a monotonic time into the loop's, which may have another origin."""
    return asyncio.get_running_loop().time() + max(0.0, monotonic_s - monotonic())


_tasks: set[asyncio.Task[None]] = set()


def _spawn(coroutine: Any) -> None:
    task = asyncio.ensure_future(coroutine)
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
