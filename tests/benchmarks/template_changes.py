"""Changes of a shop's template: what its pages are after the change.

A change gets a page as the shop's template of before writes it, and returns it as the changed
template does. Where a shop changes its goods on the same day, `TODAY` has what they are since.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from hashlib import blake2b

import attrs

from tests.benchmarks.shops import Shop, Thing

Change = Callable[[str, Thing, Shop], str]


def _money(shop: Shop, value: Decimal) -> str:
    return shop.words.money(value)


def renamed(html: str, thing: Thing, shop: Shop) -> str:
    return re.sub(r'class="([^"]*)"', r'class="x-\1-v2"', html)


def instalment(html: str, thing: Thing, shop: Shop) -> str:
    month = (thing.price / 12).quantize(Decimal("0.01"))
    return html.replace(_money(shop, thing.price), _money(shop, month))


def no_currency(html: str, thing: Thing, shop: Shop) -> str:
    bare = re.sub(r"[^\d.,]", "", _money(shop, thing.price))
    return html.replace(_money(shop, thing.price), bare)


def other_currency(html: str, thing: Thing, shop: Shop) -> str:
    return html.replace("$", "€") if "$" in html else html.replace("€", "£").replace("kr", "£")


def list_price(html: str, thing: Thing, shop: Shop) -> str:
    return html.replace(
        _money(shop, thing.price), _money(shop, (thing.price * 6).quantize(Decimal("0.01")))
    )


def moved(html: str, thing: Thing, shop: Shop) -> str:
    shown = _money(shop, thing.price)
    bare = html.replace(shown, "", 1)
    return bare.replace("</body>", f'<div class="bottom-bar"><i>{shown}</i></div></body>')


def stale(html: str, thing: Thing, shop: Shop) -> str:
    """The prices change; structured data keeps the ones before."""
    raised = (thing.price * Decimal("1.1")).quantize(Decimal("0.01"))
    return html.replace(_money(shop, thing.price), _money(shop, raised))


def in_hundreds(html: str, thing: Thing, shop: Shop) -> str:
    return html.replace(_money(shop, thing.price), _money(shop, thing.price * 100))


def one_price(html: str, thing: Thing, shop: Shop) -> str:
    return html.replace(_money(shop, thing.price), _money(shop, Decimal("9.99"))).replace(
        f'"price": "{thing.price}"', '"price": "9.99"'
    )


def one_name(html: str, thing: Thing, shop: Shop) -> str:
    return html.replace(thing.name, "Our best offers")


def no_price(html: str, thing: Thing, shop: Shop) -> str:
    return html.replace(_money(shop, thing.price), "").replace(f'"price": "{thing.price}", ', "")


def no_stock(html: str, thing: Thing, shop: Shop) -> str:
    bare = html.replace(shop.words.yes, "").replace(shop.words.no, "")
    return bare.replace(shop.words.cart, "Go").replace("schema.org/InStock", "").replace(
        "schema.org/OutOfStock", ""
    )  # fmt: skip


def no_number(html: str, thing: Thing, shop: Shop) -> str:
    return html.replace(thing.sku, "").replace('"sku": "", ', "")


def sold_out(html: str, thing: Thing, shop: Shop) -> str:
    bare = html.replace(shop.words.yes, shop.words.no).replace(
        "schema.org/InStock", "schema.org/SoldOut"
    )
    return bare.replace('<button type="submit"', '<button disabled type="submit"')


def in_stock(html: str, thing: Thing, shop: Shop) -> str:
    bare = html.replace(shop.words.no, shop.words.yes).replace("/OutOfStock", "/InStock")
    return bare.replace(" disabled>", ">").replace("out-of-stock", "in-stock")


def cut_cents(html: str, thing: Thing, shop: Shop) -> str:
    """The cents are gone: 12 where it was 12.99, in structured data as well."""
    whole = Decimal(int(thing.price))
    return html.replace(_money(shop, thing.price), _money(shop, whole)).replace(
        f'"price": "{thing.price}"', f'"price": "{whole}"'
    )


def instalment_first(html: str, thing: Thing, shop: Shop) -> str:
    """An instalment where the price was; the price in a row of its own below."""
    row = f'<div class="sum"><p>Total</p><p>{_money(shop, thing.price)}</p></div>'
    return instalment(html, thing, shop).replace("<footer", f"{row}<footer")


def swapped(html: str, thing: Thing, shop: Shop) -> str:
    """Price and price before a reduction change their places."""
    if thing.regular is None:
        return html
    now, before = _money(shop, thing.price), _money(shop, thing.regular)
    return html.replace(now, "\0").replace(before, now).replace("\0", before)


def hashed(html: str, thing: Thing, shop: Shop) -> str:
    """Each class gets a name without meaning, as build tools give them."""

    def letters(word: str) -> str:
        return "".join(
            chr(97 + byte % 26) for byte in blake2b(word.encode(), digest_size=5).digest()
        )

    def hashed(match: re.Match[str]) -> str:
        return f'class="{" ".join(letters(word) for word in match[1].split())}"'

    return re.sub(r"""class=["']([^"']*)["']""", hashed, html)


def half(html: str, thing: Thing, shop: Shop) -> str:
    """Every second page has a new template: other classes, other boxes around the heading."""
    if thing.number % 2:
        return html
    other = hashed(html, thing, shop)
    return re.sub(r"(<h[12][ >])", r'<article class="intro"><section>\1', other, count=1)


def title_only(html: str, thing: Thing, shop: Shop) -> str:
    """The heading greets on all pages; the name stands in a box below, and in the title."""
    head, mark, body = html.partition("</head>")
    heading = r"<(h[12])([^>]*>)(?:<span[^>]*>)?" + re.escape(thing.name) + r"(?:</span>)?</h"
    other = rf'<\1\2Welcome to our shop</\1><div class="pname">{thing.name}</div><x-h'
    return head + mark + re.sub(heading, other, body, count=1)


def unlabelled(html: str, thing: Thing, shop: Shop) -> str:
    return html.replace(shop.words.sku + ":", "").replace(shop.words.sku, "").replace(
        'class="sku"', 'class="n"'
    )  # fmt: skip


def in_cents(html: str, thing: Thing, shop: Shop) -> str:
    """Structured data tells cents."""
    return html.replace(f'"price": "{thing.price}"', f'"price": "{int(thing.price * 100)}"')


def unstructured(html: str, thing: Thing, shop: Shop) -> str:
    return re.sub(r'<script type="application/ld\+json">.*?</script>', "", html)


def _beside(html: str, shown: str, other: str) -> str:
    """Put another amount before the price, in an element like the price's."""
    element = re.compile(rf"<(\w+)([^<>]*)>({re.escape(shown)})</\1>")
    return element.sub(rf"<\1\2>{other}</\1> <\1\2>\3</\1>", html, count=1)


