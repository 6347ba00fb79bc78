"""Further changes of a shop's template: walls, banners, second amounts, stock, and stale caches.

They have the form of tests/benchmarks/template_changes.py, and were tried once before any rule was
changed for them: `FIRST_TRY` has the figures of rules that had not seen them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from hashlib import blake2b

import attrs

from tests.benchmarks.shops import Shop, Thing, things
from tests.benchmarks.template_changes import Change

_DATA = re.compile(r'<script type="application/ld\+json">.*?</script>', re.DOTALL)
_HEADING = re.compile(r"<h([12])([^>]*)>(?:<span[^>]*>)?[^<]*(?:</span>)?</h[12]>")


def _times(value: Decimal, factor: str | Decimal) -> Decimal:
    return (value * Decimal(factor)).quantize(Decimal("0.01"))


def _dice(thing: Thing) -> int:
    """Return a number of a product by which a part of the products is chosen: not its parity."""
    return blake2b(str(thing.number).encode(), digest_size=1).digest()[0]


def _before_price(html: str, thing: Thing, shop: Shop, box: str) -> str:
    """Put an element before the one that shows the price."""
    shown = re.escape(shop.words.money(thing.price))
    return re.sub(rf"(<\w+[^<>]*>{shown})", lambda match: box + match[1], html, count=1)


def _instead(html: str, title: str, main: str) -> str:
    """Return a page of the shop's frame with another title and nothing of the product."""
    start, end = html.find("</header>"), html.find("<footer")
    head = re.sub(r"<title>.*(?=</head>)", f"<title>{title}</title>", html[:start], flags=re.DOTALL)
    return f"{head}</header>{main}{html[end:]}"


def consent_wall(html: str, thing: Thing, shop: Shop) -> str:
    """Each third request gets a wall of consent in the shop's own frame."""
    if thing.number % 3:
        return html
    wall = "<main><h1>We value your privacy</h1><p>We and our 214 partners store cookies.</p>"
    return _instead(html, "Before you continue", f"{wall}<button>Accept all</button></main>")


def country_choice(html: str, thing: Thing, shop: Shop) -> str:
    """Each third request gets a heading that asks for the country above the product."""
    if thing.number % 3:
        return html
    links = "<a href='/us'>US</a> <a href='/de'>DE</a>"
    box = f"<div class='geo'><h1>Choose your country</h1>{links}</div>"
    return html.replace("</header>", f"</header>{box}", 1)


def maintenance(html: str, thing: Thing, shop: Shop) -> str:
    """The shop is closed for maintenance, with the status of a page that is fine."""
    main = "<main><h1>We will be back soon</h1><p>Our shop is being updated.</p></main>"
    return _instead(html, "Maintenance", main)


def soft_404(html: str, thing: Thing, shop: Shop) -> str:
    """Each page says that it was not found, with the status of a page that is fine."""
    tiles = "".join(
        f'<li class="product-item"><a href="/p/{n}"><h3>Thing {n}</h3></a><span class="price">'
        f"{shop.words.money(Decimal(n) * 9)}</span></li>"
        for n in range(4)
    )
    main = f"<main><h1>Page not found</h1><p>Popular now</p><ul>{tiles}</ul></main>"
    return _instead(html, "Page not found", main)


def other_on_some(html: str, thing: Thing, shop: Shop) -> str:
    """A cache gives every fourth page's address the page of another product."""
    return html if thing.number % 4 else shop.page(_ANOTHER, "ld+json" in html)


def members_on_half(html: str, thing: Thing, shop: Shop) -> str:
    """A test of two layouts: half of the visitors see the members' price first, without a word."""
    if _dice(thing) % 2:
        return html
    return _before_price(
        html, thing, shop, f"<span>{shop.words.money(_times(thing.price, '0.92'))}</span> "
    )


def placeholder_price(html: str, thing: Thing, shop: Shop) -> str:
    """A script loads the prices; until then each is zero."""
    return html.replace(shop.words.money(thing.price), shop.words.money(Decimal("0.00")))


