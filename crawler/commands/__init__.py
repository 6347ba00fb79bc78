"""What `scrapy <verb>` can do, one module a verb."""

import gc

# Scrapy imports all of these to run one. What is loaded is left out when the collector looks, and
# what a command loads is seldom looked through, because `settings` says so. A worker looks every
# few dozen pages, from when it has loaded all (`scrapy crawl`).
gc.freeze()
