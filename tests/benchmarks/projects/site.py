"""A small site for the projects: quotes, a shop, a sitemap, feeds, a login, pictures."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

PAGES, QUOTES = 6, 5
CATEGORIES, BOOKS = 4, 6
#: The smallest picture: one pixel.
PIXEL = bytes.fromhex(
    "47494638396101000100800000ff0000ffffff21f90400000000002c00000000010001000002024401003b"
)
COOKIE = "session=let-me-in"
Answer = tuple[int, str, bytes, dict[str, str]]


def html(text: str, **headers: str) -> Answer:
    """A page."""
    body = f"<!doctype html><html><head><title>site</title></head><body>{text}</body></html>"
    return 200, "text/html; charset=utf-8", body.encode(), headers


def xml(text: str) -> Answer:
    """A document."""
    return 200, "application/xml", f'<?xml version="1.0" encoding="UTF-8"?>{text}'.encode(), {}


def quotes(page: int) -> Answer:
    """A page of quotes, with its authors and a link to the next one."""
    found = "".join(
        f'<div class="quote"><span class="text">Quote {page}.{n}</span>'
        f'<small class="author">Author {n}</small><a href="/author/{n}/">about</a>'
        f'<a class="tag">tag{n % 3}</a></div>'
        for n in range(QUOTES)
    )
    following = f'<li class="next"><a href="/page/{page + 1}/">Next</a></li>'
    return html(found + (following if page < PAGES else ""))


def category(number: int) -> Answer:
    """A shop's category, with its books and the shop's navigation."""
    nav = "".join(
        f'<a class="cat" href="/shop/cat/{n}">Category {n}</a>' for n in range(CATEGORIES)
    )
    books = "".join(
        f'<a class="book" href="/shop/book/{number}-{n}?ref=list">Book</a>' for n in range(BOOKS)
    )
    return html(f"<a href='/shop'>Home</a>{nav}{books}")


def book(name: str) -> Answer:
    """A book's page."""
    price = sum(map(ord, name)) / 10
    return html(
        f'<a href="/shop">Home</a><h1> Book {name} </h1><p class="price">£{price:.2f}</p>'
        f'<img src="/picture/{name}.gif"><a href="/shop/review/{name}">reviews</a>'
    )


class Site(BaseHTTPRequestHandler):
    """Answers every project's requests."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._send(self._answer(b""))

    def do_POST(self) -> None:
        self._send(self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0)))))

    def _answer(self, body: bytes) -> Answer:
        where = urlsplit(self.path)
        first, _, rest = where.path.strip("/").partition("/")
        answer = getattr(self, f"at_{first.partition('.')[0] or 'root'}", None)
        found: Answer | None = answer(rest, parse_qs(where.query), body) if answer else None
        return found or (404, "text/html", b"<html><body>no such page</body></html>", {})

    def _send(self, answer: Answer) -> None:
        status, kind, body, headers = answer
        self.send_response(status)
        for name, value in {"Content-Type": kind, **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    # Each takes what follows in the path, the query and the body.
    def at_root(self, rest: str, query: dict[str, list[str]], body: bytes) -> Answer:
        return quotes(1)

    def at_page(self, rest: str, query: dict[str, list[str]], body: bytes) -> Answer:
        return quotes(int(rest.strip("/")))

    def at_author(self, rest: str, query: dict[str, list[str]], body: bytes) -> Answer:
        number = rest.strip("/")
        return html(f"<h3>Author {number}</h3><span class=born>{1900 + int(number)}</span>")

    def at_shop(self, rest: str, query: dict[str, list[str]], body: bytes) -> Answer:
        kind, _, name = rest.partition("/")
        if kind == "book":
            return book(name)
        if kind == "review":
            return html(f"<b class=stars>{len(name)}</b>")
        return category(int(name) if kind == "cat" else 0)

    def at_sitemap(self, rest: str, query: dict[str, list[str]], body: bytes) -> Answer:
        base = f"http://{self.headers['Host']}"
        if "part" not in query:
            parts = "".join(
                f"<sitemap><loc>{base}/sitemap.xml?part={n}</loc></sitemap>"
                for n in range(CATEGORIES)
            )
            return xml(
                f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{parts}'
                "</sitemapindex>"
            )
        part = query["part"][0]
        urls = "".join(
            f"<url><loc>{base}/shop/book/{part}-{n}</loc></url>"
            f"<url><loc>{base}/shop/cat/{part}</loc></url>"
            for n in range(BOOKS)
        )
        return xml(f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>')

    def at_robots(self, rest: str, query: dict[str, list[str]], body: bytes) -> Answer:
        text = f"User-agent: *\nSitemap: http://{self.headers['Host']}/sitemap.xml\n"
        return 200, "text/plain", text.encode(), {}

    def at_products(self, rest: str, query: dict[str, list[str]], body: bytes) -> Answer:
        items = "".join(f"<item><id>{n}</id><name>Thing {n}</name></item>" for n in range(BOOKS))
        return xml(f"<items>{items}</items>")

    def at_table(self, rest: str, query: dict[str, list[str]], body: bytes) -> Answer:
        rows = "".join(f"{n};Thing {n};{n * 3}\n" for n in range(BOOKS))
        return 200, "text/csv", f"id;name;price\n{rows}".encode(), {}

    def at_login(self, rest: str, query: dict[str, list[str]], body: bytes) -> Answer:
        if not body:
            return html(
                '<form action="/login" method="post"><input type="hidden" name="csrf" value="c1">'
                '<input name="user"><input name="password" type="password"></form>'
            )
        right = parse_qs(body.decode()) == {"csrf": ["c1"], "user": ["me"], "password": ["secret"]}
        return (
            302,
            "text/html",
            b"",
            {"Location": "/private/1", **({"Set-Cookie": f"{COOKIE}; Path=/"} if right else {})},
        )

    def at_private(self, rest: str, query: dict[str, list[str]], body: bytes) -> Answer:
        if COOKIE not in (self.headers.get("Cookie") or ""):
            return html("<p class=denied>log in first</p>")
        links = "".join(f"<a href='/private/{n}'>more</a>" for n in range(1, PAGES + 1))
        return html(f"<p class=secret>Secret {rest}</p>{links}")

    def at_picture(self, rest: str, query: dict[str, list[str]], body: bytes) -> Answer:
        return 200, "image/gif", PIXEL, {}

    def at_api(self, rest: str, query: dict[str, list[str]], body: bytes) -> Answer:
        page = int(json.loads(body)["page"]) if body else int(query.get("page", ["1"])[0])
        found = {"page": page, "more": page < PAGES, "ids": [page * 10 + n for n in range(QUOTES)]}
        return 200, "application/json", json.dumps(found).encode(), {}

    def at_status(self, rest: str, query: dict[str, list[str]], body: bytes) -> Answer:
        return int(rest), "text/html", b"<html><body>as asked</body></html>", {}

    def at_script(self, rest: str, query: dict[str, list[str]], body: bytes) -> Answer:
        late = f"late {rest}"
        return html(
            f'<a class="book" href="/shop/book/9-{rest}">Book</a><button id="more" onclick="'
            "setTimeout(() => {const p = document.createElement('p'); p.className = 'late';"
            f"p.textContent = '{late}'; document.body.append(p)}}, 50)\">more</button>"
        )

    def at_moved(self, rest: str, query: dict[str, list[str]], body: bytes) -> Answer:
        return 301, "text/html", b"", {"Location": f"/author/{rest}/"}
