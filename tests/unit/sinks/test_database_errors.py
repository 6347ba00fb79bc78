"""An address of PostgreSQL that cannot be read or reached gives one line, without credentials."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from crawler.demo.stored_rows import forget, stored_products
from crawler.stores.migrations import migrate, pending
from scrapy_seine.errors import StoreUnreachable
from scrapy_seine.sinks.postgres.database import connected, transaction

ADDRESSES = (
    "postgresql://me:hush@127.0.0.1:1/shop",
    "postgresql://me:hush@127.0.0.1:port/shop",
    "postgresql://me:hush@[::1/shop",
    "postgresql://me:hush@127.0.0.1/shop?connect_timeout=soon",
    "postgresql://me:hush@127.0.0.1/shop?nonsense=1",
    "postgresql://me:hu%zzsh@127.0.0.1/shop",
    "postgresql://me:hush@127.0.0.1/sh\0op",
    "nothing of the kind://me:hush@127.0.0.1",
)
USES: dict[str, Callable[[str], object]] = {
    "a connection": lambda url: connected(url).__enter__(),
    "a transaction": lambda url: transaction(url).__enter__(),
    "the migrations": migrate,
    "what they would apply": pending,
    "the demo's rows": lambda url: stored_products(url, "demo"),
    "the demo's end": lambda url: forget(url, "demo"),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("url", ADDRESSES)
def test_a_wrong_address_is_one_line_that_tells_no_password(use: str, url: str) -> None:
    with pytest.raises(StoreUnreachable) as raised:
        USES[use](url)
    text = str(raised.value)
    assert text.startswith("DATABASE_URL: ")
    assert "\n" not in text
    assert "hush" not in text
    assert "hu%" not in text
