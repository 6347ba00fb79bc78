"""One line makes any Scrapy project distributed: `ADDONS = {"scrapy_seine.Addon": 500}`.

The add-on installs the shared frontier and the fleet's politeness in Scrapy's settings. It sets
everything at the priority of add-ons, so that the project's own settings win
(https://docs.scrapy.org/en/latest/topics/addons.html).

docs/scrapy-features.md lists for each feature of Scrapy how it works here.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Self

from scrapy.exceptions import NotConfigured
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from scrapy_seine.engine.ending.no_page_status import fail_without_a_page
from scrapy_seine.engine.settings_check import check, unknown_settings
from scrapy_seine.engine.starting.cache_folder import check_cache_folder
from scrapy_seine.engine.starting.download_handlers import check_handlers
from scrapy_seine.engine.starting.event_loop import check_loop, check_reactor
from scrapy_seine.engine.starting.one_off import is_of_a_page, is_one_off
from scrapy_seine.engine.telemetry.logs import one_line_end, one_line_failures
from scrapy_seine.errors import ConfigError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: Scrapy's component settings, and our components.
SLOTS: dict[str, Any] = {
    "SCHEDULER": "scrapy_seine.engine.scheduler.Scheduler",
    "DUPEFILTER_CLASS": "scrapy_seine.engine.dupefilter.ProjectDupeFilter",
    "DOWNLOADER": "scrapy_seine.engine.fastpath.downloader.Downloader",
    "STATS_CLASS": "scrapy_seine.engine.telemetry.quick_stats.Stats",
    "ITEM_PROCESSOR": "scrapy_seine.engine.item_pipelines.Pipelines",
    "LOG_FORMATTER": "scrapy_seine.engine.telemetry.logs.PageLines",
    # One task a response: the default of 100 costs 2 ms of CPU a page.
    "CONCURRENT_ITEMS": 1,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
}
#: Scrapy's middleware -> ours, which does the same for the whole fleet.
REPLACED = {
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": "scrapy_seine.middlewares.retry.Retry",
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": (
        "scrapy_seine.middlewares.robots.RobotsMiddleware"
    ),
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": (
        "scrapy_seine.middlewares.redirect.Redirect"
    ),
    "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": (
        "scrapy_seine.middlewares.redirect.MetaRefresh"
    ),
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": (
        "scrapy_seine.middlewares.decompress.Decompress"
    ),
    "scrapy.downloadermiddlewares.cookies.CookiesMiddleware": (
        "scrapy_seine.middlewares.cookies.Cookies"
    ),
}
#: Middlewares without a counterpart in Scrapy, with their place.
ADDED = {"scrapy_seine.middlewares.throttle.Throttle": 990}
MIDDLEWARES = "DOWNLOADER_MIDDLEWARES"
#: Scrapy's extension -> ours, which does the same for the whole fleet.
EXTENSIONS = {
    "scrapy.extensions.feedexport.FeedExporter": "scrapy_seine.sinks.feeds.exporter.FeedExporter",
    "scrapy.extensions.closespider.CloseSpider": (
        "scrapy_seine.engine.ending.fleet_limits.CloseSpider"
    ),
}
#: Extensions without a counterpart in Scrapy, with their place: what `scrapy seine status` and
#: `scrapy seine logs` show, and what SEINE_METRICS_PORT and SEINE_LOG_FORMAT ask for.
ADDED_EXTENSIONS = {
    "scrapy_seine.engine.telemetry.logs.JsonLogs": 0,
    "scrapy_seine.engine.telemetry.outcome_reports.OutcomeReporter": 10,
    "scrapy_seine.engine.telemetry.metrics_port.MetricsPort": 20,
    "scrapy_seine.engine.telemetry.log_stream.LogStream": 30,
}
PARQUET = "scrapy_seine.sinks.feeds.parquet.ParquetItemExporter"
LANES = "scrapy_seine.engine.download.lanes.Lanes"


class Addon:
    """Scrapy's add-on of the library."""

    def __init__(self, crawler: Crawler | None = None) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the add-on of one crawler."""
        return cls(crawler)

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Refuse wrong settings, because Scrapy reads some before it makes a crawler.

        Raises:
            SystemExit: with one line; there is no log yet.
        """
        one_line_end(settings)
        one_line_failures(settings)  # of spiders, too: Scrapy makes them before `update_settings`
        try:
            check(settings)
            check_reactor(settings)  # with another one, Twisted logs two tracebacks later
        except ConfigError as error:
            raise SystemExit(str(error)) from None

    def update_settings(self, settings: BaseSettings) -> None:
        """Install our components where the project keeps Scrapy's; none for `scrapy shell` and the
        like.

        A middleware that the project sets, moves or disables itself stays as the project set it.

        Raises:
            ConfigError: settings have values that are not allowed.
            NotConfigured: the project has a scheduler of its own.
        """
        if self.crawler is not None and is_one_off(self.crawler):
            if is_of_a_page(self.crawler):
                fail_without_a_page(settings)
            return
        one_line_failures(settings)
        _take_over(settings)
        check(settings)
        check_cache_folder(settings)
        check_handlers(settings)
        check_loop(settings)
        for stranger in unknown_settings(settings):
            logger.warning("%s", stranger)
        if settings["JOBDIR"]:
            logger.info(
                "JOBDIR keeps spider.state alone, because the queue is in Redis at any time"
            )
        for name, value in SLOTS.items():
            settings.set(name, value, priority="addon")
        _replace(settings, MIDDLEWARES, REPLACED)
        _replace(settings, "EXTENSIONS", EXTENSIONS)
        for name, added in ((MIDDLEWARES, ADDED), ("EXTENSIONS", ADDED_EXTENSIONS)):
            for component, place in added.items():
                settings.setdefault_in_component_priority_dict(name, load_object(component), place)
        _add(settings, "DOWNLOAD_HANDLERS", {"http": LANES, "https": LANES})
        _add(settings, "FEED_EXPORTERS", {"parquet": PARQUET})


