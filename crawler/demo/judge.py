"""Compares what a crawl stored with the shop's catalogue, product by product, field by field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from crawler.demo.catalogue import ShopProduct
from scrapy_seine.records import Value


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Verdict(Value):
    """What was asked for, and what was found."""

    expected: int
    stored: int
    missing: Sequence[str]
    """SKUs of products of which there is no row."""
    wrong: Sequence[str]
    """One sentence for each product that is stored otherwise than the shop has it."""

    @property
    def passed(self) -> bool:
        """Whether every product is there once, as the shop has it, and nothing else."""
        return not self.missing and not self.wrong and self.stored == self.expected

    def line(self, seconds: float) -> str:
        """Say it in one line."""
        return (
            f"{self.expected} products expected, {self.stored} stored, "
            f"{len(self.missing)} missing, {len(self.wrong)} wrong, {seconds:.0f} s"
        )


def judge(products: Iterable[ShopProduct], rows: Sequence[Mapping[str, Any]]) -> Verdict:
    """Compare rows with the products that they should be."""
    stored = {row["external_id"]: row for row in rows}
    wanted = {product.sku: product for product in products}
    wrong = [f"{key}: not in the shop" for key in stored if key not in wanted]
    for sku, product in wanted.items():
        if sku in stored:
            differences = compare(product.expected(), stored[sku])
            wrong += [f"{sku}: {', '.join(differences)}"] if differences else []
    missing = [sku for sku in wanted if sku not in stored]
    return Verdict(expected=len(wanted), stored=len(rows), missing=missing, wrong=wrong)


def compare(expected: Mapping[str, Any], row: Mapping[str, Any]) -> list[str]:
    """Name the fields in which a row is not what is expected.

    >>> compare({"name": "Lamp", "price": 10}, {"name": "Lamp", "price": 12, "brand": "x"})
    ['price is 12, not 10']
    """
    differences = []
    for field, value in expected.items():
        found = row.get(field)
        if isinstance(value, float) and found is not None:
            found = float(found)
        if found != value:
            differences.append(f"{field} is {found}, not {value}")
    return differences
