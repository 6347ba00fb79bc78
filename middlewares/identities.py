"""Sets one browser's complete headers on requests to sites with a browser identity."""

from __future__ import annotations

from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from crawler.access.identities import PROFILE, Profile, candidates, identities_of, pick
from scrapy_seine import meta as m
from scrapy_seine.config import flag
from scrapy_seine.urls import domain

#: Headers of a request that are kept with any identity.
_OWN = frozenset({b"Authorization", b"Content-Type", b"Content-Length", b"Origin", b"Cookie"})
#: Key of `request.meta`: the cookie jar that this middleware chose, not the spider.
_JAR = "visitor"


class Profiles:
    """Picks a profile for each visitor of a site, and replaces the request's headers by its set.

    With the default identity (the bot of USER_AGENT) it does nothing. It runs after the proxies'
    middleware, because a visitor is a site and the proxy through which it is visited.
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
        default, sites, any_browser = identities_of(settings, crawler.spidercls)
        if not any_browser:
            raise NotConfigured  # without a message, because Scrapy would log it as a warning
        return cls(default, sites, cookies=flag(settings, "COOKIES_ENABLED"))

    def process_request(self, request: Request) -> None:
        """Set the headers of the visitor's browser."""
        site = domain(request.url)
        names = candidates(self.identity(request, site))
        if not names:
            return
        visitor = visitor_of(request, site)
        profile = pick(names, visitor)
        request.meta[PROFILE] = profile.name
        # The TLS lane emulates the same browser, without adding its own headers.
        request.meta["wreq_emulation"] = {**profile.emulation, "headers": False}
        if self.cookies and request.meta.get("cookiejar") in (None, request.meta.get(_JAR)):
            request.meta["cookiejar"] = request.meta[_JAR] = visitor
        dress(request, profile)

    def identity(self, request: Request, site: str) -> str:
        """Identity for a request: its own, its site's, or the default."""
        requested = request.meta.get("identity_now") or request.meta.get(m.IDENTITY)
        return str(requested or self.sites.get(site) or self.default)


def visitor_of(request: Request, site: str) -> str:
    """Name of the visitor that *site* sees: the site and the request's proxy."""
    return f"{site} {request.meta.get('proxy_id') or 'direct'}"


def dress(request: Request, profile: Profile) -> None:
    """Replace the headers by the profile's set, in order; list them in meta as borrowed."""
    original = request.headers.copy()
    referer = (original.get(b"Referer") or b"").decode("latin-1")
    country = str(request.meta.get("exit_country") or request.meta.get(m.PROXY_COUNTRY) or "")
    headers = profile.headers_for(request.url, referer=referer, country=country)
    request.headers.clear()
    for name, value in headers:
        value_kept = original.pop(name, None)
        if value is not None:
            request.headers[name] = value
        elif value_kept:
            request.headers[name] = value_kept
    for key in list(original):
        if key in _OWN or key.lower().startswith(b"x-"):
            request.headers[key] = original[key]
    request.meta[m.BORROWED] = [name for name, value in headers if value and name != "referer"]
