"""Finds pages that a proxy cut off or took from another address, although they look whole.

A page that opens <html> or <body> and closes neither may be cut. One whose canonical link names
another page of its site may be that page, from a proxy's mixed-up cache. Sites make such pages, as
HTML allows to leave the ends out, and a variant names its product. So such a page is requested
again, through another proxy if there is one. The site's own page comes with the same length or link
again; after a few of these the fleet takes such pages for the site's way, and believes them.

What a proxy does is no site's way: pages that were not odd when they were requested again speak
against it. Kinds of odd pages are told apart, so that a shop without ends, or with variants below
their product's address, does not hide a mixed-up cache.
"""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Mapping, Sequence
from typing import Literal
from urllib.parse import unquote, urljoin, urlsplit

import attrs
from redis.asyncio import Redis
from scrapy import Request

from crawler.extract.links.registered_domain import same_site
from scrapy_seine.attrs_bases import Value
from scrapy_seine.lenient_parsing import whole_number, word

#: Key of `request.meta`: the request's odd answers so far, each as length, path and kinds.
_ODD = "_odd_pages"
#: Bytes at a page's start and end in which <html> or <body> is opened and closed, and those in
#: which its canonical link stands.
_ENDS, _HEAD = 1024, 50_000
#: Like answers that prove a page to be the site's: where nothing is known of its kind, where a page
#: was proved, and the proved pages of a kind after which it is the site's way.
_LIKE_OF_FIRST, _LIKE, _PROOFS = 4, 2, 3
#: Proved pages for each one that was not odd when it was requested again.
_FOR_EACH_FALSE = 20
#: Of the pages of another address one of so many is requested again although that is the site's
#: way, until so many are proved.
_SAMPLED, _SURE = 10, 50
#: Odd answers of any kind after which the last one is taken.
_MOST = 6
#: Lengths differ by tokens and banners, bytes and share.
_FEW, _SHARE = 200, 0.02
#: Seconds for which a site's way is known.
_KNOWN_S = 86_400
_LINK = re.compile(rb"<link\b([^<>]{1,2000})>", re.IGNORECASE)
_CANONICAL = re.compile(rb"\brel\s*=\s*[\"']?canonical\b", re.IGNORECASE)
_HREF = re.compile(rb"\bhref\s*=\s*[\"']?([^\"'\s>]{1,1000})", re.IGNORECASE)
Kind = Literal["cut", "below", "beside", "elsewhere"]
"""It lacks its end, or names another page: above or below it, as a variant does, in the same folder
or in another one."""


@attrs.frozen(eq=False, repr=False)
class Odd(Value):
    """What is odd with an answer."""

    size: int
    """Its length if it lacks its end, else 0."""
    other: str
    """The path that its canonical link names, '' if that is its own."""
    kinds: Sequence[str]

    @property
    def reason(self) -> str:
        """What it may be instead of the page."""
        return "a page that is cut off" if self.size else f"the page of {self.other}"

    def is_like(self, other: Odd) -> bool:
        """Whether both have the same link, and about the same length if they lack an end."""
        apart = abs(self.size - other.size)
        return self.other == other.other and apart <= max(_FEW, _SHARE * max(self.size, other.size))


@attrs.frozen(eq=False, repr=False)
class Weighed(Value):
    """What an answer is taken for."""

    again: str = ""
    """What is odd with it, for which it is requested again; '': it is believed."""
    counts: Sequence[str] = ()
    """The fields of the site's record that grow by one."""
    doubt: str = ""
    """What is odd with it although it is believed, after several answers."""


def is_open_ended(body: bytes) -> bool:
    """Whether a page opens <html> or <body> and closes neither.

    >>> is_open_ended(b"<html><h1>Lamp</h1>"), is_open_ended(b"<html><h1>Lamp</h1></body>")
    (True, False)
    >>> is_open_ended(b"a text")
    False
    """
    return _opens(body) and not _closes(body)


def is_whole(body: bytes) -> bool:
    """Whether a page opens <html> or <body>, and closes one of them."""
    return _opens(body) and _closes(body)


def _opens(body: bytes) -> bool:
    head = body[:_ENDS].lower()
    return b"<html" in head or b"<body" in head


def _closes(body: bytes) -> bool:
    tail = body[-_ENDS:].lower()
    return b"</html" in tail or b"</body" in tail


def other_address(url: str, body: bytes) -> str:
    """Return the path of its site that a page's canonical link names; '': none, or its own.

    >>> other_address("http://a.example/p/1?x=2", b'<link rel="canonical" href="/p/2">')
    '/p/2'
    >>> other_address("http://a.example/P/1/", b"<link href=http://a.example/p/1 rel=canonical>")
    ''
    """
    for link in _LINK.finditer(body, 0, _HEAD):
        found = _HREF.search(link[1]) if _CANONICAL.search(link[1]) else None
        if found is not None:
            try:
                target = urljoin(url, html.unescape(found[1].decode("utf-8", "replace")))
                path, own = _path_of(target), _path_of(url)
            except ValueError:  # http://[ is no address
                return ""
            return path if path != own and same_site(target, url) else ""
    return ""


