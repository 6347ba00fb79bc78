"""Scrapy requests as pushes, and stored requests as Scrapy requests again."""

from __future__ import annotations

import re
import time
from typing import Any

from scrapy import Request, Spider
from scrapy.utils.misc import load_object

from crawler import meta as m
from crawler.errors import DecodeError, EncodeError
from crawler.frontier.codec import decode, encode
from crawler.frontier.model import Push
from crawler.urls import domain

#: Scrapy's own bookkeeping in meta, which must not travel: it belongs to one download.
_LOCAL_META = frozenset(
    {
        "download_slot",
        "download_latency",
        "download_timeout_at",
        "_auth_proxy",
        "proxy_lease",
        "verdict",
        "verdict_rule",
        "profile",
        "wreq_emulation",
        "_ban",
        "proxy_id",
        m.LANE_NOW,
        "step",
        "identity_now",
        "pool_now",
        m.BORROWED,
    }
)
#: And what the proxies' middleware chose, credentials among it: another try chooses anew.
_PROXY_META = frozenset(
    {
        "proxy",
        "_rotating_proxy",
        "exit_country",
        "proxy_probe",
        "proxy_until",
        "proxy_told",
        "proxy_at",
    }
)
#: A URL that Scrapy would leave as it is. Most are; to find that out takes Scrapy 20 µs.
_SAFE_URL = re.compile(
    r"https?://[a-z0-9][a-z0-9.-]*(?::(?:[1-9]\d{0,3}|[1-5]\d{4}))?"
    r"/[A-Za-z0-9/._~:@!$&'()*+,;=%-]*(?:\?[A-Za-z0-9/._~:@!$&()*+,;=%?-]+)?"
)
_NO_NAME = re.compile(r"[^\w.:-]")
_DEFAULTS: dict[str, Any] = {
    "method": "GET",
    "body": b"",
    "cookies": {},
    "encoding": "utf-8",
    "priority": 0,
    "dont_filter": False,
    "flags": [],
    "cb_kwargs": {},
}


def _method_name(spider: Spider, function: Any, url: str) -> str | None:
    """Name of a spider's own method.

    Raises:
        EncodeError: it is a lambda, a function, or another object's method.
    """
    if function is None:
        return None
    name = getattr(function, "__name__", "")
    if getattr(function, "__self__", None) is spider and hasattr(spider, name):
        return str(name)
    raise EncodeError(f"{url}: {function!r} is not a method of spider {spider.name!r}")


def to_fields(request: Request, spider: Spider) -> dict[str, Any]:
    """Lay a request out as plain data, leaving out what is default.

    Raises:
        EncodeError: a callback is not a method of the spider.
    """
    fields: dict[str, Any] = {"url": request.url}
    for name, default in _DEFAULTS.items():
        value = getattr(request, name)
        if value != default:
            fields[name] = value
    for name in ("callback", "errback"):
        method = _method_name(spider, getattr(request, name), request.url)
        if method is not None:
            fields[name] = method
    proxied = bool(request.meta.get("_rotating_proxy"))
    local = _LOCAL_META | _PROXY_META if proxied else _LOCAL_META
    meta = {key: value for key, value in request.meta.items() if key not in local}
    if meta.pop("browser_visitor", None):
        # What the render middleware prepared holds code, which is not to be stored.
        meta = {key: value for key, value in meta.items() if not key.startswith("playwright")}
    headers = dict(request.headers)
    for borrowed in request.meta.get(m.BORROWED, ()):
        headers.pop(borrowed.title().encode(), None)
    if proxied:
        headers.pop(b"Proxy-Authorization", None)
    if headers:
        fields["headers"] = headers
    if meta:
        fields["meta"] = meta
    if type(request) is not Request:
        fields["_class"] = f"{type(request).__module__}.{type(request).__qualname__}"
    return fields


def to_push(
    request: Request, spider: Spider, *, fingerprint: int | None, force: bool = False
) -> Push:
    """Make the frontier's form of a request.

    Raises:
        EncodeError: naming what cannot be stored.
    """
    try:
        host = domain(request.url)
    except ValueError as error:
        raise EncodeError(f"{request.url}: {error}") from None
    return Push(
        domain=host,
        blob=encode(to_fields(request, spider)),
        fingerprint=fingerprint,
        force=force,
        priority=request.priority,
        not_before_ms=not_before_ms(request.meta),
        job=_NO_NAME.sub("_", str(request.meta.get(m.JOB_ID) or "")),
    )


def not_before_ms(meta: dict[str, Any]) -> int:
    """Earliest time to send, ms; 0: at once. `delay` counts from now, `not_before` is absolute."""
    if meta.get(m.DELAY):
        return int((time.time() + float(meta[m.DELAY])) * 1000)
    return int(float(meta.get(m.NOT_BEFORE) or 0) * 1000)


def from_blob(blob: bytes, spider: Spider) -> Request:
    """Make the request that was stored.

    Raises:
        DecodeError: the bytes are damaged, or a callback no longer exists (I8).
    """
    fields = decode(blob)
    for name in ("callback", "errback"):
        if name in fields:
            method = getattr(spider, str(fields[name]), None)
            if not callable(method) or str(fields[name]).startswith("__"):
                raise DecodeError(
                    f"{fields['url']}: spider {spider.name!r} has no method {fields[name]!r}; "
                    "rename it back, or replay the request after a deploy"
                )
            fields[name] = method
    try:
        return make_request(_request_class(fields.pop("_class", None)), **fields)
    except Exception as error:
        raise DecodeError(f"{fields['url']}: {type(error).__name__}: {error}") from None


def make_request(
    cls: type[Request], url: str, meta: dict[str, Any] | None = None, **fields: Any
) -> Request:
    """Make a request, without looking for what to escape in a URL that has nothing of the kind."""
    if "verbatim_url" in (meta or ()) or _SAFE_URL.fullmatch(url) is None:
        return cls(url, meta=meta, **fields)
    request = cls(url, meta={**(meta or {}), "verbatim_url": True}, **fields)
    del request.meta["verbatim_url"]  # this URL needed none; one made of it may
    return request


def _request_class(path: Any) -> type[Request]:
    if path is None:
        return Request
    loaded = load_object(str(path)) if str(path).startswith("scrapy.") else None
    if isinstance(loaded, type) and issubclass(loaded, Request):
        return loaded
    raise TypeError(f"{path!r} is not a request class of Scrapy")
