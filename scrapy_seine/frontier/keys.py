"""Every key of a crawl: its type, who writes it, how long it lives.

| key | type | what it holds | written by | lifetime |
|---|---|---|---|---|
| requests | hash | stored request by id, packed (encoding.packing) | push commit retry set_priority | until done or purged |
| q:<domain> | sorted set | ids of a domain's ready requests by level, then arrival | push lease release reap | while not empty |
| d:<domain> | hash | delay cap jitter robots measured latency lane spread; pages due slot active paused blocked pause served | lease, set_delay, set_lane, set_spread, note_latency, block_until, note_late_send | permanent |
| ready | sorted set | domains that may be served now: class, then least recently served | all | while not empty |
| waiting | sorted set | domains by due time (ms) | all | while not empty |
| delayed | sorted set | ids by not-before time (ms) | push retry requeue_dead | until due |
| leases | sorted set | ids by expiry (ms) | lease renew | until the lease ends |
| held | hash | `token worker score state domain` by id | lease | until the lease ends |
| deliveries | hash | `deaths alone token` by id: workers that died with it, those of them that had no other request, the lease under which it is tried so now | reap isolate | until done or requeued |
| dead | sorted set | ids by time of burial (ms) | bury reap | until replayed or purged |
| autopsy | hash | why an id is dead (JSON) | bury reap | with dead |
| seen, seen:<gen>:<n> | hash, integer sets | generations, and their fingerprints (exact) | push commit forget | window, by generations |
| seen:<gen>:<layer>:<n> | string | bits of fingerprints (bloom) | push commit | window, by generations |
| seen:drop | list | generations whose window is over (JSON) | push commit | until swept |
| overran | hash | by domain: pages whose reading took too long | workers | until its domain is paused |
| counters | hash | totals since the crawl began | all | permanent |
| job:<id> | hash | total done failed; its plan and state | push commit bury, coordinator | 7 days after it left jobs |
| jobs, cancelled | sorted set, set | jobs by their beginning (s): those that run, the newest thousand, and the last finished full crawl of each site; of these, the cancelled ones | coordinator, jobs | until removed |
| schedules | hash | by site: when its full crawl starts (JSON; the catalogue's jobs) | dashboard, coordinator | until removed, and the removal until the next time of the site's file |
| events, events_sent | stream, string | ends of jobs (JSON), and the last one that the webhook's receiver has | coordinator, workers, dashboard | newest 10,000 |
| coordinator | string | who leads | coordinator | 10 s |
| control | hash | id turn seq, shift clock, cleared rolled sought passed, look looked looked_all, swept about (see `begin`), spoilt (numbers that were begun anew, until a `lease` told of them), stored (when PostgreSQL was told of the frontier last, Unix µs; the catalogue's jobs), `lane:` when to look again who has a lane, and since when nobody has it (ms), `w:` calls by caller (see `lost_state`), dictionaries (ids) and `dictionary:<id>` what requests are packed with (add_dictionary); paused cap delay jitter throttle ended, run run_at run_name, closed (ms and reason), budgets | all | permanent |
| runs | hash | by number: a run's name and the totals at its beginning (JSON); `at:<n>` time (ms), `closed:<n>` reason, `name:<name>` number | begin_run, workers | newest 1,000 |
| marks:<n> | set | marks of pushes that no fingerprint keeps from entering twice, by 20 minutes | push | 40 minutes |
| partitions (in control) | field | in how many parts the crawl is split, once and for all | join |
| spider (in control) | field | name of the spider whose crawl it is | the first worker | until the crawl is cleared |
| project (in control) | field | BOT_NAME of that spider's project | workers | until the crawl is cleared |
| signed (in control) | field | names of the secrets with which its waiting requests are signed, or `nothing` (frontier.signed_with) | workers | until the crawl is cleared |
| outbox:<q> | stream | requests on their way to partition q, by number | commit, outbox_delivered | until q has them |
| arrived | hash | by partition: the last number of its outbox that came in here | receive | permanent |
| workers, worker_info | sorted set, hash | heartbeats by expiry (ms), description | renew | an hour after the last |
| busiest, minutes:<hour> | sorted set, hash | ended requests by domain, and by minute and outcome (reads.outcome_history) | workers | permanent, two days |
| tens:<hour>, hours:<day> | hash | the same by ten seconds, and by hour | workers | two hours, nine days |
| actions | list | who did what from dashboard or terminal (JSON), newest first (reads.audit) | dashboard, commands | newest 500 |
| jar:<name> | hash | a jar's cookies by domain, path and name, and its version (middlewares.jars_in_redis) | workers | a day after the last change |
| limits | hash | what a worker counted for CLOSESPIDER_…COUNT, by worker; those that left under '' (engine.ending.fleet_limits) | workers | until the last worker leaves, a day at most |
| logs | sorted set | workers that wrote a log, by their last line (s) | workers | a day after the last |
| log:<worker> | stream | the last lines of a worker's log (reads.worker_logs) | workers | a day after the last |
| locals | hash | who keeps a request that stays in its worker, or `done`, by fingerprint (engine.local_requests) | workers | window |
| mail:<worker> | list | leases of a worker's stubs that others handed over (JSON) | workers | a lease's lifetime |
| idle | sorted set | workers that got less than half of what they asked for, since when (ms) | lease | 15 s after a question |
| wake | channel | `ready` and the workers that are to ask (none: all), `local <worker>`, `drain <worker>`, `close`, `pause`, `resume`, `forget`, `cleared` and the domain | push commit … | – |

All start with `{crawl}:`, so that one crawl is one Redis Cluster slot and every script runs there.
Of a crawl in four partitions, the keys of requests and domains start with `{crawl/0of4}:` to
`{crawl/3of4}:` (no crawl's name has a slash); a number may follow to spread them over the Cluster's
slots. Keys of the whole crawl stay under `{crawl}:`: plans and states of jobs, coordinator, tens,
minutes, hours, busiest, actions, cancelled.
Seeds (`catalog:start_urls`, as users fill it) have a slot of their own with their claims.
"""

