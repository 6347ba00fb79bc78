"""A gate before a shop is passed by the button that leads on, and nothing else is pressed."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.statscollectors import MemoryStatsCollector

from crawler.catalogue.jobs.in_redis import SEED_PRIORITY
from crawler.extract import find_links, parse
from crawler.extract.links.gate import answer_of
from middlewares.gates import Gates
from scrapy_seine import meta as m
from spiders.catalog import CatalogSpider
from spiders.gates import MOST_PRESSED

SHOP = "http://shop.example"
BUTTON = '<input type="hidden" name="token" value="7"><button name="ok" value="1">Enter</button>'
FORM = f'<h1>Welcome</h1><form method="post" action="/enter">{BUTTON}</form>'
ASKED = (
    '<h1>Are you over 18?</h1><form method="post" action="/age"><button name="a" value="a0">{}</button>'
    '<button name="a" value="a1">{}</button></form>'
)
#: It is known by its words, so that the front page is not asked.
GATE = FORM.replace("Welcome", "Are you over 18?")
PRODUCT = "<h1>Lamp</h1><p class=price>£9.50</p><button>Add to basket</button>"
CHOSEN = "<h1>Are you over 18?</h1><form method=post action=/in>{}<button>Continue</button></form>"
RADIO = "<input type=radio name=a value="
WORDPRESS = "/wp-admin/admin-post.php"


def answer(html: str, *, sets_cookie: bool = False) -> tuple[str, str] | None:
    page = parse(f"<html><body>{html}</body></html>", f"{SHOP}/")
    found = answer_of(page, find_links(page), sets_cookie=sets_cookie)
    return found and (found.url.removeprefix(SHOP), found.body)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (FORM, ("/enter", "token=7&ok=1")),
        (FORM.replace("post", "get"), ("/enter?token=7&ok=1", "")),
        (FORM.replace("/enter", "/cookies"), ("/cookies", "token=7&ok=1")),
        (f'{FORM}<a href="/imprint">Imprint</a>', ("/enter", "token=7&ok=1")),
        ('<h1>Are you over 18?</h1><a href="/enter?ok=1">Yes</a>', ("/enter?ok=1", "")),
        (ASKED.format("Yes", "No"), ("/age", "a=a0")),
        (ASKED.format("No, I am under 18", "I know I am older"), ("/age", "a=a1")),
        (ASKED.format("Nein", "Ja, ich bin über 18"), ("/age", "a=a1")),
        (ASKED.format("Ano, je mi 18", "Ne"), ("/age", "a=a0")),
        (ASKED.format("Go back", "I am over 18"), ("/age", "a=a1")),
        (
            f"<p>Are you over 18?</p>{FORM.replace('Enter', 'I am not under 18')}",
            ("/enter", "token=7&ok=1"),
        ),
        (
            '<h1>Are you over 18?</h1><a href="/leave">No</a><a href="/enter">Yes</a>',
            ("/enter", ""),
        ),
        (CHOSEN.format(f"<label>{RADIO}0> No</label><label>{RADIO}1> Yes</label>"), ("/in", "a=1")),
        (
            CHOSEN.format(
                f"{RADIO}n id=n checked><label for=n>Nein</label>"
                f"{RADIO}j id=j><label for=j>Ja, ich bin 18</label>"
            ),
            ("/in", "a=j"),
        ),
        (CHOSEN.format(f"{RADIO}y>Yes {RADIO}n>No"), ("/in", "a=y")),
        (
            CHOSEN.format(
                "<select name=a><option value=''>Please choose</option>"
                "<option value=n>No</option><option value=y>Yes</option></select>"
            ),
            ("/in", "a=y"),
        ),
        (
            CHOSEN.replace("post", "get").format(
                "<select name=a><option value=0>I am under 18<option value=1>I am 18</select>"
            ),
            ("/in?a=1", ""),
        ),
        (CHOSEN.format("<input type=checkbox name=a value=1 required> I am 18"), ("/in", "a=1")),
        # Words of acts mean the age where that is asked, and nothing in where a form leads to.
        (GATE.replace("Enter", "Apply").replace("/enter", "/post/a"), ("/post/a", "token=7&ok=1")),
        (FORM.replace("/enter", "/in?to=/review"), ("/in?to=/review", "token=7&ok=1")),
        (GATE.replace("/enter", WORDPRESS), (WORDPRESS, "token=7&ok=1")),
    ],
)
def test_the_button_of_a_gate_is_pressed(html: str, expected: tuple[str, str]) -> None:
    assert answer(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        FORM.replace("<button", '<input name="email"><button'),
        FORM.replace("<button", '<input type="password" name="p"><button'),
        FORM.replace("<button", "<select name=year><option>1990</select><button"),
        FORM.replace("</form>", "<button>No</button></form>"),
        ASKED.format("No", "I am under 18"),
        ASKED.format("No", "Leave"),
        ASKED.format("Too young", "Old enough"),
        FORM.replace("/enter", "/cart/add"),
        FORM.replace("/enter", "/login"),
        FORM.replace("/enter", "https://other.example/enter"),
        f'{FORM}<form action="/search"><input name="q"></form>',
        f"{FORM}{FORM.replace('/enter', '/other')}",
        FORM.replace("Enter", "Buy now"),
        FORM.replace("/enter", WORDPRESS),
        GATE.replace("/enter", "/wp-admin/post.php"),
        f"<p>You must be over 18 to order</p>{FORM.replace('Enter', 'Add to basket')}",
        CHOSEN.format(f"{RADIO}1> Yes").replace("Are you over 18?", "Do you like us?"),
        CHOSEN.format(f"{RADIO}1> Daily {RADIO}2> Weekly"),
        CHOSEN.format("<select name=size><option>S</option><option>M</option></select>"),
        f'{FORM}<nav class="menu"><a href="/c/lamps">Lamps</a></nav>',
        '<h1>Hello</h1><a href="/about">About us</a>',
        "<p>Under construction</p>",
    ],
)
def test_no_login_order_or_shop_is_a_gate(html: str) -> None:
    assert answer(html) is None


def test_a_page_without_links_that_sets_a_cookie_is_asked_again() -> None:
    assert answer("<p>One moment</p>", sets_cookie=True) == ("/", "")


ASKS = "<h1>Are you over 18?</h1>"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            f"{ASKS}<button onclick=\"document.cookie='age_ok=1;path=/';location.reload()\">Yes</button>",
            (b"age_ok=1",),
        ),
        (
            f"{ASKS}<script>function yes() {{ document.cookie = 'age=' + 'yes' + '; path=/';"
            " window.location.href = '/' } function no() { document.cookie = 'age=no' }</script>",
            (b"age=yes",),
        ),
        (
            f"{ASKS}<script>Cookies.set('over18', true, {{expires: 7}}); location.reload()</script>",
            (b"over18=true",),
        ),
        ("<script>document.cookie = 'a=1'; location.reload()</script>", (b"a=1",)),
        (
            "<h1>Hello</h1><a href=/x>x</a><script>document.cookie = 'a=1'; location = '/'</script>",
            (),
        ),
        (f"{ASKS}<script>document.cookie = 'a=' + token; location.reload()</script>", ()),
        (f"{ASKS}<script>document.cookie = 'a=0'; location.reload()</script>", ()),
        (f"{ASKS}<script>document.cookie = 'a=1; max-age=0'; location.reload()</script>", ()),
        (f"{ASKS}<script>document.cookie = 'a=1'</script>", ()),
    ],
)
def test_the_cookie_that_a_gates_script_writes_out_is_its_answer(
    html: str, expected: tuple[bytes, ...]
) -> None:
    page = parse(f"<html><body>{html}</body></html>", f"{SHOP}/")
    found = answer_of(page, find_links(page), sets_cookie=False)
    assert (found.cookies if found is not None else ()) == expected


def test_a_gate_of_two_steps_gets_both_cookies() -> None:
    spider = spider_of()
    press, *_ = spider.parse(response("/", FORM, Request(f"{SHOP}/")))
    assert isinstance(press, Request)
    answered = response("/enter", "", press, **{"Set-Cookie": "one=1"}).replace(status=302)
    (again,) = spider.parse_gate(answered, **press.cb_kwargs)
    assert isinstance(again, Request)
    again.meta[m.DEPTH] = 2
    (second,) = spider.parse(response("/", ASKED.format("Yes", "No"), again))
    assert isinstance(second, Request)
    assert (second.body, second.headers["Cookie"]) == (b"a=a0", b"one=1")
    answered = response("/age", "", second, **{"Set-Cookie": "two=2"}).replace(status=302)
    (behind,) = spider.parse_gate(answered, **second.cb_kwargs)
    assert isinstance(behind, Request)
    assert behind.headers["Cookie"] == b"one=1; two=2"


def test_a_script_whose_cookie_opens_nothing_is_answered_once() -> None:
    spider, url = spider_of(), f"{SHOP}/about"
    html = f"{ASKS}<script>document.cookie = 'a=1'; location.reload()</script>"
    (again,) = spider.parse(response("/about", html, Request(url)))
    assert isinstance(again, Request)
    assert again.headers["Cookie"] == b"a=1"
    again.meta[m.DEPTH] = 1
    assert not list(spider.parse(response("/about", html, again)))


def spider_of() -> CatalogSpider:
    spider = CatalogSpider()
    made: Any = Crawler(CatalogSpider, {"COOKIES_ENABLED": False})
    made.stats = MemoryStatsCollector(made)
    spider._set_crawler(made)
    return spider


def response(url: str, html: str, request: Request, **headers: str) -> HtmlResponse:
    body = f"<html><body>{html}</body></html>".encode()
    return HtmlResponse(SHOP + url, body=body, headers=headers, request=request)


def test_the_gates_cookie_is_sent_with_the_shops_requests() -> None:
    spider, seed = spider_of(), Request(f"{SHOP}/")
    press, *_ = spider.parse(response("/", GATE, seed, **{"Set-Cookie": "sid=5; Path=/"}))
    assert isinstance(press, Request)
    assert (press.method, press.body, press.headers["Cookie"]) == (
        "POST",
        b"token=7&ok=1",
        b"sid=5",
    )
    twice, *_ = spider.parse(response("/", GATE, seed))
    assert isinstance(twice, Request)
    assert twice.meta[m.SCOPE] == press.meta[m.SCOPE], "it is pressed once for a page"
    answered = response("/enter", "", press, **{"Set-Cookie": "age=18; Path=/"})
    answered = answered.replace(status=302)
    (again,) = spider.parse_gate(answered, **press.cb_kwargs)
    assert isinstance(again, Request)
    assert (again.url, again.headers["Cookie"]) == (f"{SHOP}/", b"sid=5; age=18")
    again.meta[m.DEPTH] = 2
    menu = '<nav class="menu"><a href="/c/lamps">Lamps</a></nav>'
    (lamps,) = spider.parse(response("/", menu, again))
    assert isinstance(lamps, Request)
    assert lamps.headers["Cookie"] == b"sid=5; age=18"


def test_a_button_without_a_name_sends_an_empty_post() -> None:
    """Sent by GET, the shop answered with the gate again."""
    html = GATE.replace(BUTTON, "<button>Enter</button>")
    (press,) = spider_of().parse(response("/c/lamps", html, Request(f"{SHOP}/c/lamps")))
    assert isinstance(press, Request)
    assert (press.url, press.method, press.body) == (f"{SHOP}/enter", "POST", b"")


def test_a_page_that_was_a_gate_while_the_button_was_pressed_presses_its_own() -> None:
    """No link leads to a seed: its page was lost without a word."""
    spider = spider_of()
    pressed = []
    for path in ("/c/lamps", "/c/chairs"):
        (press,) = spider.parse(response(path, GATE, Request(SHOP + path)))
        pressed.append(press)
    assert len({press.meta[m.SCOPE] for press in pressed}) == 2, "the frontier drops no one"
    for press in pressed:
        answered = response("/enter", "", press, **{"Set-Cookie": "age=18"}).replace(status=303)
        (again,) = spider.parse_gate(answered, **press.cb_kwargs)
        assert again.url == press.cb_kwargs["gate"]


def test_a_button_whose_answer_sets_no_cookie_is_pressed_no_more() -> None:
    """It is that of another kind of page, of which a shop may have thousands."""
    spider = spider_of()
    (press,) = spider.parse(response("/a", GATE, Request(f"{SHOP}/a")))
    assert not list(spider.parse_gate(response("/enter", "", press), **press.cb_kwargs))
    assert not list(spider.parse(response("/b", GATE, Request(f"{SHOP}/b"))))
    job = Request(f"{SHOP}/b", meta={m.JOB_ID: "another job"})
    assert len(list(spider.parse(response("/b", GATE, job)))) == 1


def test_the_buttons_that_are_pressed_without_an_answer_are_few() -> None:
    """The other pages are asked for again later, ever later, and not without end.

    A slow site shows its gate hundreds of times before it answers the first button.
    """
    spider = spider_of()
    pages, counts, delays = [Request(f"{SHOP}/{n}") for n in range(300)], [], []
    while pages:
        read = [one for page in pages for one in spider.parse(response(page.url[19:], GATE, page))]
        pages = [one for one in read if isinstance(one, Request) and one.method == "GET"]
        counts.append(len(read))
        delays.append({page.meta[m.DELAY] for page in pages})
    assert counts == [300, *[300 - MOST_PRESSED] * 5, 0]
    assert delays == [{5}, {10}, {20}, {40}, {80}, {160}, set()]


def test_a_host_whose_buttons_are_never_answered_counts_as_shut_when_one_page_waited_so_long() -> (
    None
):
    """Else each of a sitemap's thousands of pages would be requested six times."""
    spider = spider_of()
    page = Request(f"{SHOP}/a")
    while again := list(spider.parse(response("/a", GATE, page))):
        (asked,) = (one for one in again if isinstance(one, Request))
        page = Request(f"{SHOP}/a", meta={"gates": page.meta.get("gates", 0) + 1})
        assert asked.url in {page.url, f"{SHOP}/enter"}
    assert not list(spider.parse(response("/b", GATE, Request(f"{SHOP}/b"))))


