"""Private names of Scrapy and Twisted: no other module of the project uses one.

Scrapy may change names that begin with an underscore at any time. So each feature that needs some
checks here, at the start of a worker, whether all of them exist (`missing_names`). If one does not,
the feature is left to Scrapy's own code, and one log line reports it (`available`):

- `engine`: one task for each request (fastpath.request_task). Else Scrapy's engine drives requests,
  and `scrapys_path` follows them by public names alone.
- `downloader`: requests go straight to their handlers. Else through Scrapy's queue for each site.
- `client`: the own HTTP client. Else Scrapy's.
- `timed pool`: Scrapy's client waits for a request's slot with the connection open. Else before it
  connects.
- `feeds`: items of feeds hold their pages. Else Scrapy's feed exporter, whose items hold none.
- `fleet cookies`: workers share jars. Else each worker has its own.
- `depth`: Scrapy's depth middleware looks at each output in our loop. Else a page's outputs pass
  through Scrapy's generators, as those of a project's own middlewares do.
- `start`: an exception of a spider's start is an Exception. Else a cancellation in it ends no
  worker.
- `rules`: a CrawlSpider's failed page is a dead letter if its rule has no errback. Else it is done.
- `shell`: `scrapy shell` joins no crawl. Else it does: give it a SEINE_CRAWL of its own.
- `pipelines`, `cookies`, `selectors`, `warm-up`, `wake`: less CPU and memory, a prompt first
  request, and an idle worker that is woken directly instead of by `engine.crawl`.

`tests/integration/test_stock_path.py` renames these names within Scrapy, and runs crawls.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dis import get_instructions
from functools import cache, wraps
from importlib import import_module
from itertools import pairwise
from types import CodeType
from typing import Any

import scrapy
from scrapy.core import scraper
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.defer import ensure_awaitable

logger = logging.getLogger(__name__)

#: Feature -> the private names that it needs, as `module:path` or `module:Class.method`. Attributes
#: that a class sets on its instances are found in the code of its methods.
NAMES: dict[str, tuple[str, ...]] = {
    "engine": (
        "scrapy.core.engine:ExecutionEngine._slot",
        "scrapy.core.engine:ExecutionEngine._start_scheduled_request",
        "scrapy.core.scraper:Scraper._scrape",
        "scrapy.core.scraper:Scraper._check_if_closing",
        "scrapy.core.spidermw:SpiderMiddlewareManager._process_spider_input",
        "scrapy.core.spidermw:SpiderMiddlewareManager._process_callback_output",
        "scrapy.core.spidermw:SpiderMiddlewareManager._process_spider_exception",
        "scrapy.spidermiddlewares.base:BaseSpiderMiddleware._get_processed",
        "scrapy.utils.reactor:CallLaterOnce._call",
        "scrapy.spiders:Spider._parse",
    ),
    "downloader": (
        "scrapy.exceptions:_InvalidOutput",
        "scrapy.utils.defer:_process_pending_io",
        "scrapy.middleware:MiddlewareManager._mw_methods_requiring_spider",
        "scrapy.core.downloader.middleware:DownloaderMiddlewareManager._handle_mw_method",
        "scrapy.core.downloader.middleware:DownloaderMiddlewareManager._process_exception",
    ),
    "client": (
        "scrapy.utils._download_handlers:check_stop_download",
        "scrapy.utils._download_handlers:get_dataloss_msg",
        "scrapy.utils._download_handlers:get_maxsize_msg",
        "scrapy.utils._download_handlers:get_warnsize_msg",
        "scrapy.utils._download_handlers:make_response",
        "scrapy.utils.ssl:_log_sslobj_debug_info",
        "scrapy.utils.ssl:_make_ssl_context",
    ),
    "timed pool": (
        "scrapy.core.downloader.handlers.http11:HTTP11DownloadHandler._pool",
        "twisted.web.client:HTTPConnectionPool._factory",
    ),
    "pipelines": (
        "scrapy.middleware:MiddlewareManager._mw_methods_requiring_spider",
        "scrapy.middleware:MiddlewareManager._spider",
    ),
    "cookies": ("scrapy.http.cookies:CookieJar._cookies",),
    "warm-up": ("scrapy.core.downloader.handlers:DownloadHandlers._get_handler",),
    "fleet cookies": (
        "scrapy.downloadermiddlewares.cookies:CookiesMiddleware._get_request_cookies",
        "scrapy.downloadermiddlewares.cookies:CookiesMiddleware._process_cookies",
    ),
    "depth": ("scrapy.spidermiddlewares.depth:DepthMiddleware._init_depth",),
    "selectors": ("scrapy.http.response.text:TextResponse._cached_selector",),
    "feeds": (
        "scrapy.extensions.feedexport:FeedExporter._get_storage",
        "scrapy.extensions.feedexport:FeedExporter._start_new_batch",
        "scrapy.exporters:BaseItemExporter._kwargs",
    ),
    "wake": ("scrapy.core.engine:ExecutionEngine._slot",),
    "start": ("scrapy.core.engine:ExecutionEngine._start",),
    "rules": ("scrapy.spiders:CrawlSpider._rules",),
    "shell": ("scrapy.crawler:Crawler._started",),
}


def missing_names(feature: str) -> list[str]:
    """Return the private names that a feature needs and this Scrapy lacks."""
    return [name for name in NAMES[feature] if not _exists(name)]


@cache
def available(feature: str) -> bool:
    """Whether all names of a feature exist; if not, it is logged once."""
    lacking = missing_names(feature)
    if lacking:
        logger.warning(
            "Scrapy %s has no %s: %s is left to Scrapy's own code",
            *(scrapy.__version__, ", ".join(lacking), feature),
        )
    return not lacking


def _exists(name: str) -> bool:
    module, _, path = name.partition(":")
    try:
        holder: Any = import_module(module)
        owner, _, attribute = path.rpartition(".")
        for part in owner.split(".") if owner else ():
            holder = getattr(holder, part)
    except (ImportError, AttributeError):
        return False
    return hasattr(holder, attribute) or (isinstance(holder, type) and _sets(holder, attribute))


def _sets(kind: type, attribute: str) -> bool:
    """Whether the code of a class sets an attribute of its instances."""
    members = (member for base in kind.__mro__ for member in vars(base).values())
    return any(
        _sets_own(function.__code__, attribute)
        for function in members
        if inspect.isfunction(function)
    )


def _sets_own(code: CodeType, attribute: str) -> bool:
    if attribute not in code.co_names:
        return False
    for before, step in pairwise(get_instructions(code)):
        # Newer versions of Python load the value and `self` by one instruction.
        names = before.argval if isinstance(before.argval, tuple) else (before.argval,)
        if (step.opname, step.argval, names[-1]) == ("STORE_ATTR", attribute, "self"):
            return True
    return False


def imported(feature: str) -> tuple[Any, ...]:
    """Return the functions that a feature imports, in the order of NAMES; None for missing ones.

    For modules that are loaded even if their feature is left to Scrapy.
    """
    functions = []
    for name in NAMES[feature]:
        module, _, path = name.partition(":")
        try:
            functions.append(getattr(import_module(module), path, None))
        except ImportError:
            functions.append(None)
    return tuple(functions)


#: Name of the function by which Scrapy's scraper iterates over a callback's result.
_ITERATE = "iterate_spider_output"
_WARNS = "_warn" in inspect.signature(ensure_awaitable).parameters


def awaitable(result: Any, name: str | None) -> Awaitable[Any]:
    """Make the result of *name* awaitable; Scrapy warns of a Deferred, by name."""
    awaited: Awaitable[Any]
    awaited = ensure_awaitable(result, _warn=name) if _WARNS else ensure_awaitable(result)
    return awaited


def guard_coroutines(guard: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
    """Make Scrapy await coroutines of callbacks and errbacks through *guard*, in this process.

    Scrapy makes a task of it, in which SystemExit would end the process.
    """
    scrapys = getattr(scraper, _ITERATE, None)
    if scrapys is None or hasattr(scrapys, "__wrapped__"):
        return

    @wraps(scrapys)
    def iterate(result: Any) -> Any:
        return scrapys(guard(result) if inspect.iscoroutine(result) else result)

    setattr(scraper, _ITERATE, iterate)


def has_begun(crawler: Any) -> bool:
    """Whether `Crawler.crawl` was called; it never is for `scrapy shell`.

    Not `crawling`, which is False again if a crawl is stopped while it begins.
    """
    began: bool = crawler._started if available("shell") else True
    return began


def pretend_begun(crawler: Any) -> None:
    """Make `has_begun` true of a crawler that only lends its settings."""
    crawler._started = True


def rules_of(spider: CrawlSpider) -> list[Rule]:
    """Return a CrawlSpider's rules as it applies them, with the methods that they name."""
    return spider._rules if available("rules") else []


