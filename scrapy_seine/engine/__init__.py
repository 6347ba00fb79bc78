"""Scrapy's slots, filled, and one folder for each part of a worker's life.

`worker` puts a worker together, and `scheduler` connects it to Scrapy. `starting` brings the first
requests, `stored` encodes requests for the frontier, `download` fetches, `lease` follows each
request until its lease ends, `fastpath` carries a page through Scrapy's parts, `reading` limits
what a page may cost, `telemetry` reports, and `ending` decides when a worker and its crawl end.
"""
