"""Settings of the crawls: the test settings, without pipelines, with one small spider."""

import json
import os

from settings.test import *  # noqa: F403

SPIDER_MODULES = ["tests.integration.politeness.spider"]
ITEM_PIPELINES = {}
# Scrapy's own crawl command: these crawls have no database.
COMMANDS_MODULE = ""
DATABASE_URL = "postgresql://unused.invalid/"
ROBOTSTXT_OBEY = False
globals().update(json.loads(os.environ.get("POLITE_SETTINGS", "{}")))