def zero_prices(html: str, thing: Thing, shop: Shop) -> str:
    """All prices are zero, those of structured data as well."""
    return placeholder_price(html, thing, shop).replace(
        f'"price": "{thing.price}"', '"price": "0.00"'
    )


def call_for_price(html: str, thing: Thing, shop: Shop) -> str:
    bare = html.replace(shop.words.money(thing.price), "Call for price")
    return bare.replace(f'"price": "{thing.price}", ', "")


def net_everywhere(html: str, thing: Thing, shop: Shop) -> str:
    """The shop sells to companies since: prices without tax, in structured data as well."""
    net = _times(thing.price, 1 / Decimal("1.19"))
    return html.replace(shop.words.money(thing.price), shop.words.money(net)).replace(
        f'"price": "{thing.price}"', f'"price": "{net}"'
    )


def net_in_data(html: str, thing: Thing, shop: Shop) -> str:
    """Structured data has prices without tax; the page shows those with it."""
    net = _times(thing.price, 1 / Decimal("1.19"))
    return html.replace(f'"price": "{thing.price}"', f'"price": "{net}"')


def _separated(html: str, thing: Thing, shop: Shop, sign: str) -> str:
    whole, _, cents = f"{thing.price:,.2f}".partition(".")
    other = shop.words.money(Decimal("7.00")).replace("7.00", f"{whole.replace(',', sign)}.{cents}")
    other = other.replace("7,00", f"{whole.replace(',', sign)},{cents}")
    return html.replace(shop.words.money(thing.price), other)


def thousands_by_space(html: str, thing: Thing, shop: Shop) -> str:
    """A thin space between thousands, on a shop of dear goods."""
    return _separated(html, thing, shop, "\u202f")


def thousands_by_apostrophe(html: str, thing: Thing, shop: Shop) -> str:
    return _separated(html, thing, shop, "\u2019")


def thousands_without_cents(html: str, thing: Thing, shop: Shop) -> str:
    """Prices of dear goods in whole units, with a dot between thousands: $12.345."""
    sign = shop.words.money(Decimal("7.00")).replace("7.00", "{}").replace("7,00", "{}")
    shown = sign.format(f"{int(thing.price):,}".replace(",", "."))
    return html.replace(shop.words.money(thing.price), shown)


def member_price_named(html: str, thing: Thing, shop: Shop) -> str:
    """A line for members, with words, before the price."""
    shown = shop.words.money(_times(thing.price, "0.88"))
    return _before_price(html, thing, shop, f"<p>Club price {shown}</p>")


def per_100_g_first(html: str, thing: Thing, shop: Shop) -> str:
    """The price of 100 grams before the price."""
    shown = shop.words.money(_times(thing.price, Decimal(1) / (3 + thing.number % 7)))
    return _before_price(html, thing, shop, f"<span>{shown} / 100 g</span>")


def promotion_above(html: str, thing: Thing, shop: Shop) -> str:
    """A banner with an amount above the name."""
    shown = shop.words.money(Decimal("20.00"))
    banner = f"<div class='promo'><strong>{shown}</strong><p>off your first order</p></div>"
    return html.replace("</header>", f"</header>{banner}", 1)


def bundle_total(html: str, thing: Thing, shop: Shop) -> str:
    """The price of a bundle where the price was; the price in the bundle's list below."""
    other, money = Decimal(1_900 + 7_919 * thing.number % 9_000) / 100, shop.words.money
    row = "<li><p>{}</p><em>{}</em></li>"
    rows = row.format(thing.name, money(thing.price)) + row.format("Care set", money(other))
    changed = html.replace(money(thing.price), money(thing.price + other))
    return changed.replace("<footer", f"<ul class='bundle'>{rows}</ul><footer", 1)


def from_first(html: str, thing: Thing, shop: Shop) -> str:
    """The lowest variant's price before the price of the chosen variant."""
    low = shop.words.money(_times(thing.price, "0.8"))
    return _before_price(html, thing, shop, f"<span>from {low}</span> ")


