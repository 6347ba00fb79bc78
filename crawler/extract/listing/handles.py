"""Products that a listing's script names by the last part of their address alone: `"handle": "red-lamp"`.

The rest of the address is that of a product to which another page links. A name of the list, or of
an earlier list of the host, must be such a product's, so that no address is guessed. Pure, bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from crawler.extract.limited_dict import Newest
from crawler.extract.links.choice import Link
from crawler.extract.links.scripted import SCRIPTED
from crawler.extract.listing.announced import HANDLE_NAMES, MIN_HANDLES, handles_of
from crawler.extract.listing.further_pages import split_number
from crawler.extract.page.page import Page
from scrapy_seine.attrs_bases import Record
from scrapy_seine.urls import domain_of_tidy

#: Products of a host and hosts that are remembered, and products of one list that are followed.
_MAX_PRODUCTS, _MAX_HOSTS, _MAX_LISTED = 200, 200, 300


@attrs.define(eq=False, repr=False)
class _Host(Record):
    forms: dict[str, str] = attrs.Factory(dict)
    """By a product's last part: its address with `{}` for that part."""
    proven: str = ""
    """The form of the addresses of a list's products."""


@attrs.define(eq=False, repr=False)
class Handles(Record):
    """The forms of products' addresses, by host."""

    _hosts: Newest[_Host] = attrs.Factory(lambda: Newest(_Host, _MAX_HOSTS))

    def note(self, links: Iterable[Link]) -> None:
        """Remember a page's links to products."""
        for link in links:
            if link.kind != "product" or "?" in link.url or "{" in link.url:
                continue
            forms = self._hosts[domain_of_tidy(link.url)].forms
            folder, _, handle = link.url.rstrip("/").rpartition("/")
            if len(forms) < _MAX_PRODUCTS:
                forms[handle] = f"{folder}/{{}}{'/' * link.url.endswith('/')}"

    def links(self, page: Page, links: Sequence[Link]) -> list[Link]:
        """Return links to the products that only a script of a page names.

        Of a first page's names, one must be a known product's; other scripts name categories.
        """
        host = self._hosts.get(domain_of_tidy(page.url))
        if host is None or page.shows_product or not any(map(page.holds, HANDLE_NAMES)):
            return []
        handles = handles_of(page)
        if len(handles) < MIN_HANDLES:
            return []
        if sum(link.kind == "product" for link in links) >= MIN_HANDLES:
            forms = {host.forms[handle] for handle in handles if handle in host.forms}
            host.proven = forms.pop() if len(forms) == 1 else host.proven
            return []
        forms = {host.forms[handle] for handle in handles if handle in host.forms}
        current = split_number(page.url)
        form = host.proven if not forms and current is not None and current[1] > 1 else ""
        if len(forms) == 1:
            form = host.proven = forms.pop()
        return [
            Link(form.replace("{}", handle), "product", SCRIPTED)
            for handle in sorted(handles)[: _MAX_LISTED if form else 0]
        ]
