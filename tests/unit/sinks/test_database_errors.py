"""An address of PostgreSQL that cannot be read or reached gives one line, without credentials."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from scrapy.settings import BaseSettings

from crawler.demo.stored_rows import forget, stored_products
from crawler.stores.migrations import migrate, pending
from scrapy_seine.engine.starting.unusable_settings import blame
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


def test_a_pipeline_without_its_driver_is_a_setting_that_a_start_fails_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was a traceback of many lines, whose last one named no setting."""
    path = "scrapy_seine.sinks.postgres.pipeline"
    monkeypatch.setitem(sys.modules, "psycopg2", None)
    monkeypatch.delitem(sys.modules, path, raising=False)
    settings = BaseSettings({"ITEM_PIPELINES": {f"{path}.PostgresPipeline": 900}})
    line = blame(settings, ImportError())
    assert line is not None
    assert line.startswith(f"ITEM_PIPELINES names {path}.PostgresPipeline, which cannot be")
    assert line.endswith("it needs psycopg2: pip install scrapy-seine[postgres]")
