"""Block pages, captchas, empty pages: what an answer really is, by pure rules, the cheapest first.

    >>> judge(Page(status=403, url="https://shop.example/"))
    Finding(verdict='blocked', rule='forbidden')

The verdicts: `ok`; `blocked`: the site refuses this client; `captcha`: it wants a human;
`throttled`: it wants fewer requests; `empty`: a page without its content, which a browser may
fill; `broken`: neither refusal nor content (errors, soft 404, garbage), another means gets no more.

An ordinary page must leave early: most pages are ordinary. So the site's own key elements are
looked for first, markers only in the head of the body, and only by substring search, which is
faster than a regular expression of as many words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

import attrs

from crawler.access import block_signatures
from crawler.access.block_signatures import Verdict
from scrapy_seine.meta import RULE, VERDICT
from scrapy_seine.middlewares.packed_formats import GZIP, Damaged, TooLarge, unpack
from scrapy_seine.records import Value

__all__ = ["BAD", "REFUSED", "REFUSED_AT", "RULE", "VERDICT", "Finding", "Page", "Verdict", "judge"]

#: Key of `request.meta`: the ladder's step on which a request was refused last, and how often.
REFUSED_AT = "refused"

#: Verdicts that another means of asking may change.
BAD = frozenset({"blocked", "captcha", "empty"})
#: Verdicts that may be about the address that asked.
REFUSED = frozenset({"blocked", "captcha"})

#: Bytes of the body in which markers are looked for.
HEAD = 8192
#: Bytes that no text has, and the share of them that nobody reads.
_NO_TEXT, _UNREADABLE = bytes({*range(32)} - set(b"\t\n\r\f\x1b")), 0.05
#: Below this size, in bytes, the visible text is counted even if nothing looks odd.
_TINY = 2048
#: A challenge is a small page; a widget on a larger one belongs to a form.
_SMALL = 16384
#: Below this share of the site's usual size, a page lacks its content.
_FAR_BELOW = 0.2
#: A usual size under this, in bytes, tells nothing.
_USUAL_FLOOR = 4096

#: Bytes of a packed file up to which it is looked through; a sitemap has no more.
_MOST_FILE = 64_000_000

_TITLE = re.compile(rb"<title[^<>]*+>([^<]*+)")
_SPACE = re.compile(rb"\s+")
# Each alternative runs to an end that always exists, so that no hostile page makes it slow.
_HIDDEN = re.compile(
    rb"<(script|style|noscript|template)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)|<[^<>]*>", re.S
)
_LOGIN_PATH = re.compile(r"/(?:log-?in|sign-?in|auth|sso)(?:[/.?]|$)", re.I)
_CAPTCHA_PATH = re.compile(
    r"/(?:captcha|showcaptcha|validatecaptcha|sorry|challenge)(?:[/.?]|$)", re.I
)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Page(Value):
    """What the rules see of a response."""

    status: int
    url: str
    """Where the answer came from, after redirects."""
    headers: Mapping[str, str] = attrs.Factory(dict)
    """First value of each header; names in lower case."""
    body: bytes = b""
    asked: str = ""
    """URL that was asked for, before redirects; '' = the same."""
    expected: Sequence[bytes] = ()
    """Literal pieces of HTML, one of which each good page of the site holds."""
    usual_size: float = 0.0
    """Bytes of the site's usual page of this kind; 0: not known."""
    truncated: bool = False
    """The connection ended before the body did."""


@attrs.frozen(eq=False, repr=False)
class Finding(Value):
    """The verdict and the rule that gave it."""

    verdict: Verdict
    rule: str


OK = Finding("ok", "ok")

#: Pieces of HTML, the visible text in characters under which they count, and what they mean.
_WALLS: tuple[tuple[tuple[bytes, ...], int, Finding], ...] = (
    (block_signatures.SHELLS, 200, Finding("empty", "javascript-shell")),
    (block_signatures.WIDGETS, 800, Finding("captcha", "captcha-widget")),
    ((b'type="password"',), 800, Finding("blocked", "login-wall")),
    (block_signatures.COOKIE_WALLS, 800, Finding("blocked", "cookie-wall")),
)


def judge(page: Page) -> Finding:
    """Say what an answer is."""
    if page.truncated:
        return Finding("broken", "truncated")
    named = _by_header(page.headers)
    if named is not None:
        return named
    if 200 <= page.status < 300:  # noqa: PLR2004
        return _success(page)
    if 300 <= page.status < 400:  # noqa: PLR2004
        return _by_path(page.headers.get("location", ""), page.asked or page.url) or OK
    return _failure(page)


def _by_header(headers: Mapping[str, str]) -> Finding | None:
    for name, part, rule, verdict in block_signatures.HEADERS:
        if name in headers and part in headers[name].lower():
            return Finding(verdict, rule)
    return None


def _by_path(target: str, asked: str) -> Finding | None:
    """Judge where a redirect led: to a login or a challenge that nobody asked for."""
    if not target or target == asked:
        return None
    path, before = urlsplit(target).path, urlsplit(asked).path
    if _CAPTCHA_PATH.search(path) and not _CAPTCHA_PATH.search(before):
        return Finding("captcha", "redirect-captcha")
    if _LOGIN_PATH.search(path) and not _LOGIN_PATH.search(before):
        return Finding("blocked", "login-wall")
    return None


