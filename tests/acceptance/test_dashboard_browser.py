"""A person with a browser: looks at a crawl while it runs, and acts on it."""

import asyncio
import re
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from crawler.demo.shop_process import served
from crawler.stores.store_endpoints import redis_client
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.runs import enter
from tests.acceptance.operations import watching
from tests.helpers import wait_until

CHROMIUM = next((p for n in ("chromium", "chromium-browser") if (p := shutil.which(n))), None)
pytestmark = [
    pytest.mark.acceptance,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
    # Playwright's driver leaves its pipes to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
PRODUCTS, RUNS = 400, 60
#: Nobody listens there.
DEAD = "http://127.0.0.1:9/gone"
PAGES = (
    *("/", "/domains", "/workers", "/frontier", "/dead", "/products", "/jobs", "/attempts"),
    *("/proxies", "/quality", "/runs"),
)


@pytest.fixture
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Visitor:
    """A page, with all that went wrong on it."""

    def __init__(self, browser, base, *, dark=False, width=1200):
        scheme = "dark" if dark else "light"
        self.context = browser.new_context(
            base_url=base, color_scheme=scheme, viewport={"width": width, "height": 800}
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(15_000)
        self.troubles = []
        self.page.on("console", lambda m: self.troubles.append(m.text) if m.type == "error" else 0)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", lambda request: self.stays_on(base, request.url))

    def stays_on(self, base, url):
        """Note an address that is not the dashboard's own."""
        if not url.startswith(base):
            self.troubles.append(url)

    def tile(self, name):
        """Value of one tile of the overview."""
        shown = self.page.locator(".tiles div", has=self.page.get_by_text(name, exact=True))
        return int(re.sub(r"\D", "", shown.locator("dd").inner_text()))

    def press(self, label):
        """Press a button and say yes."""
        self.page.get_by_role("button", name=label, exact=True).first.click()
        self.page.get_by_role("button", name="Yes", exact=True).click()
        self.page.get_by_role("status").filter(has_text=".").first.wait_for()


def test_a_person_watches_and_steers_a_crawl(crawl, redis_url, browser):
    crawl.workers.settings = {
        **crawl.workers.settings,
        "SEINE_TALLY_SECONDS": 1,
        "SEINE_KEEP_ALIVE": 1,
        "RETRY_TIMES": 0,
        "ROBOTSTXT_OBEY": 0,
        "SEINE_DOMAIN_DELAY_MS": 50,
    }
    with (
        served(products=PRODUCTS) as shop,
        watching(crawl, redis_url, "dashboard") as base,
    ):
        with ThreadPoolExecutor() as other:  # Playwright's loop runs in this thread
            other.submit(asyncio.run, _begin_runs(redis_url, crawl.name)).result()
        crawl.seed(shop.url, DEAD)
        crawl.start()
        crawl.start()
        wait_until(lambda: crawl.total("buried") and crawl.rows(), 60, "products and a dead letter")
        domain = shop.url.split("/")[2]
        me = Visitor(browser, base)
        _numbers_move(me)
        _a_domain_is_paused_and_resumed(me, crawl, domain)
        _a_dead_letter_is_replayed(me, crawl)
        _a_product_is_found(me, crawl)
        _a_worker_is_drained(me, crawl)
        _pages_are_accessible(browser, base)
        assert me.troubles == []


async def _begin_runs(redis_url, crawl):
    client = redis_client(redis_url)
    for number in range(RUNS):  # as many as make the way to them longer than a screen is wide
        await enter(Frontier(client, crawl), name=f"day {number}", keep=False, age_ms=0)
    await client.aclose()


def _numbers_move(me):
    me.page.goto("/")
    before = me.tile("Done")
    wait_until(lambda: me.tile("Done") > before, 20, "the number of done pages grows by itself")
    assert me.page.locator("#stream-state").inner_text() == "live"


def _a_domain_is_paused_and_resumed(me, crawl, domain):
    me.page.goto("/domains")
    me.page.get_by_role("link", name=domain).click()
    me.press("Pause it")
    assert crawl.redis.hexists(crawl.keys.domain(domain), "paused")
    assert me.page.locator(".badge").first.inner_text() == "paused"
    me.press("Resume it")
    assert not crawl.redis.hexists(crawl.keys.domain(domain), "paused")


def _a_dead_letter_is_replayed(me, crawl):
    buried = crawl.total("buried")
    me.page.goto("/dead")
    me.page.get_by_role("checkbox", name=f"Choose {DEAD}").check()
    me.press("Try the ticked again")
    assert "Sent back: 1." in me.page.locator("main").inner_text()
    wait_until(lambda: crawl.total("buried") > buried, 30, "it was tried again, and failed again")


def _a_product_is_found(me, crawl):
    name = crawl.query("SELECT name FROM products ORDER BY name LIMIT 1")[0][0]
    me.page.goto("/products")
    me.page.get_by_role("searchbox").fill(name)
    me.page.get_by_role("button", name="Search").click()
    me.page.get_by_role("link", name=name, exact=True).first.click()
    me.page.get_by_role("heading", name=name, level=1).wait_for()
    assert me.page.locator("svg.chart polyline").count() == 1


def _a_worker_is_drained(me, crawl):
    me.page.goto("/workers")
    me.page.locator("td a").first.click()
    me.press("Drain this worker")
    wait_until(lambda: len(crawl.workers.alive) == 1, 60, "one of two workers leaves")
    assert [worker.process.returncode for worker in crawl.workers.workers].count(0) == 1


def _pages_are_accessible(browser, base):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not there")
    found = {}
    for dark, width in ((False, 1200), (True, 390)):
        visitor = Visitor(browser, base, dark=dark, width=width)
        for path in PAGES:
            visitor.page.goto(path)
            wide = visitor.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{path} is wider than the screen"
            for violation in axe.Axe().run(visitor.page).response["violations"]:
                if violation["impact"] in {"serious", "critical"}:
                    nodes = [node["html"][:120] for node in violation["nodes"][:3]]
                    found[path, dark, violation["id"]] = nodes
        assert visitor.troubles == []
    assert found == {}
