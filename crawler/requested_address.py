"""The address that was first requested for a page, before any redirect."""

from __future__ import annotations

from scrapy import Request

from scrapy_seine.urls import tidy


def requested_address(request: Request) -> str:
    """Return the tidied URL that was first requested, as it is where a URL is not valid."""
    redirects = request.meta.get("redirect_urls") or (request.url,)
    try:
        return tidy(str(redirects[0]))
    except ValueError:
        return str(redirects[0])
