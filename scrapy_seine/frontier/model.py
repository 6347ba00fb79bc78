"""Data that goes into and comes out of the frontier: pushes, leases, endings, counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

import attrs

from scrapy_seine.attrs_bases import Record, Value
from scrapy_seine.frontier.priority_level import level_of

#: Words in the first line of a stored request that belongs to no job.
_WITHOUT_JOB = 2
#: Bytes of that line, at most.
_HEAD = 8192
_LEVEL = re.compile(r"-?[0-9]{1,9}")


def header_of(priority: int, domain: str, job: str = "") -> bytes:
    """First line of a stored request: level, domain and job, so that scripts need not decode it.

    >>> header_of(10, "shop.example", "a:full")
    b'3990 shop.example a:full'
    """
    place = f"{domain} {job}" if job else domain
    return b"%d %s" % (level_of(priority), place.encode())


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Budgets(Value):
    """How much may enter the frontier; 0 is no limit. What exceeds it is counted, and not seen."""

    domain_pages: int = 0
    """Requests of one domain, since the crawl began."""
    job_pages: int = 0
    """Requests of one job, where the job names no budget of its own."""
    most_pending: int = 0
    """Requests that wait at one time; they take most of the frontier's memory."""


NO_BUDGETS = Budgets()


@attrs.define(eq=False, repr=False)
class Latency(Record):
    """How long one domain took to answer, summed up until it is sent."""

    good: int = 0
    good_s: float = 0.0
    bad: int = 0
    bad_s: float = 0.0

    def add(self, seconds: float, *, good: bool) -> None:
        """Record one response; an error page is not a good one."""
        if good:
            self.good += 1
            self.good_s += seconds
        else:
            self.bad += 1
            self.bad_s += seconds

    def args(self) -> tuple[int, float, int, float]:
        """Counts and mean latencies in ms, as the script takes them."""
        good_ms = round(1000 * self.good_s / max(self.good, 1), 1)
        bad_ms = round(1000 * self.bad_s / max(self.bad, 1), 1)
        return self.good, good_ms, self.bad, bad_ms


# Not attrs.frozen, because that takes twice as long to create, and each request creates one.
@attrs.define(kw_only=True, eq=False, repr=False)
class Push(Value):
    """A request on its way into the frontier."""

    domain: str
    blob: bytes
    """The encoded request."""
    fingerprint: int | None = None
    """None skips the filter."""
    force: bool = False
    """Enter although seen (a seed); the fingerprint is remembered all the same."""
    mark: str = ""
    """Made once for a push whose fingerprint does not prevent a second entry, so that its call may
    be repeated if a reply was lost."""
    priority: int = 0
    not_before_ms: int = 0
    """Earliest time to send, on the crawl's clock; negative: a wait from now on."""
    job: str = ""
    """The job that it counts for, without spaces; empty for none."""

    def to_stored(self, pack: Callable[[bytes], bytes] = bytes) -> bytes:
        """Return what Redis stores: a header, and the encoded request after *pack*."""
        return b"%b\n%b" % (header_of(self.priority, self.domain, self.job), pack(self.blob))

    def args(self, pack: Callable[[bytes], bytes] = bytes) -> tuple[str | int | bytes, ...]:
        """Return the five arguments of a push in a script; *pack* packs the request."""
        fingerprint = "" if self.fingerprint is None else str(self.fingerprint)
        if self.force:
            fingerprint = f"!{fingerprint}"
        if self.mark and (self.force or self.fingerprint is None):
            fingerprint = f"{fingerprint}*{self.mark}"
        level, stored = level_of(self.priority), self.to_stored(pack)
        return fingerprint, self.domain, level, self.not_before_ms, stored


