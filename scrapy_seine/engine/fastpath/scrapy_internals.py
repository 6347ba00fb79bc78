"""Private names of Scrapy and Twisted: no other module of the project uses one.

Scrapy promises nothing of names that begin with an underscore. So each feature that needs some asks
here, at the start of a worker, whether all of them are there (`missing`). Where one is not, the
feature is left to Scrapy's own code, and one line of the log says so (`available`):

- `engine`: one task for each request (fastpath.request_task). Else Scrapy's engine drives requests,
  and `stock_path` watches it by public names alone.
- `downloader`: requests go straight to their handlers. Else through Scrapy's queue for each site.
- `client`: the own HTTP client. Else Scrapy's.
- `timed pool`: Scrapy's client waits for a request's time with the connection at hand. Else before
  it asks for one.
- `feeds`: items of feeds hold their pages. Else Scrapy's feed exporter, whose items hold none.
- `fleet cookies`: workers share jars. Else each worker has its own.
- `depth`: Scrapy's depth middleware looks at each output in our loop. Else a page's outputs pass
  through Scrapy's generators, as those of a project's own middlewares do.
- `start`: what a spider's start raises is an Exception. Else a cancellation in it ends no worker.
- `shell`: `scrapy shell` joins no crawl. Else it does: give it a SEINE_CRAWL of its own.
- `pipelines`, `cookies`, `selectors`, `warm-up`, `wake`: less CPU and memory, a prompt first
  request, and an idle worker that hears of work directly instead of by way of `engine.crawl`.

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
from scrapy.utils.defer import ensure_awaitable

logger = logging.getLogger(__name__)

#: Feature -> the private names that it needs, as `module:path` or `module:Class.method`. What a
#: class sets on its instances is found in the code of its methods.
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
    "shell": ("scrapy.crawler:Crawler._started",),
}


def missing(feature: str) -> list[str]:
    """Private names that a feature needs and that this Scrapy does not have."""
    return [name for name in NAMES[feature] if not _is_there(name)]


@cache
def available(feature: str) -> bool:
    """Whether a feature finds all its names; where it does not, one line says so, once."""
    lacking = missing(feature)
    if lacking:
        logger.warning(
            "Scrapy %s has no %s: %s is left to Scrapy's own code",
            *(scrapy.__version__, ", ".join(lacking), feature),
        )
    return not lacking


def _is_there(name: str) -> bool:
    module, _, path = name.partition(":")
    try:
        found: Any = import_module(module)
        owner, _, attribute = path.rpartition(".")
        for part in owner.split(".") if owner else ():
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return False
    return hasattr(found, attribute) or (isinstance(found, type) and _sets(found, attribute))


def _sets(kind: type, attribute: str) -> bool:
    """Whether the code of a class sets an attribute of its instances."""
    members = (member for base in kind.__mro__ for member in vars(base).values())
    return any(_sets_own(each.__code__, attribute) for each in members if inspect.isfunction(each))


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
    """Return the functions that a feature imports, in the order of NAMES; None for those missing.

    For modules that are loaded although their feature may be left to Scrapy.
    """
    found = []
    for name in NAMES[feature]:
        module, _, path = name.partition(":")
        try:
            found.append(getattr(import_module(module), path, None))
        except ImportError:
            found.append(None)
    return tuple(found)


#: By what Scrapy's scraper makes outputs of what a callback returned.
_ITERATE = "iterate_spider_output"
_WARNS = "_warn" in inspect.signature(ensure_awaitable).parameters


def awaitable(made: Any, name: str | None) -> Awaitable[Any]:
    """Make what may be waited for of what *name* returned; Scrapy warns of a Deferred, by name."""
    found: Awaitable[Any]
    found = ensure_awaitable(made, _warn=name) if _WARNS else ensure_awaitable(made)
    return found


def guard_coroutines(guard: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
    """Have Scrapy await a callback's or an errback's coroutine by way of *guard*, in this process.

    Scrapy makes a task of it, in which SystemExit would end the process.
    """
    scrapys = getattr(scraper, _ITERATE, None)
    if scrapys is None or hasattr(scrapys, "__wrapped__"):
        return

    @wraps(scrapys)
    def iterate(made: Any) -> Any:
        return scrapys(guard(made) if inspect.iscoroutine(made) else made)

    setattr(scraper, _ITERATE, iterate)


def has_begun(crawler: Any) -> bool:
    """Whether `Crawler.crawl` was called; it never is for `scrapy shell`.

    Not `crawling`: that is False again where a crawl is stopped while it begins.
    """
    began: bool = crawler._started if available("shell") else True
    return began


def slot_of(engine: Any) -> Any:
    """The engine's slot; None before the spider is opened and after it is closed."""
    return engine._slot


def replace_start(engine: Any, start: Callable[[], bool]) -> None:
    """Have the engine begin requests by *start*."""
    engine._start_scheduled_request = start


def wrap_start(engine: Any, wrap: Callable[[Any], Any]) -> None:
    """Have the engine read the spider's start through *wrap*; it has the start when it opens."""
    if engine is not None and engine._start is not None:
        engine._start = wrap(engine._start)


