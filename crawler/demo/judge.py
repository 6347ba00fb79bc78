"""Compare a crawl's rows with the shop's catalogue, field by field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from crawler.demo.catalogue import ShopProduct
from scrapy_seine.attrs_bases import Value


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Verdict(Value):
    """Differences between the expected products and the stored rows."""

    expected: int
    stored: int
    missing: Sequence[str]
    """SKUs of products without a row."""
    wrong: Sequence[str]
    """One sentence for each row that differs from the shop's product."""

    @property
    def passed(self) -> bool:
        """Whether exactly the shop's products are stored, each once and without a difference."""
        return not self.missing and not self.wrong and self.stored == self.expected

    def line(self, seconds: float) -> str:
        """Render the verdict in one line."""
        return (
            f"{self.expected} products expected, {self.stored} stored, "
            f"{len(self.missing)} missing, {len(self.wrong)} wrong, {seconds:.0f} s"
        )


def judge(products: Iterable[ShopProduct], rows: Sequence[Mapping[str, Any]]) -> Verdict:
    """Compare rows with the expected products."""
    row_by_sku = {row["external_id"]: row for row in rows}
    expected = {product.sku: product for product in products}
    wrong_rows = [f"{key}: not in the shop" for key in row_by_sku if key not in expected]
    for sku, product in expected.items():
        if sku in row_by_sku:
            differences = compare(product.expected(), row_by_sku[sku])
            wrong_rows += [f"{sku}: {', '.join(differences)}"] if differences else []
    missing_skus = [sku for sku in expected if sku not in row_by_sku]
    return Verdict(expected=len(expected), stored=len(rows), missing=missing_skus, wrong=wrong_rows)


def compare(expected: Mapping[str, Any], row: Mapping[str, Any]) -> list[str]:
    """List the fields in which a row differs from the expected values.

    >>> compare({"name": "Lamp", "price": 10}, {"name": "Lamp", "price": 12, "brand": "x"})
    ['price is 12, not 10']
    """
    differences = []
    for field, value in expected.items():
        stored_value = row.get(field)
        if isinstance(value, float) and stored_value is not None:
            stored_value = float(stored_value)
        if stored_value != value:
            differences.append(f"{field} is {stored_value}, not {value}")
    return differences