from __future__ import annotations

from functools import cache
from itertools import count

import attrs
from redis.crc import key_slot

from scrapy_seine.attrs_bases import Value
from scrapy_seine.frontier.which_partition import part_of_domain

#: Slots of a Redis Cluster.
SLOTS = 16384


@cache
def hash_tag(crawl: str, index: int, of: int) -> str:
    """Name one of a crawl's *of* partitions, so that Cluster slots are shared evenly.

    Partition *index* gets a slot in the middle half of the index-th of *of* equal ranges of slots:
    servers that share the slots evenly, as by default, share the partitions evenly.

    >>> [hash_tag("catalog", n, 3) for n in range(3)]
    ['catalog/0of3.3', 'catalog/1of3.1', 'catalog/2of3.43']
    """
    for salt in count():
        tag = f"{crawl}/{index}of{of}" + (f".{salt}" if salt else "")
        if abs(key_slot(f"{{{tag}}}".encode()) * of / SLOTS - index - 0.5) < 1 / 4:
            break
    return tag


@attrs.frozen(eq=False, repr=False)
class Keys(Value):
    """Names of one crawl's keys."""

    crawl: str
    of: int = 1
    """Partitions of the crawl."""
    index: int | None = None
    """Which partition's keys these are; None: they are the crawl's own."""

    @property
    def prefix(self) -> str:
        """Prefix of every key of the crawl, or of the partition."""
        tag = self.crawl if self.index is None else hash_tag(self.crawl, self.index, self.of)
        return f"{{{tag}}}:"

    @property
    def parts(self) -> tuple[Keys, ...]:
        """Keys of each partition; a crawl that is not split has one."""
        if self.of == 1 or self.index is not None:
            return (self,)
        return tuple(Keys(self.crawl, self.of, n) for n in range(self.of))

    def part(self, domain: str) -> Keys:
        """Keys of the partition that holds a domain."""
        if self.of == 1 or self.index is not None:
            return self
        return Keys(self.crawl, self.of, part_of_domain(domain, self.of))

    def __getattr__(self, name: str) -> str:
        """`keys.requests` is the name of the requests hash."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self.prefix + name

    def queue(self, domain: str) -> str:
        """Queue of one domain."""
        return f"{self.part(domain).prefix}q:{domain}"

    def outbox(self, part: int) -> str:
        """Requests on their way from this partition to another."""
        return f"{self.prefix}outbox:{part}"

    def domain(self, domain: str) -> str:
        """State of one domain."""
        return f"{self.part(domain).prefix}d:{domain}"


@attrs.frozen(eq=False, repr=False)
class SeedKeys(Value):
    """Names of the keys around one list of seeds."""

    seeds: str

    @property
    def claimed(self) -> str:
        """Seeds taken, not settled: hash by claim."""
        return self._beside("claimed")

    @property
    def claims(self) -> str:
        """Claims by expiry."""
        return self._beside("claims")

    @property
    def tries(self) -> str:
        """Times a claim was handed out and not read to its end: hash by claim."""
        return self._beside("tries")

    @property
    def crawls(self) -> str:
        """Crawls that take the seeds: sorted set by their last worker's start (ms)."""
        return self._beside("crawls")

    @property
    def rejected(self) -> str:
        """Seeds that cannot be crawled, with the reason: list of JSON, newest first."""
        return self._beside("rejected")

    def _beside(self, name: str) -> str:
        # The tag keeps it in the slot of the seeds' own key, whatever braces that has.
        has_tag = "{" in self.seeds and "}" in self.seeds
        return f"{self.seeds}:{name}" if has_tag else f"{{{self.seeds}}}:{name}"
