"""The engine of Seine: one shared frontier, and everything that a worker does with it.

The life of a request, and where to read about each step:

1. A seed is pushed to Redis. `engine.intake` claims it, reads it and pushes a request; one that
   cannot be read is set aside with its reason.
2. `frontier` holds every request in exactly one place: ready, delayed, leased or dead. It keeps
   a domain's pace for the whole fleet, so that what it hands out may be sent at once.
3. `engine.scheduler` is Scrapy's scheduler slot. `engine.pump` reads ahead and writes behind, so
   that no call to Redis ever blocks the reactor.
4. `engine.passage` carries it in one task through the downloader middlewares, the client of its
   lane (`engine.http` for the plain one, which writes when `engine.gate` says that it is time) and
   the spider, which reads one page at a time (`engine.turns`) with `extract`: products and further
   requests.
5. `engine.ledger` holds the request's lease until Scrapy is done with it and each of its items
   is durable. Only then the frontier ends the lease and takes the page's links in, in one script.
   Each lease ends as was stated (`engine.outcomes`, `engine.ends`): done where a callback has
   ended, ignored by a named rule, retried, or buried. What nobody states has failed.
6. What fails returns later, or is set aside with its reason. What was in the hands of a worker
   that died returns when its leases expire.

Around them: `stores` (clients, schema, private servers of the laptop mode), `politeness` (pauses,
robots.txt), `access` (detection, identities, proxies, the ladder), `jobs` and `coordinator` (what
is crawled when), `ops`, `metrics` and `dashboard` (seeing and steering), `config` (settings become
checked values), `commands` (what `scrapy <verb>` can do) and `demo` (a shop to crawl).
Where this differs from what one may expect: the number of requests that are not done is derived,
never counted, so that completion is exact; a domain's slot is free again when its download is over,
not when the page is stored; a seed enters although its URL was seen; each job remembers URLs apart;
a plain page takes neither Scrapy's chain of tasks nor Twisted's client, though what a spider, a
middleware or a signal's receiver sees is the same; a worker with more to do than it can asks for
wider gaps between a site's requests; a crawl in partitions brings a page's links to other
partitions by an outbox, which is written with the page's ack, since no script reaches two servers.
An upper layer imports a lower one, never the other way round; `make lint` sees to it.
"""
