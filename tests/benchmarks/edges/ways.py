"""Faults of proxies, of a worker's start and of a replay."""

from __future__ import annotations

import gzip
import signal
import subprocess
from contextlib import suppress

from crawler.demo.forward_proxies import Forward, forwarders
from tests.benchmarks.edges.scene import Scene, pause


def proxies(scene: Scene) -> None:
    """Crawl with a list that is empty, one that goes away, and a pool without proxies."""
    empty = scene.fault("5 the file of proxies is empty")
    file = scene.folder / "proxies.txt"
    file.touch()
    _, seed = scene.shelf(empty, 20)
    scene.seed(seed)
    scene.environment["PROXY_LIST"] = str(file)
    scene.patience_s = 45
    scene.start()
    scene.wait_end(empty)
    scene.exits(empty)
    _file_goes_away(scene)
    scene.judge()


def _file_goes_away(scene: Scene) -> None:
    name = scene.fault("5 the file of proxies goes away for 12 s")
    file = scene.folder / "listed.txt"
    scene.environment |= {"PROXY_LIST": str(file), "SEINE_FLEET": f"{scene.name}-2"}
    with forwarders(*(Forward("http", "127.0.0.1") for _ in range(2))) as listed:
        file.write_text("".join(f"{one.url}\n" for one in listed))
        host, seed = scene.shelf(name, 200)
        pool = scene.fault("5 a pool that no proxy has")
        other = scene.site.host()
        scene.thing(pool, other, "/p/1", 1, "said")
        scene.settings["SEINE_DOMAIN_CONCURRENCY"] = 2
        scene.seed(seed, scene.seed_of(f"http://{other}/p/1", proxy_pool="residential"))
        scene.start()
        scene.asked(name, host, 20)
        text = file.read_text()
        file.unlink()
        pause(12)
        file.write_text(text)
        scene.patience_s = 90
        scene.wait_end(name)
        scene.exits(name)


def starts(scene: Scene) -> None:
    """End workers while they start: no traceback, no lost seed."""
    name = scene.fault("14 a worker is told to end while it starts")
    _, seed = scene.shelf(name, 20)
    scene.seed(seed)
    for wait in (0.3, 0.8, 1.1, 1.4, 1.7, 2.0):
        (worker,) = scene.start(1)
        pause(wait)
        worker.send_signal(signal.SIGTERM)
        worker.wait(60)
        if "Traceback" in scene.log_of(worker):
            scene.wrong("stopped_workers", name, f"a traceback: {scene.log_of(worker)[-300:]}")
    # A worker ends when work that it saw is done: those before may have left none of theirs.
    _, rest = scene.shelf(name, 40, late_s=1.0)
    scene.seed(rest)
    scene.start()
    scene.wait_end(name)
    _no_database(scene)
    _hostile_archive(scene)
    scene.judge()


def _no_database(scene: Scene) -> None:
    """A worker without a database ends with one line."""
    name = scene.fault("14 the database does not exist")
    settings = {"DATABASE_URL": scene.database + "_nowhere"}
    scene.settings["SEINE_OUTAGE_LIMIT"] = 1
    (worker,) = scene.start(1, settings)
    with suppress(subprocess.TimeoutExpired):
        worker.wait(60)
    if worker.returncode == 0 or "Traceback" in scene.log_of(worker):
        scene.wrong("false_done", name, scene.log_of(worker)[-300:])
    scene.workers.remove(worker)
    scene.settings.pop("SEINE_OUTAGE_LIMIT")


#: Archives that nobody should have written.
ARCHIVES = {
    "no gzip": b"this is no archive",
    "cut off": gzip.compress(b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 99\r\n\r\nHTT"),
    "a wrong length": gzip.compress(b"WARC/1.0\r\nContent-Length: -5\r\n\r\n\r\n\r\n"),
    "a name outside": gzip.compress(
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: file:///etc/passwd\r\n"
        b"Content-Length: 19\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n\r\n"
    ),
}


def _hostile_archive(scene: Scene) -> None:
    """Replay from files that are no archives: no page is there, which the rule `replay` ignores."""
    folder = scene.folder / "hostile"
    folder.mkdir()
    for number, (text, content) in enumerate(ARCHIVES.items()):
        (folder / f"{number}.warc.gz").write_bytes(content)
        name = scene.fault(f"15 a replay from an archive with {text}")
        scene.expect(name, f"http://127.0.0.1:9/p/{number}", "ignored")
        scene.seed(scene.seed_of(f"http://127.0.0.1:9/p/{number}"))
    scene.settings |= {"SEINE_REPLAY": str(folder), "RETRY_TIMES": 0}
    scene.start(1)
    scene.wait_end("15 replay")
    scene.exits("15 replay")
