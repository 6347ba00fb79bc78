"""The frontier: every request of a crawl, shared by all workers, in Redis.

The life of a request. A seed or a parsed page makes it; `push` (or the `commit` of its page)
deduplicates it by its fingerprint, stores it, and puts its id into the queue of its domain. A
domain with queued requests is *ready* when it may be asked now, and *waiting* until its due time
otherwise; a domain that is paused, or has all its slots in use, is neither. `lease` takes the best
ready domain (best priority class, then least recently served), pops its first request, and hands
it to one worker with a fencing token and an expiry. The worker renews its leases by a heartbeat.
When the page is parsed and its items are stored, `commit` pushes its children and ends the lease.
A failure ends it by `retry` (delayed, at a lower priority) or `bury` (dead letter). A worker that
stops hands back by `release`; one that dies goes silent, and `reap` returns what it held.

Invariants; tests name the one they guard:

I1  A request known to the frontier is in exactly one of: ready, delayed, leased, dead; or done.
I2  A lease is ended only by the holder of its current token; a late end changes nothing ('LOST').
I3  A page's children appear if and only if the page ended: acked, or buried for its callback's or
    items' failure, in the same script. (Of a page with more than 1,000 links the first ones enter
    before, and those of a page that is read and waits for a feed in a worker without other work; a
    crash then repeats the page, and the filter keeps them from entering twice.)
I4  A page is acked only after each of its items is committed, dropped with a reason, or rejected.
I5  For each domain, requests handed out never exceed its concurrency, and two are never sent
    closer than its delay, whatever the number of workers.
I6  Expiry and due times use the Redis server's clock, never a client's; it never goes back.
I7  No worker that stops, for whatever reason, deletes shared state. Clearing is a command.
I8  What cannot be parsed is set aside with its reason; it never raises into Scrapy.
I9  Nothing read from Redis is unpickled or evaluated.
I10 A lease ends by one stated outcome: done, ignored by a named rule, retried or buried. Nothing is
    done by default: what nobody states has failed. Done and ignored are acks, with which the page's
    children enter (I3), as those do that a buried page had yielded when its callback or an item
    failed. A replay reads the page again, and the filter keeps these links from entering twice,
    also those that skip it (`engine.lease.lease_ends.once_a_page`).
I12 State that is lost is said to be lost: no worker takes another state of Redis for the one that
    it began with (`lost_state`).

Why it is like this: *pending* is derived, never counted (the size of `requests` less the dead
ones), so a crawl's completion is exact, whatever dies. A page's children exist only inside the
script that ends it, so nothing can be buffered anywhere without a lease that stands for it.
Where a crawl is split over servers (`partitions`), a link to another's domain exists from that same
script on in an `outbox`, which counts as pending until the other partition has it.
A domain with a delay may be handed out a few milliseconds early (`lead`), with the exact time at
which to send: the worker waits that moment, and network time does not eat into the rate.
"""

from __future__ import annotations

from scrapy_seine.frontier.opening import find, open  # noqa: A004  # frontier.open(redis, config)

__all__ = ["find", "open"]
