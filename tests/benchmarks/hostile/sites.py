"""Hostile robots.txt files and sitemaps: each makes a site whose front page is a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import count

from tests.benchmarks.hostile.answers import BODY, OK, sized, targets
from tests.benchmarks.hostile.kinds import (
    CLOSE,
    Answer,
    Canaries,
    Shop,
    Source,
    Step,
    damaged,
    gzipped,
)
from tests.benchmarks.hostile.pages import SIZES

_XML = b'<?xml version="1.0" encoding="UTF-8"?>\n'
_SET = b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
_LINES = (
    *(
        b"User-agent: *\n",
        b"Disallow: /\n",
        b"Allow: /\n",
        b"Disallow: *$*$*\n",
        b"Crawl-delay: 1e999\n",
    ),
    *(
        b"Crawl-delay: nan\n",
        b"Crawl-delay: -5\n",
        b"Crawl-delay: x\n",
        b"Request-rate: 0/0\n",
        b"Request-rate: 1/1d\n",
    ),
    *(
        b"Request-rate: 1/9s 9999-99999\n",
        b"Visit-time: 9\n",
        b"Sitemap:\n",
        b"Sitemap: :\n",
        b"User-agent:\n",
        b":\n",
    ),
    *(
        b"Disallow: /%zz\n",
        b"Disallow: \xff\xfe\n",
        b"\0\n",
        b"#" * 900 + b"\n",
        b"Disallow: /" + b"*a" * 40 + b"\n",
    ),
    *(
        b"Host: [\n",
        b"Clean-param: a b\n",
        b"\r",
        b"\x0b\x0c\x1c\x85",
        b"user-agent: seine\ndisallow: /\n",
    ),
)


def site(
    name: str,
    robots: bytes | list[Step],
    sitemap: bytes = b"",
    more: dict[str, bytes] | None = None,
) -> Shop:
    """A site whose front page leads nowhere by itself."""
    steps: dict[str, list[Step]] = {
        "/": [sized(BODY)],
        "/robots.txt": [_text(robots)] if isinstance(robots, bytes) else robots,
        "/sitemap.xml": [_text(sitemap, b"application/xml")],
        **{path: [_text(body, b"application/xml")] for path, body in (more or {}).items()},
    }
    return Shop(name, {path: Answer(f"{name} {path}", made) for path, made in steps.items()})


def _text(body: bytes, kind: bytes = b"text/plain") -> bytes:
    return OK + b"Content-Type: " + kind + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def robots_sites(dice: random.Random, canaries: Canaries) -> Source:
    """Make sites with a hostile robots.txt."""
    fixed = [site(f"robots {n}", body) for n, body in enumerate(_robots(canaries))]
    odd = [site(f"odd robots {n}", steps) for n, steps in enumerate(_odd_robots(canaries))]
    made = (site(f"robots {n}", _generated_robots(dice)) for n in count(9000))
    return Source([*odd, *fixed], made)


def _generated_robots(dice: random.Random) -> bytes:
    body = b"".join(
        dice.choice(_LINES) * dice.choice((1, 1, 1, 3000)) for _ in range(dice.randrange(1, 20))
    )
    return damaged(dice, body) if dice.random() < 0.5 else body


def _robots(canaries: Canaries) -> Iterator[bytes]:
    for n in SIZES:
        for unit in (
            b"\n",
            b"\r\n",
            b" \n",
            b"\t",
            b"Sitemap: ",
            b"User-agent: *\n",
            b"Disallow: /*a*b*c$\n",
            b"\x1c",
            b"#\n",
        ):
            yield unit * n
        yield b"User-agent: *\n" + b"Disallow: /" + b"*" * n
        yield b"User-agent: *\nAllow: /" + b"*a" * n + b"$\n"
        yield b"User-agent: " + b"a" * n * 10 + b"\nDisallow: /\n"
        yield b"".join(b"Sitemap: /map-%d.xml\n" % i for i in range(n))
        yield b"".join(b"User-agent: a%d\nDisallow: /%d\n" % (i, i) for i in range(n))
    lines = "".join(f"Sitemap: {target[:2000]}\n" for target in targets(canaries))
    yield lines.encode("utf-8", "surrogatepass")
    for inside in canaries.inside:
        yield f"Sitemap: {inside}/robots-sitemap.xml\n".encode()
    yield f"Sitemap: file://{canaries.file}\nSitemap: http://u:{canaries.secret}@x.invalid/m.xml\n".encode()
    yield "User-agent: *\nDisallow: /x".encode("utf-16")
    yield gzipped(b"User-agent: *\nDisallow:")
    yield bytes(range(256)) * 100
    yield b"<html><h1>not robots</h1>" * 1000
    yield from _LINES


def _odd_robots(canaries: Canaries) -> Iterator[list[Step]]:
    inside = canaries.inside[0].encode()
    for status in (301, 302, 307, 401, 403, 429, 500, 503, 999):
        head = b"HTTP/1.1 %d X\r\nLocation: %s/robots-led\r\nContent-Length: 0\r\n\r\n" % (
            status,
            inside,
        )
        yield [head]
    yield [b"HTTP/1.1 302 X\r\nLocation: /robots.txt\r\nContent-Length: 0\r\n\r\n"]
    yield [
        b"HTTP/1.1 302 X\r\nLocation: file://"
        + str(canaries.file).encode()
        + b"\r\nContent-Length: 0\r\n\r\n"
    ]
    yield [CLOSE]
    yield [_text(b"User-agent: *\n")[:-3], CLOSE]
    yield [OK + b"\r\n" + b"Disallow: /x\n" * 3_000_000, CLOSE]


def sitemap_sites(dice: random.Random, canaries: Canaries) -> Source:
    """Make sites with a hostile sitemap."""
    bodies, rules = [*_sitemaps(canaries)], b"User-agent: *\nAllow: /\n"
    fixed = [site(f"sitemap {n}", rules, body, _further(n)) for n, body in enumerate(bodies)]
    safe = [body[:200_000] for body in bodies if b"127." not in body]

    def body() -> bytes:
        return _assembled(dice) if dice.random() < 0.5 else damaged(dice, dice.choice(safe))

    return Source(fixed, (site(f"sitemap {n}", b"", body()) for n in count(9000)))


def _further(number: int) -> dict[str, bytes]:
    """Maps that an index names."""
    one = b"<sitemap><loc>/sub.xml</loc></sitemap>"
    own = b"<sitemapindex>" + one + b"<sitemap><loc>/sitemap.xml?%d</loc></sitemap></sitemapindex>"
    return {"/sub.xml": own % number, f"/sitemap.xml?{number}": own % (number + 1)}


def _entries(n: int, text: bytes) -> bytes:
    return _XML + _SET + text * n + b"</urlset>"


@cache  # packing takes half a second, and every set of inputs has the same
def _blank_bomb() -> bytes:
    return gzipped(bytes(100 << 20))


def _sitemaps(canaries: Canaries) -> Iterator[bytes]:
    for n in SIZES:
        for unit in (
            *(
                b"<url>",
                b"<url><loc>",
                b"<sitemap>",
                b"<item><link>",
                b"<entry><link href='",
                b"<loc>/a</loc>",
            ),
            *(
                b"<url><loc>/p/1</loc></url>",
                b"<url></loc>",
                b"<a:url>",
                b"<![CDATA[",
                b"<!--",
                b"&",
                b"<",
                b"http://",
            ),
        ):
            yield _XML + _SET + unit * n
        yield _XML + _SET + b"<url><loc>" + b" " * n + b"</url>"
        yield _XML + _SET + b"<url><loc>/" + b" a" * n + b"</loc><lastmod>" + b" " * n + b"x</url>"
        yield _XML + b"<urlset " + b" ".join(b"a%d='b'" % i for i in range(n)) + b">"
        yield _XML + b"<a>" * n + b"<url><loc>/p/1</loc></url>" + b"</a>" * n
        yield b"\n".join(b"http://x%d.invalid/p" % i for i in range(n))
    entities = b"".join(b'<!ENTITY e%d "%s">' % (i, b"&e%d;" % (i - 1) * 10) for i in range(1, 12))
    yield (
        _XML
        + b'<!DOCTYPE u [<!ENTITY e0 "ha">'
        + entities
        + b"]>"
        + _SET
        + b"<url><loc>&e11;</loc></url></urlset>"
    )
    quadratic = b'<!DOCTYPE u [<!ENTITY a "' + b"a" * 50_000 + b'">]>'
    yield _XML + quadratic + _SET + b"<url><loc>" + b"&a;" * 50_000 + b"</loc></url></urlset>"
    file, inside = str(canaries.file).encode(), canaries.inside[0].encode()
    for kind in (b"SYSTEM", b'PUBLIC "x"'):
        for entity in (b"file://" + file, inside + b"/entity", file):
            doctype = b"<!DOCTYPE u [<!ENTITY x " + kind + b' "' + entity + b'">]>'
            yield _XML + doctype + _SET + b"<url><loc>/p/&x;</loc></url></urlset>"
            yield _XML + b"<!DOCTYPE u " + kind + b' "' + entity + b'">' + _SET + b"</urlset>"
            yield (
                _XML
                + b"<!DOCTYPE u [<!ENTITY % x "
                + kind
                + b' "'
                + entity
                + b'"> %x;]>'
                + _SET
                + b"</urlset>"
            )
    for target in targets(canaries):
        raw = (
            target.encode("utf-8", "surrogatepass")
            .replace(b"&", b"&amp;")
            .replace(b"<", b"")[:5000]
        )
        yield _entries(1, b"<url><loc>" + raw + b"</loc></url>")
        yield _XML + b"<sitemapindex><sitemap><loc>" + raw + b"</loc></sitemap></sitemapindex>"
    yield (
        _XML
        + b"<sitemapindex>"
        + b"".join(b"<sitemap><loc>/m%d.xml</loc></sitemap>" % n for n in range(5000))
        + b"</sitemapindex>"
    )
    yield (
        _XML
        + b"<sitemapindex><sitemap><loc>/sitemap.xml</loc></sitemap>"
        + b"<sitemap><loc>/sub.xml</loc></sitemap></sitemapindex>"
    )
    yield gzipped(_entries(400_000, b"<url><loc>/p/1</loc></url>"))
    yield _blank_bomb()
    yield gzipped(_entries(9, b"<url><loc>/p/1</loc></url>"))[:-9]
    yield _entries(9, b"<url><loc>/p/1</loc></url>").replace(b"UTF-8", b"no-such-encoding")
    yield _entries(9, b"<url><loc>/p/1</loc></url>").decode().encode("utf-16")
    yield b"\0" * 9000 + _SET
    for date in (
        b"soon",
        b"9999-99-99",
        b"2026-11-22T99:99:99",
        b"1e999",
        b"Thu, 99 Foo 99999 99:99:99 +9999",
        b"\xff",
    ):
        yield _entries(30, b"<url><loc>/p/1</loc><lastmod>" + date + b"</lastmod></url>")


def _assembled(dice: random.Random) -> bytes:
    parts = (
        b"<url>",
        b"</url>",
        b"<loc>",
        b"</loc>",
        b"/p/1",
        b"<sitemap>",
        b"</sitemap>",
        b"<lastmod>",
        b" " * 500,
    )
    parts = (
        *parts,
        b"<![CDATA[",
        b"]]>",
        b"&amp;",
        b"&#xD800;",
        b"<item>",
        b"<link href='/p/2'/>",
        b"<!-- ",
        b" -->",
        b"\0",
    )
    return (
        _XML
        + _SET
        + b"".join(
            dice.choice(parts) * dice.choice((1, 1, 9, 900)) for _ in range(dice.choice((9, 90)))
        )
    )