def from_only(html: str, thing: Thing, shop: Shop) -> str:
    """The lowest variant's price instead of the price."""
    low = shop.words.money(_times(thing.price, Decimal(70 + thing.number % 21) / 100))
    return html.replace(shop.words.money(thing.price), f"from {low}")


def quantity_prices(html: str, thing: Thing, shop: Shop) -> str:
    """A table of prices by quantity before the price, the lowest first."""
    low, mid = (shop.words.money(_times(thing.price, share)) for share in ("0.8", "0.9"))
    table = f"<table><tr><td>10</td><td>{low}</td></tr><tr><td>5</td><td>{mid}</td></tr></table>"
    return _HEADING.sub(lambda match: match[0] + table, html, count=1)


def campaign_names(html: str, thing: Thing, shop: Shop) -> str:
    """Six of ten names have a campaign before them."""
    return html if _dice(thing) % 10 > 5 else html.replace(thing.name, f"BLACK WEEK {thing.name}")


def cut_names(html: str, thing: Thing, shop: Shop) -> str:
    """The heading and structured data have the first words alone; the title has all."""
    head, mark, rest = html.partition("</title>")
    return head + mark + rest.replace(thing.name, f"{thing.name[:9].rstrip()}…")


def relabelled_number(html: str, thing: Thing, shop: Shop) -> str:
    """A word before the number that no list has."""
    return html.replace(shop.words.sku, "Warehouse slot").replace('class="sku"', 'class="slot"')


def badge_image(html: str, thing: Thing, shop: Shop) -> str:
    """Stock is an image without a text, and the button is always there."""
    badge = '<img src="/badge-{}.png" alt="">'
    bare = html.replace(shop.words.no, badge.format(2)).replace(shop.words.yes, badge.format(1))
    bare = re.sub(r'"availability": "[^"]*"', '"x": ""', bare)
    bare = bare.replace("out-of-stock", "s").replace("in-stock", "s").replace(" disabled>", ">")
    if shop.words.cart in bare:
        return bare
    return bare.replace("<footer", f"<button>{shop.words.cart}</button><footer", 1)


def pieces(html: str, thing: Thing, shop: Shop) -> str:
    """A count of pieces instead of words of stock, and a button that is always there."""
    bare = html.replace(shop.words.no, "0").replace(shop.words.yes, str(3 + thing.number % 40))
    return bare.replace("out-of-stock", "s").replace("in-stock", "s").replace(" disabled>", ">")


def states_exchanged(html: str, thing: Thing, shop: Shop) -> str:
    """Each product has the other stock state."""
    return shop.page(attrs.evolve(thing, in_stock=not thing.in_stock), "ld+json" in html)


def other_data(html: str, thing: Thing, shop: Shop) -> str:
    """Each page has the structured data of the product that follows."""
    following = _GOODS[(thing.number + 1) % len(_GOODS)]
    data = _DATA.search(shop.page(following, structured=True))
    return _DATA.sub(lambda _: data[0] if data else "", html)


def week_old_data(html: str, thing: Thing, shop: Shop) -> str:
    """A third of the prices is new, structured data is a week old."""
    data = _DATA.search(html)
    return _DATA.sub(
        lambda _: data[0] if data else "", shop.page(_repriced(thing), "ld+json" in html)
    )


def swapped_in_data(html: str, thing: Thing, shop: Shop) -> str:
    """Structured data has the price before a reduction."""
    return html.replace(f'"price": "{thing.price}"', f'"price": "{thing.regular or thing.price}"')


def currency_by_country(html: str, thing: Thing, shop: Shop) -> str:
    """Each third request gets euros at today's rate."""
    if thing.number % 3:
        return html
    euros = f"{_times(thing.price, '0.9213'):,.2f} €"
    return html.replace(shop.words.money(thing.price), euros).replace(
        f'"price": "{thing.price}", "priceCurrency": "{shop.words.currency}"',
        f'"price": "{_times(thing.price, "0.9213")}", "priceCurrency": "EUR"',
    )


