"""A response's headers as text."""

from __future__ import annotations

from scrapy.http import Response


def header(response: Response, name: str) -> str:
    """Return the last value of a header, empty where there is none; each byte is a letter."""
    return (response.headers.get(name) or b"").decode("latin-1")
