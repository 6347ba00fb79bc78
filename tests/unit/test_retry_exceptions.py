"""Which exceptions of a download are tried again."""

from __future__ import annotations

import pytest
from scrapy.settings import default_settings
from scrapy.utils.test import get_crawler
from twisted.internet.error import ConnectionRefusedError as Refused

from middlewares.retry import Retry

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
