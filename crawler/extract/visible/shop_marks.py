"""Read from a shop software's own marks that a product of its is not sent: a service, a ticket."""

from __future__ import annotations

import re

from crawler.extract.address_kinds import is_service
from crawler.extract.page.page import Page

#: The bytes of a page with such marks, which are looked for first.
MARKED = b"product-type-"
#: The classes of the box around the page's own product.
_CLASSES = re.compile(rb'\bid="product-\d{1,12}"\s+class="([^"]{1,4000})"').search
#: Kinds of products that are reserved for a day, and the start of a category's class.
_RESERVED = (b"product-type-booking", b"product-type-appointment", b"product-type-event")
_CATEGORY = b"product_cat-"
#: The name of a file or a code, which is not sent either.
_IS_FILE = re.compile(
    r"\b(?:pdf|e-?books?|epub|mp3|mp4|wav|flac|svg|psd|vst3?|download\w*|digital\w*|software"
    r"|plug-?in|licen[csz]\w*|lizenz\w*|лиценз\w*|(?:activation|product|game|steam|cd)[ -]?keys?)\b",
    re.I,
).search


def points_of_marks(page: Page, name: str) -> int:
    """Return the points of a service in the marks of the page's product.

    A product that is not sent has one, but no file and no voucher; with a category of services,
    or as a kind of products that are reserved, it has two.
    """
    match = _CLASSES(page.raw)
    if match is None:
        return 0
    classes = match[1].split()
    if not set(classes).isdisjoint(_RESERVED):
        return 2
    if b"virtual" not in classes or b"downloadable" in classes or b"gift" in match[1]:
        return 0
    if _IS_FILE(name):
        return 0
    slugs = [mark.removeprefix(_CATEGORY) for mark in classes if mark.startswith(_CATEGORY)]
    words = {word for slug in slugs for word in slug.decode("latin-1").split("-")}
    return 1 + any(is_service(f"/{word}/") for word in words)
