"""What `scrapy <verb>` can do, one module a verb."""

import gc

# Scrapy imports all of these modules to run one. Freezing them keeps them out of every collection.
# A command collects seldom (the threshold is set in `settings`); a worker collects every few dozen
# pages, once all its parts are loaded (`scrapy crawl`).
gc.freeze()
