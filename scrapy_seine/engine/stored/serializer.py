"""Converts Scrapy requests to pushes, and stored requests back to Scrapy requests."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from scrapy import FormRequest, Request, Spider
from scrapy.http import Headers, JsonRequest, XmlRpcRequest

from scrapy_seine import meta as m
from scrapy_seine.engine.stored.callbacks import callbacks_of, method_name, no_callback
from scrapy_seine.engine.stored.logins import take_login
from scrapy_seine.errors import BadMeta, BadRequest, DecodeError, EncodeError
from scrapy_seine.frontier.encoding.codec import decode, encode
from scrapy_seine.frontier.encoding.seal import NO_SEAL, Seal
from scrapy_seine.frontier.model import Lease, Push, header_of
from scrapy_seine.politeness.download_slots import SLOT, OwnSlot, waits_at
from scrapy_seine.urls import domain, split_login

#: A URL that Scrapy would not change. Most are such URLs; finding out takes Scrapy 20 µs.
_SAFE_URL = re.compile(
    r"https?://[a-z0-9][a-z0-9.-]*(?::(?:[1-9]\d{0,3}|[1-5]\d{4}))?"
    r"/[A-Za-z0-9/._~:@!$&'()*+,;=%-]*(?:\?[A-Za-z0-9/._~:@!$&()*+,;=%?-]+)?"
)
_NO_NAME = re.compile(r"[^\w.:-]")
#: A method of HTTP, as RFC 9110, section 5.6.2, spells a token.
METHOD = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,40}")
#: Request classes that may be stored, by the name under which they are stored.
_CLASSES: dict[str, type[Request]] = {
    f"{kind.__module__}.{kind.__qualname__}": kind
    for kind in (FormRequest, JsonRequest, XmlRpcRequest)
}
_DEFAULTS: dict[str, Any] = {
    "method": "GET",
    "body": b"",
    "cookies": {},
    "encoding": "utf-8",
    "dont_filter": False,
    "flags": [],
    "cb_kwargs": {},
}
_values_of, _DEFAULT_VALUES = attrgetter(*_DEFAULTS), tuple(_DEFAULTS.values())
#: The former name of `meta.HOME`.
_OLD_HOME = "home"


def _meta_that_travels(request: Request) -> dict[Any, Any]:
    """Return a request's meta without keys of this process, this try or this page."""
    original = request.meta
    meta = dict(original)
    if not m.LOCAL.isdisjoint(meta):
        meta = {key: value for key, value in meta.items() if key not in m.LOCAL}
    if original.get("_rotating_proxy"):  # another try chooses a new proxy
        meta.pop("proxy", None)
        meta.pop(SLOT, None)  # the slot belongs to the proxy
    if type(meta.get(SLOT)) is OwnSlot:
        del meta[SLOT]
    if original.get("browser_visitor"):
        # The render middleware's values contain code, which must not be stored.
        meta = {key: value for key, value in meta.items() if not key.startswith("playwright")}
    return meta


def _headers_that_travel(request: Request) -> dict[bytes, Any]:
    """Return a request's headers without those that an identity or a proxy added."""
    original = request.headers
    if not original:
        return {}
    headers = dict(original)
    for borrowed in request.meta.get(m.BORROWED, ()):
        headers.pop(borrowed.title().encode(), None)
    if request.meta.get("_rotating_proxy"):
        headers.pop(b"Proxy-Authorization", None)
    return headers


def _unusual_values(request: Request) -> dict[str, Any]:
    fields: dict[str, Any] = {"priority": request.priority} if request.priority else {}
    values = _values_of(request)
    if values != _DEFAULT_VALUES:  # one comparison for most requests
        for (name, default), value in zip(_DEFAULTS.items(), values, strict=True):
            if value != default:
                fields[name] = value
    return fields


