"""Access control: host names, sessions, tokens against forged forms, security headers.

A page of another site can make a browser send requests here (cross-site forms, DNS rebinding).
So the dashboard checks the headers Host, Origin and Sec-Fetch-Site, makes its cookie SameSite, and
puts a token into each form that only this session's pages have.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import math
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from aiohttp import hdrs, web
from aiohttp.typedefs import Middleware

from crawler.dashboard.config import DashboardConfig
from crawler.dashboard.login_attempts import Guesses

logger = logging.getLogger(__name__)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

COOKIE = "seine_session"
WHO = web.RequestKey("who", str)
"""The visitor of a request's session; empty before the login."""
FORM_TOKEN = web.RequestKey("form_token", str)
"""The token of the forms of its page."""
_SESSION = web.RequestKey("session", str)
_BEARER = web.RequestKey("bearer", bool)
#: Lifetime of a session, seconds.
LIFETIME_S = 12 * 3600
#: Pages that need no login.
OPEN_PATHS = frozenset({"/login", "/healthz", "/readyz"})
_COOKIE_PARTS = 4
#: Prefix of the API for programs: responses and refusals are JSON, and changes need the token.
_API = "/api/v1/"
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Guard:
    """Creates and checks sessions and form tokens. Its state: a key and wrong guesses."""

    def __init__(self, config: DashboardConfig) -> None:
        self.config = config
        # Derived from the token, so that every replica accepts the others' sessions.
        secret = config.token.encode() or secrets.token_bytes(32)
        self._key = hashlib.sha256(b"seine-dashboard\0" + secret).digest()
        self.guesses = Guesses()

    def _sign(self, purpose: str, value: str) -> str:
        return hmac.new(self._key, f"{purpose}\0{value}".encode(), hashlib.sha256).hexdigest()

    def new_session(self, visitor: str, now_s: float | None = None) -> str:
        """Create a session cookie for the visitor *visitor*."""
        issued = int(time.time() if now_s is None else now_s)
        value = f"{visitor}.{issued}.{secrets.token_hex(8)}"
        return f"{value}.{self._sign('session', value)}"

    def visitor_of(self, cookie: str, now_s: float | None = None) -> str | None:
        """Return the visitor of a session cookie; None: it is invalid or expired."""
        parts = cookie.split(".")
        if len(parts) != _COOKIE_PARTS or not parts[1].isdecimal():
            return None
        value, signature = ".".join(parts[:3]), parts[3]
        if not hmac.compare_digest(self._sign("session", value).encode(), signature.encode()):
            return None
        age_s = (time.time() if now_s is None else now_s) - int(parts[1])
        return parts[0] if -60 <= age_s <= LIFETIME_S else None  # noqa: PLR2004

    def form_token(self, cookie: str) -> str:
        """Return the token of a session's forms."""
        return self._sign("form", cookie)

    def is_token(self, text: str) -> bool:
        """Whether a text is the dashboard's token."""
        token = self.config.token
        return bool(token) and hmac.compare_digest(_digest(text), _digest(token))

    def is_allowed_host(self, host: str) -> bool:
        """Whether a Host header is allowed; an IP address is, because DNS cannot rebind it."""
        try:
            parts = urlsplit(f"//{host}")
        except ValueError:  # brackets that enclose no IPv6 address
            return False
        if parts.netloc != host or "@" in host:  # a Host header has no user and no path
            return False
        name = (parts.hostname or "").lower()
        if name == "localhost" or name in self.config.hosts or name == self.config.host:
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True


