"""A page that fails is given up in a CrawlSpider as in any other spider."""

from __future__ import annotations

from pathlib import Path

import pytest
from redis import Redis

from scrapy_seine.frontier.keys import Keys
from tests.helpers import Answering, patient, serving
from tests.integration.test_any_spider import scrapy


class BrokenPage(Answering):
    """A front page, and a page that fails."""

    def do_GET(self) -> None:
        is_front = self.path == "/"
        self.answer(200 if is_front else 500, b"<a href='/broken'>x</a>" if is_front else b"")


@pytest.mark.redis
@pytest.mark.parametrize(("errback", "fast"), [("", "1"), ("", "0"), ("failed", "1")])
def test_a_failed_page_of_a_rule_without_an_errback_is_a_dead_letter(
    tmp_path: Path, redis_url: str, namespace: str, errback: str, fast: str
) -> None:
    """I10: CrawlSpider sets an errback of its own on each request, and the page counted as done."""
    (tmp_path / "rules.py").write_text(
        "from scrapy.linkextractors import LinkExtractor\n"
        "from scrapy.spiders import CrawlSpider, Rule\n"
        "class Rules(CrawlSpider):\n"
        "    name = 'rules'\n"
        "    def __init__(self, start_url):\n"
        "        super().__init__()\n"
        "        self.start_urls = [start_url]\n"
        f"    rules = [Rule(LinkExtractor(), callback='page', errback={errback!r} or None)]\n"
        "    def page(self, response):\n"
        "        yield {}\n"
        "    def failed(self, failure):\n"
        "        yield {}\n",
        "utf-8",
    )
    settings = {
        "ADDONS": '{"scrapy_seine.Addon": 500}',
        "REDIS_URL": redis_url,
        "SEINE_CRAWL": namespace,
        "SEINE_FASTPATH": fast,
        "RETRY_TIMES": "0",
        "ROBOTSTXT_OBEY": "0",
    }
    args = [part for pair in settings.items() for part in ("-s", "=".join(pair))]
    with serving(BrokenPage) as url, Redis.from_url(redis_url) as redis:
        process = scrapy(tmp_path, "runspider", "rules.py", "-a", f"start_url={url}/", *args)
        _, text = process.communicate(timeout=patient(60))
        assert redis.zcard(Keys(namespace).dead) == (not errback), text
    assert (f"gave up {url}/broken: HTTP 500" in text) == (not errback)
