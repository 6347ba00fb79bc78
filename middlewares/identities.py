"""Requests to sites that chose a browser identity carry one browser's whole set of headers."""

from __future__ import annotations

from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from crawler.access.identities import PROFILE, Profile, candidates, chosen, pick
from scrapy_seine import meta as m
from scrapy_seine.config import flag
from scrapy_seine.urls import domain

#: What a request may say for itself whatever the identity.
_OWN = frozenset({b"Authorization", b"Content-Type", b"Content-Length", b"Origin", b"Cookie"})
#: Key of `request.meta`: cookie jar that this middleware chose, not the spider.
_JAR = "visitor"


class Profiles:
    """Picks the profile of a site's visitor and replaces the request's headers by its set.

    The default identity is the robot of USER_AGENT, and then this has nothing to do. It stands
    behind the proxies' middleware, since the way out is a part of who the visitor is.
    """

    def __init__(self, default: str, sites: dict[str, str], *, cookies: bool) -> None:
        self.default = default
        self.sites = sites
        self.cookies = cookies

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings.

        Raises:
            NotConfigured: no site chose a browser identity.
            ConfigError: an identity does not exist.
        """
        settings = crawler.settings
        default, sites, any_browser = chosen(settings, crawler.spidercls)
        if not any_browser:
            raise NotConfigured  # without a word: Scrapy would warn of what is usual
        return cls(default, sites, cookies=flag(settings, "COOKIES_ENABLED"))

    def process_request(self, request: Request) -> None:
        """Give the request the headers of its visitor's browser."""
        site = domain(request.url)
        names = candidates(self.identity(request, site))
        if not names:
            return
        visitor = visitor_of(request, site)
        profile = pick(names, visitor)
        request.meta[PROFILE] = profile.name
        # The TLS lane shows the same browser; its own headers would come on top of these.
        request.meta["wreq_emulation"] = {**profile.emulation, "headers": False}
        if self.cookies and request.meta.get("cookiejar") in (None, request.meta.get(_JAR)):
            request.meta["cookiejar"] = request.meta[_JAR] = visitor
        dress(request, profile)

    def identity(self, request: Request, site: str) -> str:
        """Identity for a request: its own, its site's, or the default."""
        own = request.meta.get("identity_now") or request.meta.get(m.IDENTITY)
        return str(own or self.sites.get(site) or self.default)


def visitor_of(request: Request, site: str) -> str:
    """Name of the visitor as whom *site* sees the request: its way out and its session."""
    return f"{site} {request.meta.get('proxy_id') or 'direct'}"


def dress(request: Request, profile: Profile) -> None:
    """Replace the headers by the profile's set, in order; note them as not the request's own."""
    own = request.headers.copy()
    referer = (own.get(b"Referer") or b"").decode("latin-1")
    country = str(request.meta.get("exit_country") or request.meta.get(m.PROXY_COUNTRY) or "")
    headers = profile.headers_for(request.url, referer=referer, country=country)
    request.headers.clear()
    for name, value in headers:
        kept = own.pop(name, None)
        if value is not None:
            request.headers[name] = value
        elif kept:
            request.headers[name] = kept
    for key in list(own):
        if key in _OWN or key.lower().startswith(b"x-"):
            request.headers[key] = own[key]
    request.meta[m.BORROWED] = [name for name, value in headers if value and name != "referer"]