def _first(html: str, thing: Thing, shop: Shop, amount: Decimal) -> str:
    shown = _money(shop, thing.price)
    return _beside(html, shown, _money(shop, amount.quantize(Decimal("0.01"))))


def net_first(html: str, thing: Thing, shop: Shop) -> str:
    """The price without tax before the price, in a box of the same kind, both without a word."""
    return _first(html, thing, shop, thing.price / Decimal("1.19"))


def net_only(html: str, thing: Thing, shop: Shop) -> str:
    net = (thing.price / Decimal("1.19")).quantize(Decimal("0.01"))
    return html.replace(_money(shop, thing.price), _money(shop, net))


def club_first(html: str, thing: Thing, shop: Shop) -> str:
    """A price for members, 10 % less, before the price that everybody pays."""
    return _first(html, thing, shop, thing.price * Decimal("0.9"))


def per_piece_first(html: str, thing: Thing, shop: Shop) -> str:
    """The price of a piece or a kilogram before the price of the package."""
    return _first(html, thing, shop, thing.price / (2 + thing.number % 5))


def set_first(html: str, thing: Thing, shop: Shop) -> str:
    """The price of a set of two before the price."""
    return _first(html, thing, shop, thing.price * 2)


def bundle_first(html: str, thing: Thing, shop: Shop) -> str:
    """Another product that goes with this one, between the heading and the price."""
    other = Decimal(1_000 + 7_919 * thing.number % 60_000) / 100
    box = f'<div class="extra"><p>Goes well with it</p><p>{_money(shop, other)}</p></div>'
    return re.sub(r"(</h[12]>)", rf"\1{box}", html, count=1)


def exchanged(html: str, thing: Thing, shop: Shop) -> str:
    """Prices by an exchange rate, with the sign of before."""
    other = (thing.price * Decimal("1.0837")).quantize(Decimal("0.01"))
    return html.replace(_money(shop, thing.price), _money(shop, other))


def with_delivery(html: str, thing: Thing, shop: Shop) -> str:
    return html.replace(
        _money(shop, thing.price), _money(shop, thing.price + Decimal("4.95"))
    )  # fmt: skip


def lowest_first(html: str, thing: Thing, shop: Shop) -> str:
    """The lowest price of the last 30 days, which shops of the EU must show, before the price."""
    low = _money(shop, (thing.price * Decimal("0.93")).quantize(Decimal("0.01")))
    box = f"<div><small>Lowest price of the last 30 days: {low}</small></div>"
    return re.sub(r"(</h[12]>)", rf"\1{box}", html, count=1)


def among_facts(html: str, thing: Thing, shop: Shop) -> str:
    """The price moves into a list, behind no, one or two other lines."""
    shown = _money(shop, thing.price)
    facts = "".join(f"<li>Fact {n}</li>" for n in range(thing.number % 3))
    moved_to = f'<ul class="facts">{facts}<li>{shown}</li></ul><footer'
    return html.replace(shown, "", 1).replace("<footer", moved_to)


def _repriced(thing: Thing) -> Thing:
    """Every third price is another one today."""
    if thing.number % 3:
        return thing
    factor = Decimal(80 + thing.number * 7 % 50) / 100
    price = (thing.price * factor).quantize(Decimal("0.01"))
    return attrs.evolve(thing, price=price, regular=None)


