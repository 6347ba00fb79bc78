"""Canonical forms of URLs: one to request, one to compare, and the server's name.

A URL has two forms:

* `tidy(url)`, the form to request: differences that cannot change the answer are unified (case of
  scheme and host, default port, dot segments, percent-encoding) or dropped (fragment, tracking
  parameters, session ids).
* `normalise(url)`, the form to compare: in addition the query is sorted, a trailing slash removed,
  and characters that need no percent-encoding (a comma) written plainly. Some servers redirect or
  refuse that form, so it is never requested, only fingerprinted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import unquote, urljoin

import idna

from scrapy_seine.tracking_parameters import is_noise

#: Longer URLs are refused: servers refuse them too, and they come from traps.
MAX_LENGTH = 4096

_URL = re.compile(r"(https?)://([^/?#\\]*)([^?#]*)(?:\?([^#]*))?", re.IGNORECASE)
#: A URL whose parts are spelled as in the canonical form, unless its path has dot segments.
_PLAIN_URL = re.compile(
    r"(https?)://([a-z0-9.:-]+)(/[A-Za-z0-9\-._~!$&'()*+,=:@/\[\]|]*)"
    r"(?:\?([A-Za-z0-9\-._~!$&'()*+,;=:@/?\[\]|]*))?"
)
#: The beginning of a URL with a plainly spelled server, which does not depend on the rest.
_PLAIN_SERVER = re.compile(r"(https?)://([a-z0-9.:-]+)[/?#]")
_SCHEME = re.compile(r"\s*([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_HOST = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?")
#: Limits of DNS (RFC 1035, 2.3.4): characters of a name, and of each part of it.
_MOST_HOST = 253
_LABELS = re.compile(r"[^.]{0,63}(?:\.[^.]{0,63})*")
_IPV6 = re.compile(r"\[[0-9a-f:.]+\]")
_BREAKS = re.compile(r"[\t\r\n]")
_UNSAFE = re.compile(r"[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%\[\]|]")
_PERCENT = re.compile(r"%([0-9A-Fa-f]{2})?")
_PATH_SESSION = re.compile(r";(?:jsessionid|sid|phpsessid)=[^/;?]*", re.IGNORECASE)
_HEX_ID = re.compile(r"[0-9a-fA-F]{16,64}")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
#: Characters that have no meaning of their own in a path or a value, which some software encodes; a
#: slash and a question mark have none in a query.
_NEEDLESS = re.compile(r"%(?:2[14789AC]|3A|40)")
_NEEDLESS_IN_QUERY = re.compile(r"%(?:2[14789ACF]|3[AF]|40)")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_MAX_PORT = 65535


@lru_cache(maxsize=1024)
def _authority(scheme: str, raw: str) -> str:
    """Return `user@HOST:port` in canonical form.

    Raises:
        ValueError: there is no host, or DNS does not allow it.
    """
    user, separator, host_part = raw.rpartition("@")
    host = _host_and_port(scheme, host_part)
    return user + separator + host


def _host_and_port(scheme: str, raw: str) -> str:
    host, colon, port = raw.rpartition(":")
    if not colon or "]" in port:
        host, port = raw, ""
    if port and not (port.isascii() and port.isdigit() and int(port) <= _MAX_PORT):
        raise ValueError(f"{port[:20]!r} is no port")
    host = _host(host)
    port = port.lstrip("0")
    return host if not port or port == _DEFAULT_PORTS[scheme] else f"{host}:{port}"


def _host(raw: str) -> str:
    host = raw.lower().rstrip(".")
    if not host:
        raise ValueError("no host")
    if "%" in host:
        host = _percent_decoded(host)
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except idna.IDNAError as error:
            raise ValueError(f"{raw[:60]!r} is no host name: {error}") from None
    if len(host) > _MOST_HOST or not _LABELS.fullmatch(host):
        raise ValueError(f"{raw[:60]!r} is longer than a host name may be")
    if not _HOST.fullmatch(host) and not _IPV6.fullmatch(host):
        raise ValueError(f"{raw[:60]!r} is no host name")
    return host


def _percent_decoded(text: str) -> str:
    raw = re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), text.encode())
    return raw.decode("utf-8", "replace").lower()


def _one_percent(match: re.Match[str]) -> str:
    digits = match[1]
    if digits is None:
        return "%25"
    code = int(digits, 16)
    return chr(code) if code in _UNRESERVED else f"%{digits.upper()}"


def _quote(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace"))


def _escaped(text: str) -> str:
    """Unify percent-encoding: upper case, and only where it is needed."""
    if "%" in text:
        text = _PERCENT.sub(_one_percent, text)
    return _UNSAFE.sub(_quote, text)


def _decoded(match: re.Match[str]) -> str:
    return chr(int(match[0][1:], 16))


def _path(raw: str) -> str:
    path = _escaped(raw.replace("\\", "/")) or "/"
    if ";" in path:
        path = _PATH_SESSION.sub("", path) or "/"
    return _without_dots(path) if "/." in path else path


def _without_dots(path: str) -> str:
    """Resolve `.` and `..` by RFC 3986 §5.2.4.

    >>> _without_dots("/a/./b/../c/..")
    '/a/'
    """
    segments: list[str] = []
    parts = path.split("/")[1:]
    for part in parts:
        if part == "..":
            if segments:
                segments.pop()
        elif part != ".":
            segments.append(part)
    if parts[-1] in {".", ".."}:
        segments.append("")
    return "/" + "/".join(segments)


def _parameters(query: str) -> list[str]:
    """Return the query's parts that determine the page, in their order."""
    parameters = []
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if not part or is_noise(name):
            continue
        if name in {"sid", "s", "SID"} and _HEX_ID.fullmatch(value):
            continue
        parameters.append(part)
    return parameters


