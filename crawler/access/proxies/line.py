"""The operator's list of proxies, read line by line; a bad line costs that line only.

A line is an address and what is known of it:

    203.0.113.7:8080
    203.0.113.7:8080:user:password                pool=datacenter country=DE provider=acme
    socks5://user:password@203.0.113.8:1080       pool=residential country=FR
    http://user-s{session}:secret@gw.example:7777 pool=gateway sessions=20
    https://api.gw.example/?api_key=secret&url={url}

A gateway's exits share one address and differ in their credentials: {session} is replaced by a
number from 1 to `sessions`, and each is a proxy of its own here. The last line is a gateway that is
asked by a URL of its own, in which {url} stands for the page's URL, quoted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from urllib.parse import quote, urlsplit

import attrs

from scrapy_seine.engine.download.http.gateway import PLACE
from scrapy_seine.records import Value

POOLS = ("datacenter", "residential", "gateway")
SCHEMES = ("http", "https", "socks5", "socks5h")
#: Exits of a gateway that says nothing else.
SESSIONS = 10
_MAX_SESSIONS = 1000
_MAX_PORT = 65535
_OPTIONS = ("pool", "country", "provider", "sessions")
_PORTS = {"http": 80, "https": 443}
#: A URL as it may be sent: ASCII without blanks, and without what no URL has.
_SENT = re.compile(r"[!#-;=?-\[\]_a-z~]+")
_BARE = re.compile(r"^(?P<host>[\w.-]+):(?P<port>\d+)(?::(?P<user>[^:]+):(?P<secret>.+))?$")


@attrs.frozen(eq=False, repr=False)
class Proxy(Value):
    """One way out."""

    url: str = attrs.field(repr=False)
    """With credentials: never to be shown."""
    pool: str
    country: str
    """ISO 3166 alpha-2, upper case; '' = not known."""
    provider: str
    """'' = not known."""

    @property
    def id(self) -> str:
        """Address and a fingerprint of the credentials; may be shown and stored."""
        parts = urlsplit(self.url)
        digest = hashlib.sha256(self.url.encode()).hexdigest()[:8]
        return f"{parts.hostname}:{parts.port or _PORTS[parts.scheme]}#{digest}"

    @property
    def is_gateway(self) -> bool:
        """Whether it is asked by a URL of its own that holds the page's."""
        return PLACE in self.url


@attrs.frozen(eq=False, repr=False)
class BadLine(Value):
    """A line that is no proxy."""

    number: int
    """Counted from 1."""
    reason: str
    """Without the line itself: nobody knows where in it a password is."""


def parse(lines: Iterable[str]) -> tuple[list[Proxy], list[BadLine]]:
    """Read a list: the proxies, each once, and the lines that are none."""
    found: dict[str, Proxy] = {}
    bad = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            for proxy in _line(text):
                found.setdefault(proxy.url, proxy)
        except ValueError as error:
            bad.append(BadLine(number, str(error)))
    return list(found.values()), bad


def _line(text: str) -> list[Proxy]:
    address, *words = text.split()
    options = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in _OPTIONS:
            raise ValueError(
                f"after the address only {', '.join(_OPTIONS)} are known, as name=value"
            )
        options[name] = value
    is_gateway = "{session}" in address or PLACE in address
    pool = options.get("pool", "gateway" if is_gateway else "datacenter")
    if pool not in POOLS:
        raise ValueError(f"pool is none of {', '.join(POOLS)}")
    country = options.get("country", "").upper()
    if country and not re.fullmatch(r"[A-Z]{2}", country):
        raise ValueError("country is not two letters")
    provider = options.get("provider", "")
    return [Proxy(url, pool, country, provider) for url in _urls(address, options)]


def _urls(address: str, options: dict[str, str]) -> list[str]:
    if "{session}" not in address:
        return [_url(address)]
    count = options.get("sessions", str(SESSIONS))
    if not count.isdecimal() or not 0 < int(count[:6]) <= _MAX_SESSIONS:
        raise ValueError(f"sessions is no number from 1 to {_MAX_SESSIONS}")
    return [_url(address.replace("{session}", str(i))) for i in range(1, int(count) + 1)]


def _gateway(address: str) -> str:
    """Check a gateway's URL.

    Raises:
        ValueError: it is none.
    """
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ValueError("the address is no URL") from None
    if parts.scheme not in _PORTS or not host:
        raise ValueError("a gateway's address starts with https://host or http://host")
    if PLACE not in parts.query or PLACE in parts.netloc or "@" in parts.netloc:
        raise ValueError("a gateway has its key and {url} behind the ?, as in ?api_key=…&url={url}")
    if parts.fragment or not _SENT.fullmatch(address.replace(PLACE, "")):
        raise ValueError(
            "the address has characters that no URL has, or other braces than {url} and {session}"
        )
    return address


def _url(address: str) -> str:
    if PLACE in address:
        return _gateway(address)
    bare = _BARE.match(address)
    if bare:
        user, secret = bare["user"], bare["secret"]
        login = f"{quote(user, safe='')}:{quote(secret, safe='')}@" if user else ""
        address = f"http://{login}{bare['host']}:{bare['port']}"
    elif "://" not in address:
        address = f"http://{address}"
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError("the address is no URL") from None
    if parts.scheme not in SCHEMES:
        raise ValueError(f"the scheme is none of {', '.join(SCHEMES)}")
    if not host or not re.fullmatch(r"[\w.:-]+", host):
        raise ValueError("the address names no host")
    if not port or port > _MAX_PORT:
        raise ValueError("the address names no port")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError("something follows the port; write / and # in passwords as %2F and %23")
    return f"{parts.scheme}://{parts.netloc}"