def _add(settings: BaseSettings, name: str, entries: dict[str, str]) -> None:
    """Add missing entries to the project's mapping, at its own priority, so that they apply."""
    priority = max(SETTINGS_PRIORITIES["addon"], settings.getpriority(name) or 0)
    settings.set(name, {**entries, **settings.getdict(name)}, priority=priority)


def _take_over(settings: BaseSettings) -> None:
    """Replace scrapy-redis' components, and Scrapy's scheduler, which a project may name itself.

    Raises:
        NotConfigured: the project has another scheduler; nothing else is changed then.
    """
    for name, packages in (
        ("SCHEDULER", {"scrapy_redis", "scrapy", ""}),  # `-s SCHEDULER=` names none
        ("DUPEFILTER_CLASS", {"scrapy_redis"}),
    ):
        path, priority = _path(settings[name] or ""), settings.getpriority(name) or 0
        if path.partition(".")[0] in packages:
            if priority > SETTINGS_PRIORITIES["default"]:
                logger.info("%s = %s: the add-on takes its place", name, path)
            settings.set(name, SLOTS[name], priority=priority)
    path = _path(settings["SCHEDULER"])
    if issubclass(load_object(path), load_object(SLOTS["SCHEDULER"])):
        return
    raise NotConfigured(f"SCHEDULER is {path}; delete that setting, because the frontier is one")


def _replace(settings: BaseSettings, name: str, replaced: dict[str, str]) -> None:
    """Replace Scrapy's components by ours, unless the project sets them itself."""
    project_paths = {_path(key) for key in settings.getdict(name)}
    base = {_path(key): place for key, place in settings.getdict(f"{name}_BASE").items()}
    for scrapys, component in replaced.items():
        if scrapys not in project_paths and scrapys in base:
            settings.set_in_component_priority_dict(name, load_object(scrapys), None)
            settings.setdefault_in_component_priority_dict(
                name, load_object(component), base[scrapys]
            )


def _path(key: Any) -> str:
    """Return the path of a component, which settings give as a path or a class."""
    return key if isinstance(key, str) else global_object_name(key)
