"""Which answers are no page, so that their request is tried again."""

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse

from scrapy_seine import meta as m
from scrapy_seine.middlewares.retry import _kind_of

URL = "https://shop.example/p/1"


@pytest.mark.parametrize(
    ("status", "verdict", "rule", "kind"),
    [
        (200, "ok", "ok", ""),
        (200, "broken", "title-error", "broken"),
        (200, "empty", "no-body", "broken"),
        (204, "empty", "no-body", ""),
        (200, "empty", "javascript-shell", ""),
        (503, "empty", "no-body", "5xx"),
    ],
)
def test_an_answer_without_a_byte_is_no_page(
    status: int, verdict: str, rule: str, kind: str
) -> None:
    request = Request(URL, meta={m.VERDICT: verdict, m.RULE: rule})
    assert _kind_of(request, HtmlResponse(URL, status=status), {503}) == kind