def test_a_button_is_pressed_before_the_pages_that_would_be_gates_until_then() -> None:
    """Seeds of a job have priority 100; of 300, which were all gates, 22 were read."""
    spider = spider_of()
    (press,) = spider.parse(response("/a", GATE, Request(f"{SHOP}/a")))
    led = response("/enter", "", press, Location="/next").replace(status=302)
    (hop,) = spider.parse_gate(led, **press.cb_kwargs)
    assert isinstance(hop, Request)
    assert min(press.priority, hop.priority) > SEED_PRIORITY


@pytest.mark.parametrize("is_opened", [False, True])
def test_a_host_whose_gates_stay_after_their_buttons_are_pressed_counts_as_shut(
    is_opened: bool,
) -> None:
    """Sooner where no page was ever read behind it."""
    spider, asked = spider_of(), 0
    (press,) = spider.parse(response("/a", GATE, Request(f"{SHOP}/a")))
    answered = response("/enter", "", press, **{"Set-Cookie": "age=18"}).replace(status=303)
    list(spider.parse_gate(answered, **press.cb_kwargs))
    if is_opened:
        behind_it = Request(f"{SHOP}/c", headers={"Cookie": "age=18"}, meta={m.DEPTH: 1})
        list(spider.parse(response("/c", PRODUCT, behind_it)))
    for number in range(300):
        page = Request(f"{SHOP}/{number}", headers={"Cookie": "age=18"}, meta={"gates": 1})
        asked += len(list(spider.parse(response(f"/{number}", GATE, page))))
        spider.gate_cookies.keep("shop.example", "age=18")
    assert asked == (100 if is_opened else 20)


