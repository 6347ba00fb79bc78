"""Run one project as a user does, by `scrapy runspider`, and read what it stored."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import attrs
from redis import Redis

STYLES = Path(__file__).parent / "styles"
#: The one line, and add-ons that a style has anyway.
ADDON = {"scrapy_seine.Addon": 500}
ADDONS = {"page_objects": {"scrapy_poet.Addon": 300}}
#: Spiders that take seeds from Redis, with the key's name as their argument.
SEEDED = frozenset({"redis_seeds"})
#: What a style's items are written to; else one file a worker.
OUTPUTS = {"feed_batches": "%(label)s-{n}/items-%(batch_id)04d-%(batch_time)s.jsonl"}
#: What a style needs besides: modules, and programs by their paths.
NEEDED = {
    "page_objects": ("scrapy_poet",),
    "browser_pages": ("scrapy_playwright", "/usr/bin/chromium"),
}
#: For how long a run may take, s; a busy machine needs some times what an idle one does.
TIMEOUT_S = 240


def styles() -> list[str]:
    """Names of the projects."""
    return sorted(file.stem for file in STYLES.glob("*.py") if file.stem != "__init__")


def lacking(style: str) -> list[str]:
    """Name what a style needs and this machine lacks."""
    return [name for name in NEEDED.get(style, ()) if not _is_there(name)]


def _is_there(name: str) -> bool:
    return Path(name).exists() if name.startswith("/") else find_spec(name) is not None


@attrs.frozen
class Run:
    """What came of a project: its items, each as text, and the logs of its workers."""

    items: Sequence[str]
    logs: Sequence[str]
    statuses: Sequence[int]


@attrs.frozen
class Scene:
    """Where projects are run: a site, a Redis, a folder for what they write."""

    site: str
    redis_url: str
    folder: Path

    def plain(self, style: str) -> Run:
        """Run a project as it is."""
        addons = {"ADDONS": json.dumps(ADDONS[style])} if style in ADDONS else {}
        return self._run(style, "plain", 1, **addons)

    def distributed(
        self, style: str, workers: int, crawl: str, out: str = "ours", **more: str
    ) -> Run:
        """Run a project with the add-on, by so many workers at a time."""
        addons = json.dumps(ADDONS.get(style, {}) | ADDON)
        settings = {"ADDONS": addons, "REDIS_URL": self.redis_url, "SEINE_CRAWL": crawl, **more}
        return self._run(style, f"{crawl}-{out}", workers, **settings)

    def _run(self, style: str, name: str, workers: int, **settings: str) -> Run:
        folder = self.folder / f"{style}-{name}"
        folder.mkdir()
        arguments = {"site": self.site}
        if style in SEEDED:
            arguments["key"] = f"{style}:{name}"
            _seed(self.redis_url, arguments["key"], self.site)
            settings = {"REDIS_URL": self.redis_url, **settings}
        command = [sys.executable, "-m", "scrapy", "runspider", str(STYLES / f"{style}.py")]
        command += [part for pair in arguments.items() for part in ("-a", "=".join(pair))]
        command += [part for pair in settings.items() for part in ("-s", "=".join(pair))]
        output = OUTPUTS.get(style, "items-{n}.jsonl")
        with ExitStack() as stack:
            logs = [stack.enter_context((folder / f"{n}.log").open("w+")) for n in range(workers)]
            processes = [
                subprocess.Popen(
                    [*command, "-O", output.format(n=n)], cwd=folder, stderr=log, stdout=log
                )
                for n, log in enumerate(logs)
            ]
            try:
                statuses = [process.wait(TIMEOUT_S) for process in processes]
            finally:
                for process in processes:
                    process.kill()
        texts = [(folder / f"{n}.log").read_text("utf-8") for n in range(workers)]
        return Run(sorted(_items(folder)), texts, statuses)


def _items(folder: Path) -> Iterator[str]:
    for file in folder.glob("**/items-*.jsonl"):
        for line in file.read_text("utf-8").splitlines():
            yield json.dumps(json.loads(line), sort_keys=True)


def _seed(redis_url: str, key: str, site: str) -> None:
    with Redis.from_url(redis_url) as redis:
        redis.delete(key)
        for n in range(4):
            redis.rpush(key, json.dumps({"at": f"{site}/shop/cat/{n}", "label": f"seed {n}"}))


def compare(
    scene: Scene, style: str, crawl: str, say: Callable[[str], None], workers: Sequence[int]
) -> dict[str, Any]:
    """Run a project plain and with the add-on; says what differs, and returns the figures."""
    plain = scene.plain(style)
    figures: dict[str, Any] = {"items": len(plain.items), "missing": 0, "added": 0, "failed": []}
    _judge_logs(f"{style}, plain", plain, 0, figures, say)
    for number in workers:
        ours = scene.distributed(style, number, f"{crawl}-{number}")
        missing, added = _less(plain.items, ours.items), _less(ours.items, plain.items)
        figures["missing"] += len(missing)
        figures["added"] += len(added)
        for word, found in (("missing", missing), ("added", added)):
            for item in found[:3]:
                say(f"{style}, {number} workers: {word} {item}")
        _judge_logs(f"{style}, {number} workers", ours, number, figures, say)
    return figures


def _judge_logs(
    name: str, run: Run, number: int, figures: dict[str, Any], say: Callable[[str], None]
) -> None:
    """A project that fails plain as well shows nothing, though its items are equal."""
    if any(run.statuses) or any("Traceback" in log for log in run.logs):
        figures["failed"].append(number)
        for log in run.logs:
            say(f"{name}: its log ends with\n{log[-3000:]}")


def _less(these: Sequence[str], those: Sequence[str]) -> list[str]:
    """Items of *these* that *those* lack, each as often as it is there more often."""
    rest = list(those)
    left = []
    for item in these:
        if item in rest:
            rest.remove(item)
        else:
            left.append(item)
    return left
