"""Read the operator's list of proxies line by line; a bad line is skipped.

A line has an address and options:

    203.0.113.7:8080
    203.0.113.7:8080:user:password                pool=datacenter country=DE provider=acme
    socks5://user:password@203.0.113.8:1080       pool=residential country=FR
    http://user-s{session}:secret@gw.example:7777 pool=gateway sessions=20
    https://api.gw.example/?api_key=secret&url={url}

A gateway's exits share one address and differ in their credentials: {session} is replaced by the
numbers from 1 to `sessions`, and each makes a separate proxy. The last line is a gateway that is
requested by its own URL, in which {url} is replaced by the quoted URL of the page. A word that
begins with # begins a comment.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from urllib.parse import quote, urlsplit

import attrs

from scrapy_seine.attrs_bases import Value
from scrapy_seine.engine.download.http.url_gateway import PLACE

POOLS = ("datacenter", "residential", "gateway")
SCHEMES = ("http", "https", "socks5", "socks5h")
#: Default number of a gateway's exits.
SESSIONS = 10
_MAX_SESSIONS = 1000
_MAX_PORT = 65535
_OPTIONS = ("pool", "country", "provider", "sessions")
#: How a file's path begins, where a proxy's address was expected.
_PATHS = ("/", "./", "../", "~/")
_PORTS = {"http": 80, "https": 443}
#: Characters of a URL that may be sent: those of RFC 3986 in ASCII.
_SENT = re.compile(r"[!#-;=?-\[\]_a-z~]+")
#: Placeholders of other programs' lists.
_BRACES = re.compile(r"\{\w+\}")
_BARE = re.compile(r"^(?P<host>[\w.-]+):(?P<port>\d+)(?::(?P<user>[^:]+):(?P<secret>.+))?$")


@attrs.frozen(eq=False, repr=False)
class Proxy(Value):
    """One proxy."""

    url: str = attrs.field(repr=False)
    """With credentials: never to be shown."""
    pool: str
    country: str
    """ISO 3166 alpha-2, upper case; '' = unknown."""
    provider: str
    """'' = unknown."""

    @property
    def id(self) -> str:
        """Address and a fingerprint of the credentials; may be shown and stored."""
        parts = urlsplit(self.url)
        digest = hashlib.sha256(self.url.encode()).hexdigest()[:8]
        return f"{parts.hostname}:{parts.port or _PORTS[parts.scheme]}#{digest}"

    @property
    def is_gateway(self) -> bool:
        """Whether it is requested by its own URL, which contains the page's."""
        return PLACE in self.url


@attrs.frozen(eq=False, repr=False)
class BadLine(Value):
    """A line that is no proxy."""

    number: int
    """Counted from 1."""
    reason: str
    """Without the line itself, because any part of it may be a password."""


def parse(lines: Iterable[str]) -> tuple[list[Proxy], list[BadLine]]:
    """Read a list; return the proxies, each once, and the bad lines."""
    proxies: dict[str, Proxy] = {}
    bad = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            for proxy in _line(text):
                proxies.setdefault(proxy.url, proxy)
        except ValueError as error:
            bad.append(BadLine(number, str(error)))
    return list(proxies.values()), bad


def _line(text: str) -> list[Proxy]:
    if text.startswith(_PATHS):
        raise ValueError("it is a file's path; name the file in SEINE_PROXIES_PATH")
    address, *option_words = text.split()
    options = {}
    for option in option_words:
        if option.startswith("#"):
            break
        name, equals, value = option.partition("=")
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
    """Check a gateway's URL and return it.

    Raises:
        ValueError: it is invalid.
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
    match = _BARE.match(address)
    if match:
        user, secret = match["user"], match["secret"]
        login = f"{quote(user, safe='')}:{quote(secret, safe='')}@" if user else ""
        address = f"http://{login}{match['host']}:{match['port']}"
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
        raise ValueError("the address names no port; a file is named by SEINE_PROXIES_PATH")
    if _BRACES.search(parts.netloc):  # the proxy would get the name in braces as its login
        raise ValueError("the address has other braces than {url} and {session}; write { as %7B")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError("something follows the port; write / and # in passwords as %2F and %23")
    return f"{parts.scheme}://{parts.netloc}"