def to_fields(request: Request, spider: Spider) -> dict[str, Any]:
    """Convert a request to plain data, without default values.

    Raises:
        EncodeError: a callback is not a method of the spider, or the class of the request is not
        one of Scrapy's.
    """
    fields, url = _unusual_values(request), request.url
    if request.callback is not None:
        fields["callback"] = method_name(spider, request.callback, url)
    if request.errback is not None:
        fields["errback"] = method_name(spider, request.errback, url)
    meta, headers = _meta_that_travels(request), _headers_that_travel(request)
    fields["url"] = take_login(url, headers, meta) if "@" in url else url
    if headers:
        fields["headers"] = headers
    if _OLD_HOME in meta:
        meta[m.OWN] = [*meta.get(m.OWN, ()), _OLD_HOME]
    if meta:
        fields["meta"] = _checked(meta, request.url)
    if type(request) is not Request:
        fields["_class"] = name = f"{type(request).__module__}.{type(request).__qualname__}"
        if name not in _CLASSES:
            raise EncodeError(f"{request.url}: {name} is not a request class of Scrapy")
    return fields


def _checked(meta: dict[Any, Any], url: str) -> dict[Any, Any]:
    """Return meta that a worker will accept.

    Raises:
        EncodeError: a project uses a name of Seine's for its own values: `site_id` with a number.
    """
    try:
        return m.storable(meta)
    except BadMeta as error:
        raise EncodeError(f"{url}: {error}") from None


def to_push(
    request: Request,
    spider: Spider,
    *,
    fingerprint: int | None,
    force: bool = False,
    seal: Seal = NO_SEAL,
) -> Push:
    """Convert a request for the frontier, signed if *seal* signs.

    Raises:
        EncodeError: naming what cannot be stored.
    """
    return push_of(
        request, lambda: to_fields(request, spider), fingerprint=fingerprint, force=force, seal=seal
    )


def push_of(
    request: Request,
    fields: Callable[[], dict[str, Any]],
    *,
    fingerprint: int | None,
    force: bool = False,
    seal: Seal = NO_SEAL,
    host: str = "",
) -> Push:
    """Make a push with a request's domain and time, and other *fields* to store.

    *host* is the domain whose queue it waits in, by default that of the request's URL.

    Raises:
        BadRequest: no worker could send the request.
        EncodeError: naming what cannot be stored.
    """
    try:
        host = host or waits_at(request, domain(request.url))
        not_before = not_before_ms(request.meta)
    except (ValueError, BadMeta) as error:
        raise BadRequest(f"{request.url[:200]}: {error}") from None
    blob = encode(fields())
    job = _NO_NAME.sub("_", str(request.meta.get(m.JOB_ID) or ""))
    if seal.active:
        blob = seal.close(header_of(request.priority, host, job), blob)
    return Push(
        domain=host,
        blob=blob,
        fingerprint=fingerprint,
        force=force,
        priority=request.priority,
        not_before_ms=not_before,
        job=job,
    )


def not_before_ms(meta: dict[str, Any]) -> int:
    """Earliest time to send, ms; 0: at once. `not_before` is absolute, `delay` a wait from now on,
    which is negative: the crawl's clock counts it (I6).

    Raises:
        BadMeta: one of them is no time.
    """
    if m.DELAY not in meta and m.NOT_BEFORE not in meta:
        return 0
    m.check({key: meta[key] for key in (m.DELAY, m.NOT_BEFORE) if key in meta}, m.SPIDER)
    if meta.get(m.DELAY):
        return -int(meta[m.DELAY] * 1000)
    return int((meta.get(m.NOT_BEFORE) or 0) * 1000)


def from_lease(lease: Lease, spider: Spider, seal: Seal = NO_SEAL) -> Request:
    """Make the request of a lease.

    Raises:
        DecodeError: it is not signed although *seal* requires it, is damaged, or names what a
        stored request may not name (I8, I9).
    """
    seal.check(lease.stored)
    request = from_blob(lease.blob, spider)
    if waits_at(request, domain(request.url)) != lease.domain or "\ufffd" in lease.job:
        # Another domain's server would get its pace (I5).
        raise DecodeError(f"{request.url[:200]}: stored under {lease.stored[:100]!r}")
    return request