def test_another_worker_sends_the_cookies_of_the_requests_that_it_gets() -> None:
    request = Request(f"{SHOP}/c/lamps", headers={"Cookie": "age=18"}, meta={m.DEPTH: 1})
    page = response("/c/lamps", '<nav class="menu"><a href="/c/bowls">Bowls</a></nav>', request)
    (bowls,) = spider_of().parse(page)
    assert isinstance(bowls, Request)
    assert bowls.headers["Cookie"] == b"age=18"


def test_the_cookie_that_a_seed_brings_stays_with_the_seed() -> None:
    seed = Request(f"{SHOP}/c/lamps", headers={"Cookie": "login=7"})
    page = response("/c/lamps", '<nav class="menu"><a href="/c/bowls">Bowls</a></nav>', seed)
    (bowls,) = spider_of().parse(page)
    assert isinstance(bowls, Request)
    assert "Cookie" not in bowls.headers


def behind(spider: CatalogSpider, path: str, cookie: str) -> Any:
    """What the page of a followed link gives that was requested with a cookie, and is the gate."""
    request = Request(SHOP + path, headers={"Cookie": cookie}, meta={m.DEPTH: 1})
    return list(spider.parse(response(path, GATE, request)))


def test_a_page_that_is_the_gate_again_presses_its_button_again() -> None:
    spider = spider_of()
    spider.gate_cookies.keep("shop.example", "age=1")
    (press,) = behind(spider, "/a", "age=1")
    assert press.method == "POST"
    assert "Cookie" not in press.headers, "the old cookie has expired"
    answered = response("/enter", "", press, **{"Set-Cookie": "age=2"}).replace(status=303)
    (again,) = spider.parse_gate(answered, **press.cb_kwargs)
    assert (again.url, again.headers["Cookie"]) == (f"{SHOP}/a", b"age=2")
    (other,) = behind(spider, "/b", "age=1")
    assert (other.url, other.headers["Cookie"]) == (f"{SHOP}/b", b"age=2"), "it needs no button"