@attrs.define(kw_only=True, eq=False, repr=False)
class Lease(Value):
    """A request that this worker holds until it ends the lease or stops renewing it."""

    id: str
    token: str
    slot_ms: int
    """When it may be sent, on Redis' clock."""
    delay_ms: int = 0
    """Pause between two requests to its domain; 0: no pause."""
    each_ms: int = 0
    """Pause between two requests from one address, where each address keeps its own limits."""
    each_cap: int = 0
    """Requests in flight from one address, as above; 0: the limits are the domain's."""
    slack_ms: float = 0.0
    """How late it may be sent beyond the usual margin, as its worker asked (politeness)."""
    deliveries: int
    """Workers that died while they held it."""
    stored: bytes
    _words: Sequence[str] = attrs.field(default=(), init=False, eq=False, repr=False)
    """Level, domain and job, once they were read."""

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from an earlier lease on the same request, which the worker lost."""
        return self.id, self.token

    @property
    def blob(self) -> bytes:
        """The encoded request."""
        return self.stored.partition(b"\n")[2]

    @property
    def level(self) -> int:
        """Its priority, as the queue knows it: smaller is sooner."""
        level = self._header[0]
        return int(level) if _LEVEL.fullmatch(level) else 0

    @property
    def domain(self) -> str:
        """The domain whose queue it comes from."""
        return self._header[1]

    @property
    def job(self) -> str:
        """The job that it counts for; empty for none."""
        return self._header[2]

    @property
    def _header(self) -> Sequence[str]:
        if not self._words:
            # Anybody who can write to Redis may have written this; next_request rejects it.
            head = self.stored[:_HEAD].partition(b"\n")[0]
            words = head.decode("utf-8", "replace").split(" ", 2)
            self._words = words if len(words) > _WITHOUT_JOB else [*words, "", ""]
        return self._words


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Leased(Value):
    """Reply to `lease`."""

    state: Literal["OK", "PAUSED"]
    now_ms: int
    next_due_ms: int
    """When the next waiting or delayed request is due; 0: there is none."""
    undone: int
    """Requests neither done nor dead, in the whole fleet."""
    entered: int
    """Requests that entered since the crawl began: pushed, replayed, or on their way onwards."""
    expired: bool
    """Leases of a silent worker expired: call reap."""
    leases: Sequence[Lease]
    state_text: str = ""
    """Id, turn and sequence of the crawl (scrapy_seine.frontier.lost_state)."""
    broken_keys: Sequence[str] = ()
    """Keys of the wrong type: the domains that use them were set aside for a minute."""
    spoilt_numbers: Sequence[str] = ()
    """Fields that held no valid number and were reset, by key and field."""
    workers: int = 0
    """Live workers, where the caller knew of no other; else 0."""


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Beat(Value):
    """Reply to a worker's heartbeat."""

    lost: Sequence[str]
    """Leases that are no longer the worker's, by request id."""
    workers: int
    """Live workers."""
    undone: int
    """Requests neither done nor dead, in the whole fleet."""
    to_sweep: bool
    """Old generations of the seen set are to be deleted: call sweep."""
    cancelled: frozenset[str] | None
    """Cancelled jobs; None: this server was not asked, or the key is of another type."""


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Early(Value):
    """A link that enters before its page ends."""

    push: Push
    lease: Lease
    """The page's."""
    entered: Callable[[], None]
    """Called when the frontier has the link, or had it before."""


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Done(Value):
    """A page that is finished, with the children that it yielded."""

    lease: Lease
    children: Sequence[Push] = ()
    rule: str = ""
    """The rule by which it was ignored; empty: it was parsed."""

    @property
    def job_outcome(self) -> Literal["done", "ignored", "cancelled"]:
        """How it counts for its job."""
        if not self.rule:
            return "done"
        return "cancelled" if self.rule == "cancelled" else "ignored"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Retry(Value):
    """A failed request that is to be tried again."""

    lease: Lease
    wait_ms: int
    push: Push


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Burial(Value):
    """A request that is given up."""

    lease: Lease
    note: bytes
    """JSON: reason, error, worker, history."""
    children: Sequence[Push] = ()
    """Links that its page had yielded when its callback or an item failed (I3)."""

    @property
    def job_outcome(self) -> bytes:
        """How its page ended, and why."""
        return b"buried %b" % self.note


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Counts(Value):
    """Where the crawl's requests are (I1), and totals since it began."""

    ready: int
    delayed: int
    leased: int
    dead: int
    seen: int
    workers: int
    domains_ready: int
    domains_waiting: int
    paused: bool
    totals: dict[str, int]
    moving: int = 0
    """On their way from one partition to another."""

    @property
    def undone(self) -> int:
        """Requests neither done nor dead."""
        return self.ready + self.delayed + self.leased + self.moving
