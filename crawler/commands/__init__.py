"""What `scrapy <verb>` can do, one module a verb."""

import gc

# Scrapy imports all of these to run one, and nearly all that a start makes stays for good. A
# collector that looks through it every 700 objects finds nothing, for 0.1 s of each start and
# 0.1 ms of each page: what is loaded is left out, and what a command loads is not looked through.
# A worker looks every few dozen pages, from when it has loaded all (`scrapy crawl`).
gc.freeze()
gc.set_threshold(50_000)