def test_one_button_is_pressed_at_a_time_where_it_is_known_to_lead_past_the_gate() -> None:
    """When the cookie expired each page in flight pressed one: 39 times for 40 products."""
    spider = spider_of()
    spider.gate_cookies.keep("shop.example", "age=1")
    spider._buttons["shop.example"] = "POST /enter"
    (press,) = behind(spider, "/a", "age=1")
    assert press.method == "POST"
    for path in ("/b", "/c"):
        (later,) = behind(spider, path, "age=1")
        assert (later.url, later.meta[m.DELAY]) == (SHOP + path, 2)
    often = Request(f"{SHOP}/d", headers={"Cookie": "age=1"}, meta={m.DEPTH: 1, "gates": 3})
    (own,) = spider.parse(response("/d", GATE, often))
    assert isinstance(own, Request)
    assert own.method == "POST", "the answer to the other one may be lost"


def test_a_gate_that_refuses_its_button_counts_as_shut_after_three() -> None:
    """Its 403 banned the only proxy, so that the crawl waited for half an hour."""
    spider, page, refused = spider_of(), Request(f"{SHOP}/a"), 0
    while pressed := list(spider.parse(response("/a", GATE, page))):
        (press,) = pressed
        assert isinstance(press, Request)
        assert 403 in press.meta["handle_httpstatus_list"]
        answered = response("/enter", "", press).replace(status=403)
        (page,) = spider.parse_gate(answered, **press.cb_kwargs)
        page = page.replace(headers={})
        refused += 1
    assert refused == 3
    assert not list(spider.parse(response("/b", GATE, Request(f"{SHOP}/b"))))