def slot_of(engine: Any) -> Any:
    """Return the engine's slot; None before the spider is opened and after it is closed."""
    return engine._slot


def replace_start(engine: Any, start: Callable[[], bool]) -> None:
    """Make the engine begin requests by *start*."""
    engine._start_scheduled_request = start


def wrap_start(engine: Any, wrap: Callable[[Any], Any]) -> None:
    """Make the engine read the spider's start through *wrap*; it has the start when it opens."""
    if engine is not None and engine._start is not None:
        engine._start = wrap(engine._start)


def schedule_call(nextcall: Any, loop: asyncio.AbstractEventLoop, delay: float) -> None:
    """Schedule the engine's call; Scrapy uses a timer even for a call without delay."""
    if nextcall._call is None:
        nextcall._call = loop.call_later(delay, nextcall) if delay else loop.call_soon(nextcall)


def scrape_of(scraper: Any) -> Callable[..., Awaitable[None]]:
    """Return the scraper's own method that handles a response or a failure."""
    method: Callable[..., Awaitable[None]] = scraper._scrape
    return method


def closing_check_of(scraper: Any) -> Callable[[], None]:
    """Return the scraper's check whether it may close, to call after each page."""
    method: Callable[[], None] = scraper._check_if_closing
    return method


def spider_steps_of(middlewares: Any) -> tuple[Any, Any, Any]:
    """Return the spider middlewares' methods for a response, for outputs, and for an exception."""
    return (
        middlewares._process_spider_input,
        middlewares._process_callback_output,
        middlewares._process_spider_exception,
    )


