"""Walls, shells and damaged pages, and good pages that look like them."""

from __future__ import annotations

from crawler.access.detect import Page
from tests.unit.access.detect_pages import PRICE, URL, WORDS, html, page

WALLS: list[tuple[str, Page, str, str]] = [
    # walls and shells
    (
        "login wall by redirect",
        Page(
            status=200, url="https://shop.example/login?next=/p/1", requested_url=URL, body=html()
        ),
        "blocked",
        "login-wall",
    ),
    (
        "captcha by redirect",
        Page(status=200, url="https://shop.example/captcha?u=/p/1", requested_url=URL, body=html()),
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
        "cookie wall without a menu",
        page(
            200,
            html(b"Shop", b"<h1>We value your privacy</h1>" + 4 * b"<a href=/policy>Policy</a>"),
        ),
        "blocked",
        "cookie-wall",
    ),
    (
        "a short page of a shop with a banner about cookies",
        page(
            200, html(b"Shop", b"<h2>We value your privacy</h2>" + 5 * b"<A href=/lamps>Lamps</A>")
        ),
        "ok",
        "ok",
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
    ("nothing but NULs", page(200, b"\0" * 900), "broken", "garbage"),
    ("packed bytes", page(200, b"<html>" + bytes(range(256)) * 9), "broken", "garbage"),
    ("a NUL that browsers pass over", page(200, html(body=b"\0" + WORDS + PRICE)), "ok", "ok"),
    ("a page padded with NULs", page(200, html(body=WORDS + PRICE) + b"\0" * 9000), "ok", "ok"),
    (
        "Squid's own page",
        page(200, html(b"ERROR: The requested URL could not be retrieved", b"")),
        "broken",
        "squid",
    ),
    (
        "PHP error, status 200",
        page(200, b"<b>Fatal error</b>: Uncaught PDOException in /shop/db.php:12"),
        "broken",
        "php-error",
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
        "a short page whose menu has a login form",
        page(
            200,
            html(body=b'<nav><input type="password"></nav><p>Our terms</p><footer>Log in</footer>'),
        ),
        "ok",
        "ok",
    ),
    (
        "a short page below the box of a login form",
        page(
            200,
            b'<body><div><input type="password"></div><h1>Our terms</h1><p>None.</p>',
        ),
        "ok",
        "ok",
    ),
    (
        "a wall below a menu with a login form",
        page(
            200,
            b'<body><nav><input type="password"></nav><h1>Sign in</h1><input type="password">',
        ),
        "blocked",
        "login-wall",
    ),
    (
        "a wall that names the login form of its menu",
        page(
            200,
            b'<body><nav><input type="password"></nav><h1>Traders only</h1><p>Please log in.</p>',
        ),
        "blocked",
        "login-wall",
    ),
    (
        "a wall whose card has its title and its form in a header",
        page(
            200,
            b'<body><div><header><h2>Dealers</h2><input type="password"></header></div>',
        ),
        "blocked",
        "login-wall",
    ),
    (
        "a wall with a second heading for new customers",
        page(
            200,
            b'<body><h1>Welcome</h1><input type="password"><h1>New customers</h1>Write to us',
        ),
        "blocked",
        "login-wall",
    ),
    (
        "a wall in a menu that is not closed",
        page(
            200,
            b'<body><nav><a href="/">Home</a><h1>Welcome</h1><input type="password">Write to us',
        ),
        "blocked",
        "login-wall",
    ),
    (
        "a wall below a site's name in a form's box",
        page(
            200,
            b'<body><div><input type="password"></div><footer><h1>The shop</h1></footer>',
        ),
        "blocked",
        "login-wall",
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
            status=200,
            url="https://s.example/login/",
            requested_url="https://s.example/login",
            body=html(),
        ),
        "ok",
        "ok",
    ),
    (
        "a page about logins",
        Page(status=200, url="https://s.example/blog/login-tips", requested_url=URL, body=html()),
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
