"""DOWNLOAD_SLOTS and `meta["download_slot"]`: whether a request waits at its site or in a slot.

`meta["download_slot"]` is Scrapy's name for requests that share a pace and a concurrency
(https://docs.scrapy.org/en/latest/topics/settings.html#download-slots). Here the slot is the whole
fleet's: it has a queue of its own in the frontier, as a domain has.
"""

from __future__ import annotations

import re

from scrapy import Request

#: Scrapy's key.
SLOT = "download_slot"
#: Characters not allowed in a queue's name, and the longest name.
_NO_NAME = re.compile(r"[^\w.:-]")
_LONGEST = 200


class OwnSlot(str):
    """A slot that the downloader set: in a copy of a page's meta it is ignored."""

    __slots__ = ()


def waits_at(request: Request, domain: str) -> str:
    """Return the queue of a request whose URL is at *domain*.

    >>> waits_at(Request("http://a.example/", meta={"download_slot": "slow ones"}), "a.example")
    'slow_ones'
    >>> waits_at(Request("http://a.example/", meta={"download_slot": OwnSlot("b")}), "a.example")
    'a.example'
    """
    slot = request.meta.get(SLOT)
    if slot is None or type(slot) is OwnSlot:
        return domain
    name = _NO_NAME.sub("_", str(slot))[:_LONGEST]
    # Scrapy's own name of a URL's slot has no port.
    return domain if name in {"", domain.rpartition(":")[0]} else name
