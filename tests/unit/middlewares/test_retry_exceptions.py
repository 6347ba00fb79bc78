"""Which exceptions of a download are tried again, and what no spider reads after the last try."""

from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.settings import default_settings
from scrapy.utils.test import get_crawler
from twisted.internet.error import ConnectionRefusedError as Refused

from crawler.access.detect import RULE, VERDICT
from scrapy_seine.engine.worker import worker_of
from scrapy_seine.frontier.model import Lease
from scrapy_seine.middlewares.retry import Retry

LISTED = default_settings.RETRY_EXCEPTIONS


def test_what_is_listed_is_tried_again_whoever_raises_it() -> None:
    retry = Retry.from_crawler(get_crawler())
    assert retry.tries_again(Refused())
    assert retry.tries_again(OSError())
    assert not retry.tries_again(ValueError())
    # Scrapy's own client is loaded later than the middleware, or never.
    from scrapy.core.downloader.handlers.http11 import TunnelError

    assert retry.tries_again(TunnelError())


def test_a_name_that_is_nowhere_is_told_at_the_start() -> None:
    crawler = get_crawler(
        settings_dict={"RETRY_EXCEPTIONS": [*LISTED, "scrapy.exceptions.Nothing"]}
    )
    with pytest.raises(NameError, match="Nothing"):
        Retry.from_crawler(crawler)


@pytest.mark.parametrize(
    ("verdict", "status", "meta", "read"),
    [
        ("captcha", 200, {}, False),
        ("blocked", 200, {}, False),
        ("broken", 200, {}, False),
        ("captcha", 403, {}, True),  # Scrapy keeps error statuses from spiders that want none
        ("captcha", 200, {"handle_httpstatus_all": True}, True),
        ("captcha", 200, {"handle_httpstatus_list": [200]}, True),
        ("empty", 200, {}, True),
    ],
)
def test_no_spider_reads_what_is_no_page_after_the_last_try(
    verdict: str, status: int, meta: dict[str, object], read: bool
) -> None:
    """I10: the page is a dead letter; its callback would make rows of it all the same."""
    crawler = get_crawler()
    inflight, retry = worker_of(crawler).inflight, Retry.from_crawler(crawler)
    inflight.connect(lambda entry: None, lambda *_: None)
    request = Request("http://shop.example/", meta={VERDICT: verdict, RULE: "rule", **meta})
    lease = Lease(id="1", token="1", slot_ms=0, delay_ms=0, deliveries=0, stored=b"")
    entry = inflight.begin(request, lease)
    response = Response(request.url, status=status)
    if read:
        assert retry.process_response(request, response) is response
        return
    with pytest.raises(IgnoreRequest):
        retry.process_response(request, response)
    assert entry.outcome == "bury"
