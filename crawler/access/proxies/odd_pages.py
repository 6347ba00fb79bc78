"""Finds pages that a proxy cut off or took from another address, although they look whole.

A page that opens <html> or <body> and closes neither may be cut. One whose canonical link names
another page of its site may be that page, from a proxy's mixed-up cache. Sites make such pages, as
HTML allows to leave the ends out, and a variant names its product. So such a page is requested
again, through another proxy if there is one. The site's own page comes with the same length or link
again; more often than once where its other pages are as they should be.
"""

from __future__ import annotations

import html
import re
from urllib.parse import unquote, urljoin, urlsplit

from scrapy import Request

from crawler.extract.limited_dict import Newest
from crawler.extract.links.registered_domain import same_site

#: Key of `request.meta`: the lengths and links of the request's odd answers so far.
_ODD = "_odd_pages"
#: Bytes at a page's start and end in which <html> or <body> is opened and closed, and those in
#: which its canonical link stands.
_ENDS, _HEAD = 1024, 50_000
#: Like answers that prove a page to be the site's: where other pages are not odd, and elsewhere.
_LIKE_OF_EVEN, _LIKE = 4, 2
#: Odd answers of any kind after which the last one is taken.
_MOST = 6
#: Lengths differ by tokens and banners, bytes and share.
_FEW, _SHARE = 200, 0.02
#: A site's odd pages that show that this is its way, where they are so many of all.
_HABIT, _HABITUAL = 2, 0.2
#: Sites that a worker remembers.
_MOST_SITES = 1000
_LINK = re.compile(rb"<link\b([^<>]{1,2000})>", re.IGNORECASE)
_CANONICAL = re.compile(rb"\brel\s*=\s*[\"']?canonical\b", re.IGNORECASE)
_HREF = re.compile(rb"\bhref\s*=\s*[\"']?([^\"'\s>]{1,1000})", re.IGNORECASE)


def is_open_ended(body: bytes) -> bool:
    """Whether a page opens <html> or <body> and closes neither.

    >>> is_open_ended(b"<html><h1>Lamp</h1>"), is_open_ended(b"<html><h1>Lamp</h1></body>")
    (True, False)
    >>> is_open_ended(b"a text")
    False
    """
    head, tail = body[:_ENDS].lower(), body[-_ENDS:].lower()
    return (b"<html" in head or b"<body" in head) and not (b"</html" in tail or b"</body" in tail)


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


class OddPages:
    """What one worker knows of its sites' pages: how many are odd, and how many are not."""

    def __init__(self) -> None:
        self._even: Newest[int] = Newest(int, _MOST_SITES)
        self._odd: Newest[int] = Newest(int, _MOST_SITES)

    def why_again(self, request: Request, site: str, body: bytes) -> str:
        """Return what is odd with a page, for which it is requested again; '': nothing."""
        is_cut, other = is_open_ended(body), other_address(request.url, body)
        if not is_cut and not other:
            self._even[site] += 1
            return ""
        even, odd = self._even[site], self._odd[site]
        if odd >= _HABIT and odd >= _HABITUAL * (even + odd):
            return ""
        answers = [*request.meta.get(_ODD, ()), [len(body) if is_cut else 0, other]]
        like = sum(_are_like(answer, answers[-1]) for answer in answers)
        if like >= (_LIKE_OF_EVEN if even else _LIKE) or len(answers) >= _MOST:
            self._odd[site] = odd + 1
            return ""
        request.meta[_ODD] = answers
        return "a page that is cut off" if is_cut else f"the page of {other}"

    def is_unlike_others(self, site: str, body: bytes) -> bool:
        """Whether a page lacks its end although most of the site's pages have one."""
        return is_open_ended(body) and self._even[site] > self._odd[site]


def _are_like(one: list[int | str], other: list[int | str]) -> bool:
    """Whether two odd answers have the same link, and about the same length if they lack an end."""
    sizes = int(one[0]), int(other[0])
    return one[1] == other[1] and abs(sizes[0] - sizes[1]) <= max(_FEW, _SHARE * max(sizes))
