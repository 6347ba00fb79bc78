"""A worker that stays crawls a shop again in the next job, whatever it learned in the first one."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from typing import ClassVar

import pytest

from tests.helpers import serving, wait_until

pytestmark = [pytest.mark.acceptance, pytest.mark.redis, pytest.mark.postgres]
FRONT = '<html><h1>Shop</h1><a href="/de/">Deutsch</a><a href="/fr/">Français</a>'
OTHER = {"de": "fr", "fr": "de"}
BUTTON = "<button>Add to basket</button>"


class Shop(BaseHTTPRequestHandler):
    """Its front page offers two languages, and each copy's pages lead to the other one."""

    asked: ClassVar[list[str]]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        _, folder, name, *_ = [*self.path.split("/"), ""]
        body = FRONT if self.path == "/" else ""
        if folder in OTHER:
            other = f'<html lang={folder}><a href="/{OTHER[folder]}/">other</a><h1>Lamp {name}</h1>'
            tiles = "".join(f'<li><a href="/{folder}/lamp-{n}">Lamp {n}</a>' for n in range(4))
            body = other + (f"<p class=price>£9.50</p>{BUTTON}" if name else tiles)
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_shop_in_two_languages_is_crawled_in_the_next_job_as_well(crawl) -> None:
    crawl.workers.settings = {**crawl.workers.settings, "SEINE_KEEP_ALIVE": 1}
    Shop.asked = []
    lamps = {folder: {f"/{folder}/lamp-{n}" for n in range(4)} for folder in OTHER}

    def seed(job: str, *paths: str) -> None:
        Shop.asked.clear()
        meta = {"site_id": crawl.name, "job_id": job}
        for path in paths:
            crawl.redis.lpush(crawl.seeds.seeds, json.dumps({"url": f"{base}{path}", "meta": meta}))

    with serving(Shop) as base:
        seed("first", "/de/", "/fr/")
        crawl.start()
        wait_until(lambda: set.union(*lamps.values()) <= {*Shop.asked}, 30, "both are read")
        seed("second", "/")
        wait_until(lambda: any(x <= {*Shop.asked} for x in lamps.values()), 30, "one is read again")
