"""What an answer is: the case table of the detection rules, traps for them included."""

from __future__ import annotations

import timeit

import pytest

from crawler.access.detect import Page, judge

URL = "https://shop.example/p/1"
HTML = {"content-type": "text/html; charset=utf-8"}
#: Words enough that a page is more than a wall.
WORDS = b"A sturdy kettle of brushed steel that boils a litre in three minutes. " * 20
PRICE = b'<span itemprop="price">12.50</span>'


def html(title: bytes = b"Kettle | Shop", body: bytes = WORDS, head: bytes = b"") -> bytes:
    return (
        b"<!doctype html><html><head><title>" + title + b"</title>" + head + b"</head><body>"
        b"<h1>" + title + b"</h1>" + body + b"</body></html>"
    )


def page(status: int = 200, body: bytes | None = None, **kwargs: object) -> Page:
    headers = {**HTML, **dict(kwargs.pop("headers", {}))}  # type: ignore[call-overload]
    shown = html() if body is None else body
    return Page(status=status, url=URL, headers=headers, body=shown, **kwargs)  # type: ignore[arg-type]


CASES: list[tuple[str, Page, str, str]] = [
    # refusals by status
    ("403", page(403), "blocked", "forbidden"),
    ("403 with a denied title", page(403, html(b"Access Denied", b"no")), "blocked", "forbidden"),
    ("401", page(401), "blocked", "login-required"),
    ("406", page(406), "blocked", "not-acceptable"),
    ("418", page(418), "blocked", "teapot"),
    ("451", page(451), "blocked", "legal"),
    ("999 of LinkedIn", page(999), "blocked", "refused-999"),
    ("429", page(429), "throttled", "too-many-requests"),
    ("503 with Retry-After", page(503, headers={"retry-after": "30"}), "throttled", "retry-after"),
    ("509", page(509), "throttled", "bandwidth"),
    ("529", page(529), "throttled", "overloaded"),
    ("503", page(503), "broken", "server-error"),
    ("500", page(500), "broken", "server-error"),
    ("502 of a gateway", page(502, html(b"502 Bad Gateway", b"nginx")), "broken", "server-error"),
    ("522 of Cloudflare", page(522), "broken", "server-error"),
    ("400", page(400), "broken", "client-error"),
    ("407 of a proxy", page(407), "broken", "proxy-auth"),
    ("404 is an answer", page(404), "ok", "ok"),
    ("410 is an answer", page(410), "ok", "ok"),
    # vendors
    (
        "Cloudflare challenge by header",
        page(403, headers={"cf-mitigated": "challenge"}),
        "captcha",
        "cloudflare-challenge",
    ),
    (
        "Cloudflare challenge by script",
        page(503, html(b"Please wait", b"<script>window._cf_chl_opt={cvId:'3'}</script>")),
        "captcha",
        "cloudflare-challenge",
    ),
    (
        "Cloudflare challenge by title, status 200",
        page(200, html(b"Just a moment...", b"")),
        "captcha",
        "cloudflare-challenge",
    ),
    (
        "Cloudflare block 1020",
        page(403, html(b"Attention Required! | Cloudflare", b'<div id="cf-error-details">1020')),
        "blocked",
        "cloudflare-block",
    ),
    (
        "DataDome",
        page(403, html(b"shop.example", b"<script>var dd={'host':'geo.captcha-delivery.com'}")),
        "captcha",
        "datadome",
    ),
    (
        "PerimeterX, status 200",
        page(200, html(b"Access to this page has been denied", b'<div id="px-captcha"></div>')),
        "captcha",
        "perimeterx",
    ),
    (
        "PerimeterX script host",
        page(403, html(b"Hold on", b"<script src=//captcha.px-cdn.net/PX1/captcha.js>")),
        "captcha",
        "perimeterx",
    ),
    (
        "Akamai refusal",
        page(403, html(b"Access Denied", b"Reference&#32;&#35;18.4d8&#46; errors.edgesuite.net")),
        "blocked",
        "akamai-block",
    ),
    (
        "Akamai challenge, status 200",
        page(200, b"<html><head><meta http-equiv='refresh' content='5; URL=/?bm-verify=AAQ'>"),
        "captcha",
        "akamai-challenge",
    ),
    (
        "Akamai crypto challenge",
        page(428, html(b"", b'<div id="sec-if-cpt-container">')),
        "captcha",
        "akamai-challenge",
    ),
    (
        "Imperva, status 200",
        page(200, b"<html><iframe id='main-iframe'>Incapsula incident ID: 12-34</iframe></html>"),
        "blocked",
        "imperva",
    ),
    (
        "AWS WAF challenge",
        page(202, b"", headers={"x-amzn-waf-action": "challenge"}),
        "captcha",
        "aws-waf-challenge",
    ),
    (
        "AWS WAF captcha",
        page(405, headers={"x-amzn-waf-action": "captcha"}),
        "captcha",
        "aws-waf-captcha",
    ),
    (
        "AWS WAF by script",
        page(202, html(b"", b"<script>window.gokuProps={}</script><script src=//x.awswaf.com/c>")),
        "captcha",
        "aws-waf-challenge",
    ),
    (
        "Kasada",
        page(429, html(b"", b"<script>window.KPSDK={}</script><script src=/1/ips.js?a>")),
        "captcha",
        "kasada",
    ),
    (
        "F5",
        page(200, html(b"Request Rejected", b"The requested URL was rejected. Support ID is: 1")),
        "blocked",
        "f5",
    ),
    (
        "Sucuri challenge",
        page(200, b"<html><script>sucuri_cloudproxy_js=''</script></html>"),
        "captcha",
        "sucuri-challenge",
    ),
    (
        "Sucuri block",
        page(403, html(b"Sucuri WebSite Firewall - Access Denied", b"")),
        "blocked",
        "sucuri-block",
    ),
    (
        "DDoS-Guard",
        page(403, html(b"DDoS-Guard", b"<script src=//check.ddos-guard.net/check.js>")),
        "captcha",
        "ddos-guard",
    ),
    (
        "Google",
        page(429, html(b"sorry", b"Our systems have detected unusual traffic")),
        "captcha",
        "google-sorry",
    ),
    (
        "Amazon",
        page(200, html(b"Amazon.com", b'<form action="/errors/validateCaptcha">Enter')),
        "captcha",
        "amazon-captcha",
    ),
    (
        "Radware",
        page(200, html(b"", b"<script src=https://validate.perfdrive.com/x>")),
        "captcha",
        "radware",
    ),
    ("Distil", page(200, html(b"Pardon Our Interruption", b"")), "blocked", "distil"),
    (
        "Anubis",
        page(200, html(b"Making sure you're not a bot!", b"<p>proof of work</p>")),
        "captcha",
        "anubis",
    ),
    (
        "Aliyun WAF",
        page(200, b"<html><script>var arg1='A';document.cookie='acw_sc__v2='+x</script></html>"),
        "captcha",
        "aliyun-waf",
    ),
    (
        "Vercel",
        page(429, headers={"x-vercel-mitigated": "challenge"}),
        "captcha",
        "vercel-challenge",
    ),
    ("Vercel deny", page(403, headers={"x-vercel-mitigated": "deny"}), "blocked", "vercel-deny"),
    (
        "Wordfence",
        page(403, html(b"Site access", b"<p>Generated by Wordfence at Mon</p>")),
        "blocked",
        "wordfence",
    ),
    ("robot check by title", page(200, html(b"Robot Check", b"")), "captcha", "title-captcha"),
    (
        "title over two lines",
        page(200, html(b"\n Human\n verification ", b"")),
        "captcha",
        "title-captcha",
    ),
    (
        "denied by title, status 200",
        page(200, html(b"Access Denied", b"")),
        "blocked",
        "title-denied",
    ),
    (
        "throttled by title, status 200",
        page(200, html(b"Too Many Requests", b"")),
        "throttled",
        "title-throttled",
    ),
    (
        "a bare reCAPTCHA",
        page(200, html(b"Shop", b'<form><div class="g-recaptcha"></div></form>')),
        "captcha",
        "captcha-widget",
    ),
    (
        "a 403 with hCaptcha",
        page(403, html(b"Shop", b'<div class="h-captcha"></div>')),
        "captcha",
        "captcha-widget",
    ),
    # walls and shells
    (
        "login wall by redirect",
        Page(status=200, url="https://shop.example/login?next=/p/1", asked=URL, body=html()),
        "blocked",
        "login-wall",
    ),
    (
        "captcha by redirect",
        Page(status=200, url="https://shop.example/captcha?u=/p/1", asked=URL, body=html()),
        "captcha",
        "redirect-captcha",
    ),
    (
        "a redirect to the login, not followed",
        page(302, b"", headers={"location": "https://shop.example/signin?r=1"}),
        "blocked",
        "login-wall",
    ),
    (
        "a redirect to another page, not followed",
        page(302, b"", headers={"location": "https://shop.example/p/2"}),
        "ok",
        "ok",
    ),
    (
        "login wall by form",
        page(200, html(b"Sign in", b'<input type="password">')),
        "blocked",
        "login-wall",
    ),
    (
        "cookie wall",
        page(200, html(b"Shop", b"<p>Please enable cookies to see this page</p>")),
        "blocked",
        "cookie-wall",
    ),
    (
        "React shell",
        page(200, html(b"", b'<div id="root"></div><script src=/a.js></script>')),
        "empty",
        "javascript-shell",
    ),
    (
        "Vue shell",
        page(200, html(b"Shop", b'<div id="app"></div><noscript>Please turn it on</noscript>')),
        "empty",
        "javascript-shell",
    ),
    (
        "a shell larger than a wall, its site's elements known",
        page(
            200,
            html(b"Shop", b'<div id="app"></div><script>' + b"x" * 40_000 + b"</script>"),
            expected=(b'itemprop="price"',),
        ),
        "empty",
        "javascript-shell",
    ),
    ("no body", page(200, b""), "empty", "no-body"),
    ("white space", page(200, b" \n"), "empty", "no-body"),
    ("204", page(204, b""), "empty", "no-body"),
    ("no text", page(200, b"<html><head></head><body></body></html>"), "empty", "no-text"),
    ("far below the usual size", page(usual_size=40_000.0), "empty", "far-below-usual-size"),
    # broken
    ("cut off", page(truncated=True), "broken", "truncated"),
    ("soft 404", page(200, html(b"Page not found", b"Sorry")), "broken", "soft-404"),
    ("garbage", page(200, b"<html>\0\1\2\3" * 9), "broken", "garbage"),
    (
        "Squid's own page",
        page(200, html(b"ERROR: The requested URL could not be retrieved", b"")),
        "broken",
        "squid",
    ),
    ("Squid by header", page(503, headers={"x-squid-error": "ERR 0"}), "broken", "proxy-error"),
    (
        "an image where a product should be",
        page(200, b"\x89PNG", headers={"content-type": "image/png"}, expected=(b"price",)),
        "broken",
        "not-html",
    ),
    ("key elements gone", page(expected=(b'itemprop="price"',)), "broken", "missing-elements"),
    # good pages, and traps
    ("a product", page(200, html(body=WORDS + PRICE)), "ok", "ok"),
    ("a short product page", page(200, html(body=b"Kettle, 12.50")), "ok", "ok"),
    ("JSON", page(200, b'{"price": 1}', headers={"content-type": "application/json"}), "ok", "ok"),
    ("an image", page(200, b"\x89PNG\0", headers={"content-type": "image/png"}), "ok", "ok"),
    ("no content type", Page(status=200, url=URL, body=html()), "ok", "ok"),
    (
        "a shop that sells books about CAPTCHA",
        page(200, html(b"Beating the CAPTCHA: a history", b"captcha robot check " * 99 + PRICE)),
        "ok",
        "ok",
    ),
    ("a book called CAPTCHA", page(200, html(b"CAPTCHA", WORDS + PRICE)), "ok", "ok"),
    ("a film called Access Denied", page(200, html(b"Access Denied", WORDS + PRICE)), "ok", "ok"),
    (
        "a newsletter form with reCAPTCHA",
        page(200, html(body=WORDS + b'<div class="g-recaptcha"></div>')),
        "ok",
        "ok",
    ),
    (
        "a small product page with a login form",
        page(200, html(body=b"<p>12.50</p>" + PRICE + b'<input type="password">')),
        "ok",
        "ok",
    ),
    (
        "Cloudflare's script on an ordinary page",
        page(
            200, html(body=WORDS + b"<script src=/cdn-cgi/challenge-platform/scripts/jsd/main.js>")
        ),
        "ok",
        "ok",
    ),
    (
        "DataDome's script on an ordinary page",
        page(
            200,
            html(head=b"<script src=https://js.datadome.co/tags.js>"),
            headers={"x-datadome": "protected"},
        ),
        "ok",
        "ok",
    ),
    (
        "Incapsula's script on an ordinary page",
        page(200, html(head=b"<script src=/_Incapsula_Resource?SWJIYLWA=719>")),
        "ok",
        "ok",
    ),
    (
        "a server-rendered React page",
        page(200, html(body=b'<div id="root"></div>' + WORDS)),
        "ok",
        "ok",
    ),
    (
        "a cookie banner",
        page(200, html(body=WORDS + b"Please enable cookies to remember your basket.")),
        "ok",
        "ok",
    ),
    (
        "the login page itself",
        Page(
            status=200, url="https://s.example/login/", asked="https://s.example/login", body=html()
        ),
        "ok",
        "ok",
    ),
    (
        "a page about logins",
        Page(status=200, url="https://s.example/blog/login-tips", asked=URL, body=html()),
        "ok",
        "ok",
    ),
    (
        "the site's key elements settle it, whatever the title",
        page(200, html(b"Robot Check", PRICE), expected=(b'itemprop="price"',)),
        "ok",
        "ok",
    ),
    (
        "a short product page of a site with large ones",
        page(200, html(body=PRICE), usual_size=90_000.0),
        "ok",
        "ok",
    ),
]