def _path_of(url: str) -> str:
    return unquote(urlsplit(url).path).rstrip("/").lower() or "/"


def odd_of(url: str, body: bytes) -> Odd | None:
    """Return what is odd with the page of an address; None: nothing.

    >>> page = b"<link rel=canonical href=/p/lamp>"
    >>> [odd_of(f"http://a.example/{x}", page).kinds for x in ("p/lamp/red", "p/2", "c/2")]
    [['below'], ['beside'], ['elsewhere']]
    """
    is_cut, other = is_open_ended(body), other_address(url, body)
    if not is_cut and not other:
        return None
    kinds: list[Kind] = ["cut"] if is_cut else []
    if other:
        kinds.append(_relation(_path_of(url), other))
    return Odd(len(body) if is_cut else 0, other, kinds)


def _relation(one: str, other: str) -> Kind:
    """Return how two paths stand to each other: one begins with the other, or has its last part.

    >>> [_relation("/p/1", x) for x in ("/p/1-red", "/lamps/1", "/p/12", "/c/2", "/")]
    ['below', 'below', 'beside', 'elsewhere', 'elsewhere']
    """
    short, long = sorted((one, other), key=len)
    (folder, _, last), (other_folder, _, other_last) = one.rpartition("/"), other.rpartition("/")
    begins = long.startswith(short) and not long[len(short)].isalnum()
    if short != "/" and (begins or last == other_last):
        return "below"
    return "beside" if folder == other_folder and short != "/" else "elsewhere"


def weigh(request: Request, odd: Odd | None, known: Mapping[str, int]) -> Weighed:
    """Decide whether an answer is believed.

    *known* is the fleet's record of the site, with the number of pages that were `whole`.
    """
    before = [Odd(*answer) for answer in request.meta.pop(_ODD, ())]
    if odd is None:
        return Weighed(counts=_fields("false", *before))
    is_sampled = any(_is_sampled(request, known, kind) for kind in odd.kinds)
    if not is_sampled and all(_is_way(known, kind, _PROOFS) for kind in odd.kinds):
        return Weighed()
    answers = [*before, odd]
    is_known = all(_is_way(known, kind, 1) for kind in odd.kinds)
    if sum(map(odd.is_like, answers)) >= (_LIKE if is_known else _LIKE_OF_FIRST):
        others = [answer for answer in before if answer.other != odd.other]
        counts = _fields("proved", odd) + _fields("false", *others)
        may_be_cut = "cut" in odd.kinds and known.get("whole", 0) > known.get("cut proved", 0)
        return Weighed(counts=counts, doubt=odd.reason if may_be_cut else "")
    if len(answers) >= _MOST:
        # It may be the site's all the same, which changes it each time. A proxy's are mostly not
        # odd before that, and speak against their kind.
        return Weighed(counts=_fields("proved", odd), doubt=odd.reason)
    request.meta[_ODD] = [[answer.size, answer.other, [*answer.kinds]] for answer in answers]
    return Weighed(again=odd.reason)


def is_asked_again(request: Request) -> bool:
    """Whether a request had odd answers before."""
    return _ODD in request.meta


def _fields(verdict: str, *answers: Odd) -> list[str]:
    return sorted({f"{kind} {verdict}" for answer in answers for kind in answer.kinds})


def _is_way(known: Mapping[str, int], kind: str, least: int) -> bool:
    proved, false = known.get(f"{kind} proved", 0), known.get(f"{kind} false", 0)
    return proved >= max(least, _FOR_EACH_FALSE * false)


def _is_sampled(request: Request, known: Mapping[str, int], kind: str) -> bool:
    if kind not in {"beside", "elsewhere"} or known.get(f"{kind} proved", 0) >= _SURE:
        return False
    digest = hashlib.blake2b(request.url.encode(), digest_size=8).digest()
    return int.from_bytes(digest) % _SAMPLED == 0


async def known_of(redis: Redis, key: str, site: str) -> dict[str, int]:
    """Return the fleet's record of a site's odd pages; *key*: the prefix of the proxies' keys.

    Raises:
        RedisError: Redis does not answer.
    """
    pipe = redis.pipeline(transaction=False)  # whose errors name the key
    pipe.hgetall(f"{key}odd:{site}")
    (found,) = await pipe.execute()
    return {word(field): whole_number(value) for field, value in found.items()}


async def count(redis: Redis, key: str, site: str, fields: Sequence[str]) -> None:
    """Add to the record, which is forgotten a day after it began.

    Raises:
        RedisError: Redis does not answer.
    """
    if not fields:
        return
    name, pipe = f"{key}odd:{site}", redis.pipeline(transaction=False)
    for field in fields:
        pipe.hincrby(name, field, 1)
    pipe.ttl(name)
    *_, left_s = await pipe.execute()
    if left_s < 0:
        await redis.expire(name, _KNOWN_S)