def moved_with_new_prices(html: str, thing: Thing, shop: Shop) -> str:
    """An instalment where the price was, on a day on which a third of the prices changes."""
    today = _repriced(thing)
    return instalment_first(shop.page(today, structured=False), today, shop)


def half_instalment(html: str, thing: Thing, shop: Shop) -> str:
    """Every second page shows an instalment before the price."""
    return html if thing.number % 2 else instalment_first(html, thing, shop)


def reworded_stock(html: str, thing: Thing, shop: Shop) -> str:
    """Words of stock that no list has, and a button that is always there."""
    bare = html.replace(shop.words.no, "Gone fishing").replace(shop.words.yes, "Up for grabs")
    return bare.replace(" disabled>", ">").replace("out-of-stock", "s").replace("in-stock", "s")


def one_product_in_data(html: str, thing: Thing, shop: Shop) -> str:
    """Structured data of a cached page: the same product on all pages."""
    node = re.search(r'<script type="application/ld\+json">.*?</script>', html)
    for value, other in ((thing.sku, "A11-0001"), (str(thing.price), "19.95")):
        html = html if node is None else html.replace(node[0], node[0].replace(value, other))
        node = re.search(r'<script type="application/ld\+json">.*?</script>', html)
    return html


def prefixed(html: str, thing: Thing, shop: Shop) -> str:
    return html.replace(thing.name, f"TopShop: {thing.name} (new)")


def internal_number(html: str, thing: Thing, shop: Shop) -> str:
    return html.replace(thing.sku, str(900_000 + thing.number))


def maker_above(html: str, thing: Thing, shop: Shop) -> str:
    """The heading is the maker's name, and the product's name stands below it."""
    heading = r"<(h[12])([^>]*>)(?:<span[^>]*>)?" + re.escape(thing.name) + r"(?:</span>)?</h[12]>"
    brand = thing.brand.replace("&", "&amp;")
    return re.sub(
        heading, rf'<\1\2{brand}</\1><p class="pname">{thing.name}</p>', html, count=1
    )  # fmt: skip


def always_in_data(html: str, thing: Thing, shop: Shop) -> str:
    """Structured data calls each product available; the page does not."""
    return html.replace("/OutOfStock", "/InStock")


def _raised(thing: Thing) -> Thing:
    return attrs.evolve(thing, price=(thing.price * Decimal("1.1")).quantize(Decimal("0.01")))


#: What the goods are since, where a change comes on a day of new prices.
TODAY: dict[Change, Callable[[Thing], Thing]] = {
    stale: _raised,
    moved_with_new_prices: _repriced,
}


#: The change, the field, the shops (`+`: with structured data).
CHANGES: tuple[tuple[Change, str, str], ...] = (
    (renamed, "price", "woo luma cart plain"),
    (instalment, "price", "woo dawn+ luma plain"),
    (no_currency, "currency", "woo dawn presta"),
    (other_currency, "currency", "woo luma lumas"),
    (list_price, "price", "woo presta tiles"),
    (moved, "price", "woo luma ware"),
    (stale, "price", "woo+ dawn+ luma+"),
    (in_hundreds, "price", "woo ware table"),
    (one_price, "price", "woo dawn+ presta"),
    (one_name, "name", "woo luma+ presta"),
    (no_price, "price", "woo dawn tiles"),
    (no_stock, "availability", "woo presta"),
    (no_number, "sku", "woo dawn"),
    (sold_out, "availability", "luma presta+"),
    (in_stock, "availability", "woo luma presta+"),
    (cut_cents, "price", "woo dawn+ luma presta"),
    (instalment_first, "price", "woo luma ware plain"),
    (swapped, "price", "woo dawn luma presta"),
    (hashed, "price", "woo luma ware"),
    (half, "price", "woo luma presta"),
    (title_only, "name", "woo luma presta"),
    (unlabelled, "sku", "woo dawn"),
    (in_cents, "price", "woo+ dawn+ luma+"),
    (unstructured, "price", "woo+ luma+ presta+"),
    (net_first, "price", "woo luma presta plain"),
    (net_only, "price", "woo presta"),
    (club_first, "price", "woo luma presta plain"),
    (per_piece_first, "price", "woo luma presta"),
    (set_first, "price", "woo luma presta"),
    (bundle_first, "price", "woo dawn luma presta+"),
    (exchanged, "price", "woo presta"),
    (with_delivery, "price", "woo luma"),
    (lowest_first, "price", "woo luma presta+"),
    (among_facts, "price", "woo luma presta"),
    (moved_with_new_prices, "price", "woo luma ware"),
    (half_instalment, "price", "woo luma presta"),
    (reworded_stock, "availability", "luma presta"),
    (one_product_in_data, "price", "woo+ luma+"),
    (prefixed, "name", "woo luma+"),
    (internal_number, "sku", "woo dawn"),
    (maker_above, "name", "woo presta"),
    (always_in_data, "availability", "woo+ presta+"),
)
