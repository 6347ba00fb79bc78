"""The dashboard's application: its routes, its start and its stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from importlib import resources

from aiohttp import web
from redis.exceptions import RedisError, ResponseError

from crawler.dashboard import api as json_api
from crawler.dashboard import live
from crawler.dashboard.actions import act
from crawler.dashboard.config import DashboardConfig
from crawler.dashboard.context import CONTEXT, Context, context_of
from crawler.dashboard.crawls import CRAWLS, Crawls, choose_crawl, with_crawl_prefix
from crawler.dashboard.fleet_samples import STEP_S
from crawler.dashboard.layout import page, refusal
from crawler.dashboard.pages import (
    dead_letters,
    domains,
    frontier,
    jobs,
    overview,
    product,
    products,
    proxies,
    records,
    runs,
    workers,
)
from crawler.dashboard.pages.login import login, logout, show_login
from crawler.dashboard.path_names import read_pieces, with_any_names
from crawler.dashboard.product_pictures import show_picture
from crawler.dashboard.products_csv import csv_threads, products_csv
from crawler.dashboard.security import Guard, Handler, make_middleware
from crawler.reads.database import Database, estimate
from crawler.reads.ladder import count_steps
from crawler.reads.proxies import count_proxies
from crawler.reads.records import quality_scores
from crawler.stores.store_endpoints import Endpoints, redis_client
from scrapy_seine.errors import StoreError
from scrapy_seine.printable import printable
from scrapy_seine.reads.demand import demand as demand_of
from scrapy_seine.reads.demand import seeds_waiting
from scrapy_seine.reads.domains import list_domains, read_domains
from scrapy_seine.reads.fleet import read_fleet
from scrapy_seine.reads.prometheus import (
    CONTENT_TYPE,
    add_ladder,
    add_products,
    add_proxies,
    add_quality,
    add_seeds,
    down_sheet,
    fleet_sheet,
    render,
)

logger = logging.getLogger(__name__)
#: Paths of the exporter.
EXPORTED = ("/metrics", "/demand", "/healthz", "/readyz")
#: Most domains with their own labels in the metrics.
LABELS = 50
#: Interval of the attempts to cancel the sampling task, s.
_CANCEL_S = 0.2
_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def make_app(config: DashboardConfig, endpoints: Endpoints) -> web.Application:
    """Build the application; it connects when it starts."""
    guard = Guard(config)
    app = web.Application(
        middlewares=[make_middleware(guard), _outage, read_pieces, choose_crawl],
        client_max_size=1 << 20,
    )
    _connect(app, config, endpoints, guard)
    app.cleanup_ctx.append(_sampling_task)
    app.cleanup_ctx.append(csv_threads)
    app.add_routes(with_any_names(_routes()))
    return app


def make_exporter(config: DashboardConfig, endpoints: Endpoints) -> web.Application:
    """Build the application that serves only metrics and health, without a login."""
    app = web.Application()
    _connect(app, config, endpoints, Guard(config))
    app.add_routes([*_health(), web.get("/demand", demand), web.get("/", exported)])
    return app


def _connect(
    app: web.Application, config: DashboardConfig, endpoints: Endpoints, guard: Guard
) -> None:
    async def stores(app: web.Application) -> AsyncIterator[None]:
        redis, database = redis_client(endpoints.redis_url), Database(endpoints.database_url)
        app[CONTEXT] = Context(config=config, redis=redis, database=database, guard=guard)
        app[CRAWLS] = Crawls(app[CONTEXT])
        app[live.CLOSING] = asyncio.Event()
        yield
        await database.aclose()
        await redis.aclose()

    async def close_streams(app: web.Application) -> None:
        app[live.CLOSING].set()

    app.cleanup_ctx.append(stores)
    app.on_shutdown.append(close_streams)


async def _sampling_task(app: web.Application) -> AsyncIterator[None]:
    sampling = asyncio.ensure_future(_sample_fleet(app[CRAWLS], app[live.CLOSING]))
    yield
    app[live.CLOSING].set()
    # Cancel repeatedly, because a connecting client may replace the cancellation by an error.
    while not sampling.done():
        sampling.cancel()
        await asyncio.wait({sampling}, timeout=_CANCEL_S)


async def _sample_fleet(crawls: Crawls, closing: asyncio.Event) -> None:
    """Sample the fleet every few seconds, so that the plots have no gap between visits."""
    while not closing.is_set():
        with contextlib.suppress(RedisError, OSError):  # an outage is a gap in the plots
            for context in crawls.open_contexts:
                await context.read_partitions()
                await context.overview(max_age_s=STEP_S / 2)
            await crawls.read_names()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(closing.wait(), STEP_S)


def _health() -> list[web.RouteDef]:
    return [
        web.get("/metrics", metrics),
        web.get("/healthz", healthz),
        web.get("/readyz", readyz),
    ]


def _pages() -> list[web.RouteDef]:
    """Return the routes that show one crawl or act on it."""
    return [
        web.get("/", overview.overview),
        web.get("/domains", domains.domains),
        web.get("/domains/{name}", domains.domain),
        web.get("/workers", workers.workers),
        web.get("/workers/{name}", workers.one_worker),
        web.get("/workers/{name}/log", workers.one_worker),
        web.get("/frontier", frontier.frontier),
        web.get("/dead", dead_letters.dead),
        web.get("/dead/{id:[0-9.]+}", dead_letters.letter),
        web.get("/products", products.products),
        web.get("/products.csv", products_csv),
        web.get("/products/{site}/{id}", product.one_product),
        web.get("/picture/{name}", show_picture),
        web.get("/runs", runs.runs),
        web.get("/runs/{number:[0-9]{1,15}}", runs.runs),
        web.get("/jobs", jobs.jobs),
        web.get("/attempts", records.attempts),
        web.get("/quality", records.quality),
        web.get("/proxies", proxies.proxies),
        web.get("/events/{name}", live.events),
        web.post("/do/{verb}", act),
    ]


def _routes() -> list[web.RouteDef]:
    return [
        *with_crawl_prefix(_pages()),
        web.get("/api/overview", api),
        *json_api.routes(),
        web.get("/login", show_login),
        web.post("/login", login),
        web.post("/logout", logout),
        *_health(),
        web.get("/static/{name}", static),
    ]


#: Paths that need no Redis.
_WITHOUT_CRAWL = ("/healthz", "/readyz", "/metrics", "/static/", "/login", "/logout")


@web.middleware
async def _outage(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Report the store that does not answer, instead of a stack trace."""
    try:
        if not request.path.startswith(_WITHOUT_CRAWL):
            with contextlib.suppress(RedisError, OSError):  # a handler that needs Redis reports it
                await context_of(request).read_partitions()
        return await handler(request)
    except ResponseError as error:
        logger.warning("Redis: %s", error)
        reason = f"Redis refuses a call: {printable(str(error))}"
    except (RedisError, ConnectionError) as error:
        logger.warning("Redis: %s", error)
        reason = "Redis does not answer."
    except StoreError as error:
        logger.warning("%s", error)
        reason = str(error)
    except (web.HTTPNotFound, web.HTTPBadRequest) as error:
        if not _shows_pages(request):
            raise
        return _refusal(request, error)
    if not _shows_pages(request):
        raise web.HTTPServiceUnavailable(text=f"{reason}\n")
    response = page(request, "A store does not answer", refusal(reason))
    response.set_status(503)
    return response