def _digest(text: str) -> bytes:
    """Hash a text to a fixed length, so that the time of a comparison does not depend on it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def own_site(request: web.Request) -> bool:
    """Whether the request came from a page of ours; other clients than browsers send no origin."""
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
        return False
    origin = request.headers.get("Origin")
    return origin is None or origin.partition("://")[2] == request.host


def guess(guard: Guard, request: web.Request, text: str) -> bool:
    """Return whether the text is the token; after too many wrong ones it is not even compared.

    Raises:
        HTTPTooManyRequests: too many wrong tokens came from this address, or in total.
    """
    address = request.remote or ""
    wait_s = guard.guesses.begin(address)
    if wait_s:
        raise web.HTTPTooManyRequests(
            text="Too many wrong tokens: wait a minute.\n",
            headers={"Retry-After": str(math.ceil(wait_s))},
        )
    is_right = guard.is_token(text)
    if is_right:
        guard.guesses.forgive(address)
    else:
        logger.warning("wrong token from %s", address)
    return is_right


def harden(response: web.StreamResponse) -> None:
    """Add the security headers."""
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.setdefault("Cache-Control", "no-store")
    response.headers.setdefault("Server", "seine")  # instead of aiohttp's version


def bearer(request: web.Request) -> str:
    """Return the token of the Authorization header, or an empty string."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def make_middleware(guard: Guard) -> Middleware:
    """Create the middleware that handles every request first."""

    async def handle(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path in {"/healthz", "/readyz"}:
            return await handler(request)
        if not guard.is_allowed_host(request.host):
            raise web.HTTPMisdirectedRequest(text="This name is not one of the dashboard's.\n")
        request[_SESSION] = cookie = request.cookies.get(COOKIE, "")
        visitor = guard.visitor_of(cookie)
        if visitor is None and (bearer_token := bearer(request)) and guard.config.token:
            if not guess(guard, request, bearer_token):
                raise web.HTTPUnauthorized(text="That is not the token.\n")
            visitor, request[_BEARER] = "token", True
        return await _with_visitor(guard, request, handler, visitor)

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            response = await handle(request, handler)
        except web.HTTPException as error:
            if request.path.startswith(_API) and error.content_type != "application/json":
                error.text = json.dumps({"error": " ".join((error.text or error.reason).split())})
                error.content_type = "application/json"
            harden(error)
            raise
        if not response.prepared:
            harden(response)
        return response

    return middleware


async def _with_visitor(
    guard: Guard, request: web.Request, handler: Handler, visitor: str | None
) -> web.StreamResponse:
    new_cookie = ""
    is_public = request.path in OPEN_PATHS or request.path.startswith("/static/")
    if visitor is None and not guard.config.token:
        visitor, new_cookie = "local", guard.new_session("local")
        request[_SESSION] = new_cookie
    if visitor is None and not is_public:
        if request.method == hdrs.METH_GET and "text/html" in request.headers.get("Accept", ""):
            raise web.HTTPSeeOther("/login")
        raise web.HTTPUnauthorized(text="Log in, or send the token as a bearer.\n")
    request[WHO] = visitor or ""
    request[FORM_TOKEN] = guard.form_token(request[_SESSION]) if request[_SESSION] else ""
    if request.method not in {hdrs.METH_GET, hdrs.METH_HEAD}:
        await _check_form(guard, request)
    response = await handler(request)
    if new_cookie and not response.prepared and not is_public:
        set_cookie(request, response, new_cookie)
    return response


async def form_of(request: web.Request) -> Mapping[str, object]:
    """Read a posted form.

    Raises:
        HTTPBadRequest: the body is no form.
    """
    try:
        return await request.post()
    except (ValueError, LookupError):  # parts without a name, undecodable bytes, an unknown charset
        raise web.HTTPBadRequest(text="The form cannot be read.\n") from None


async def _check_form(guard: Guard, request: web.Request) -> None:
    if not own_site(request):
        raise web.HTTPForbidden(text="This came from another site.\n")
    if request.get(_BEARER) or request.path == "/login":
        return
    if request.path.startswith(_API):
        raise web.HTTPForbidden(text="Send the token as a bearer: SEINE_DASHBOARD_TOKEN.\n")
    form = await form_of(request)
    form_token, expected = str(form.get("form_token", "")), guard.form_token(request[_SESSION])
    if not hmac.compare_digest(form_token.encode(), expected.encode()):
        raise web.HTTPForbidden(text="The form is too old: load the page again.\n")


def set_cookie(request: web.Request, response: web.StreamResponse, value: str) -> None:
    """Set the session cookie in the visitor's browser."""
    response.set_cookie(
        COOKIE,
        value,
        max_age=LIFETIME_S,
        httponly=True,
        samesite="Strict",
        secure=request.secure,
    )
