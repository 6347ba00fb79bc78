"""The key of a product: its site, and the strongest identifier that its page gives."""

from __future__ import annotations

import hashlib
from urllib.parse import urlsplit

from crawler.cleaning.text import identifier, line
from crawler.items import Product

#: Characters of an identifier; a longer one is replaced by its hash.
_ID_LIMIT = 512


def identify(product: Product) -> None:
    """Fill a missing site id with the host, and a missing external id with the best identifier."""
    if not product.site_id:
        try:
            host = urlsplit(product.url).hostname or ""
        except ValueError:
            host = ""
        product.site_id = host.removeprefix("www.")
    if not product.external_id:
        product.external_id = product.sku or product.gtin or product.canonical_url or product.url
    product.external_id = identifier(product.external_id, _ID_LIMIT * 4)
    if product.external_id and len(product.external_id) > _ID_LIMIT:
        product.external_id = hashlib.blake2b(
            product.external_id.encode(), digest_size=16
        ).hexdigest()
    if type(product.site_id) is not str or not product.site_id.isascii():
        product.site_id = line(product.site_id)
