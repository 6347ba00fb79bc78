"""Every key of a crawl: its type, who writes it, how long it lives.

| key | type | what it holds | written by | lifetime |
|---|---|---|---|---|
| requests | hash | stored request by id | push commit retry | until done or purged |
| q:<domain> | sorted set | ids of a domain's ready requests by level, then arrival | push lease release reap | while not empty |
| d:<domain> | hash | delay cap jitter robots measured latency lane; pages due slot active paused blocked pause served | lease, set_delay, set_lane, measure, block_until | permanent |
| ready | sorted set | domains that may be served now: class, then least recently served | all | while not empty |
| waiting | sorted set | domains by due time (ms) | all | while not empty |
| delayed | sorted set | ids by not-before time (ms) | push retry requeue_dead | until due |
| leases | sorted set | ids by expiry (ms) | lease renew | until the lease ends |
| held | hash | `token worker score state domain` by id | lease | until the lease ends |
| deliveries | hash | times a worker died with the id | reap | until done or requeued |
| dead | sorted set | ids by time of burial (ms) | bury reap | until replayed or purged |
| autopsy | hash | why an id is dead (JSON) | bury reap | with dead |
| seen, seen:<gen>:<n> | hash, integer sets | generations, and their fingerprints (exact) | push commit forget | window, by generations |
| seen:<gen>:<layer>:<n> | string | bits of fingerprints (bloom) | push commit | window, by generations |
| seen:drop | list | generations whose window is over (JSON) | push commit | until swept |
| counters | hash | totals since the crawl began | all | permanent |
| job:<id> | hash | total done failed; its plan and state | push commit bury, coordinator | until removed |
| jobs, cancelled | sorted set, set | jobs by their beginning (s); those that are cancelled | coordinator, jobs | until removed |
| coordinator | string | who leads | coordinator | 10 s |
| control | hash | seq token paused cap delay jitter throttle ended, budgets | all | permanent |
| workers, worker_info | sorted set, hash | heartbeats by expiry (ms), description | renew | an hour after the last |
| busiest, minutes:<hour> | sorted set, hash | ended requests by domain, and by minute and outcome (crawler.ops.tallies) | workers | permanent, two days |
| actions | list | who did what from dashboard or terminal (JSON), newest first (crawler.ops.audit) | dashboard, commands | newest 500 |
| wake | channel | `ready`, `pause`, `resume`, `forget` | push commit … | – |

All start with `{crawl}:`, so that one crawl is one Redis Cluster slot and every script runs there.
Seeds (`catalog:start_urls`, as users fill it) have a slot of their own with their claims.
"""

from __future__ import annotations

import attrs


@attrs.frozen
class Keys:
    """Names of one crawl's keys."""

    crawl: str

    @property
    def prefix(self) -> str:
        """What every key of the crawl starts with."""
        return f"{{{self.crawl}}}:"

    def __getattr__(self, name: str) -> str:
        """`keys.requests` is the name of the requests hash."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self.prefix + name

    def queue(self, domain: str) -> str:
        """Queue of one domain."""
        return f"{self.prefix}q:{domain}"

    def domain(self, domain: str) -> str:
        """State of one domain."""
        return f"{self.prefix}d:{domain}"


@attrs.frozen
class SeedKeys:
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
    def rejected(self) -> str:
        """Seeds that cannot be crawled, with the reason: list of JSON, newest first."""
        return self._beside("rejected")

    def _beside(self, name: str) -> str:
        # The tag makes the slot that of the seeds' own key, whatever braces it has.
        has_tag = "{" in self.seeds and "}" in self.seeds
        return f"{self.seeds}:{name}" if has_tag else f"{{{self.seeds}}}:{name}"