def soon(nextcall: Any, loop: asyncio.AbstractEventLoop, delay: float) -> None:
    """Make the engine's call; Scrapy takes a timer even for one at once."""
    if nextcall._call is None:
        nextcall._call = loop.call_later(delay, nextcall) if delay else loop.call_soon(nextcall)


def scrape_of(scraper: Any) -> Callable[..., Awaitable[None]]:
    """Scrapy's own way with a response or a failure."""
    found: Callable[..., Awaitable[None]] = scraper._scrape
    return found


def closing_check_of(scraper: Any) -> Callable[[], None]:
    """Tells the scraper that one page less is read, in case that it waits for the last one."""
    found: Callable[[], None] = scraper._check_if_closing
    return found


def spider_steps_of(middlewares: Any) -> tuple[Any, Any, Any]:
    """What the spider middlewares do with a response, with outputs, and with an exception."""
    return (
        middlewares._process_spider_input,
        middlewares._process_callback_output,
        middlewares._process_spider_exception,
    )


def look_of(middleware: Any) -> Callable[[Any, Any], Any]:
    """How Scrapy's base class of spider middlewares looks at one output."""
    found: Callable[[Any, Any], Any] = middleware._get_processed
    return found


def takes_items(middleware: Any) -> bool:
    """Whether a spider middleware looks at items; most take each and return it as it came."""
    return any(
        getattr(getattr(middleware, name), "__func__", None)
        is not getattr(BaseSpiderMiddleware, name)
        for name in ("_get_processed", "get_processed_item")
    )


def depth_of(middleware: Any) -> Callable[[Any], None]:
    """What Scrapy's depth middleware does with a response ahead of its first output."""
    found: Callable[[Any], None] = middleware._init_depth
    return found


def usual_callback(spider: Any) -> Callable[..., Any]:
    """The callback of a request that names none."""
    found: Callable[..., Any] = spider._parse
    return found


def with_spider(manager: Any) -> Any:
    """Methods of middlewares that ask for the spider as an argument."""
    return manager._mw_methods_requiring_spider


def method_call_of(manager: Any) -> Callable[..., Any]:
    """How Scrapy calls a method that may ask for the spider."""
    found: Callable[..., Any] = manager._handle_mw_method
    return found


def exception_step_of(manager: Any) -> Callable[..., Awaitable[Any]]:
    """What the downloader middlewares do with an exception."""
    found: Callable[..., Awaitable[Any]] = manager._process_exception
    return found


def spider_of(manager: Any) -> Any:
    """The spider that a manager passes to methods that ask for it."""
    return manager._spider


def forget_selector(response: Any) -> None:
    """Drop the tree that a response was parsed into."""
    if available("selectors"):
        response._cached_selector = None


def keep_selector(response: Any, selector: Any) -> None:
    """Let a response answer `css` and `xpath` by a tree that was made of it already."""
    if available("selectors"):
        response._cached_selector = selector


def storage_of(exporter: Any, uri: str, options: dict[str, Any]) -> Any:
    """The storage of a feed, as Scrapy's feed exporter makes it."""
    return exporter._get_storage(uri, feed_options=options)


def first_batch_of(exporter: Any, uri: str, options: Any, spider: Any, template: str) -> Any:
    """Begin the first batch of a feed as Scrapy's feed exporter does."""
    return exporter._start_new_batch(1, uri, options, spider, template)


def export_options_of(exporter: Any) -> dict[str, Any]:
    """What an item exporter was made with for the library beneath."""
    found: dict[str, Any] = exporter._kwargs
    return found


def handler_of(handlers: Any, scheme: str) -> Any:
    """The handler of a scheme."""
    return handlers._get_handler(scheme)


def cookies_of(jar: Any, domain: str) -> list[Any]:
    """Cookies of a domain."""
    paths: dict[str, dict[str, Any]] = jar._cookies.get(domain, {})
    return [cookie for named in paths.values() for cookie in named.values()]


def cookies_asked_for(middleware: Any, jar: Any, request: Any) -> Any:
    """The cookies that a request itself brings."""
    return middleware._get_request_cookies(jar, request)


def keep_cookies(middleware: Any, cookies: Any, jar: Any, request: Any) -> None:
    """Put cookies into a jar, as far as its policy allows."""
    middleware._process_cookies(cookies, jar=jar, request=request)


def replace_pool(handler: Any, pool: Any) -> None:
    """Have Scrapy's client take its connections from *pool*, which is set up as its own is."""
    own = handler._pool
    pool.maxPersistentPerHost = own.maxPersistentPerHost
    pool._factory = own._factory
    handler._pool = pool


def protocol_of(connection: Any) -> Any:
    """The protocol of one of Twisted's connections."""
    return getattr(connection, "_clientProtocol", connection)


def waiting_of(transport: Any) -> Any:
    """What a TLS transport of Twisted's has put together and not written; None: nothing."""
    return getattr(transport, "_aggregator", None)


def on_new_connection(connection: Any, timed: Callable[[Any], Any]) -> None:
    """Have a request that is sent once more wait for its time as well."""
    again = getattr(connection, "_newConnection", None)
    if again is not None:
        connection._newConnection = lambda: again().addCallback(timed)
