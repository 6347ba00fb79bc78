"""A button on a page of an open site is no gate's: the site's front page lacks it."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request

from crawler.extract import find_links, parse
from crawler.extract.links.gate import answer_of
from scrapy_seine import meta as m
from spiders.catalog import CatalogSpider
from tests.unit.extract.links.test_gate import FORM, SHOP, response, spider_of

MENU = '<nav class="menu"><a href="/c/lamps">Lamps</a></nav>'


def read(spider: CatalogSpider, request: Request, html: str) -> list[Any]:
    return list(spider.parse(response(request.url.removeprefix(SHOP), html, request)))


def shown_by(spider: CatalogSpider, front: Request, html: str, status: int = 200) -> list[Any]:
    """Answer the request for the front page."""
    assert (front.method, front.url) == ("GET", f"{SHOP}/")
    page = response("/", html, front).replace(status=status)
    return list(spider.parse_front(page, **front.cb_kwargs))


@pytest.mark.parametrize(
    "meta", [{}, {m.DEPTH: 1}, {m.KNOWN: {"id": "7"}}], ids=["seed", "linked", "known"]
)
def test_a_button_that_the_front_page_lacks_is_not_pressed(meta: dict[str, Any]) -> None:
    """Seeds voted in a poll, gave five euros and ended a contract."""
    spider = spider_of()
    (front,) = read(spider, Request(f"{SHOP}/a", meta=meta), FORM)
    (again,) = shown_by(spider, front, MENU)
    assert (again.method, again.url, again.meta.get(m.KNOWN)) == (
        "GET",
        f"{SHOP}/a",
        meta.get(m.KNOWN),
    )
    for other in (spider_of(), spider):  # any worker gets it
        assert not [one for one in read(other, again, FORM) if isinstance(one, Request)]


@pytest.mark.parametrize("status", [403, 404])
def test_a_front_page_that_is_missing_shows_no_button(status: int) -> None:
    spider = spider_of()
    (front,) = read(spider, Request(f"{SHOP}/a"), FORM)
    assert status in front.meta["handle_httpstatus_list"]
    (again,) = shown_by(spider, front, FORM, status)
    assert not read(spider, again, FORM)


def test_one_front_page_tells_of_a_button_that_is_on_each_article() -> None:
    spider = spider_of()
    (front,) = read(spider, Request(f"{SHOP}/a", meta={m.DEPTH: 1}), FORM)
    shown_by(spider, front, MENU)
    assert not read(spider, Request(f"{SHOP}/b", meta={m.DEPTH: 1}), FORM)


def test_a_button_that_the_front_page_shows_too_is_pressed_for_its_page() -> None:
    spider = spider_of()
    (front,) = read(spider, Request(f"{SHOP}/a"), FORM)
    (again,) = shown_by(spider, front, FORM)
    (press,) = read(spider_of(), again, FORM)
    assert (press.method, press.cb_kwargs["gate"]) == ("POST", f"{SHOP}/a")
    (press,) = read(spider, Request(f"{SHOP}/b"), FORM)
    assert press.method == "POST", "the worker knows the button"


def test_other_pages_with_the_button_wait_for_what_the_front_page_shows() -> None:
    """Each of a hundred seeds asked for it."""
    spider = spider_of()
    read(spider, Request(f"{SHOP}/a"), FORM)
    (later,) = read(spider, Request(f"{SHOP}/b"), FORM)
    assert (later.url, later.meta[m.DELAY] > 0) == (f"{SHOP}/b", True)
    (front,) = read(spider_of(), later, FORM)
    assert front.url == f"{SHOP}/", "the answer may be another worker's"


def test_a_front_page_that_was_asked_with_a_gates_cookie_tells_nothing() -> None:
    """Another page's button was answered meanwhile."""
    spider = spider_of()
    (front,) = read(spider, Request(f"{SHOP}/a"), FORM)
    front.headers["Cookie"] = "age=18"
    (again,) = shown_by(spider, front, MENU)
    (front,) = read(spider_of(), again, FORM)
    assert front.url == f"{SHOP}/"


@pytest.mark.parametrize(
    ("button", "action"),
    [
        ("Vote", "/in"),
        ("Jetzt spenden", "/in"),
        ("Se désabonner", "/in"),
        ("Eliminar cuenta", "/in"),
        ("投票する", "/in"),
        ("Голосовать", "/in"),
        ("Yes", "/poll/7/vote"),
        ("OK", "/account_delete"),
    ],
)
@pytest.mark.parametrize("question", ["Are you over 18?", "Welcome"])
def test_a_button_that_names_an_effect_is_not_pressed_for_its_page_alone(
    button: str, action: str, question: str
) -> None:
    """Where the age is asked it may be the gate's own ("Apply"), if the front page shows it."""
    form = f"<h1>{question}</h1><form method=post action={action}><button>{button}</button></form>"
    page = parse(f"<html><body>{form}</body></html>", f"{SHOP}/")
    answer = answer_of(page, find_links(page), sets_cookie=False)
    assert (answer is None) == (question == "Welcome")
    spider = spider_of()
    for front in read(spider, Request(f"{SHOP}/a"), form):
        (again,) = shown_by(spider, front, MENU)
        assert not read(spider, again, form)


def test_a_box_that_has_to_be_ticked_makes_no_gate() -> None:
    """ "I know that this cannot be undone"."""
    box = "<label><input type=checkbox name=sure value=1 required> I know</label>"
    spider = spider_of()
    (front,) = read(spider, Request(f"{SHOP}/a"), FORM.replace("<button", f"{box}<button"))
    assert front.url == f"{SHOP}/"


def test_a_front_page_without_a_button_tells_of_all_buttons() -> None:
    """Each article has a button with an address of its own, and each asked for the front page."""
    spider = spider_of()
    liking = [FORM.replace("/enter", f"/go/{number}") for number in range(3)]
    assert len(set(liking)) == 3
    (front,) = read(spider, Request(f"{SHOP}/a", meta={m.DEPTH: 1}), liking[0])
    shown_by(spider, front, "", 404)
    (front,) = read(spider, Request(f"{SHOP}/b", meta={m.DEPTH: 1}), liking[1])
    shown_by(spider, front, MENU)
    assert not read(spider, Request(f"{SHOP}/c", meta={m.DEPTH: 1}), liking[2])


def test_a_front_page_is_not_asked_for_without_end() -> None:
    """It shows a button of its own, which is another one each time."""
    spider, asked = spider_of(), 0
    for number in range(200):
        page = Request(f"{SHOP}/p/{number}", meta={m.DEPTH: 1})
        for front in read(spider, page, FORM.replace("/enter", f"/go/{number}")):
            shown_by(spider, front, FORM.replace("/enter", f"/in/{number}"))
            asked += 1
    assert asked == 100


@pytest.mark.parametrize(("status", "missing"), [(403, 0), (404, 0), (200, 1)])
def test_a_known_product_is_not_missing_where_its_page_may_be_a_gate(
    status: int, missing: int
) -> None:
    """The front page was refused once, and all known products behind the gate were gone."""
    spider, known = spider_of(), {m.KNOWN: {"id": "7", "name": "Lamp"}}
    (front,) = read(spider, Request(f"{SHOP}/a", meta=dict(known)), FORM)
    (again,) = shown_by(spider, front, MENU, status)
    assert len(read(spider_of(), again, FORM)) == missing
    assert len(read(spider, Request(f"{SHOP}/b", meta=dict(known)), FORM)) == missing