def test_a_page_that_the_answer_leads_to_may_be_missing() -> None:
    spider = spider_of()
    (press,) = spider.parse(response("/a", GATE, Request(f"{SHOP}/a")))
    answered = response("/enter", "", press, **{"Set-Cookie": "age=2", "Location": "/home"})
    (hop,) = spider.parse_gate(answered.replace(status=303), **press.cb_kwargs)
    missing = response("/home", "", hop).replace(status=404)
    again = next(spider.parse_gate(missing, **hop.cb_kwargs))
    assert isinstance(again, Request)
    assert again.headers["Cookie"] == b"age=2"


def test_another_form_behind_the_gate_is_not_pressed() -> None:
    spider = spider_of()
    (press,) = spider.parse(response("/a", GATE, Request(f"{SHOP}/a")))
    answered = response("/enter", "", press, **{"Set-Cookie": "age=2"}).replace(status=303)
    list(spider.parse_gate(answered, **press.cb_kwargs))
    other = GATE.replace("/enter", "/newsletter/stop")
    request = Request(f"{SHOP}/b", headers={"Cookie": "age=2"}, meta={m.DEPTH: 1})
    assert not list(spider.parse(response("/b", other, request)))
    assert spider.gate_cookies.of("shop.example") == "age=2"


def test_a_known_products_page_that_is_a_gate_is_not_missing() -> None:
    """Each product of such a shop counted as gone at its re-crawl."""
    meta = {m.KNOWN: {"id": "7", "name": "Lamp"}, m.JOB_TYPE: "recrawl"}
    (press,) = spider_of().parse(response("/p", GATE, Request(f"{SHOP}/p", meta=meta)))
    assert isinstance(press, Request)
    assert press.meta["gate_pressed"]["kept"][m.KNOWN] == meta[m.KNOWN], (
        "the page behind it is the product's"
    )


