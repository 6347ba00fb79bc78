"""Recognise product pages without a price, or without anything, by their likeness to other products."""

from __future__ import annotations

from itertools import islice

from crawler.extract.default_parser import Found
from crawler.extract.fields import Fields
from crawler.extract.links.pagination import has_page_number
from crawler.extract.page.link_targets import link_around
from crawler.extract.page.page import Element, Page, is_root, short_text
from crawler.extract.template.addresses import shape_of
from crawler.extract.template.all_sites import Book

#: Images of a page, and boxes around an image, that are searched.
_MAX_IMAGES, _MAX_AROUND = 500, 3
_ROWS, _HEADINGS = frozenset({"tr", "li"}), ("h1", "h2")
_NUMBERS = frozenset({"sku", "gtin", "mpn"})


def know_unpriced(book: Book, site_id: str, found: Found) -> bool:
    """Mark a page without a price as a product if it is like its site's other products.

    Either it says that it is unavailable and has their make, or it has a product's URL shape and a
    product number or picture, because an error page has such an address and a heading too.

    Returns whether the page has a product's address and shows none, as an error with status 200.
    """
    verdict = found.verdict
    if found.kind == "product" or has_page_number(found.page.url):
        return False  # a listing's page, whose only tile may be a sold-out product
    is_one_thing = verdict.product > 0 and found.shows_one_thing
    is_unavailable = is_one_thing and found.kind == "other" and found.not_to_be_had is not None
    if is_unavailable and (
        book.is_product_page(site_id, found.page)
        or (book.addresses.may_be_sold(site_id, found.page.url) and _shows_own_product(found))
    ):
        reason = "it cannot be had, and the site's products look like it"
    elif not (is_one_thing or found.kind == "other") or not book.addresses.is_product_address(
        site_id, found.page.url
    ):
        return False
    elif is_one_thing and _shows_own_product(found):
        reason = "its address is like those of the site's products"
    else:
        return found.kind == "other"
    verdict.add("product", 5, reason)
    found.complete()
    return False


def shown_by(found: Found, is_redirected: bool) -> str:
    """Return what a page without a product shows: title and heading; "": it cannot be compared.

    A listing has an address of its own, unless the shop led a product's to its front page.
    """
    page = found.page
    if found.unread or (found.kind != "other" and not (is_redirected and is_root(page.url))):
        return ""
    return "\n".join([page.title, *(short_text(heading) for heading in islice(page.headings, 1))])


def _shows_own_product(result: Found) -> bool:
    """Whether a page has a product number or picture; OpenGraph's picture may be the shop's logo."""
    return any(
        not _NUMBERS.isdisjoint(fields)
        or (source != "opengraph" and _has_own_picture(result.page, fields))
        for source, fields in result.offered.items()
    )


def _has_own_picture(page: Page, fields: Fields) -> bool:
    """Whether a product's first picture leads to no other page of the same address shape.

    Below "Sorry, this page has moved on" stand tiles of other products, and the last page of a
    listing has a single row, whose picture stands beside the link.
    """
    picture = next(iter(fields.get("images") or ()), None)
    images = islice(page.root.iter("img"), _MAX_IMAGES)
    image = next((i for i in images if picture in {i.get("src"), i.get("data-src")}), None)
    link = None if image is None else _link_of(image)
    target = page.url if link is None else page.resolve(link.get("href") or "") or page.url
    return picture is not None and (target == page.url or not _are_alike(target, page.url))


def _are_alike(url: str, other_url: str) -> bool:
    """Whether two addresses have one shape, or one behind their folders: a visit's number is one."""
    if shape_of(url) == shape_of(other_url):
        return True
    shapes = [shape_of(f"/{address.rpartition('/')[2]}") for address in (url, other_url)]
    return shapes[0] is not None and shapes[0] == shapes[1]


def _link_of(image: Element) -> Element | None:
    """Return the link around a picture, or the first in its row, if no heading stands there."""
    link = link_around(image, _MAX_AROUND)
    if link is not None:
        return link
    around = islice(image.iterancestors(), _MAX_AROUND)
    row = next((box for box in around if box.tag in _ROWS), None)
    if row is None or next(row.iter(*_HEADINGS), None) is not None:
        return None
    return next(row.iter("a"), None)