def from_blob(blob: bytes, spider: Spider) -> Request:
    """Make a stored request.

    Raises:
        DecodeError: the bytes are damaged, a field has an invalid value, or the spider has no such
        callback (I8, I9).
    """
    fields = decode(blob)
    url = fields["url"]
    try:
        for name in ("callback", "errback"):
            if name in fields:
                fields[name] = _callback(spider, fields[name])
        if "encoding" in fields:
            codecs.lookup(fields["encoding"])
        _move_login(fields)
        if "headers" in fields or "method" in fields:
            _check_head(fields)
        _check_cookies(fields.get("cookies", {}))
        if "meta" in fields:
            fields["meta"] = m.storable(_renamed(fields["meta"]))
            if m.EVENT_HANDLERS in fields["meta"]:
                for name in fields["meta"][m.EVENT_HANDLERS].values():
                    _callback(spider, name)
        request = make_request(_request_class(fields.pop("_class", None)), **fields)
        domain(request.url)  # raises for other schemes than http and https
    except DecodeError as error:
        raise DecodeError(f"{url[:200]}: {error}") from None
    except Exception as error:
        raise DecodeError(f"{url[:200]}: {type(error).__name__}: {str(error)[:500]}") from None
    return request


def _renamed(meta: dict[Any, Any]) -> dict[Any, Any]:
    """Return meta of an earlier version, which stored our private host under a project's name.

    Since then a project's own value under that name is marked as such.
    """
    if _OLD_HOME not in meta or _OLD_HOME in (meta.get(m.OWN) or ()):
        return meta
    return {m.HOME if key == _OLD_HOME else key: value for key, value in meta.items()}


def _move_login(fields: dict[str, Any]) -> None:
    """Move a login out of the URL: stored by hand, by a job, or before logins were moved."""
    url = fields["url"]
    if "@" in url and split_login(url)[1]:
        headers = Headers(fields.get("headers") or {})
        meta = fields["meta"] = dict(fields.get("meta") or {})
        fields["url"] = take_login(url, headers, meta)
        fields["headers"] = headers


def _callback(spider: Spider, name: object) -> Any:
    method = getattr(spider, name, None) if name in callbacks_of(type(spider)) else None
    if not callable(method):
        raise DecodeError(
            f"{no_callback(spider, name)}; rename it back, or replay the request after a deploy"
        )
    return method


def _check_head(fields: dict[str, Any]) -> None:
    """Check that the method and the headers contain no line breaks."""
    if not METHOD.fullmatch(fields.get("method", "GET")):
        raise DecodeError(f"{fields['method']!r:.80} is no method of HTTP")
    for name, values in fields.get("headers", {}).items():
        for value in (name, *(values if isinstance(values, list | tuple) else [values])):
            if set(value) & ({"\r", "\n", "\0"} if isinstance(value, str) else {13, 10, 0}):
                raise DecodeError(f"header {name!r:.80} has a line break in it")


def _check_cookies(cookies: object) -> None:
    """Accept what Scrapy takes: names with their values, or a list of cookies as mappings."""
    if isinstance(cookies, dict):
        return
    if not isinstance(cookies, list | tuple) or not all(isinstance(row, dict) for row in cookies):
        raise DecodeError(f"cookies are {cookies!r:.80}, neither a mapping nor a list of mappings")


def make_request(
    cls: type[Request], url: str, meta: dict[str, Any] | None = None, **fields: Any
) -> Request:
    """Make a request, without searching a URL that has nothing to escape."""
    if "verbatim_url" in (meta or ()) or _SAFE_URL.fullmatch(url) is None:
        return cls(url, meta=meta, **fields)
    request = cls(url, meta={**(meta or {}), "verbatim_url": True}, **fields)
    del request.meta["verbatim_url"]  # a URL derived from this one may need escaping
    return request


def _request_class(path: Any) -> type[Request]:
    if path is None:
        return Request
    if path not in _CLASSES:
        raise DecodeError(f"{path!r:.80} is not a request class of Scrapy")
    return _CLASSES[path]