_STATUS: dict[int, Finding] = {
    401: Finding("blocked", "login-required"),
    403: Finding("blocked", "forbidden"),
    404: OK,
    406: Finding("blocked", "not-acceptable"),
    407: Finding("broken", "proxy-auth"),
    410: OK,
    418: Finding("blocked", "teapot"),
    429: Finding("throttled", "too-many-requests"),
    444: Finding("blocked", "no-response"),
    451: Finding("blocked", "legal"),
    456: Finding("blocked", "quota"),
    509: Finding("throttled", "bandwidth"),
    529: Finding("throttled", "overloaded"),
    999: Finding("blocked", "refused-999"),
}
_BAN_STATUSES = frozenset({400, 401, 403, 405, 406, 418, 428, 429, 451, 456, 503, 999})


def _failure(page: Page) -> Finding:
    """Judge an error status: who answered says more than the number."""
    head = page.body[:HEAD].lower()
    if page.status in _BAN_STATUSES:
        found = _by_marks(head, ok_status=False) or _by_title(head)
        if found is not None and found.rule not in {"title-denied", "title-error", "soft-404"}:
            return found
        if len(page.body) < _SMALL and any(w in head for w in block_signatures.WIDGETS):
            return Finding("captcha", "captcha-widget")
    if page.status == 503 and "retry-after" in page.headers:  # noqa: PLR2004
        return Finding("throttled", "retry-after")
    if page.status in _STATUS:
        return _STATUS[page.status]
    if page.status >= 500:  # noqa: PLR2004
        return _by_marks(head, ok_status=False) or Finding("broken", "server-error")
    return Finding("broken", "client-error")


def _success(page: Page) -> Finding:
    body = page.body
    if not body or body.isspace():
        return Finding("empty", "no-body")
    moved = _by_path(page.url, page.asked) if page.asked else None
    if moved is not None:
        return moved
    if page.expected and any(piece in body for piece in page.expected):
        return OK
    if body.startswith(GZIP) and _is_damaged(body):
        return Finding("broken", "damaged-file")
    kind = page.headers.get("content-type", "").lower()
    if kind and "html" not in kind:
        return OK if not page.expected else Finding("broken", "not-html")
    head = body[: HEAD if len(body) < _SMALL else HEAD // 2].lower()
    if _is_binary(head):
        return Finding("broken", "garbage")
    return _html(page, head)


def _is_damaged(body: bytes) -> bool:
    """Whether a packed file, as a rule a sitemap, lacks its end or is not what was packed."""
    try:
        unpack(body, "gzip", _MOST_FILE)
    except TooLarge:
        return False
    except Damaged:
        return True
    return False


def _is_binary(head: bytes) -> bool:
    """Whether a page's beginning is no text, though its header says so.

    Some NULs say nothing, because browsers pass over them, and so do we.
    """
    if b"\0" not in head:
        return False
    text = head.rstrip(b"\0")
    return len(text) - len(text.translate(None, _NO_TEXT)) >= _UNREADABLE * len(text)


def _html(page: Page, head: bytes) -> Finding:
    """Judge a page with status 200 that does not show the site's key elements."""
    unmarked = Finding("broken", "missing-elements") if page.expected else OK
    if _has_content(head):  # nearly all products say so early, and no mark would count
        return unmarked
    found = _by_marks(head, ok_status=True) or _by_title(head)
    size = len(page.body)
    low = page.usual_size >= _USUAL_FLOOR and size < page.usual_size * _FAR_BELOW
    if found is None and (size < _SMALL or low or page.expected):
        found = _small(page.body, head)
    if found is None and low:
        found = Finding("empty", "far-below-usual-size")
    return unmarked if found is None or _has_content(page.body.lower()) else found


def _by_marks(head: bytes, *, ok_status: bool) -> Finding | None:
    for sign in block_signatures.SIGNS:  # a plain loop: any() would take as long as the searches
        if sign in head:
            break
    else:
        return None
    for mark in block_signatures.BODY:
        if (mark.any_status or not ok_status) and all(needle in head for needle in mark.needles):
            return Finding(mark.verdict, mark.rule)
    return None


def _by_title(head: bytes) -> Finding | None:
    match = _TITLE.search(head)
    if match is None:
        return None
    found = block_signatures.TITLES.get(_SPACE.sub(b" ", match.group(1)).strip())
    return Finding(found[1], found[0]) if found else None


def _small(body: bytes, head: bytes) -> Finding | None:
    """Judge a page that may be all wall and no content, by what a reader would see of it."""
    rules = [(limit, finding) for parts, limit, finding in _WALLS if any(p in head for p in parts)]
    if not rules and len(body) > _TINY:
        return None
    seen = len(_SPACE.sub(b" ", _HIDDEN.sub(b" ", body[: 4 * HEAD])).strip())
    for limit, finding in rules:
        if seen < limit:
            return finding
    return None if seen else Finding("empty", "no-text")


def _has_content(lower: bytes) -> bool:
    """Whether a page in lower case says that it is a product's or a listing's."""
    return any(piece in lower for piece in block_signatures.CONTENT)
