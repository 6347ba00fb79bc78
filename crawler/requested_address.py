"""The address that was first requested for a page, before any redirect."""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response

from scrapy_seine.urls import tidy


def requested_url(page: Request | Response) -> str:
    """Return the URL that was first requested for a page, as it was requested."""
    return str((page.meta.get("redirect_urls") or (page.url,))[0])


def requested_address(request: Request) -> str:
    """Return the tidied URL that was first requested, as it is where a URL is not valid."""
    url = requested_url(request)
    try:
        return tidy(url)
    except ValueError:
        return url
