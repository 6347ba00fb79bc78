"""Pages without a price that are products' all the same, by what their site's products have in common."""

from __future__ import annotations

from crawler.extract.default_parser import Found
from crawler.extract.links.pagination import has_page_number
from crawler.extract.template.all_sites import Book

_NUMBERS = frozenset({"sku", "gtin", "mpn"})


def know_unpriced(book: Book, site_id: str, found: Found) -> None:
    """Take a page without a price for a product's, where its site's products look like it.

    Either it says that it cannot be had and is of their make, or only products have such addresses,
    and it shows a thing's number or picture: a page that says "not found" has an address and a name too.
    """
    verdict = found.verdict
    if found.kind == "product" or verdict.product <= 0 or not found.shows_one_thing:
        return
    if has_page_number(found.page.url):
        return  # of a listing: its only tile may be of a thing that is sold out
    is_unavailable = found.kind == "other" and found.not_to_be_had is not None
    if is_unavailable and book.is_product_page(site_id, found.page):
        reason = "it cannot be had, and the site's products look like it"
    elif book.addresses.is_product_address(site_id, found.page.url) and _shows_own_product(found):
        reason = "its address is like those of the site's products"
    else:
        return
    verdict.add("product", 5, reason)
    found.complete()


def _shows_own_product(result: Found) -> bool:
    """Whether a page has a number or picture of its own; OpenGraph's picture may be the shop's sign."""
    return any(
        not _NUMBERS.isdisjoint(fields) or (source != "opengraph" and bool(fields.get("images")))
        for source, fields in result.offered.items()
    )
