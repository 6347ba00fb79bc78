"""Feeds under the add-on: what workers wrote is in the file, whoever was killed (I4)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from functools import partial
from math import inf
from pathlib import Path

import boto3
import pytest

from scrapy_seine.sinks.feeds.part import SIDECAR
from scrapy_seine.sinks.feeds.part_names import PARTS
from tests import started
from tests.benchmarks import feeds
from tests.helpers import serving, wait_until
from tests.integration.feeds import kit
from tests.integration.storage.kit import s3_bucket

pytestmark = pytest.mark.redis
PAGES = 60


def in_order(path: Path) -> list[tuple[int, int]]:
    return sorted(feeds.items_in(path))


def test_no_item_is_missing_or_doubled_where_workers_are_killed(
    tmp_path: Path, redis_url: str
) -> None:
    found = feeds.Verdict()
    feeds.crawl(tmp_path, redis_url, kills=2, pages=PAGES, verdict=found)
    assert (found.kills, found.items) == (2, len(feeds.FEEDS) * PAGES * kit.ITEMS)
    assert (found.missing, found.doubled, found.torn) == (0, 0, 0)
    for name in feeds.FEEDS:
        left = [path.name for path in (tmp_path / f"{name}.parts").iterdir()]
        assert not [part for part in left if part.endswith(".rows")], left


def test_a_stopped_worker_writes_what_there_is_and_the_next_one_all_of_it(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    site = kit.site_of(PAGES)
    out = tmp_path / "out.jl"
    out.write_text('{"page": -1, "row": 0}\n', "utf-8")
    with serving(site) as base:
        begin = partial(kit.start, tmp_path, redis_url, namespace, base)
        site.held_from = 10
        worker = begin("-o", str(out), SEINE_DOMAIN_DELAY_MS=50)
        wait_until(lambda: len(site.served) >= 10, 30, "the worker is at work")
        worker.send_signal(signal.SIGTERM)
        site.held_from = inf
        kit.finish(worker, tmp_path)
        some = in_order(out)
        assert some[0] == (-1, 0)
        assert kit.ITEMS < len(some) < PAGES * kit.ITEMS
        kit.finish(begin("-o", str(out)), tmp_path)
    assert in_order(out) == [(-1, 0), *kit.expected(PAGES)]


def test_a_crawl_that_goes_on_with_another_feed_names_the_one_with_the_first_items(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    site = kit.site_of(PAGES)
    first, second = tmp_path / "first.jl", tmp_path / "second.csv"
    with serving(site) as base:
        begin = partial(kit.start, tmp_path, redis_url, namespace, base)
        worker = begin("-O", str(first), SEINE_DOMAIN_DELAY_MS=50)
        parts = tmp_path / f"first.jl{PARTS}"
        # Not at a number of pages, because a busy worker may have written none of them by then.
        assert kit.kill_when(worker, lambda: any(parts.glob(f"[!.]*{SIDECAR}")))
        log = kit.finish(begin("-O", str(second)), tmp_path)
    assert f"`scrapy seine join-feeds {first}` makes a file of them" in log
    command = [sys.executable, "-m", "scrapy", "seine", "join-feeds", str(first)]
    started.run(command, cwd=tmp_path, check=True, capture_output=True)
    found = {*in_order(first), *in_order(second)}
    assert sorted(found) == kit.expected(PAGES)


@pytest.mark.parametrize(("option", "kept"), [("-o", [(-1, 0)]), ("-O", [])])
def test_a_file_that_is_appended_to_keeps_what_it_held_where_its_parts_are_joined_by_hand(
    tmp_path: Path, redis_url: str, namespace: str, option: str, kept: list[tuple[int, int]]
) -> None:
    site = kit.site_of(PAGES)
    out = tmp_path / "out.jl"
    out.write_text('{"page": -1, "row": 0}\n', "utf-8")
    parts = tmp_path / f"out.jl{PARTS}"
    with serving(site) as base:
        worker = kit.start(
            tmp_path, redis_url, namespace, base, option, str(out), SEINE_DOMAIN_DELAY_MS=50
        )
        assert kit.kill_when(worker, lambda: any(parts.glob(f"[!.]*{SIDECAR}")))
    for _ in range(2):
        command = [sys.executable, "-m", "scrapy", "seine", "join-feeds", "out.jl", "--json"]
        done = started.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        found = in_order(out)
        assert found[: len(kept)] == kept
        assert len(found) == len(kept) + json.loads(done.stdout)["items"] > len(kept)


def test_an_item_that_a_feeds_filter_fails_on_is_a_failed_item(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    """Its page would be done, and the item in no feed."""
    (tmp_path / "own.py").write_text(
        "class Large:\n"
        "    def __init__(self, options): pass\n"
        "    def accepts(self, item): return item['row'] > 0 or 1 / item['page'] > 0\n",
        "utf-8",
    )
    feeds_setting = {"large.jl": {"format": "jsonlines", "item_filter": "own.Large"}, "all.jl": {}}
    feeds_setting["all.jl"]["format"] = "jsonlines"
    with serving(kit.site_of(3)) as base:
        worker = kit.start(
            tmp_path, redis_url, namespace, base, FEEDS=json.dumps(feeds_setting), RETRY_TIMES=0
        )
        log = kit.finish(worker, tmp_path)
    assert "large.jl cannot take an item: ZeroDivisionError" in log
    assert "'seine/buried/item': 1" in log
    assert in_order(tmp_path / "large.jl") == [pair for pair in kit.expected(3) if any(pair)]
    assert in_order(tmp_path / "all.jl") == kit.expected(3)


def test_parts_in_s3_hold_their_pages_and_no_line_of_the_log_names_a_secret(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    site = kit.site_of(pages := 12)
    site.held_from = 2
    with s3_bucket() as where, serving(site) as base:
        uri = where.replace("://", "://AKIDEXAMPLE:wJalrXUtnFEMI@") + "/out.jl"
        args = ("-O", uri, "-s", f"AWS_ENDPOINT_URL={os.environ['AWS_ENDPOINT_URL']}")
        worker = kit.start(tmp_path, redis_url, namespace, base, *args, SEINE_LEASE_SECONDS=1)
        assert kit.kill_when(worker, lambda: len(site.served) >= 2)
        site.held_from = inf
        worker = kit.start(tmp_path, redis_url, namespace, base, *args, LOG_LEVEL="DEBUG")
        log = kit.finish(worker, tmp_path)
        folder = tmp_path / "copied.jl.parts"
        folder.mkdir()
        bucket, _, prefix = where.removeprefix("s3://").partition("/")
        s3 = boto3.client("s3")
        found = s3.list_objects_v2(Bucket=bucket, Prefix=f"{prefix}/out.jl.parts/")["Contents"]
        for part in found:
            name = part["Key"].rsplit("/", 1)[1]
            s3.download_file(bucket, part["Key"], str(folder / name))
    assert "join-feeds" in log
    assert "wJalrXUtnFEMI" not in log
    command = [sys.executable, "-m", "scrapy", "seine", "join-feeds", "copied.jl", "--json"]
    done = started.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["items"] == pages * kit.ITEMS
    assert in_order(tmp_path / "copied.jl") == kit.expected(pages)
    assert folder.is_dir()


#: A feed storage of a project's own. It takes the first page's items once page 2 is asked for.
WAITING = """
import time
from pathlib import Path


