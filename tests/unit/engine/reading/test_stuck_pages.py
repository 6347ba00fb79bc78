"""A page that does not end says so: which, in what, and for how long."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from scrapy import Request

from scrapy_seine.engine.lease.entry import InFlight
from scrapy_seine.engine.reading.stuck_pages import LongPages
from scrapy_seine.frontier.model import Lease

URL = "http://me:secret@shop.example/\x1b[31m3"


class Spider:
    def parse(self) -> None:
        """Stand for a callback."""


def entry(*, landed: bool = True, callback: Any = None, **meta: Any) -> InFlight:
    lease = Lease(id="1", token="1", slot_ms=0, deliveries=0, stored=b"")
    return InFlight(Request(URL, callback=callback, meta=meta), lease, landed=landed)


def pages() -> LongPages:
    return LongPages(60, 180, usual=lambda: Spider().parse)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    caplog.clear()
    return found


def test_a_page_that_does_not_end_is_told_ever_more_rarely(
    caplog: pytest.LogCaptureFixture,
) -> None:
    page, table = entry(), pages()
    told = [at for at in range(0, 1000, 20) if (table.log_slow([page], at), lines(caplog))[1]]
    assert told == [60, 120, 240, 480, 960]
    assert table.log_slow([], 1000) == ""
    assert table.log_slow([page], 1001) == ""  # the same object begins anew


def test_the_line_names_page_callback_and_time_and_no_secret(
    caplog: pytest.LogCaptureFixture,
) -> None:
    page, other, table = entry(), entry(), pages()
    table.log_slow([page, other], 0)
    text = table.log_slow([page, other], 75)
    assert "shop.example" in text
    assert f"its callback {__name__}.Spider.parse" in text
    assert "for 75 s" in text
    [line] = lines(caplog)
    assert line.startswith(f"{text} (and 1 more)")
    assert "secret" not in line
    assert "\x1b" not in line


def test_the_callback_has_as_long_as_the_download_took() -> None:
    page, table = entry(landed=False), pages()
    for at in (0, 400):
        assert table.log_slow([page], at) == ""
    page.landed = True
    assert table.log_slow([page], 410) == ""
    assert table.log_slow([page], 469) == ""
    assert "for 60 s" in table.log_slow([page], 470)


@pytest.mark.parametrize(
    ("meta", "limit_s"),
    [({}, 420), ({"download_timeout": 5}, 70), ({"download_timeout": "x"}, 420)],
)
def test_a_download_may_take_as_long_as_it_is_allowed_to(
    meta: dict[str, Any], limit_s: int
) -> None:
    page, table = entry(landed=False, **meta), pages()
    table.log_slow([page], 0)
    assert table.log_slow([page], limit_s - 1) == ""
    assert "downloader middleware" in table.log_slow([page], limit_s)


def test_a_callback_that_is_no_function_is_named_by_its_class() -> None:
    class Call:
        def __call__(self, response: Any) -> None:
            """Stand for a callback."""

    table = LongPages(60, usual=Call)
    page = entry()
    table.log_slow([page], 0)
    assert "its callback Call" in table.log_slow([page], 60)
