"""Write docs/dashboard/*.png from a real crawl: `python -m docs.write_dashboard [FOLDER]`.

Three demo shops are crawled by three workers on embedded servers; Debian's Chromium looks at each
page of the dashboard, at 1440 and 390 pixels, light and dark. A page is kept as it is seen first,
in few colours, so that a file stays small. For each it prints the page's weight, with all that it
loads, and the time to its first content.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from redis import Redis

from crawler.demo.shop_process import served
from crawler.demo.worker_processes import Fleet, fleet
from crawler.stores import embedded
from crawler.stores.store_endpoints import redis_client
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.runs import enter
from tests.helpers import server_folder, wait_until

TARGET = Path(__file__).parent / "dashboard"
#: Seconds of crawling that the plots show.
CRAWLED_S = 100
SHOPS = (1500, 900, 600)
#: Nobody listens there.
DEAD = ("http://127.0.0.1:9/gone", "http://127.0.0.1:9/lost")
PAGES = (
    *("/", "/domains", "/workers", "/frontier", "/dead", "/products", "/jobs", "/attempts"),
    *("/proxies", "/quality", "/runs"),
)
#: Width, height and colours of a picture, and what its file's name ends in.
VIEWS = (
    (1440, 900, "light", ""),
    (1440, 900, "dark", "-dark"),
    (390, 844, "light", "-phone"),
    (390, 844, "dark", "-dark-phone"),
)
_COLOURS = 160
#: Bytes of a page with all that it loads, and ms from the click to its first content.
_WEIGHT = """() => {
    const loaded = ["navigation", "resource"].flatMap((kind) => performance.getEntriesByType(kind));
    const bytes = loaded.reduce((sum, one) => sum + one.encodedBodySize, 0);
    const [paint] = performance.getEntriesByName("first-contentful-paint");
    return [bytes, paint ? paint.startTime : NaN];
}"""
#: Paths of this machine in a log are nobody's business.
_NO_PATHS = """() => document.querySelectorAll("pre.log").forEach((log) => {
    log.textContent = log.textContent.replace(/File "[^"]*?([^"/]+\\/[^"/]+)"/g, 'File "…/$1"');
})"""


@contextlib.contextmanager
def crawling() -> Iterator[dict[str, str]]:
    """Crawl the shops until the plots have something to show; gives the stores' addresses."""
    with server_folder() as folder, contextlib.ExitStack() as stack:
        servers = embedded.start(folder)
        environment = {
            "REDIS_URL": str(servers.redis_url),
            "DATABASE_URL": str(servers.database_url),
            "SCRAPY_PROJECT": "default",
        }
        settings = {
            "SEINE_DOMAIN_DELAY_MS": 500,
            "RETRY_TIMES": 0,
            "SEINE_KEEP_ALIVE": 1,
            "ROBOTSTXT_OBEY": 0,
        }
        asyncio.run(_begin_run(environment["REDIS_URL"], "first"))
        shops = [stack.enter_context(served(products=n)) for n in SHOPS]
        with Redis.from_url(environment["REDIS_URL"]) as redis:
            for n, shop in enumerate(shops[:-1], start=1):  # the last one is a job's
                seed = {"url": shop.url, "meta": {"site_id": f"shop-{n}"}}
                redis.lpush("catalog:start_urls", json.dumps(seed))
            redis.lpush("catalog:start_urls", *DEAD)
        workers = stack.enter_context(fleet(settings, environment, folder.parent / "logs"))
        _start(workers)
        with _coordinating(environment):
            _command(environment, "jobs", "start", shops[-1].url)
            yield environment


async def _begin_run(redis_url: str, name: str) -> None:
    client = redis_client(redis_url)
    await enter(Frontier(client, "catalog"), name=name, keep=False, age_ms=0)
    await client.aclose()


@contextlib.contextmanager
def _coordinating(environment: dict[str, str]) -> Iterator[None]:
    with subprocess.Popen(_scrapy("coordinate"), env={**os.environ, **environment}) as process:
        try:
            yield
        finally:
            process.terminate()
            process.wait(20)


def _scrapy(*words: str) -> list[str]:
    return [sys.executable, "-m", "scrapy", *words]


def _command(environment: dict[str, str], *words: str) -> None:
    """Run a command of the project."""
    subprocess.run(_scrapy(*words), env={**os.environ, **environment}, check=True)


def _start(workers: Fleet) -> None:
    for _ in SHOPS:
        workers.start()


@contextlib.contextmanager
def dashboard(environment: dict[str, str]) -> Iterator[str]:
    """Serve the dashboard; gives its address."""
    command = _scrapy("dashboard", "--port", "0", "--json")
    with subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.terminate()
            process.wait(20)


def pictures(base: str, folder: Path) -> None:
    """Look at each page in each view."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for width, height, scheme, suffix in VIEWS:
            view: dict[str, Any] = {"width": width, "height": height}
            context = browser.new_context(base_url=base, color_scheme=scheme, viewport=view)
            page = context.new_page()
            for path in [*PAGES, _one(page, "/products"), _one(page, "/workers")]:
                page.goto(path)
                page.wait_for_timeout(300)
                name = _name(path)
                print("{:24} {:7,.0f} B {:6.0f} ms".format(name + suffix, *page.evaluate(_WEIGHT)))
                page.evaluate(_NO_PATHS)
                _keep(page.screenshot(), folder / f"{name}{suffix}.png")
            context.close()
        browser.close()


def _one(page: Page, listing: str) -> str:
    """Return the address of the first that a list shows."""
    page.goto(listing)
    return page.locator("td a").first.get_attribute("href") or "/"


def _name(path: str) -> str:
    """Name a page's picture: `overview`, `products`, and `product` for one of them."""
    name, _, one = path.strip("/").partition("/")
    return name.removesuffix("s") if one else name or "overview"


def _keep(png: bytes, path: Path) -> None:
    with Image.open(io.BytesIO(png)) as image:
        image.convert("RGB").quantize(_COLOURS).save(path, optimize=True)


def main() -> None:
    """Crawl, look, write."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    folder.mkdir(parents=True, exist_ok=True)
    with crawling() as environment, dashboard(environment) as base:
        began = time.monotonic()
        for name, until_s in (("second", CRAWLED_S / 2), ("", CRAWLED_S)):
            wait_until(lambda: time.monotonic() - began > until_s, 2 * CRAWLED_S, "a crawl to see")  # noqa: B023
            if name:
                asyncio.run(_begin_run(environment["REDIS_URL"], name))
        _command(environment, "quality", "--keep")
        pictures(base, folder)
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")


if __name__ == "__main__":
    main()
