"""Jars of cookies in Redis, one for all workers of a run.

`{crawl}:jar:<name>` is a hash: a cookie by its place (domain, path, name), and the jar's version.
Each change increments the version. A jar expires a day after its last change. Its name is a hash of
the crawl's state and of the jar's purpose, so that no other run finds it. If the crawl has a secret
(SEINE_SECRET), cookies are signed, and unsigned ones ignored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from http.cookiejar import Cookie
from typing import Any

from redis.asyncio import Redis

from scrapy_seine.errors import DecodeError
from scrapy_seine.frontier.encoding.codec import SEAL_BYTES, SEALED, VERSION
from scrapy_seine.frontier.encoding.seal import Seal
from scrapy_seine.lenient_parsing import whole_number
from scrapy_seine.lua_scripts import call, load_script

#: A jar expires so long after its last change, s.
JAR_S = 86_400
#: Cookies of a jar, at most: a jar is for one site, and browsers keep 180 of a domain.
MOST = 1000
#: Domain, path and name of a cookie.
Place = tuple[str, str, str]
_VERSION = b""
_TEXTS = ("name", "value", "domain", "path")


class FleetJars:
    """Reads and changes jars."""

    def __init__(self, redis: Redis, crawl: str, seal: Seal) -> None:
        self._redis: Any = redis
        self._prefix = f"{{{crawl}}}:jar:"
        self._seal = seal

    async def read_jar(self, name: str) -> tuple[int, list[Cookie]]:
        """Return a jar's version, 0 if there is none, and its cookies.

        Raises:
            RedisError: Redis does not answer.
        """
        fields: Mapping[bytes, bytes] = await self._redis.hgetall(self._prefix + name)
        cookies = [self._cookie(name, place, stored) for place, stored in fields.items() if place]
        return whole_number(fields.get(_VERSION)), [
            cookie for cookie in cookies if cookie is not None
        ]

    async def version(self, name: str) -> int:
        """Return a jar's version; 0 if there is none.

        Raises:
            RedisError: Redis does not answer.
        """
        return whole_number(await self._redis.hget(self._prefix + name, _VERSION))

    async def change(
        self, name: str, changed: Mapping[Place, Cookie], removed: Sequence[Place]
    ) -> int:
        """Set and remove cookies of a jar; returns its new version.

        Raises:
            RedisError: Redis does not answer.
        """
        pairs = []
        for place, cookie in changed.items():
            header = self._header(name, field := _field(place))
            pairs += [field, self._seal.close(header, VERSION + _plain(cookie))]
        args = [JAR_S, MOST, len(changed), *pairs, *(_field(place) for place in removed)]
        lua = load_script("scrapy_seine.middlewares", "jar_change")
        return int(await call(self._redis, lua, [self._prefix + name], args))

    def _cookie(self, name: str, place: bytes, stored: bytes) -> Cookie | None:
        """Parse a stored cookie; None if it is invalid, or not signed by the fleet."""
        try:
            self._seal.check(self._header(name, place) + b"\n" + stored)
            text = stored[1 + SEAL_BYTES :] if stored[:1] == SEALED else stored[1:]
            return cookie_of(json.loads(text))
        except (DecodeError, TypeError, ValueError, AttributeError, RecursionError):
            return None

    @staticmethod
    def _header(name: str, field: bytes) -> bytes:
        return b"jar %b %b" % (name.encode(), hashlib.sha256(field).hexdigest().encode())


def _field(place: Place) -> bytes:
    """Return the name of a cookie's field; an HTTP header holds no line break."""
    return "\n".join(place).encode("utf-8", "surrogatepass")


def _plain(cookie: Cookie) -> bytes:
    plain = {
        "name": cookie.name,
        "value": cookie.value or "",
        "domain": cookie.domain,
        "path": cookie.path,
        "secure": bool(cookie.secure),
        "expires": cookie.expires,
        "own_domain": cookie.domain_specified,
    }
    return json.dumps(plain).encode()


def cookie_of(plain: Mapping[str, Any]) -> Cookie:
    """Make a cookie from its stored form.

    Raises:
        ValueError: a field is missing, or of another type.
    """
    texts = {name: plain.get(name) for name in _TEXTS}
    expires = plain.get("expires")
    if not all(isinstance(text, str) for text in texts.values()):
        raise ValueError("a stored cookie lacks a text")
    if expires is not None and not isinstance(expires, int | float):
        raise ValueError("a stored cookie's time of expiry is no number")
    domain = str(texts["domain"])
    return Cookie(
        version=0,
        name=str(texts["name"]),
        value=str(texts["value"]),
        port=None,
        port_specified=False,
        domain=domain,
        domain_specified=bool(plain.get("own_domain")),
        domain_initial_dot=domain.startswith("."),
        path=str(texts["path"]),
        path_specified=True,
        secure=bool(plain.get("secure")),
        expires=None if expires is None else int(expires),
        discard=expires is None,
        comment=None,
        comment_url=None,
        rest={},
    )
