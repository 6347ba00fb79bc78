"""The pipelines together cost the reactor thread at most 0.3 ms a page of the usual machine."""

from __future__ import annotations

import time
from typing import Any

import pytest

from crawler.items import Product
from tests.integration.storage.kit import rows_of
from tests.integration.storage.test_pipelines import SHOP, line
from tests.measuring import slowness

pytestmark = pytest.mark.postgres
PAGES = 2_000


def page(number: int) -> Product:
    return Product(
        url=f"{SHOP}{number}",
        name=f"Lämp &amp; shade number {number}",
        sku=f"sku-{number}",
        gtin="4006381333931" if number == 0 else None,
        brand="Acme",
        price=f"1.{number % 1000:03d},70 €",
        currency="EUR",
        availability="https://schema.org/InStock",
        description="A lamp of brushed steel with a warm light, made to last. " * 10,
        images=[f"/i/{number}-{n}.jpg" for n in range(3)],
        breadcrumbs=["Home", "Light", "Lamps"],
        rating="4.5",
        review_count="1,234",
        attributes={"Colour": "red", "Size": "XL"},
        sources={"name": "json-ld", "price": "json-ld"},
    )


@pytest.mark.alone
async def test_all_pipelines_together_cost_less_than_the_budget(database: str) -> None:
    pages = [page(number) for number in range(PAGES)]
    best: list[float] = []
    async with line(database) as made:
        for start in range(0, PAGES, 200):
            began = time.thread_time()
            for product in pages[start : start + 200]:
                with made.page(product.url):
                    made.send(product)
            best.append((time.thread_time() - began) / 200)
    print(f"{min(best) * 1e6:.0f} µs a page at best, {sorted(best)[5] * 1e6:.0f} µs mostly")
    assert rows_of(database, "SELECT count(*) FROM products") == [(PAGES,)]
    assert min(best) < 0.3e-3 * slowness()


def test_nothing_here_is_a_coroutine() -> None:
    """A task for each item cost 2 ms a page."""
    import inspect

    from pipelines import clean, dedupe, upsert, validate

    kinds: list[Any] = [clean.Clean, validate.Validate, dedupe.Dedupe, upsert.Upsert]
    assert not [kind for kind in kinds if inspect.iscoroutinefunction(kind.process_item)]