@pytest.mark.parametrize(("name", "seen", "verdict", "rule"), CASES, ids=[c[0] for c in CASES])
def test_each_page_of_the_case_table_is_told_apart(
    name: str, seen: Page, verdict: str, rule: str
) -> None:
    finding = judge(seen)
    assert (finding.verdict, finding.rule) == (verdict, rule), name


def test_the_table_covers_sixty_pages_and_more() -> None:
    assert len({case[0] for case in CASES}) == len(CASES) >= 60


@pytest.mark.parametrize("piece", [b"<", b"<!--", b"<script>", b"<title>", b" "])
def test_a_hostile_page_is_judged_as_fast_as_another(piece: bytes) -> None:
    hostile = page(200, (b'<div id="root"></div>' + piece * 40_000)[:16_000])
    assert min(timeit.repeat(lambda: judge(hostile), number=1, repeat=3)) < 0.1


@pytest.mark.parametrize("expected", [(), (b'itemprop="price"',)])
def test_an_ordinary_page_costs_next_to_nothing(expected: tuple[bytes, ...]) -> None:
    """The limit is 0.1 ms; five times that keeps a busy machine from failing the test."""
    ordinary = page(200, html(body=WORDS * 14 + PRICE), expected=expected)
    assert len(ordinary.body) > 19_000
    best = min(timeit.repeat(lambda: judge(ordinary), number=50, repeat=5)) / 50
    assert best < 0.0005
    print(f"{best * 1e6:.0f} us")
