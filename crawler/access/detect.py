"""Judge a response (block page, captcha, empty page …) by pure rules, the cheapest first.

    >>> judge(Page(status=403, url="https://shop.example/"))
    Finding(verdict='blocked', rule='forbidden')

The verdicts: `ok`; `blocked`: the site refuses this client; `captcha`: it demands a human;
`throttled`: it demands fewer requests; `empty`: a page without its content, which a browser may
render; `broken`: an error, a soft 404 or garbage, which another lane cannot change.

Most pages are ordinary, so they must be recognised fast. The site's own key elements are searched
first, signatures only in the head of the body, and only by substring search, because that is faster
than a regular expression of as many words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

import attrs

from crawler.access import block_signatures
from crawler.access.block_signatures import Verdict
from scrapy_seine.attrs_bases import Value
from scrapy_seine.meta import RULE, VERDICT
from scrapy_seine.middlewares.packed_formats import GZIP, Damaged, TooLarge, unpack

__all__ = ["BAD", "REFUSED", "REFUSED_AT", "RULE", "VERDICT", "Finding", "Page", "Verdict", "judge"]

#: Key of `request.meta`: the ladder's step on which a request was refused last, and how often.
REFUSED_AT = "refused"

#: Verdicts that another lane or proxy may change.
BAD = frozenset({"blocked", "captcha", "empty"})
#: Verdicts that the client's address may have caused.
REFUSED = frozenset({"blocked", "captcha"})

#: Bytes of the body that are searched for signatures.
HEAD = 8192
#: Bytes that no text has, and the share of them from which on a body is binary.
_CONTROL_BYTES, _BINARY_SHARE = bytes({*range(32)} - set(b"\t\n\r\f\x1b")), 0.05
#: Below this size, in bytes, the visible text is measured in any case.
_TINY = 2048
#: A page of this size, in bytes, is no challenge, and a widget on it belongs to a form.
_SMALL = 16384
#: Below this share of the site's usual size, a page lacks its content.
_FAR_BELOW_SHARE = 0.2
#: A usual size below this, in bytes, is not compared.
_MIN_USUAL_SIZE = 4096

#: Largest unpacked file, in bytes, that is checked; a sitemap is smaller.
_MAX_UNPACKED = 64_000_000

_TITLE = re.compile(rb"<title[^<>]*+>([^<]*+)")
_SPACE = re.compile(rb"\s+")
# Each alternative has an end that always matches, so that no hostile page makes the search slow.
_HIDDEN = re.compile(
    rb"<(script|style|noscript|template)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)|<[^<>]*>", re.S
)
_LOGIN_PATH = re.compile(r"/(?:log-?in|sign-?in|auth|sso)(?:[/.?]|$)", re.I)
_CAPTCHA_PATH = re.compile(
    r"/(?:captcha|showcaptcha|validatecaptcha|sorry|challenge)(?:[/.?]|$)", re.I
)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Page(Value):
    """The parts of a response that the rules need."""

    status: int
    url: str
    """URL of the response, after redirects."""
    headers: Mapping[str, str] = attrs.Factory(dict)
    """First value of each header; names in lower case."""
    body: bytes = b""
    requested_url: str = ""
    """URL of the request, before redirects; '' = the same."""
    expected: Sequence[bytes] = ()
    """Literal pieces of HTML; each good page of the site has one of them."""
    usual_size: float = 0.0
    """Usual size of the site's pages of this kind, bytes; 0: unknown."""
    truncated: bool = False
    """The connection ended before the body did."""


@attrs.frozen(eq=False, repr=False)
class Finding(Value):
    """The verdict and the rule that gave it."""

    verdict: Verdict
    rule: str


OK = Finding("ok", "ok")
_LOGIN_WALL = Finding("blocked", "login-wall")
_COOKIE_BANNER = Finding("blocked", "cookie-wall")
#: Links from which a page has a menu; a wall links to what it says about privacy.
_MENU_LINKS = 5

#: A password's field, and the elements in which a login form may be no wall.
_PASSWORD, _MENUS = b'type="password"', (b"nav", b"header")
#: Parts of words with which a page asks for a login, in lower case where they are ASCII.
_LOGIN_WORDS = re.compile(
    (
        "log-?in|log(?:ged)? in|sign[ -]?in|passwor|register|anmeld|einlogg|angemeldet|registrier"
        "|mot de passe|connecte|connexion|identifi|contrase|inici[ae]r? ses|accedi|inlogg|logga in"
        "|logg inn|log ind|wachtwoord|kirjaudu|zalog|hasło|přihl|prihl|entrar|senha|Войти|войти"
        "|Парол|парол|Авториз|авториз|ログイン|登录|登入|로그인|giriş|bejelentkez|autentific"
    ).encode()
)

