"""Scrapy's slots, filled, and one folder for each part of a worker's life.

`worker` puts a worker together, and `scheduler` is Scrapy's door to it. `starting` brings the first
requests, `stored` turns requests into what the frontier keeps, `download` fetches, `lease` follows
each request until its end, `fastpath` carries a page through Scrapy's parts, `reading` limits what
a page may cost, `telemetry` reports, and `ending` says when a worker and its crawl are over.
"""