class Waiting:
    def __init__(self, uri, *, feed_options=None):
        self.name = uri.rsplit("/", 1)[1]

    def open(self, spider):
        return open(self.name + ".aside", "w+b")

    def store(self, file):
        until = time.monotonic() + 60
        while not Path("page-2").exists() and time.monotonic() < until:
            time.sleep(0.01)
        assert Path("page-2").exists(), "page 2 waits for the items of page 0"
        file.close()
        Path(self.name + ".aside").rename(self.name)
"""


def test_a_page_is_asked_for_before_the_items_of_the_page_that_led_to_it_are_stored(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    """A chain of pages costs no part for each page; all its items are stored all the same (I4)."""
    (tmp_path / "waiting.py").write_text(WAITING, "utf-8")
    site = kit.site_of(6)

    class Noting(site):  # type: ignore[misc,valid-type]
        def do_GET(self) -> None:
            super().do_GET()
            if self.path == "/2":
                (tmp_path / "page-2").touch()

    with serving(Noting) as base:
        storages = 'FEED_STORAGES={"wait": "waiting.Waiting"}'
        args = ("-s", storages, "-O", "wait://here/out.jl")
        worker = kit.start(tmp_path, redis_url, namespace, base, *args)
        kit.finish(worker, tmp_path, seconds=100)
    found = [item for part in tmp_path.glob("*.jl") for item in in_order(part)]
    assert sorted(found) == kit.expected(6)


@pytest.mark.parametrize("feed", ["file/out.jl", "%(nosuch)s.jl"])
def test_a_feed_that_cannot_be_written_ends_the_worker_with_its_reason(
    tmp_path: Path, redis_url: str, namespace: str, feed: str
) -> None:
    (tmp_path / "file").write_text("no folder", "utf-8")
    site = kit.site_of(3)
    with serving(site) as base:
        worker = kit.start(tmp_path, redis_url, namespace, base, "-O", feed)
        log = kit.finish(worker, tmp_path, status=1)
    assert "worker exits: feed" in log
    assert "Traceback" not in log
    assert not site.served


def test_a_second_run_without_items_replaces_the_file_of_the_first(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    (tmp_path / "drop.py").write_text(
        "from scrapy.exceptions import DropItem\n\n\n"
        "class Drop:\n    def process_item(self, item):\n        raise DropItem\n",
        "utf-8",
    )
    with serving(kit.site_of(3)) as base:
        begin = partial(kit.start, tmp_path, redis_url, namespace, base, "-O", "out.json")
        kit.finish(begin(), tmp_path)
        assert len(json.loads((tmp_path / "out.json").read_text("utf-8"))) == 3 * kit.ITEMS
        kit.finish(begin(ITEM_PIPELINES='{"drop.Drop": 1}'), tmp_path)
    assert json.loads((tmp_path / "out.json").read_text("utf-8")) == []


def test_a_feed_that_cannot_be_joined_keeps_its_parts_and_no_worker_ends_well(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    """A library's or a project's own error, after which the other feeds are joined all the same."""
    (tmp_path / "bad.py").write_text(
        "class Bad:\n    def __init__(self, file, options):\n        raise KeyError('level')\n",
        "utf-8",
    )
    feeds = {
        "out.jl": {"format": "jsonlines", "postprocessing": ["bad.Bad"]},
        "other.jl": {"format": "jsonlines"},
    }
    with serving(kit.site_of(3)) as base:
        worker = kit.start(tmp_path, redis_url, namespace, base, FEEDS=json.dumps(feeds))
        log = kit.finish(worker, tmp_path, status=1)
    assert "feed " in log
    assert "out.jl is not joined, its parts stay in" in log
    assert "Traceback" not in log
    assert in_order(tmp_path / "other.jl") == kit.expected(3)
    assert list((tmp_path / "out.jl.parts").glob("*.rows"))


@pytest.mark.parametrize("when", ["while", "after"])
def test_a_folder_of_parts_that_somebody_removes_is_told_and_no_worker_ends_well(
    tmp_path: Path, redis_url: str, namespace: str, when: str
) -> None:
    """I12: the pages of its items are done, so nobody reads them again."""
    site = kit.site_of(PAGES)
    out = tmp_path / "out.jl"
    with serving(site) as base:
        begin = partial(kit.start, tmp_path, redis_url, namespace, base, "-o", str(out))
        site.held_from = 40
        worker = begin(SEINE_DOMAIN_DELAY_MS=50)
        wait_until(lambda: len(site.served) >= 40, 60, "the worker is at work")
        wait_until(lambda: list((tmp_path / "out.jl.parts").glob("*.rows")), 30, "it writes")
        if when == "after":  # no part follows that would make the folder anew
            worker.send_signal(signal.SIGSTOP)
            shutil.rmtree(tmp_path / "out.jl.parts")
            worker.send_signal(signal.SIGTERM)
            worker.send_signal(signal.SIGCONT)
        else:
            shutil.rmtree(tmp_path / "out.jl.parts")
        site.held_from = inf
        log = kit.finish(worker, tmp_path, status=1)
    told = [line for line in log.splitlines() if "lacks items: somebody removed" in line]
    assert len(told) == 1, log[-3000:]
    assert "Traceback" not in log


def test_a_feed_is_no_device_and_a_link_stays_one(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    """A joined file takes its name: /dev/null would be a file afterwards."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "there").mkdir()
    (tmp_path / "link.jl").symlink_to("there/real.jl")
    (tmp_path / "there" / "real.jl").touch()
    with serving(kit.site_of(3)) as base:
        begin = partial(kit.start, tmp_path, redis_url, namespace, base)
        log = kit.finish(begin("-o", "pipe:jsonlines"), tmp_path, status=1)
        assert "pipe is no file" in log
        kit.finish(begin("-o", "link.jl"), tmp_path)
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "link.jl").is_symlink()
    assert in_order(tmp_path / "there" / "real.jl") == kit.expected(3)
