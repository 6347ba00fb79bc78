"""Rows of docs/scrapy-features.md that a project of the benchmark or another test shows."""

from __future__ import annotations

import attrs

STAYS = "stays in its worker ([why](own-project.md#requests-that-cannot-be-stored))"


@attrs.frozen
class Row:
    """A feature, what it does here, and the project or the test file that shows it."""

    section: str
    name: str
    says: str
    shown_by: str


_SPIDERS, _ITEMS = "Spiders and commands", "Items"
_PARTS, _BOUNDS = "Code of the project's own", "Bounds, order and filters"
_SAME = "as in Scrapy"
ROWS = (
    Row(_SPIDERS, "Spider, `start`, callbacks, `response.follow`", _SAME, "quotes_tutorial"),
    Row(_SPIDERS, "CrawlSpider, rules, `process_request`", _SAME, "crawl_rules"),
    Row(_SPIDERS, "SitemapSpider, `sitemap_filter`", _SAME, "sitemap_books"),
    Row(_SPIDERS, "XMLFeedSpider", _SAME, "feeds_in"),
    Row(_SPIDERS, "CSVFeedSpider", _SAME, "csv_table"),
    Row(
        _SPIDERS,
        "RedisSpider, RedisCrawlSpider",
        "own key, batch size, `max_idle_time`, `make_request_from_data`; seeds are claimed, not "
        "popped",
        "redis_seeds",
    ),
    Row(
        _SPIDERS,
        "`async def` callbacks, `engine.download_async`, JsonRequest",
        "as in Scrapy, at the fleet's pace",
        "async_api",
    ),
    Row(_SPIDERS, "FormRequest, a login by cookie", _SAME, "login_form"),
    Row(_SPIDERS, "a callback that is a lambda, a nested function, a partial", STAYS, "lambdas"),
    Row(
        _SPIDERS,
        "`data:` URLs; `file:`, `ftp:`, `s3:` URLs of `start`",
        "stay in their worker; a page leads to no file, `ftp:` or `s3:` URL: such a link is "
        "refused with a line",
        "lambdas",
    ),
    Row(_SPIDERS, "items or loaders in `meta` or `cb_kwargs`", STAYS, "loaders_in_meta"),
    Row(
        _SPIDERS,
        "callbacks that are another object's method, a function, a static or class method",
        "one that is no method of the spider for a page " + STAYS,
        "callback_kinds",
    ),
    Row(
        _SPIDERS,
        "`meta` and `cb_kwargs` with values of any type",
        "what is no plain data " + STAYS,
        "odd_values",
    ),
    Row(
        _SPIDERS,
        "several requests that share and fill one Item",
        STAYS,
        "gathered_item",
    ),
    Row(
        _SPIDERS,
        "several requests that share and fill one dict or list",
        "where a callback's source shows that it gathers, its requests stay in their worker; else "
        "each has a copy, and a line names it "
        "([instead](own-project.md#what-each-worker-has-for-itself))",
        "gathered_dict",
    ),
    Row(
        _SPIDERS,
        "what callbacks change on the spider (`self.page += 1`, a token) and callbacks read",
        "a request that a page yields for such a callback stays in the page's worker, and a line "
        "at the start says so ([why](own-project.md#what-each-worker-has-for-itself))",
        "counted_pages",
    ),
    Row(
        _SPIDERS,
        "CrawlSpider: `process_links`, `process_value`, `errback` of a rule, `parse_start_url`",
        _SAME,
        "rule_hooks",
    ),
    Row(_SPIDERS, "several sessions by `cookiejar` in a whole crawl", _SAME, "cookie_jars"),
    Row(_SPIDERS, "an item that `start` itself yields", "comes once from each worker", ""),
    Row(
        _SPIDERS,
        "a download that `start` itself awaits (`engine.download_async`)",
        "each worker does it, at the fleet's pace, and a line says so",
        "",
    ),
    Row(
        _SPIDERS,
        "`scrapy shell`, `fetch`, `view`, `parse`, `check` (contracts), `bench`, `list`",
        "as in Scrapy; they join no crawl",
        "test_any_spider",
    ),
    Row(_SPIDERS, "a second `scrapy crawl`", "a new run, which crawls again", "test_any_spider"),
    Row(
        _SPIDERS,
        "TWISTED_REACTOR other than asyncio's or empty, TWISTED_REACTOR_ENABLED = False",
        "refused in a line: a worker needs asyncio's reactor, Scrapy's default",
        "test_addon",
    ),
    Row(_ITEMS, "Item, dataclass, attrs, dict; DropItem", _SAME, "item_types"),
    Row(_ITEMS, "ItemAdapter.ADAPTER_CLASSES, nested loaders", _SAME, "adapter_classes"),
    Row(_ITEMS, "pipelines that return Deferreds or coroutines", _SAME, "awaited_pipelines"),
    Row(_ITEMS, "several FEEDS, `item_filter`, `item_classes`, `fields`", _SAME, "feed_filters"),
    Row(
        _ITEMS,
        "a pipeline that opens a file of its own to write, or drops an item whose like it saw",
        "each worker does so for itself, and a line at the start says so "
        "([instead](own-project.md#what-each-worker-has-for-itself))",
        "",
    ),
    Row(
        _ITEMS,
        "one item object that a callback fills and yields again and again",
        "its later values may be stored in place of earlier ones, as in Scrapy, though not the "
        "same ones: make an item a row",
        "",
    ),
    Row(_ITEMS, "images pipeline", "as in Scrapy, in the worker's own folder", "pictures"),
    Row(_ITEMS, "feeds in batches, FEED_URI_PARAMS", "[of all workers](items.md)", "feed_batches"),
    Row(
        _ITEMS,
        "feeds of a worker that is killed",
        "no item is lost, and no file is torn",
        "test_feeds",
    ),
    Row(
        _PARTS,
        "scrapy-playwright: page methods, `playwright_include_page`",
        "as in Scrapy; a page method's result is in the callback's `response.meta`",
        "browser_pages",
    ),
    Row(
        _PARTS,
        "scrapy-poet: page objects in callbacks",
        "as in Scrapy; its add-on stands beside",
        "page_objects",
    ),
    Row(
        _PARTS,
        "middlewares, an extension and a fingerprinter of one project",
        "as in Scrapy, in each worker",
        "middlewares",
    ),
    Row(
        _PARTS,
        "a download handler of one's own, a Request class with attributes of its own",
        "as in Scrapy; a request of such a class " + STAYS,
        "own_handler",
    ),
    Row(
        _BOUNDS,
        "SCHEDULER of the project's own",
        "a line says that the add-on is off: each worker then crawls all by itself. The add-on "
        "takes the place of Scrapy's own scheduler, where settings name it, and says so",
        "test_addon",
    ),
    Row(_BOUNDS, "DEPTH_PRIORITY and `priority` in a whole crawl", _SAME, "priorities"),
    Row(
        _BOUNDS,
        "CLOSESPIDER_ITEMCOUNT, CLOSESPIDER_PAGECOUNT, CLOSESPIDER_ERRORCOUNT",
        "counts of all workers that run together; pages under way are finished, and count: up to "
        "CONCURRENT_REQUESTS more of each worker. What is left is in the frontier, and the next "
        "start goes on with it",
        "test_fleet_limits",
    ),
    Row(_BOUNDS, "batches that `spider_idle` asks for", _SAME, "idle_batches"),
    Row(_SPIDERS, "`cb_kwargs` and `errback` in a whole crawl", _SAME, "kwargs_errback"),
    Row(_PARTS, "HTTPCACHE_…", "as in Scrapy: a cache of the worker's own", "http_cache"),
    Row(
        _BOUNDS,
        "REQUEST_FINGERPRINTER_CLASS",
        "its fingerprints count, for the fleet, whatever text or bytes they are",
        "own_fingerprints",
    ),
    Row(
        _PARTS,
        "LOG_LEVEL, LOG_FILE, LOG_FORMAT, LOG_DATEFORMAT, STATS_DUMP",
        "as in Scrapy, of each worker; an unknown LOG_LEVEL is refused in a line",
        "test_process_settings",
    ),
    Row(
        _PARTS,
        "TELNETCONSOLE_ENABLED, REMOTE_CONTROL_ENABLED",
        "off, unless the project turns them on",
        "test_process_settings",
    ),
)
