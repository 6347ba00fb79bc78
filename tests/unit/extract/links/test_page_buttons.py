"""A button on a page of an open shop is no gate's."""

from __future__ import annotations

from typing import Any

from scrapy import Request

from scrapy_seine import meta as m
from tests.unit.extract.links.test_gate import SHOP, response, spider_of

SHORT = "<h1>Lamps</h1><form method=post action=/like><button>Like</button></form>"


def test_a_button_that_belongs_to_its_page_is_not_pressed() -> None:
    """Each article of a small shop had a button to like it, and two dozen were pressed."""
    spider = spider_of()

    def shown(path: str, html: str) -> list[Any]:
        request = Request(f"{SHOP}{path}", meta={m.DEPTH: 1})
        return list(spider.parse(response(path, html, request)))

    (again,) = shown("/a", SHORT)
    assert (again.method, again.url) == ("GET", f"{SHOP}/a"), "others may be the same gate"
    assert not [made for made in shown("/b", SHORT + "Our history " * 60) if made.method == "POST"]
    again.meta[m.DEPTH] = 2
    (pressed,) = spider_of().parse(response("/a", SHORT, again))
    assert isinstance(pressed, Request)
    assert pressed.method == "POST", "a worker that read no page of the shop cannot tell"
    list(spider.parse(response("/c/lamps", '<a href="/p">p</a>' * 40, Request(f"{SHOP}/c/lamps"))))
    assert not list(spider.parse(response("/a", SHORT, again)))
    assert [made.method for made in shown("/c", SHORT)] == ["POST"]
