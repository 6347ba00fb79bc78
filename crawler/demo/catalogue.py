"""The demo shop's products, computed from a seed: the same seed gives the same products."""

from __future__ import annotations

import random
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal

import attrs

from scrapy_seine.attrs_bases import Value

Markup = Literal["json-ld", "microdata", "opengraph", "plain"]

#: The markup of product pages, by the last digit of the product's number.
MARKUPS: tuple[Markup, ...] = (
    "json-ld",
    "json-ld",
    "json-ld",
    "json-ld",
    "microdata",
    "microdata",
    "microdata",
    "opengraph",
    "plain",
    "plain",
)
CATEGORIES = (
    "Backpacks",
    "Bicycle Lights",
    "Binoculars",
    "Blenders",
    "Books",
    "Camping Stoves",
    "Coffee Makers",
    "Desk Lamps",
    "Fishing Reels",
    "Garden Tools",
    "Headphones",
    "Kettles",
    "Keyboards",
    "Kitchen Knives",
    "Running Shoes",
    "Sleeping Bags",
    "Speakers",
    "Tents",
    "Toasters",
    "Watches",
)
BRANDS = ("Altavia", "Bremøre", "Corvane", "Dunmark", "Estrella & Sons", "Fjordis", "Gauloire")
WORDS = ("Classic", "Ultra", "Compact", "Nomad", "Harbour", "Summit", "Café", "Drift", "Ember")
SUFFIXES = ("II", "XL", "Mini", "Pro", '12"', "Set of 3", "Twin & Go", "2027")
CURRENCIES = ("EUR", "USD", "GBP", "CHF", "EUR", "USD")
AVAILABILITIES = ("InStock",) * 7 + ("OutOfStock", "OutOfStock", "PreOrder")
MAKES = ("steel", "oak", "wool", "recycled nylon", "cork", "glass")

#: Of PRICED_EVERY products, one changes its price every day, two every five days, the others never.
#: Of STOCKED_EVERY products, one changes its stock every three days.
PRICED_EVERY, STOCKED_EVERY = 10, 15
#: One product of GONE_EVERY is removed on day 2, one of LATER_GONE_EVERY on each later day.
GONE_EVERY, LATER_GONE_EVERY = 25, 50
#: One product per NEW_EVERY is added on day 2, one per LATER_NEW_EVERY on each later day.
NEW_EVERY, LATER_NEW_EVERY = 20, 100

#: Every twentieth product is also reachable under a second URL (same sku, one canonical link).
TWIN_EVERY = 20


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ShopProduct(Value):
    """One product of the shop: the values that a correct crawl stores, and its page's markup."""

    number: int
    category: str
    markup: Markup
    name: str
    sku: str
    gtin: str
    mpn: str
    brand: str
    price: Decimal
    regular_price: Decimal | None
    currency: str
    availability: str
    description: str
    rating: float
    review_count: int
    material: str
    changed: int = 1
    """The day on which the page last changed."""

    @property
    def slug(self) -> str:
        """The name as a part of the URL."""
        return slug(self.name)

    @property
    def path(self) -> str:
        """The canonical path within the shop."""
        return f"/p/{self.number}/{self.slug}"

    @property
    def twin(self) -> str | None:
        """The second path, for products that have one."""
        return f"/p/{self.number}/offer-{self.slug}" if self.number % TWIN_EVERY == 0 else None

    @property
    def image(self) -> str:
        """The main image's path within the shop."""
        return f"/img/{self.number}.jpg"

    def expected(self) -> dict[str, Any]:
        """The fields that a crawl must store, with exactly these values.

        Only fields in the page's markup are listed: no rating for a page without one.
        """
        fields: dict[str, Any] = {
            "external_id": self.sku,
            "name": self.name,
            "sku": self.sku,
            "brand": self.brand,
            "price": self.price,
            "currency": self.currency,
            "availability": self.availability,
        }
        if self.markup != "opengraph":
            fields["gtin"] = self.gtin
        if self.markup in {"json-ld", "microdata"}:
            fields["mpn"] = self.mpn
            fields["rating"] = self.rating
            fields["review_count"] = self.review_count
        return fields


def slug(text: str) -> str:
    """Turn a name into a part of a URL.

    >>> slug('Café Lamp 12" & Go')
    'cafe-lamp-12-go'
    """
    plain = text.lower().replace("é", "e").replace("ø", "o")
    return "-".join("".join(c if c.isalnum() else " " for c in plain).split())


