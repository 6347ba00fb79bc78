"""Detects crawlers of commands that fetch a few pages, because they must not join a shared crawl.

`scrapy shell`, `fetch`, `view`, `parse`, `check` and `bench` make a crawler as `scrapy crawl` does.
Scrapy does not name the command to its crawler, but each is recognisable: `shell` never calls
`Crawler.crawl`, `bench` has a spider of its own, and the others replace the spider's `start`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.core.scheduler import Scheduler as PlainScheduler
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.utils.misc import build_from_crawler, load_object

from scrapy_seine.engine.fastpath.scrapy_internals import has_begun

if TYPE_CHECKING:
    from scrapy.core.scheduler import BaseScheduler
    from scrapy.crawler import Crawler

#: Modules of Scrapy's own commands.
_COMMANDS = "scrapy.commands."
#: Those whose spider's `start` asks for the page that the command is about, `view` included.
_OF_A_PAGE = {"scrapy.commands.fetch", "scrapy.commands.parse", "scrapy.commands.bench"}


def is_one_off(crawler: Crawler) -> bool:
    """Whether a crawler serves `shell`, `fetch`, `view`, `parse`, `check` or `bench`."""
    spider: Any = crawler.spidercls
    of_command = (spider, spider.start)
    return not has_begun(crawler) or any(
        str(part.__module__).startswith(_COMMANDS) for part in of_command
    )


def is_of_a_page(crawler: Crawler) -> bool:
    """Whether a crawler serves `fetch`, `view`, `parse` or `bench`."""
    start: Any = crawler.spidercls.start
    return start.__module__ in _OF_A_PAGE


def plain_scheduler(crawler: Crawler) -> BaseScheduler:
    """Make Scrapy's own scheduler, in memory, with the filter that the command uses."""
    settings = crawler.settings
    configured = load_object(settings["DUPEFILTER_CLASS"])
    filter_class = BaseDupeFilter if configured is BaseDupeFilter else RFPDupeFilter
    return PlainScheduler(
        build_from_crawler(filter_class, crawler),
        mqclass=load_object(settings["SCHEDULER_MEMORY_QUEUE"]),
        pqclass=load_object(settings["SCHEDULER_PRIORITY_QUEUE"]),
        stats=crawler.stats,
        crawler=crawler,
    )