def test_a_cookie_that_a_redirect_of_the_answer_sets_is_kept() -> None:
    spider = spider_of()
    (press,) = spider.parse(response("/a", GATE, Request(f"{SHOP}/a")))
    answered = response("/enter", "", press, Location="/remember").replace(status=302)
    (hop,) = spider.parse_gate(answered, **press.cb_kwargs)
    assert hop.url == f"{SHOP}/remember"
    answered = response("/remember", "", hop, **{"Set-Cookie": "age=2", "Location": "/a"})
    (again,) = spider.parse_gate(answered.replace(status=302), **hop.cb_kwargs)
    assert (again.url, again.headers["Cookie"]) == (f"{SHOP}/a", b"age=2")


def test_a_worker_of_an_older_version_can_take_a_pressed_button() -> None:
    """It calls parse_gate(response, gate), and any other name made a dead letter of the request."""
    spider = spider_of()
    (press,) = spider.parse(response("/a", GATE, Request(f"{SHOP}/a")))
    answered = response("/enter", "", press, Location="/remember").replace(status=302)
    (hop,) = spider.parse_gate(answered, **press.cb_kwargs)
    assert press.cb_kwargs == hop.cb_kwargs == {"gate": f"{SHOP}/a"}


def test_redirects_of_the_answer_are_followed_a_few_times() -> None:
    spider = spider_of()
    (press,) = spider.parse(response("/a", GATE, Request(f"{SHOP}/a")))
    hops = 0
    while press.callback == spider.parse_gate:
        answered = response("/enter", "", press, Location=f"/on/{hops}").replace(status=302)
        (press,) = spider.parse_gate(answered, **press.cb_kwargs)
        hops += 1
    assert hops < 10


def test_each_seed_that_leads_to_a_gate_reaches_it_however_late_its_button_is_answered() -> None:
    """From the hundredth on the frontier took the gate for known, and the seed was lost."""
    spider = spider_of()
    spider.crawler.spider = spider
    middleware = Gates(spider.crawler)

    def reads_gate(number: int) -> bool:
        request = Request(f"{SHOP}/p/{number}")
        answer = Response(request.url, 302, headers={"Location": "/gate"})
        middleware.process_response(request, answer)
        led = {"redirect_urls": [request.url], **request.meta}
        pages = list(spider.parse(response("/gate", GATE, Request(f"{SHOP}/gate", meta=led))))
        return m.SCOPE in request.meta and len(pages) == 1

    assert all(reads_gate(number) for number in range(300))


def test_many_seeds_that_lead_to_one_page_ask_for_it_a_bounded_number_of_times() -> None:
    """Each gone product that a re-crawl asked for requested the front page once more."""
    middleware = Gates(Crawler(CatalogSpider))

    def led(number: int, target: str, cookie: str = "") -> bool:
        headers = {"Cookie": cookie} if cookie else None
        request = Request(f"{SHOP}/p/{number}", headers=headers)
        answer = Response(request.url, 302, headers={"Location": target})
        middleware.process_response(request, answer)
        return m.SCOPE in request.meta

    assert sum(led(number, "/") for number in range(500)) == 100
    assert led(1, "/age?back=/p/1")
    assert led(1, "/", "age=18"), "a gate whose cookie has expired may be another one"


def test_a_gate_whose_button_is_never_answered_is_asked_in_vain_by_one_page_only() -> None:
    """Each of thousands of seeds was asked for seven times, where the button is an error."""
    spider = spider_of()
    for number in range(MOST_PRESSED):
        list(spider.parse(response(f"/{number}", GATE, Request(f"{SHOP}/{number}"))))
    (page, asked), seed = ([Request(f"{SHOP}/x", meta={m.DEPTH: 1})], 0), Request(f"{SHOP}/y")
    while page and asked < 20:
        page, asked = list(spider.parse(response("/x", GATE, page[0]))), asked + 1
    assert asked == 7
    assert not list(spider.parse(response("/y", GATE, seed))), "the host counts as shut"
    request = Request(f"{SHOP}/w", headers={"Cookie": "age=18"}, meta={m.DEPTH: 1})
    menu = '<nav class="menu"><a href="/c/lamps">Lamps</a></nav>' + '<a href="/p">p</a>' * 40
    list(spider.parse(response("/w", menu, request)))
    (again,) = spider.parse(response("/z", GATE, Request(f"{SHOP}/z")))
    assert isinstance(again, Request)
    assert again.headers["Cookie"] == b"age=18", "another worker's button had an answer"