def look_of(middleware: Any) -> Callable[[Any, Any], Any]:
    """Return the method by which a spider middleware looks at one output."""
    method: Callable[[Any, Any], Any] = middleware._get_processed
    return method


def takes_items(middleware: Any) -> bool:
    """Whether a spider middleware handles items; most return each unchanged."""
    return any(
        getattr(getattr(middleware, name), "__func__", None)
        is not getattr(BaseSpiderMiddleware, name)
        for name in ("_get_processed", "get_processed_item")
    )


def depth_of(middleware: Any) -> Callable[[Any], None]:
    """Return the depth middleware's method for a response before its first output."""
    method: Callable[[Any], None] = middleware._init_depth
    return method


def usual_callback(spider: Any) -> Callable[..., Any]:
    """Return the callback of a request that names none."""
    callback: Callable[..., Any] = spider._parse
    return callback


def with_spider(manager: Any) -> Any:
    """Return the middlewares' methods that take the spider as an argument."""
    return manager._mw_methods_requiring_spider


def method_call_of(manager: Any) -> Callable[..., Any]:
    """Return Scrapy's caller for a method that may take the spider."""
    method: Callable[..., Any] = manager._handle_mw_method
    return method


def exception_step_of(manager: Any) -> Callable[..., Awaitable[Any]]:
    """Return the downloader middlewares' method for an exception."""
    method: Callable[..., Awaitable[Any]] = manager._process_exception
    return method


def spider_of(manager: Any) -> Any:
    """Return the spider that a manager passes to methods."""
    return manager._spider


def forget_selector(response: Any) -> None:
    """Drop the parsed tree of a response."""
    if available("selectors"):
        response._cached_selector = None


def keep_selector(response: Any, selector: Any) -> None:
    """Set the parsed tree that a response uses for `css` and `xpath`."""
    if available("selectors"):
        response._cached_selector = selector


def storage_of(exporter: Any, uri: str, options: dict[str, Any]) -> Any:
    """Return the storage of a feed, as Scrapy's feed exporter makes it."""
    return exporter._get_storage(uri, feed_options=options)


def first_batch_of(exporter: Any, uri: str, options: Any, spider: Any, template: str) -> Any:
    """Begin the first batch of a feed as Scrapy's feed exporter does."""
    return exporter._start_new_batch(1, uri, options, spider, template)


def export_options_of(exporter: Any) -> dict[str, Any]:
    """Return the options that an item exporter passes to its library."""
    options: dict[str, Any] = exporter._kwargs
    return options


def handler_of(handlers: Any, scheme: str) -> Any:
    """Return the handler of a scheme."""
    return handlers._get_handler(scheme)


def cookies_of(jar: Any, domain: str) -> list[Any]:
    """Return the cookies of a domain."""
    paths: dict[str, dict[str, Any]] = jar._cookies.get(domain, {})
    return [cookie for by_name in paths.values() for cookie in by_name.values()]


def cookies_asked_for(middleware: Any, jar: Any, request: Any) -> Any:
    """Return the cookies that a request itself has."""
    return middleware._get_request_cookies(jar, request)


def keep_cookies(middleware: Any, cookies: Any, jar: Any, request: Any) -> None:
    """Put cookies into a jar, as far as its policy allows."""
    middleware._process_cookies(cookies, jar=jar, request=request)


def replace_pool(handler: Any, pool: Any) -> None:
    """Make Scrapy's client take its connections from *pool*, configured as its own is."""
    scrapys_pool = handler._pool
    pool.maxPersistentPerHost = scrapys_pool.maxPersistentPerHost
    pool._factory = scrapys_pool._factory
    handler._pool = pool


def protocol_of(connection: Any) -> Any:
    """Return the protocol of one of Twisted's connections."""
    return getattr(connection, "_clientProtocol", connection)


def waiting_of(transport: Any) -> Any:
    """Return the unwritten data of Twisted's TLS transport; None: there is none."""
    return getattr(transport, "_aggregator", None)


def on_new_connection(connection: Any, timed: Callable[[Any], Any]) -> None:
    """Make a request that is sent again wait for its slot as well."""
    reconnect = getattr(connection, "_newConnection", None)
    if reconnect is not None:
        connection._newConnection = lambda: reconnect().addCallback(timed)