#: Pieces of HTML, the visible text in characters below which they count, and their finding.
_WALLS: tuple[tuple[tuple[bytes, ...], int, Finding], ...] = (
    (block_signatures.SHELLS, 200, Finding("empty", "javascript-shell")),
    (block_signatures.WIDGETS, 800, Finding("captcha", "captcha-widget")),
    ((_PASSWORD,), 800, _LOGIN_WALL),
    (block_signatures.COOKIE_WALLS, 800, Finding("blocked", "cookie-wall")),
    (block_signatures.COOKIE_BANNERS, 800, _COOKIE_BANNER),
)


def judge(page: Page) -> Finding:
    """Return the verdict on a response."""
    if page.truncated:
        return Finding("broken", "truncated")
    finding = _by_header(page.headers)
    if finding is not None:
        return finding
    if 200 <= page.status < 300:  # noqa: PLR2004
        return _success(page)
    if 300 <= page.status < 400:  # noqa: PLR2004
        return _by_path(page.headers.get("location", ""), page.requested_url or page.url) or OK
    return _failure(page)


def _by_header(headers: Mapping[str, str]) -> Finding | None:
    for name, part, rule, verdict in block_signatures.HEADERS:
        if name in headers and part in headers[name].lower():
            return Finding(verdict, rule)
    return None


def _by_path(target: str, requested_url: str) -> Finding | None:
    """Judge a redirect's target: a login or challenge page that was not requested is bad."""
    if not target or target == requested_url:
        return None
    path, asked_path = urlsplit(target).path, urlsplit(requested_url).path
    if _CAPTCHA_PATH.search(path) and not _CAPTCHA_PATH.search(asked_path):
        return Finding("captcha", "redirect-captcha")
    if _LOGIN_PATH.search(path) and not _LOGIN_PATH.search(asked_path):
        return _LOGIN_WALL
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
    """Judge an error status; a signature outweighs the status, because it names the sender."""
    head = page.body[:HEAD].lower()
    if page.status in _BAN_STATUSES:
        finding = _by_signatures(head, ok_status=False) or _by_title(head)
        if finding is not None and finding.rule not in {"title-denied", "title-error", "soft-404"}:
            return finding
        if len(page.body) < _SMALL and any(widget in head for widget in block_signatures.WIDGETS):
            return Finding("captcha", "captcha-widget")
    if page.status == 503 and "retry-after" in page.headers:  # noqa: PLR2004
        return Finding("throttled", "retry-after")
    if page.status in _STATUS:
        return _STATUS[page.status]
    if page.status >= 500:  # noqa: PLR2004
        return _by_signatures(head, ok_status=False) or Finding("broken", "server-error")
    return Finding("broken", "client-error")