def _match(url: str) -> re.Match[str]:
    if len(url) > MAX_LENGTH:
        raise ValueError(f"longer than {MAX_LENGTH} characters")
    # Browsers remove line breaks inside a URL, so we do, too.
    match = _URL.match(url) or _URL.match(url.strip())
    if match is not None and _BREAKS.search(match.string):
        match = _URL.match(_BREAKS.sub("", match.string))
    if match is None:
        raise ValueError(f"{url[:100]!r} is no http:// or https:// URL")
    return match


def _parts(url: str) -> tuple[str, str, str, list[str]]:
    """Return scheme, authority, path and parameters in canonical form."""
    # Fast path, because it is called for each link: half the time.
    plain = _PLAIN_URL.fullmatch(url)
    if plain is not None and len(url) <= MAX_LENGTH:
        scheme, authority, path, query = plain.groups()
        if "/." not in path:
            return scheme, _authority(scheme, authority), path, _parameters(query) if query else []
    scheme, authority, path, query = _match(url).groups()
    scheme = scheme.lower()
    host = _authority(scheme, authority)
    parameters = _parameters(_escaped(query)) if query else []
    return scheme, host, _path(path), parameters


def tidy(url: str) -> str:
    """Return the form of an absolute URL to request: same answer, one spelling, no tracking.

    Raises:
        ValueError: it is no http(s) URL; the message gives the reason.

    >>> tidy("HTTP://Shop.Example:80/a/../b/?b=2&utm_source=x&a=%7e1#top")
    'http://shop.example/b/?b=2&a=~1'
    """
    scheme, host, path, parameters = _parts(url)
    query = "?" + "&".join(parameters) if parameters else ""
    return f"{scheme}://{host}{path}{query}"


def normalise(url: str) -> str:
    """Return the form of an absolute URL to compare: `tidy`, query sorted, no trailing slash.

    Raises:
        ValueError: it is no http(s) URL; the message gives the reason.

    >>> normalise("http://Shop.Example:80/a/../b/?b=2&utm_source=x&a=%7e1#top")
    'http://shop.example/b?a=~1&b=2'
    >>> normalise("http://shop.example")
    'http://shop.example/'
    >>> normalise("http://a.example/lamp%2C12?route=product%2Fproduct")
    'http://a.example/lamp,12?route=product/product'
    """
    scheme, host, path, parameters = _parts(url)
    host = host.rpartition("@")[2]  # the user does not make it another page
    if "%" in path:
        path = _NEEDLESS.sub(_decoded, path)
    if path[-1] == "/":
        path = path.rstrip("/") or "/"
    if not parameters:
        return f"{scheme}://{host}{path}"
    if "%" in url:
        parameters = [_NEEDLESS_IN_QUERY.sub(_decoded, part) for part in parameters]
    parameters.sort()
    return f"{scheme}://{host}{path}?{'&'.join(parameters).replace('%20', '+')}"


