"""Days on which a shop changes its goods and not its template: nothing may be doubted on them.

A day gets the goods of the first crawl and returns those of the second one, with the shop whose
template shows them: most often the same shop.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from decimal import Decimal

import attrs

from tests.benchmarks.shops import BRITISH, SHOPS, Shop, Thing, Words, things

#: A thing with the shop that shows it.
Shown = tuple[Thing, Shop]
Day = Callable[[Sequence[Thing], Shop], list[Shown]]
#: Numbers of goods that are no number of the first crawl's.
_NEW_NUMBERS = 5_000
#: The prices of other products in the tiles of some shops.
_POINTS = tuple(Decimal(f"{7 * n}.00") for n in range(3, 7))


def _times(value: Decimal, factor: Decimal) -> Decimal:
    return (value * factor).quantize(Decimal("0.01"))


def _by(change: Callable[[Thing], Thing]) -> Day:
    return lambda goods, shop: [(change(thing), shop) for thing in goods]


def unchanged(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """The same goods at the same prices."""
    return [(thing, shop) for thing in goods]


def other_prices(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """Each price is another one, by between -40 and +60 percent."""
    rng = random.Random(9)
    return [
        (
            attrs.evolve(
                thing,
                price=_times(thing.price, Decimal(rng.randrange(60, 160)) / 100),
                regular=None,
            ),
            shop,
        )
        for thing in goods
    ]


def _sale(factor: str, spread: int = 1) -> Day:
    """Each price is lower, and the one of before stands struck through beside it."""

    def sold(thing: Thing) -> Thing:
        share = Decimal(factor) - Decimal(thing.number % spread) / 100
        return attrs.evolve(thing, price=_times(thing.price, share), regular=thing.price)

    return _by(sold)


def _quiet_sale(factor: str) -> Day:
    """Each price is lower, and no page shows the one of before."""
    return _by(
        lambda thing: attrs.evolve(thing, price=_times(thing.price, Decimal(factor)), regular=None)
    )


def _rise(factor: str) -> Day:
    """All prices rise by one rate, the prices before a reduction alike."""

    def risen(thing: Thing) -> Thing:
        regular = thing.regular and _times(thing.regular, Decimal(factor))
        return attrs.evolve(thing, price=_times(thing.price, Decimal(factor)), regular=regular)

    return _by(risen)


def rise_by_product(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """Each price rises by 3 to 9 percent."""
    return [
        (
            attrs.evolve(
                thing,
                price=_times(thing.price, 1 + Decimal(3 + thing.number * 5 % 7) / 100),
                regular=None,
            ),
            shop,
        )
        for thing in goods
    ]


def sale_is_over(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """Each reduced price is the regular one again."""
    return [
        (attrs.evolve(thing, price=thing.regular or thing.price, regular=None), shop)
        for thing in goods
    ]


def restocked(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """All that was sold out is in stock again."""
    return [(attrs.evolve(thing, in_stock=True), shop) for thing in goods]


def other_price_points(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """A shop of four prices, which its tiles of other products show as well, changes each."""
    return [(attrs.evolve(t, price=_POINTS[(t.number + 1) % len(_POINTS)]), shop) for t in goods]


def reopened(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """A shop that was closed, with everything sold out, has everything in stock again."""
    return restocked(goods, shop)


def clearance(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """Half of the goods are sold out since, and all others reduced."""
    return [
        (attrs.evolve(t, in_stock=False), shop)
        if t.number % 2
        else (attrs.evolve(t, price=_times(t.price, Decimal("0.6")), regular=t.price), shop)
        for t in goods
    ]


def sorted_by_stock(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """What is sold out comes last."""
    return [(thing, shop) for thing in sorted(goods, key=lambda thing: not thing.in_stock)]


def sorted_and_restocked(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """An eighth of what was sold out is in stock again, and what is sold out comes last."""
    back = [attrs.evolve(t, in_stock=t.in_stock or t.number % 8 == 0) for t in goods]
    return sorted_by_stock(back, shop)


def sorted_and_sold(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """A tenth of the goods was sold since, and what is sold out comes last."""
    left = [attrs.evolve(t, in_stock=t.in_stock and t.number % 10 != 0) for t in goods]
    return sorted_by_stock(left, shop)


def new_goods(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """Other goods than those of the day before."""
    return [
        (attrs.evolve(thing, number=_NEW_NUMBERS + thing.number, name=f"{thing.name} II"), shop)
        for thing in things(len(goods), 11)
    ]


def _bare_sale(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """A shop's first sale: nothing marks the price of before, which stands before the price."""

    def product(t: Thing, w: Words) -> str:
        shown = f"<span>{w.money(t.price)}</span>"
        both = f"<span>{w.money(t.regular)}</span> {shown}" if t.regular else shown
        return shop.product(attrs.evolve(t, regular=None), w).replace(w.money(t.price), both, 1)

    sale = attrs.evolve(shop, product=product)
    return [
        (attrs.evolve(t, price=_times(t.price, Decimal("0.8")), regular=t.price), sale)
        for t in goods
    ]


