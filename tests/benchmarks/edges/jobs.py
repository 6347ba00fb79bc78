"""Jobs: a sitemap's watch beside a full crawl, products gone or only sold out, a cancel."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import attrs

from tests.benchmarks.edges.judge import Expected
from tests.benchmarks.edges.scene import Scene
from tests.benchmarks.edges.site import Thing, page
from tests.helpers import wait_until

_FILE = """from crawler.extract.site import Site


class Shop(Site):
    name = "edge-shop"
    domains = ({host!r},)
    seeds = ("http://{host}/all",)
    sitemaps = ("http://{host}/sitemap.xml",)
    watch_s = 3600
    schedule = "0 0 1 1 *"
"""
COUNT = 20


def jobs(scene: Scene) -> None:
    """Begin both at once, as a cron on the full hour does; crawl again with workers only."""
    host = _shop(scene)
    together = scene.fault("3 a watch of sitemaps begins with a full crawl")
    with _coordinator(scene):
        scene.start()
        _wait_planned(scene)
        scene.wait_end(together)
    scene.scrapy("coordinate", "--once")
    scene.exits(together)
    scene.judge()
    scene.findings[:] = [attrs.evolve(one, fault=together) for one in scene.findings]
    _again(scene, host)
    _cancelled(scene)


def _shop(scene: Scene) -> str:
    """Make a shop whose second half is linked from the pages of its first half only."""
    host = scene.site.host()
    (scene.project / "spiders" / "sites" / "edge.py").write_text(_FILE.format(host=host))
    first = [f"/p/{number}" for number in range(COUNT // 2)]
    listed = "".join(f'<a href="{path}">{path}</a>' for path in first)
    scene.site.pages[f"http://{host}/all"] = page(f"<html><body>{listed}</body></html>")
    urls = "".join(f"<url><loc>http://{host}{path}</loc></url>" for path in first)
    scene.site.pages[f"http://{host}/sitemap.xml"] = page(
        f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"{urls}</urlset>",
        headers={"Content-Type": "application/xml"},
    )
    for number in range(COUNT):
        _show(scene, host, number)
    return host


def _show(scene: Scene, host: str, number: int, availability: str = "InStock") -> None:
    thing = Thing(f"J-{number}", f"{number + 1}.00", availability)
    more = f'<p><a href="/p/{number + COUNT // 2}">more</a></p>' if number < COUNT // 2 else ""
    url = f"http://{host}/p/{number}"
    scene.site.pages[url] = page(thing.html.replace("</body>", f"{more}</body>"))
    scene.expected[:] = [one for one in scene.expected if one.url != url]
    scene.expected.append(Expected(fault="jobs", url=url, fate="stored", thing=thing))


@contextmanager
def _coordinator(scene: Scene) -> Iterator[None]:
    """Run a coordinator as long as the block."""
    with (scene.folder / "coordinator.log").open("wb") as log:
        process = subprocess.Popen(
            scene.command("coordinate"),
            cwd=scene.project,
            env=scene.surroundings(),
            stdout=log,
            stderr=log,
        )
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _wait_planned(scene: Scene) -> None:
    def planned() -> bool:
        with scene.redis.client() as redis:
            return bool(redis.zcard(scene.keys.jobs) >= 2)

    wait_until(planned, 60, "the coordinator begins both jobs")


def _again(scene: Scene, host: str) -> None:
    """Crawl again: what is sold out stays, what answers 404 is gone, and the job ends."""
    sold, gone, over = (
        scene.fault("4 products say that they are unavailable"),
        scene.fault("4 a product answers 404"),
        scene.fault("12 a full job ends without a coordinator"),
    )
    scene.settings["SEINE_FRESH_SECONDS"] = 0
    for number in range(5):
        _show(scene, host, number, "OutOfStock")
    away = f"http://{host}/p/{COUNT - 1}"
    scene.site.pages[away] = page("gone", 404)
    scene.expected[:] = [attrs.evolve(one, fault=sold) for one in scene.expected if one.url != away]
    begun = scene.scrapy("jobs", "start", "edge-shop")
    if begun.returncode:
        scene.wrong("stuck", over, begun.stderr[-300:])
    scene.start()
    scene.wait_end(over)
    scene.exits(over)
    scene.judge()
    rows = {row["url"]: row for row in scene.query("SELECT url, gone_at FROM products")}
    if away in rows and rows[away]["gone_at"] is None:
        scene.wrong("wrong_rows", gone, f"{away} answers 404 and is not marked gone")
    with scene.redis.client() as redis:
        for job in redis.zrange(scene.keys.jobs, 0, -1):
            state = redis.hget(f"{scene.keys.prefix}job:{job.decode()}", "state")
            if state != b"finished":
                scene.wrong("stuck", over, f"{job!r} is {state!r} after the last worker left")


def _cancelled(scene: Scene) -> None:
    """Cancel a job before anybody takes it: nothing of it is done."""
    name = scene.fault("1 a cancelled job")
    scene.expected.clear()
    host = scene.site.host()
    scene.thing(name, host, "/p/1", 1, "ignored")
    scene.scrapy("jobs", "start", f"http://{host}/p/1")
    with scene.redis.client() as redis:
        job = redis.zrange(scene.keys.jobs, -1, -1)[0].decode()
    scene.jobs[job] = {f"http://{host}/p/1"}
    scene.scrapy("jobs", "cancel", job)
    _, seed = scene.shelf(name, 3)
    scene.seed(seed)
    scene.start()
    scene.wait_end(name)
    scene.exits(name)
    scene.judge()