def _shows_pages(request: web.Request) -> bool:
    return (
        not request.path.startswith(("/api/", *_WITHOUT_CRAWL)) and "/events/" not in request.path
    )


def _refusal(request: web.Request, error: web.HTTPException) -> web.Response:
    """Show the error in the page's frame, so that the visitor keeps the navigation."""
    is_not_found = error.status == web.HTTPNotFound.status_code
    title = "There is no such page" if is_not_found else "That was not done"
    reason = (error.text or "").strip().removeprefix("404: Not Found")
    response = page(request, title, refusal(reason) if reason else None)
    response.set_status(error.status)
    return response


async def static(request: web.Request) -> web.Response:
    """Serve one of the dashboard's static files, also from a zipped package."""
    name = request.match_info["name"]
    kind = _TYPES.get(name.rpartition(".")[2])
    file = resources.files("crawler.dashboard") / "static" / name
    if kind is None or "/" in name or "\\" in name or not file.is_file():
        raise web.HTTPNotFound(text="There is no such file.\n")
    headers = {"Cache-Control": "max-age=300"}
    return web.Response(body=file.read_bytes(), content_type=kind, charset="utf-8", headers=headers)


async def api(request: web.Request) -> web.Response:
    """Return the overview as JSON, the same as `scrapy status --json`."""
    overview_now = await context_of(request).overview(max_age_s=1)
    return web.json_response(overview_now.plain())