def others_above(html: str, thing: Thing, shop: Shop) -> str:
    """Other products stand above the product, with their prices."""
    start = html.find('<section class="related"')
    if start < 0:
        return html
    end = html.find("</section>", start) + len("</section>")
    return html[:start].replace("</header>", f"</header>{html[start:end]}", 1) + html[end:]


def trade_in(html: str, thing: Thing, shop: Shop) -> str:
    """The price with an old device in exchange where the price was, the price below it."""
    less = shop.words.money(thing.price - min(_times(thing.price, "0.3"), Decimal("40.00")))
    shown = shop.words.money(thing.price)
    row = f'<div class="sum"><p>{shown}</p></div>'
    return html.replace(shown, less).replace("<footer", f"{row}<footer", 1)


def _repriced(thing: Thing) -> Thing:
    if thing.number % 3:
        return thing
    factor = Decimal(83 + thing.number * 11 % 41) / 100
    return attrs.evolve(thing, price=_times(thing.price, factor), regular=None)


_GOODS = things(300, 5)
_ANOTHER = things(400, 5)[399]

#: What the goods are since, where a change comes on a day of new prices.
TODAY_FURTHER: dict[Change, Callable[[Thing], Thing]] = {week_old_data: _repriced}


def _dear(thing: Thing) -> Thing:
    factor = Decimal(23)
    regular = thing.regular and _times(thing.regular, factor)
    return attrs.evolve(thing, price=_times(thing.price, factor), regular=regular)


#: What the goods are from the first crawl on, where they are no usual ones.
GOODS_OF: dict[Change, Callable[[Thing], Thing]] = {
    thousands_by_space: _dear,
    thousands_by_apostrophe: _dear,
    thousands_without_cents: _dear,
}

#: Their figures with 100 products before any rule was changed for them.
FIRST_TRY = {
    "mutations": 111,
    "noticed": 77,
    "misread": 75,
    "noticed_of_misread": 64,
    "told": 62,
    "mended_after_all_of_told": 58,
    "restored": 111,
    "wrong_rows_max": 51,
}

#: The change, the field, the shops (`+`: with structured data).
FURTHER: tuple[tuple[Change, str, str], ...] = (
    (consent_wall, "name", "woo luma+ presta"),
    (country_choice, "name", "woo luma+ presta plain"),
    (maintenance, "name", "woo luma+ presta"),
    (soft_404, "name", "woo luma+ presta"),
    (other_on_some, "name", "woo luma+ presta"),
    (members_on_half, "price", "woo luma presta plain"),
    (placeholder_price, "price", "woo luma+ presta"),
    (zero_prices, "price", "woo luma+ presta"),
    (call_for_price, "price", "woo luma+ presta"),
    (net_everywhere, "price", "woo luma+ presta"),
    (net_in_data, "price", "woo+ luma+ presta+"),
    (thousands_by_space, "price", "woo luma presta"),
    (thousands_by_apostrophe, "price", "woo luma presta"),
    (thousands_without_cents, "price", "woo luma presta"),
    (member_price_named, "price", "woo luma presta plain"),
    (per_100_g_first, "price", "woo luma presta plain"),
    (promotion_above, "price", "woo dawn luma presta plain"),
    (bundle_total, "price", "woo luma presta plain"),
    (from_first, "price", "woo luma presta plain"),
    (from_only, "price", "woo luma presta plain"),
    (quantity_prices, "price", "woo luma presta plain"),
    (campaign_names, "name", "woo luma+ presta"),
    (cut_names, "name", "woo luma+ presta"),
    (relabelled_number, "sku", "woo luma presta"),
    (badge_image, "availability", "woo luma presta+"),
    (pieces, "availability", "woo luma presta"),
    (states_exchanged, "availability", "woo luma presta+ plain"),
    (other_data, "price", "woo+ luma+ presta+"),
    (week_old_data, "price", "woo+ luma+ presta+"),
    (swapped_in_data, "price", "woo+ luma+ presta+"),
    (currency_by_country, "currency", "woo luma+ presta"),
    (others_above, "price", "woo luma presta"),
    (trade_in, "price", "woo luma presta plain"),
)
