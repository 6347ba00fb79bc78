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


RULES = """
from scrapy import Request, Spider
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule
class Rules({base}):
    name = 'rules'
    def __init__(self, start_url):
        self.start_urls = [start_url]
        super().__init__()
    rules = {rules}
    def page(self, response):
        yield {{}}
    def failed(self, failure):
        yield {{}}
"""
RULE = "[Rule(LinkExtractor(), callback='page', errback={!r} or None)]"
OWN = RULES + "    def _errback(self, failure):\n        yield {{}}\n"
PLAIN = (
    OWN
    + """\
    def parse(self, response):
        yield Request(response.url + 'broken', self.page, errback=self._errback, meta={{'rule': 0}})
"""
)


@pytest.mark.redis
@pytest.mark.parametrize(
    ("spider", "fast", "is_handled"),
    [
        (RULES.format(base="CrawlSpider", rules=RULE.format("")), "1", False),
        (RULES.format(base="CrawlSpider", rules=RULE.format("")), "0", False),
        (RULES.format(base="CrawlSpider", rules=RULE.format("failed")), "1", True),
        (RULES.format(base="CrawlSpider", rules=RULE.format("misspelt")), "1", False),
        (RULES.format(base="CrawlSpider", rules=f"iter({RULE.format('failed')})"), "1", True),
        (OWN.format(base="CrawlSpider", rules=RULE.format("")), "1", True),
        (PLAIN.format(base="Spider", rules="[{'page': 'broken'}]"), "1", True),
    ],
    ids=["none", "none, slowly", "own", "misspelt", "read once", "the spider's", "no CrawlSpider"],
)
def test_a_failed_page_of_a_rule_is_a_dead_letter_unless_an_errback_handles_it(
    tmp_path: Path, redis_url: str, namespace: str, *, spider: str, fast: str, is_handled: bool
) -> None:
    """I10: CrawlSpider sets an errback of its own on each request, and the page counted as done."""
    (tmp_path / "rules.py").write_text(spider, "utf-8")
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
        assert redis.zcard(Keys(namespace).dead) == (not is_handled), text
    assert (f"gave up {url}/broken: HTTP 500" in text) == (not is_handled)
