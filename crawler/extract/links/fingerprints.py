"""Numbers by which links and pages of listings are compared."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from crawler.extract.links.choice import Link


def listing_fingerprint(links: list[Link]) -> int | None:
    """Return a hash of a page's links without its pagination links; None if there are none.

    Two pages of one listing with the same hash show the same products.
    """
    urls = sorted(link.url for link in links if link.kind != "pagination")
    if not urls:
        return None
    digest = blake2b("\n".join(urls).encode("utf-8", "replace"), digest_size=7)
    return int.from_bytes(digest.digest(), "big")


def url_checksum(url: str) -> int:
    """Return the CRC-32 of a URL, by which links are compared."""
    return crc32(url.encode("utf-8", "replace"))
