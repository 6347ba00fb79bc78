"""The library of Seine: any Scrapy project becomes distributed, polite as a fleet, and lossless.

    ADDONS = {"scrapy_seine.Addon": 500}
    REDIS_URL = "redis://localhost:6379/0"

The life of a request, and the modules of each step:

1. A user pushes a seed to Redis. `frontier.seed_intake` claims the seed and pushes the request that
`engine.starting.seed_format` makes of it. A seed that cannot be parsed is rejected with its reason.
2. `frontier` holds every request in exactly one place: ready, delayed, leased or dead. It keeps a
domain's pace for the whole fleet, so that leased requests may be sent at once.
3. `engine.worker` puts a worker together; `engine.scheduler` is Scrapy's scheduler slot.
   `frontier.round_trips` reads leases ahead and writes their ends behind, so that no call to Redis
   ever blocks the reactor.
4. `engine.fastpath.request_task` carries a request in one task through the middlewares, the client
   of its lane (`engine.download`; the plain lane's client writes when `send_gate` says that it is
   time) and the spider, which reads one page at a time (`reading.parse_queue`). Where Scrapy lacks
   a private name that this needs, its own engine does it (`fastpath.scrapys_path`).
5. `engine.lease.inflight` holds the request's lease. `engine.lease.page_end` waits until Scrapy is
   done with the request and each of its items is durable. Only then the frontier ends the lease and
   takes the page's links in, in one script. Each lease ends as was stated: done where a callback
   has ended, ignored by a named rule, retried, or buried (with the links that a failed callback had
   yielded); what nobody states has failed (`engine.lease.stated_outcomes`, by the ranks of
   `engine.lease.outcomes`; `engine.lease.lease_ends` sends it).
6. What fails returns later, or is set aside with its reason. What a dead worker held returns when
   its leases expire.

Around them: `politeness` decides pauses, `middlewares` keep what a site asks for, `reads` looks at
a fleet for people, `commands` acts on it (`scrapy seine VERB`), `embedded` starts Redis beside it,
`config` turns settings into checked values, `meta` lists every key of `request.meta`.
Where this differs from what one may expect: the number of requests that are not done is derived,
never counted, so that completion is exact; a domain's slot is free again when its download is over,
not when the page is stored; a seed enters although its URL was seen; each job remembers URLs apart;
a plain page takes neither Scrapy's chain of tasks nor Twisted's client, though a spider, a
middleware or a signal's receiver sees the same; a worker with more work than CPU asks for wider
gaps between a site's requests; a crawl in partitions brings a page's links to other partitions by
an outbox, which is written with the page's ack, because no script reaches two servers.
An upper layer imports a lower one, never the other way round; `make lint` checks that.
"""

from __future__ import annotations

#: Type checkers know the name; `typing` itself is left out, because Ctrl-C while it is imported
#: would come before `interrupts.main` is there to answer it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from scrapy_seine.addon import Addon
    from scrapy_seine.sinks.holds import ItemHold, hold

__all__ = ["Addon", "ItemHold", "hold"]


def __getattr__(name: str) -> Any:
    """Load what is asked for where it is, because a leaf's import must not load Scrapy."""
    if name == "Addon":
        from scrapy_seine.addon import Addon

        return Addon
    if name in {"ItemHold", "hold"}:
        from scrapy_seine.sinks import holds

        return getattr(holds, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