def _success(page: Page) -> Finding:
    body = page.body
    if not body or body.isspace():
        return Finding("empty", "no-body")
    redirect = _by_path(page.url, page.requested_url) if page.requested_url else None
    if redirect is not None:
        return redirect
    if page.expected and any(piece in body for piece in page.expected):
        return OK
    if body.startswith(GZIP):
        if _is_damaged(body):
            return Finding("broken", "damaged-file")
        if not page.expected and page.url.partition("?")[0].endswith(".gz"):
            return OK  # a file, usually a sitemap, whatever type the server gives it
    content_type = page.headers.get("content-type", "").lower()
    if content_type and "html" not in content_type:
        return OK if not page.expected else Finding("broken", "not-html")
    head = body[: HEAD if len(body) < _SMALL else HEAD // 2].lower()
    if _is_binary(head):
        return Finding("broken", "garbage")
    return _html(page, head)


def _is_damaged(body: bytes) -> bool:
    """Whether a gzip file, usually a sitemap, is truncated or corrupt."""
    try:
        unpack(body, "gzip", _MAX_UNPACKED)
    except TooLarge:
        return False
    except Damaged:
        return True
    return False


def _is_binary(head: bytes) -> bool:
    """Whether the head of a text page is binary.

    Trailing and a few other NULs are ignored, because browsers ignore them.
    """
    if b"\0" not in head:
        return False
    text = head.rstrip(b"\0")
    return len(text) - len(text.translate(None, _CONTROL_BYTES)) >= _BINARY_SHARE * len(text)


def _html(page: Page, head: bytes) -> Finding:
    """Judge a page with status 200 that lacks the site's key elements."""
    default = Finding("broken", "missing-elements") if page.expected else OK
    if _has_content(head):  # nearly all product pages return here; no signature outweighs this
        return default
    finding = _by_signatures(head, ok_status=True) or _by_title(head)
    size = len(page.body)
    is_far_below_usual = (
        page.usual_size >= _MIN_USUAL_SIZE and size < page.usual_size * _FAR_BELOW_SHARE
    )
    if finding is None and (size < _SMALL or is_far_below_usual or page.expected):
        finding = _by_visible_text(page.body, head)
    if finding is None and is_far_below_usual:
        finding = Finding("empty", "far-below-usual-size")
    return default if finding is None or _has_content(page.body.lower()) else finding


def _by_signatures(head: bytes, *, ok_status: bool) -> Finding | None:
    for sign in block_signatures.SIGNS:  # a plain loop, because any() costs as much as the searches
        if sign in head:
            break
    else:
        return None
    for signature in block_signatures.BODY:
        if (signature.any_status or not ok_status) and all(
            needle in head for needle in signature.needles
        ):
            return Finding(signature.verdict, signature.rule)
    return None


def _by_title(head: bytes) -> Finding | None:
    match = _TITLE.search(head)
    if match is None:
        return None
    rule_and_verdict = block_signatures.TITLES.get(_SPACE.sub(b" ", match.group(1)).strip())
    return Finding(rule_and_verdict[1], rule_and_verdict[0]) if rule_and_verdict else None


def _by_visible_text(body: bytes, head: bytes) -> Finding | None:
    """Judge a page that may be a wall without content by the length of its visible text."""
    rules = [
        (limit, finding) for parts, limit, finding in _WALLS if any(part in head for part in parts)
    ]
    if not rules and len(body) > _TINY:
        return None
    visible_length = len(_SPACE.sub(b" ", _HIDDEN.sub(b" ", body[: 4 * HEAD])).strip())
    for limit, finding in rules:
        if visible_length < limit and not _is_aside(finding, body):
            return finding
    return None if visible_length else Finding("empty", "no-text")


def _is_aside(finding: Finding, body: bytes) -> bool:
    """Whether a page has a login form or a banner about cookies beside what it shows."""
    if finding is _COOKIE_BANNER:
        return body[: 4 * HEAD].lower().count(b"<a ") >= _MENU_LINKS
    return finding is _LOGIN_WALL and _logs_in_aside(body)


def _logs_in_aside(body: bytes) -> bool:
    """Whether the last login form stands in a menu, or above the heading, of a page of its own.

    A wall has such a form as well: what stands below it asks for a login, or there is nothing.

    >>> _logs_in_aside(b'<nav><input type="password"></nav><p>About us</p>')
    True
    >>> _logs_in_aside(b'<nav><input type="password"></nav><p>Please log in</p>')
    False
    >>> _logs_in_aside(b'<nav></nav><h1>Sign in</h1><input type="password">')
    False
    """
    before, _, behind = body[: 4 * HEAD].lower().rpartition(_PASSWORD)
    behind = behind.partition(b"<footer")[0]  # themes have links to a login there
    below = _below_heading(before, behind) or next(
        (behind.partition(b"</" + menu)[2] for menu in _MENUS if _is_within(menu, before)), b""
    )
    text = _HIDDEN.sub(b" ", below.partition(b">")[2])
    return not text.isspace() and text != b"" and _LOGIN_WORDS.search(text) is None


def _below_heading(before: bytes, behind: bytes) -> bytes:
    """Return what begins with the page's heading, if that stands behind a login form."""
    start = behind.find(b"<h1")
    return behind[start:] if start >= 0 and b"<h1" not in before else b""


def _is_within(menu: bytes, before: bytes) -> bool:
    """Whether what stands before a form opens a menu, and has no heading in it."""
    start = before.rfind(b"<" + menu)
    opened = before[start:] if start >= 0 else b""
    is_tag = opened[len(menu) + 1 :][:1] in {b">", b" ", b"\n", b"\t", b"\r"}
    return is_tag and b"</" + menu not in opened and b"<h1" not in opened


def _has_content(lower: bytes) -> bool:
    """Whether a page in lower case has the markup of a product or listing page."""
    return any(piece in lower for piece in block_signatures.CONTENT)
