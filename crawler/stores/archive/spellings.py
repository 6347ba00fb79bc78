"""The spellings under which the archive's index has a page."""

from __future__ import annotations

from scrapy_seine.urls import normalise


def spellings(url: str) -> list[str]:
    """Return an address, and the form in which spellings of one page are compared if it is another.

    A replay may reach a page by another link than the crawl did, and asks for it once.

    >>> spellings("http://a.example/b/?utm_source=x")
    ['http://a.example/b/?utm_source=x', 'http://a.example/b']
    >>> spellings("http://a.example/b"), spellings("data:,x")
    (['http://a.example/b'], ['data:,x'])
    """
    try:
        return list(dict.fromkeys((url, normalise(url))))
    except ValueError:
        return [url]
