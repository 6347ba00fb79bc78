"""A shop gives products new addresses: no stale row stays beside the new one."""

from __future__ import annotations

import os
import sys

import pytest

from tests import started
from tests.helpers import Answering, patient, serving

pytestmark = [pytest.mark.acceptance, pytest.mark.redis, pytest.mark.postgres]

NAMES = ["oak", "elm", "ash", "fir", "yew", "box"]
_SIZED = "<form><input name=qty><button>Add to cart</button></form>"


@pytest.mark.parametrize("status", [301, 302])
def test_a_product_that_moved_for_good_leaves_no_live_row_at_its_old_address(crawl, status):
    moved: dict[str, str] = {}

    class Handler(Answering):
        def do_GET(self) -> None:
            if self.path in moved:
                self.answer(status, b"", moved[self.path])
                return
            self.answer(200 if (body := _body(self.path, moved)) else 404, body.encode())

    def run_job() -> None:
        words = ("jobs", "start", "--again", f"{base}/")
        command = [sys.executable, "-m", "scrapy", *words, "-s", f"SEINE_CRAWL={crawl.name}"]
        environment = {**os.environ, **crawl.workers.environment}
        done = started.run(
            command, env=environment, capture_output=True, text=True, timeout=patient(60)
        )
        assert done.returncode == 0, done.stderr
        crawl.start()
        crawl.wait_for_end()

    with serving(Handler) as base:
        run_job()
        assert _live(crawl) == {f"/product/{name}-lamp" for name in NAMES}
        moved |= {f"/product/{name}-lamp": f"/product/new-{name}-lamp" for name in NAMES[:2]}
        run_job()
    expected = {f"/product/new-{name}-lamp" for name in NAMES[:2]}
    staying = NAMES[2:] if status == 301 else NAMES
    assert _live(crawl) == expected | {f"/product/{name}-lamp" for name in staying}


def _body(path: str, moved: dict[str, str]) -> str:
    if path == "/":
        paths = (f"/product/{name}-lamp" for name in NAMES)
        links = "".join(f"<a href={moved.get(path, path)}>lamp</a>" for path in paths)
        return f"<title>Lamps</title><h1>Our lamps</h1>{links}"
    name = path.removeprefix("/product/").removeprefix("new-").removesuffix("-lamp")
    if not path.startswith("/product/") or name not in NAMES:
        return ""
    price = f"<b class=price>€ {20 + NAMES.index(name)}.00</b>"
    return f"<title>{name} lamp</title><h1>{name.title()} lamp</h1>{price}{_SIZED}"


def _live(crawl) -> set[str]:
    rows = crawl.query("SELECT url FROM products WHERE gone_at IS NULL")
    return {"/" + url.split("/", 3)[3] for (url,) in rows}
