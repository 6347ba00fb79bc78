"""Endless parts of a shop: facets, a calendar, session ids. A careful crawler skips them.

Off by default. All products stay reachable without these links.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from html import escape
from urllib.parse import parse_qsl, urlencode

import attrs

from crawler.demo.pages import Page
from scrapy_seine.attrs_bases import Record

FACETS = {
    "colour": ("red", "blue", "green", "black"),
    "size": ("s", "m", "l", "xl"),
    "material": ("steel", "oak", "wool", "cork"),
    "sort": ("price", "-price", "rating", "newest"),
    "view": ("grid", "list"),
    "per_page": ("12", "24", "48"),
}
#: The session's parameter: sixteen hexadecimal digits, new for a request without it.
SESSION = "sessionid"
_FIRST_MONTH, _MONTHS = 2020 * 12, 80 * 12


@attrs.define(eq=False, repr=False)
class Traps(Record):
    """Adds endless links to a site's pages."""

    page: Callable[[str], Page]
    """The site without traps."""
    _visits: int = 0

    def answer(self, target: str) -> Page:
        """Return the page of a request target; listings and the home page link to the traps."""
        path, _, query = target.partition("?")
        if path.startswith("/calendar/"):
            return _calendar(path)
        page = self.page(target)
        parts = path.split("/")
        is_listing = len(parts) == 3 and parts[1] == "c"  # noqa: PLR2004
        if page.status != 200 or not (is_listing or path == "/"):  # noqa: PLR2004
            return page
        params = dict(parse_qsl(query))
        extra = self._session(params) + _CALENDAR + (_facets(path, params) if is_listing else "")
        body = page.body.replace(b"</main>", f"{extra}</main>".encode(), 1)
        return attrs.evolve(page, body=body, headers={})

    def _session(self, params: dict[str, str]) -> str:
        self._visits += 1
        new_id = hashlib.blake2b(str(self._visits).encode(), digest_size=8).hexdigest()
        session = params.get(SESSION, new_id)
        return f'<p class="visit"><a href="/?{SESSION}={escape(session)}">Your visit</a></p>'


_CALENDAR = '<p class="events"><a href="/calendar/2026/11">Events in our shop</a></p>'


def _facets(path: str, params: dict[str, str]) -> str:
    """Return links that each add, change or drop one facet: some 12,000 URLs a listing."""
    filters = {name: value for name, value in params.items() if name in FACETS or name == "page"}
    links = []
    for name, values in FACETS.items():
        for value in values:
            other_filters = {k: v for k, v in filters.items() if k not in {name, "page"}}
            query = other_filters if filters.get(name) == value else {**other_filters, name: value}
            links.append(f'<a href="{path}?{escape(urlencode(query))}">{name}: {value}</a>')
    return f'<nav class="facets">{" ".join(links)}</nav>'


def _calendar(path: str) -> Page:
    """Return the page of a month with links to the months before and after, for eighty years."""
    parts = path.split("/")
    if len(parts) != 4 or not (parts[2] + parts[3]).isdecimal():  # noqa: PLR2004
        return Page(b"no such month", status=404)
    month = int(parts[2][:4]) * 12 + int(parts[3][:2]) - 1
    if not _FIRST_MONTH <= month < _FIRST_MONTH + _MONTHS:
        return Page(b"no such month", status=404)
    links = [
        f'<a href="/calendar/{other // 12}/{other % 12 + 1:02d}">{other // 12}-{other % 12 + 1}</a>'
        for other in (month - 1, month + 1)
    ]
    title = f"Events in {month // 12}-{month % 12 + 1:02d}"
    text = f"<!DOCTYPE html><title>{title}</title><main><h1>{title}</h1>{' '.join(links)}</main>"
    return Page(text.encode())