async def metrics(request: web.Request) -> web.Response:
    """Return the fleet's metrics."""
    return web.Response(
        body=await fleet_metrics(context_of(request)), headers={"Content-Type": CONTENT_TYPE}
    )


async def fleet_metrics(context: Context) -> bytes:
    """Render the fleet's metrics; an outage is a metric, not an error."""
    stored_metrics = asyncio.ensure_future(_stored_metrics(context))
    try:
        await context.read_partitions()
        keys = context.frontier.keys
        fleet = await read_fleet(context.redis, context.config.crawl)
        names = await list_domains(context.redis, keys, limit=LABELS)
        busiest = await read_domains(context.redis, keys, names, fleet.at)
        sheet = fleet_sheet(fleet, busiest)
        add_seeds(sheet, fleet, await seeds_waiting(context.redis, context.config.seeds))
        add_proxies(sheet, await count_proxies(context.redis, context.config.fleet, fleet.at))
        add_ladder(sheet, await count_steps(context.redis, context.config.fleet))
    except (RedisError, OSError):
        sheet = down_sheet(context.config.crawl)
    products, scores = await stored_metrics
    add_products(sheet, products)
    add_quality(sheet, scores)
    return render(sheet)


async def demand(request: web.Request) -> web.Response:
    """Return the number of requests that need workers, for an autoscaler; 503: Redis is down.

    An outage must never be reported as 0, because an autoscaler would then stop the fleet.
    """
    context = context_of(request)
    try:
        await context.read_partitions()
        fleet = await read_fleet(context.redis, context.config.crawl)
        seeds = await seeds_waiting(context.redis, context.config.seeds)
    except (RedisError, OSError):
        raise web.HTTPServiceUnavailable(text="Redis does not answer\n") from None
    totals = {
        "crawl": fleet.crawl,
        "demand": demand_of(fleet, seeds),
        "leased": fleet.counts.leased,
    }
    return web.json_response({**totals, "due_now": fleet.due_now, "seeds": seeds})


async def _stored_metrics(context: Context) -> tuple[int | None, dict[str, float]]:
    """Return the approximate number of products (None: no PostgreSQL), and the sites' quality."""
    try:
        products = await estimate(context.database, "products")
        return products, await quality_scores(context.database)
    except StoreError:
        return None, {}


async def exported(request: web.Request) -> web.Response:
    """List the exporter's paths."""
    paths = "".join(f'<li><a href="{path}">{path}</a></li>' for path in EXPORTED)
    text = f"<!doctype html><title>Seine's metrics</title><ul>{paths}</ul>"
    return web.Response(text=text, content_type="text/html")


async def healthz(request: web.Request) -> web.Response:
    """Report that the event loop runs."""
    return web.Response(text="ok\n")


async def readyz(request: web.Request) -> web.Response:
    """Report whether Redis answers."""
    try:
        await context_of(request).frontier.counts()
    except (RedisError, OSError):
        raise web.HTTPServiceUnavailable(text="Redis does not answer\n") from None
    return web.Response(text="ready\n")