def split_login(url: str) -> tuple[str, str]:
    """Remove user and password from a URL; returns the URL, and `user:password` or ''.

    >>> split_login("https://me:p%40ss@a.example/x@y")
    ('https://a.example/x@y', 'me:p@ss')
    >>> split_login("https://a.example/@me")
    ('https://a.example/@me', '')
    """
    match = _URL.match(url) if "@" in url else None
    if match is None or "@" not in match[2]:
        return url, ""
    login, _, _ = match[2].rpartition("@")
    user, _, secret = login.partition(":")
    without = url[: match.start(2)] + url[match.start(2) + len(login) + 1 :]
    return without, f"{unquote(user)}:{unquote(secret)}" if login.strip(":") else ""


@lru_cache(maxsize=1024)
def domain(url: str) -> str:
    """Return the server of a URL: `host` or `host:port`, lower case, without the default port.

    This is the key of politeness: delays and concurrency apply to it.

    Raises:
        ValueError: it is no http(s) URL.

    >>> domain("https://user@WWW.Example.com:443/x")
    'www.example.com'
    """
    # Fast path: called some eight times for each page, and for each link.
    plain = _PLAIN_SERVER.match(url)
    if plain is not None and len(url) <= MAX_LENGTH:
        return _authority(plain[1], plain[2])
    match = _match(url)
    return _authority(match[1].lower(), match[2]).rpartition("@")[2]


def domain_of_tidy(url: str) -> str:
    """Return `domain` of an address that `tidy` returned, which takes a tenth of the time.

    >>> domain_of_tidy("https://www.example.com/x")
    'www.example.com'
    """
    return url.partition("://")[2].partition("/")[0]


def slot(url: str) -> str:
    """Return `domain`, and for another scheme a name that no server has (RFC 6761, 6.4).

    >>> slot("http://A.example/x"), slot("data:,x"), slot("file:///etc/hosts")
    ('a.example', 'data.invalid', 'file.invalid')
    """
    try:
        return domain(url)
    except ValueError:
        scheme = scheme_of(url)
        if scheme in {"", "http", "https"}:
            raise
        return f"{scheme}.invalid"


def scheme_of(url: str) -> str:
    """Return the scheme of a URL in lower case, '' if it has none.

    >>> scheme_of("DATA:,x"), scheme_of("/x")
    ('data', '')
    """
    match = _SCHEME.match(url)
    return match[1].lower() if match else ""


def host_of(url: str) -> str:
    """Return the host name of a URL without a port; '' if it is no http(s) URL.

    >>> host_of("http://127.0.0.1:8080/x"), host_of("http://a..example/")
    ('127.0.0.1', '')
    """
    try:
        key = domain(url)
    except ValueError:
        return ""
    return key.partition("]")[0] + "]" if key[0] == "[" else key.partition(":")[0]


def without_pairs(url: str, is_left_out: Callable[[str], bool]) -> str:
    """Return a URL without those `name=value` of its query of which *is_left_out* is true.

    >>> without_pairs("http://a.example/x?b=2&a=1", "b=2".__eq__)
    'http://a.example/x?a=1'
    >>> without_pairs("http://a.example/x?b=2", "b=2".__eq__)
    'http://a.example/x'
    """
    place, _, query = url.partition("?")
    pairs = [pair for pair in query.split("&") if pair and not is_left_out(pair)]
    return f"{place}?{'&'.join(pairs)}" if pairs else place


def absolute(base: str, reference: str) -> str:
    """Resolve a link of a page against the page's base address.

    A backslash before the query stands for a slash, and slashes too many before a host are left
    out, as in browsers (WHATWG URL).

    Raises:
        ValueError: it cannot be resolved.

    >>> absolute("http://a.example/b/c", "../d?x=1"), absolute("http://a.example/b/c", "\\\\d\\\\e")
    ('http://a.example/d?x=1', 'http://a.example/d/e')
    """
    if reference[:7] == "http://" or reference[:8] == "https://":
        return reference
    if "\\" in reference:
        end = min(place for mark in "?#" if (place := (reference + mark).find(mark)) >= 0)
        reference = reference[:end].replace("\\", "/") + reference[end:]
    if reference[:3] == "///":
        reference = f"//{reference.lstrip('/')}"
    if reference[:1] == "/" and reference[1:2] != "/":
        end = base.find("/", 8)
        return (base if end < 0 else base[:end]) + reference
    return urljoin(base, reference)
