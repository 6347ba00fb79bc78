"""The settings of a fleet under test: those of the suite's crawls, with what fails on purpose."""

import os

from settings.test import *

_INJECTED = "tests.benchmarks.edges.inject."
DOWNLOADER_MIDDLEWARES = {
    **DOWNLOADER_MIDDLEWARES,
    _INJECTED + "Raiser": 5,
    _INJECTED + "InnerRaiser": 999,
}
SPIDER_MIDDLEWARES = {**SPIDER_MIDDLEWARES, _INJECTED + "Callbacks": 900}
ITEM_PIPELINES = {**ITEM_PIPELINES, _INJECTED + "Pipeline": 50}
REDIS_START_URLS_KEY = "%(crawl)s:start_urls"
SEINE_LEASE_SECONDS = 3
SEINE_KEEP_ALIVE = os.environ.get("EDGES_KEEP_ALIVE", "0")
DOWNLOAD_TIMEOUT = 5
SEINE_TALLY_SECONDS = 60
