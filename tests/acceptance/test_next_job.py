"""A worker that stays crawls a shop again in the next job, whatever it learned in the first one."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.site import serve_pages
from tests.helpers import wait_until

pytestmark = [pytest.mark.acceptance, pytest.mark.redis, pytest.mark.postgres]
FRONT = '<html><h1>Shop</h1><a href="/de/">Deutsch</a><a href="/fr/">Français</a>'
OTHER = {"de": "fr", "fr": "de"}
BUTTON = "<button>Add to basket</button>"


def page(path: str) -> str:
    """Return a page of a shop in two languages, of which each copy's pages lead to the other."""
    _, folder, name, *_ = [*path.split("/"), ""]
    if folder not in OTHER:
        return FRONT if path == "/" else ""
    other = f'<html lang={folder}><a href="/{OTHER[folder]}/">other</a><h1>Lamp {name}</h1>'
    tiles = "".join(f'<li><a href="/{folder}/lamp-{n}">Lamp {n}</a>' for n in range(4))
    return other + (f"<p class=price>£9.50</p>{BUTTON}" if name else tiles)


def test_a_shop_in_two_languages_is_crawled_in_the_next_job_as_well(crawl) -> None:
    crawl.workers.settings = {**crawl.workers.settings, "SEINE_KEEP_ALIVE": 1}
    asked: set[str] = set()
    lamps = {folder: {f"/{folder}/lamp-{n}" for n in range(4)} for folder in OTHER}

    def answer(path: str) -> str:
        asked.add(path)
        return page(path)

    def seed(job: str, *paths: str) -> None:
        asked.clear()
        meta = {"site_id": crawl.name, "job_id": job}
        for path in paths:
            crawl.redis.lpush(crawl.seeds.seeds, json.dumps({"url": f"{base}{path}", "meta": meta}))

    with serve_pages(answer) as base:
        seed("first", "/de/", "/fr/")
        crawl.start()
        wait_until(lambda: set.union(*lamps.values()) <= asked, 30, "both are read")
        seed("second", "/")
        wait_until(lambda: any(x <= asked for x in lamps.values()), 30, "one is read again")
