"""Faults from the edge of what a crawl meets, on fleets of three workers, judged from outside.

`site` is a web site whose pages misbehave one by one, and its access log. `scene` is one fleet on
servers of its own, with what each page must come to; `judge` compares that with the access log,
the rows in PostgreSQL and the dead letters in Redis. The faults are told in `pages` (what a site,
a seed, a middleware or a pipeline does), `stores` (PostgreSQL), `redis_faults`, `lost_state`,
`ways` (proxies, lanes, start, replay), `clocks` and `jobs`.
"""
