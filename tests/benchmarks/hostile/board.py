"""Hostile visitors of the dashboard: odd addresses, forms without a token, logins by guessing."""

from __future__ import annotations

import http.client
import random
import socket
import threading
from collections.abc import Iterator, Mapping
from urllib.parse import quote, urlencode, urlsplit

import attrs

from tests.benchmarks.hostile.kinds import STRINGS, Source

_PAGES = (
    "",
    "domains",
    "workers",
    "frontier",
    "dead",
    "products",
    "jobs",
    "attempts",
    "quality",
    "proxies",
)
_FIELDS = (
    "q",
    "from",
    "domain",
    "reason",
    "site",
    "hours",
    "days",
    "limit",
    "state",
    "text",
    "sort",
    "at",
)
_VERBS = (
    "pause",
    "resume",
    "set_delay",
    "forget",
    "requeue_dead",
    "purge",
    "seed",
    "cancel",
    "no-such-verb",
    "%2e%2e",
)
_FORM = "application/x-www-form-urlencoded"
#: Guesses that one visitor makes at a time, and how many of them are too many to be answered.
GUESSES, ENOUGH = 40, 30


@attrs.frozen
class Ask:
    """One request."""

    method: str
    target: str
    headers: Mapping[str, str] = attrs.Factory(dict)
    body: bytes = b""


@attrs.frozen
class Reply:
    """What came back; status 0: the connection was closed."""

    ask: Ask
    status: int
    body: bytes


def asks(dice: random.Random, token: str) -> Source:
    """Make requests; those with the token get through to the pages."""
    known = {"Authorization": f"Bearer {token}"}
    return Source([*_fixed(known), *_odd(known)], _generated(dice, known))


def _fixed(known: Mapping[str, str]) -> Iterator[Ask]:
    for path in _PAGES:
        yield Ask("GET", f"/{path}", known)
    for value in STRINGS[:-2]:
        for path in ("products", "dead", "domains"):
            yield Ask("GET", f"/{path}?{_query({'q': value, 'from': value})}", known)
    for name in (
        "%00",
        "%ff",
        "..%2f..%2fetc%2fpasswd",
        "%0d%0aX:y",
        "a" * 4000,
        "%1b%5b31m",
        "0.0.0",
    ):
        for path in ("domains", "products/x", "dead", "events", "static", "do"):
            yield Ask("GET", f"/{path}/{name}", known)
    for verb in _VERBS:
        yield Ask("POST", f"/do/{verb}", {"Content-Type": _FORM}, b"domain=x&delay_ms=1")
        yield Ask(
            "POST",
            f"/do/{verb}",
            {**known, "Origin": "http://evil.invalid", "Content-Type": _FORM},
            b"all=yes",
        )


def _generated(dice: random.Random, known: Mapping[str, str]) -> Iterator[Ask]:
    while True:
        path = dice.choice(_PAGES)
        fields = {
            dice.choice(_FIELDS): dice.choice(STRINGS)[:3000] for _ in range(dice.randrange(1, 4))
        }
        yield Ask("GET", f"/{path}?{_query(fields)}", known)


def _odd(known: Mapping[str, str]) -> Iterator[Ask]:
    yield Ask("GET", "/", {**known, "Host": "evil.invalid"})
    yield Ask("GET", "/", {"Cookie": "seine_session=" + "a.1.b.c"})
    yield Ask("GET", "/", {"Cookie": "seine_session=x.999999999999999999999.y.z"})
    yield Ask("GET", "/", {"Cookie": "\xff" * 100})
    yield Ask("GET", "/", {**known, "X": "y" * 100_000})
    yield Ask("GET", "/", {**known, **{f"X-{n}": "y" for n in range(3000)}})
    yield Ask("GET", "/" + "a" * 100_000, known)
    yield Ask("GET", "//evil.invalid/%2f..", known)
    yield Ask("GET", "/products?" + "q=a&" * 5000, known)
    yield Ask("BREW", "/", known)
    yield Ask(
        "POST", "/login", {"Content-Type": "multipart/form-data; boundary=x"}, b"--x\r\n\r\n" * 2000
    )
    yield Ask("POST", "/login", {"Content-Type": _FORM}, b"token=" + b"x" * 2_000_000)
    yield Ask("POST", "/login", {"Content-Type": _FORM}, b"&=" * 100_000)
    yield Ask("POST", "/login", {"Content-Type": "application/json"}, b"[" * 100_000)
    yield Ask("POST", "/logout", {"Content-Type": _FORM}, b"")
    yield Ask("GET", "/", {"Authorization": "Bearer \xe9"})


def _query(fields: Mapping[str, str]) -> str:
    raw = {key: value.encode("utf-8", "surrogatepass")[:3000] for key, value in fields.items()}
    return urlencode(raw, quote_via=quote)


def ask_all(url: str, asked: list[Ask], timeout_s: float = 30) -> list[Reply]:
    """Send them one after the other."""
    place = urlsplit(url).netloc
    return [_ask(place, ask, timeout_s) for ask in asked]


def _ask(place: str, ask: Ask, timeout_s: float = 30) -> Reply:
    connection = http.client.HTTPConnection(place, timeout=timeout_s)
    try:
        connection.putrequest(ask.method, ask.target, skip_host="Host" in ask.headers)
        for name, value in ask.headers.items():
            connection.putheader(name, value.encode("latin-1", "replace"))
        if ask.method == "POST":
            connection.putheader("Content-Length", str(len(ask.body)))
        connection.endheaders(ask.body or None)
        response = connection.getresponse()
        kind = response.getheader("Content-Type", "")
        body = response.read(4096 if "event-stream" in kind else None)
        return Reply(ask, response.status, body)
    except (OSError, http.client.HTTPException):
        return Reply(ask, 0, b"")
    finally:
        connection.close()


def guess(url: str) -> list[int]:
    """Try wrong tokens, many at a time; returns each answer's status."""
    place, statuses = urlsplit(url).netloc, list[int]()
    body = b"token=wrong-guess"

    def one() -> None:
        ask = Ask("POST", "/login", {"Content-Type": _FORM}, body)
        statuses.append(_ask(place, ask).status)

    threads = [threading.Thread(target=one) for _ in range(GUESSES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statuses


def raw(url: str) -> None:
    """Send what is no HTTP, and leave connections half open."""
    host, _, port = urlsplit(url).netloc.partition(":")
    for data in (
        b"\0" * 5000,
        b"GET",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"\x16\x03\x01",
    ):
        with socket.create_connection((host, int(port)), timeout=5) as connection:
            connection.sendall(data)


def broken(replies: list[Reply]) -> list[str]:
    """Requests that the dashboard failed at, rather than refused: a 5xx, or nothing at all."""
    return [
        f"{r.ask.method} {r.ask.target[:100]} {r.status}"
        for r in replies
        if r.status >= 500 or (r.status == 0 and len(r.ask.target) + len(r.ask.body) < 50_000)
    ]