def second_template(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """A category of new goods has a template of its own."""
    other = _other_template(shop)
    return [
        *unchanged(goods, shop),
        *((t, other) for t, _ in new_goods(goods[: len(goods) // 3], shop)),
    ]


def redesigned_category(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """A quarter of the goods, one category, gets another template, with all values of before."""
    other = _other_template(shop)
    return [(thing, other if thing.number % 4 == 0 else shop) for thing in goods]


def second_currency(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """A copy of the shop for another country, under a path of its own, with keys of its own."""
    words: Words = attrs.evolve(
        shop.words, currency=BRITISH.currency, money=lambda value: f"£{value:,.2f}"
    )  # fmt: skip
    copy = attrs.evolve(shop, words=words, path=f"/en-gb{shop.path}")
    abroad = [
        (
            attrs.evolve(t, number=_NEW_NUMBERS + t.number, price=_times(t.price, Decimal("0.79"))),
            copy,
        )
        for t in goods
    ]
    return [pair for both in zip(unchanged(goods, shop), abroad, strict=True) for pair in both]


def two_layouts(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """A test of two layouts: a visitor gets one or the other, with the same values."""
    rng, other = random.Random(3), _other_template(shop)
    return [(thing, rng.choice((shop, other))) for thing in goods]


def _other_template(shop: Shop) -> Shop:
    return attrs.evolve(
        shop, product=next(s for s in SHOPS if s.product is not shop.product).product
    )


def brand_restocked(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """A delivery: all of one brand is in stock again."""
    return [
        (attrs.evolve(t, in_stock=t.in_stock or t.brand == goods[0].brand), shop) for t in goods
    ]


def brands_restocked_by_category(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """A delivery of one brand, and a listing that has one brand after the other."""
    by_brand = sorted(goods, key=lambda thing: thing.brand)
    return brand_restocked([by_brand[-1], *by_brand[:-1]], shop)


def brand_sold(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """All of one brand is sold out."""
    return [
        (attrs.evolve(t, in_stock=t.in_stock and t.brand != goods[0].brand), shop) for t in goods
    ]


def half_restocked(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """Half of what was sold out is in stock again, and a tenth of the goods is sold out since."""
    return [
        (attrs.evolve(t, in_stock=t.number % 10 != 3 if t.in_stock else t.number % 2 == 0), shop)
        for t in goods
    ]


def flash_sale(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """Ten goods in a row at half their price, marked."""
    return [
        (attrs.evolve(t, price=_times(t.price, Decimal("0.5")), regular=t.price), shop)
        if 40 <= t.number < 50
        else (t, shop)
        for t in goods
    ]


def one_price_corner(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """Eight goods in a row for the same price, marked as reduced."""
    one = Decimal("4.50")
    return [
        (attrs.evolve(t, price=one, regular=t.price), shop) if 70 <= t.number < 78 else (t, shop)
        for t in goods
    ]


def other_endings(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """Each price ends in .99 since."""
    return [
        (attrs.evolve(t, price=int(t.price) + Decimal("0.99"), regular=None), shop) for t in goods
    ]


def daily_prices(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """Each price moves by up to two percent."""
    rng = random.Random(4)
    return [
        (
            attrs.evolve(t, price=_times(t.price, 1 + Decimal(rng.randint(-200, 200)) / 10_000)),
            shop,
        )
        for t in goods
    ]


def renamed_goods(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """A tenth of the goods is this year's model, with another name and number."""
    return [
        (attrs.evolve(t, name=f"{t.name} (new model)", sku=f"{t.sku}-27"), shop)
        if t.number % 10 == 4
        else (t, shop)
        for t in goods
    ]


def other_order(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """The listing has another order, the dearest first."""
    return [(thing, shop) for thing in sorted(goods, key=lambda thing: -thing.price)]


def new_among_old(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
    """Every second one is new, and cheap."""
    fresh = [
        (attrs.evolve(t, price=_times(t.price, Decimal("0.2")), regular=None), shop)
        for t, _ in new_goods(goods, shop)
    ]
    return [pair for both in zip(unchanged(goods, shop), fresh, strict=True) for pair in both]


def _with(line: Callable[[Thing, Words], str], *, first: bool = False) -> Day:
    """The template gets a harmless line below the product, or above it."""

    def day(goods: Sequence[Thing], shop: Shop) -> list[Shown]:
        def product(t: Thing, w: Words) -> str:
            body = shop.product(t, w)
            return line(t, w) + body if first else body + line(t, w)

        other = attrs.evolve(shop, product=product)
        return [(thing, other) for thing in goods]

    return day


def _instalment_line(t: Thing, w: Words) -> str:
    return f"<p class='rate'>or 12 x {w.money(_times(t.price, 1 / Decimal(12)))} a month</p>"


def _unit_line(t: Thing, w: Words) -> str:
    return f"<p><small>({w.money(_times(t.price, Decimal('2.5')))} / kg)</small></p>"


def _banner(t: Thing, w: Words) -> str:
    return f"<div class='promo'><p>Save {w.money(Decimal('20.00'))} on your first order</p></div>"


def _delivery_line(t: Thing, w: Words) -> str:
    return f"<p>+ {w.money(Decimal('4.95'))} delivery</p>"


def _points_line(t: Thing, w: Words) -> str:
    return f"<p>Earn {int(t.price)} points with this product</p>"


def _lately_seen(t: Thing, w: Words) -> str:
    """The product that the visitor saw before this one."""
    price = w.money(Decimal(900 + 7_919 * t.number % 50_000) / 100)
    return f"<aside><h3>Last seen</h3><a href='/p/l{t.number}'>Thing</a><i>{price}</i></aside>"


#: What the goods are on the day before, where they are no usual ones.
BEFORE: dict[Day, Callable[[Thing], Thing]] = {
    reopened: lambda thing: attrs.evolve(thing, in_stock=False),
    _bare_sale: lambda thing: attrs.evolve(thing, regular=None),
    other_price_points: lambda thing: attrs.evolve(
        thing, price=_POINTS[thing.number % len(_POINTS)], regular=None
    ),
}

#: Days that no page distinguishes from a template that lost the stock state.
UNDECIDABLE = frozenset({"restocked"})

#: Each day with its name, and the shops on which it is tried (`+`: with structured data).
DAYS: tuple[tuple[str, Day, str], ...] = (
    ("unchanged", unchanged, "woo+ wood dawn+ luma lumas+ presta cart+ kosik ware+ table"),
    ("other_prices", other_prices, "woo+ luma presta plain"),
    ("sale", _sale("0.7"), "woo luma+ presta ware plain table"),
    ("sale_by_tax", _sale("0.84"), "woo dawn luma presta+"),
    ("deep_sale", _sale("0.25"), "woo dawn luma presta+"),
    ("sale_of_many_rates", _sale("0.9", 50), "woo+ dawn luma presta plain"),
    ("quiet_sale", _quiet_sale("0.8"), "woo luma+ presta"),
    ("rise_3", _rise("1.03"), "woo luma+ presta"),
    ("rise_5", _rise("1.05"), "woo luma+ presta"),
    ("rise_7", _rise("1.07"), "woo luma+ plain"),
    ("rise_9", _rise("1.09"), "woo luma+ presta"),
    ("rise_by_product", rise_by_product, "woo luma+ presta plain"),
    ("sale_is_over", sale_is_over, "woo luma+ presta plain"),
    ("restocked", restocked, "woo luma presta+"),
    ("reopened", reopened, "woo luma presta+"),
    ("other_price_points", other_price_points, "woo luma presta+"),
    ("bare_sale", _bare_sale, "woo luma plain"),
    ("clearance", clearance, "woo luma+ presta"),
    ("sorted_by_stock", sorted_by_stock, "woo luma+ presta"),
    ("sorted_and_restocked", sorted_and_restocked, "woo luma+ presta"),
    ("sorted_and_sold", sorted_and_sold, "woo luma+ presta"),
    ("new_goods", new_goods, "woo luma+ presta plain"),
    ("second_template", second_template, "woo luma+ presta"),
    ("redesigned_category", redesigned_category, "woo luma+ presta"),
    ("second_currency", second_currency, "woo luma+ presta"),
    ("two_layouts", two_layouts, "woo luma+ presta"),
    ("brand_restocked", brand_restocked, "woo luma+ presta"),
    ("brands_restocked_by_category", brands_restocked_by_category, "woo luma+ presta"),
    ("brand_sold", brand_sold, "woo luma+ presta"),
    ("half_restocked", half_restocked, "woo luma+ presta"),
    ("flash_sale", flash_sale, "woo luma+ presta plain"),
    ("one_price_corner", one_price_corner, "woo luma+ presta plain"),
    ("other_endings", other_endings, "woo luma+ presta plain"),
    ("daily_prices", daily_prices, "woo luma+ presta"),
    ("renamed_goods", renamed_goods, "woo luma+ presta"),
    ("other_order", other_order, "woo luma+ presta"),
    ("new_among_old", new_among_old, "woo luma+ presta plain"),
    ("instalment_line", _with(_instalment_line), "woo luma+ presta plain"),
    ("unit_line", _with(_unit_line), "woo luma+ presta plain"),
    ("banner", _with(_banner, first=True), "woo luma+ presta plain"),
    ("delivery_line", _with(_delivery_line), "woo luma+ presta plain"),
    ("points_line", _with(_points_line), "woo luma+ presta plain"),
    ("lately_seen", _with(_lately_seen), "woo luma+ presta plain"),
    ("lately_seen_above", _with(_lately_seen, first=True), "woo luma+ presta plain"),
)  # fmt: skip
#: Days that were tried before the others were thought of.
FIRST_DAYS = 25