def gtin13(body: str) -> str:
    """Add the check digit to twelve digits.

    >>> gtin13("400638133393")
    '4006381333931'
    """
    total = sum(int(digit) * (3 if position % 2 else 1) for position, digit in enumerate(body))
    return body + str(-total % 10)


def _product(number: int, seed: int) -> ShopProduct:
    dice = random.Random(f"{seed}:{number}")
    category = CATEGORIES[dice.randrange(len(CATEGORIES))]
    brand = dice.choice(BRANDS)
    kind = category.removesuffix("s")
    name = f"{brand} {dice.choice(WORDS)} {kind} {dice.choice(SUFFIXES)}"
    price = Decimal(dice.choice((dice.randrange(299, 9999), dice.randrange(10000, 350000)))) / 100
    reduced = dice.randrange(5) == 0
    material = dice.choice(MAKES)
    return ShopProduct(
        number=number,
        category=category,
        markup=MARKUPS[number % len(MARKUPS)],
        name=name,
        sku=f"{slug(category)[:3].upper()}-{number:05d}",
        gtin=gtin13(f"40{number:010d}"),
        mpn=f"M{dice.randrange(1000, 9999)}-{number}",
        brand=brand,
        price=price,
        regular_price=(price * Decimal("1.25")).quantize(Decimal("0.01")) if reduced else None,
        currency=dice.choice(CURRENCIES),
        availability=dice.choice(AVAILABILITIES),
        description=f"{name}, made of {material}. Tested for years, repaired in our own workshop.",
        rating=dice.randrange(20, 51) / 10,
        review_count=dice.randrange(1, 900),
        material=material,
    )


@lru_cache(maxsize=4)
def catalogue(products: int = 1000, seed: int = 1, day: int = 1) -> tuple[ShopProduct, ...]:
    """Return the shop's products, numbered from 1.

    From *day* to day some products are removed, some are added, and some change their price or
    stock at the same URL; many never change.

    >>> catalogue(3)[0].sku == catalogue(5)[0].sku
    True
    >>> [p.number for p in catalogue(30, day=2)][-8:]
    [23, 24, 26, 27, 28, 29, 30, 31]
    """
    initial_products = tuple(_product(number, seed) for number in range(1, products + 1))
    if day == 1:
        return initial_products
    remaining = (
        _on_day(product, day) for product in initial_products if not _is_gone(product.number, day)
    )
    new_count = products // NEW_EVERY
    daily = products // LATER_NEW_EVERY
    new_numbers = range(products + 1, products + new_count + daily * (day - 2) + 1)
    first_days = {
        number: 2 + -(-max(0, number - products - new_count) // max(1, daily))
        for number in new_numbers
    }
    return *remaining, *(
        attrs.evolve(_product(n, seed), changed=since) for n, since in first_days.items()
    )


def _is_gone(number: int, day: int) -> bool:
    if number % GONE_EVERY == 0:
        return True
    return 3 <= number % LATER_GONE_EVERY <= day  # noqa: PLR2004  # one more a day from day 3


def _on_day(product: ShopProduct, day: int) -> ShopProduct:
    """Return the same product on a later day."""
    remainder = product.number % PRICED_EVERY
    price_changes = day - 1 if remainder == 1 else (day - 1) // 5 if remainder in {2, 3} else 0
    if price_changes:
        since = day if remainder == 1 else 5 * price_changes + 1
        factor = Decimal("0.9") if price_changes % 2 else Decimal("0.95")
        price = (product.price * factor).quantize(Decimal("0.01"))
        product = attrs.evolve(product, price=price, regular_price=product.price, changed=since)
    stock_changes = (day + 1) // 3 if product.number % STOCKED_EVERY == STOCKED_EVERY - 1 else 0
    if stock_changes:
        since = max(product.changed, 3 * stock_changes - 1)
        product = attrs.evolve(product, changed=since)
    if stock_changes % 2:
        stock = "InStock" if product.availability == "OutOfStock" else "OutOfStock"
        product = attrs.evolve(product, availability=stock)
    return product


def by_category(products: tuple[ShopProduct, ...]) -> dict[str, list[ShopProduct]]:
    """Group products by the slug of their category, in the order of CATEGORIES."""
    shelves: dict[str, list[ShopProduct]] = {slug(name): [] for name in CATEGORIES}
    for product in products:
        shelves[slug(product.category)].append(product)
    return {name: shelf for name, shelf in shelves.items() if shelf}
