"""Pages as sites and their guards serve them, with the verdict and the rule they call for."""

from __future__ import annotations

from crawler.access.detect import Page

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


REFUSALS: list[tuple[str, Page, str, str]] = [
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
    (
        "maintenance, status 200",
        page(200, html(b"Maintenance", b"We'll be back soon!")),
        "throttled",
        "maintenance",
    ),
    ("maintenance by title", page(200, html(b"Site maintenance")), "throttled", "maintenance"),
    ("a category named so", page(200, html(b"Maintenance")), "ok", "ok"),
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
]
