"""The list of products: search, site, stock, moves of prices, pictures, and the list as a file."""

from __future__ import annotations

import re
from decimal import Decimal

from aiohttp import web

from crawler.dashboard.context import context_of
from crawler.dashboard.html import Node, tag
from crawler.dashboard.layout import address, badge, moment, page, table
from crawler.dashboard.product_pictures import Stored, picture
from crawler.reads.database import Row, estimate
from crawler.reads.products import MOST_SITES, MOVES, ORDERS, ProductFilter, search_products, sites
from scrapy_seine.reads.formatting import count

PAGE = 50
#: Words of schema.org's ItemAvailability that shops use most.
STOCKS = ("InStock", "OutOfStock", "PreOrder", "BackOrder", "LimitedAvailability", "Discontinued")
_STOCK_MOODS = {"InStock": "good", "LimitedAvailability": "good", "OutOfStock": "warn"}
_MOVES = {"fell": "fell lately", "rose": "rose lately"}
_ORDERS = {
    "changed": "last changed",
    "newest": "first seen",
    "cheapest": "cheapest",
    "dearest": "dearest",
}


async def products(request: web.Request) -> web.Response:
    """List products by words, site, stock and move of the price, in one of four orders."""
    context, query = context_of(request), request.query
    wanted = ProductFilter(
        words=query.get("q", "").strip()[:500],
        site=query.get("site", ""),
        stock=query.get("stock", ""),
        move=query.get("move", "") if query.get("move", "") in MOVES else "",
        order=query.get("order", "") if query.get("order", "") in ORDERS else "changed",
    )
    after = query.get("after", "")
    found = await search_products(context.database, wanted, limit=PAGE, after=after)
    stored = Stored.within(context.config.images)
    names = [*([""] if stored else []), "Product", "Site", "Number", "Stock"]
    words = len(names)
    names += ["Price", *(["Before", "Change"] if wanted.move else ["Changed (UTC)"])]
    rows = [
        [*([picture(stored, row)] if stored else []), *_row(row, moved=bool(wanted.move))]
        for row in found.rows
    ]
    caption = f"Price {_MOVES[wanted.move]}" if wanted.move else _ORDERS[wanted.order].capitalize()
    return page(
        request,
        "Products",
        _search(wanted, await sites(context.database)),
        _summary(wanted, await estimate(context.database, "products")),
        table(caption, names, rows, words=words, empty=_none(wanted), class_="products"),
        _onward(wanted, after, found.after),
    )


def _asked(wanted: ProductFilter) -> dict[str, str]:
    asked = {"q": wanted.words, "site": wanted.site, "stock": wanted.stock, "move": wanted.move}
    if wanted.order != "changed":
        asked["order"] = wanted.order
    return {name: value for name, value in asked.items() if value}


def _onward(wanted: ProductFilter, after: str, onward: str) -> Node:
    links = []
    if after:
        links.append(
            tag.a("First page", href=address("products", **_asked(wanted)), class_="button")
        )
    if onward:
        href = address("products", **_asked(wanted), after=onward)
        links.append(tag.a("Next page", href=href, class_="button", rel="next"))
    return tag.p(links, class_="actions") if links else None


def _search(wanted: ProductFilter, known: list[str]) -> Node:
    orders = [(name, _ORDERS[name]) for name in ORDERS]
    moves = [("", "any"), *((name, _MOVES[name]) for name in MOVES)]
    stocks = [("", "any"), *((name, stock_words(name)) for name in STOCKS)]
    return tag.form(
        tag.span(
            tag.label("Words of name or brand, number, or URL", for_="q"),
            tag.input(type="search", name="q", id="q", value=wanted.words, autocomplete="off"),
            class_="field wide",
        ),
        _site(known, wanted.site),
        _choice("stock", "Stock", stocks, wanted.stock),
        _choice("move", "Price", moves, wanted.move),
        _choice("order", "Order", orders, wanted.order),
        tag.button("Search", class_="main"),
        method="get",
        role="search",
    )


def _site(known: list[str], chosen: str) -> Node:
    """Let one of the sites be chosen; where there are more than a list holds, let one be typed."""
    if len(known) < MOST_SITES:
        return _choice("site", "Site", [("", "all"), *((site, site) for site in known)], chosen)
    box = tag.input(
        name="site", id="site", value=chosen, list="sites", placeholder="all", autocomplete="off"
    )
    names = tag.datalist([tag.option(value=site) for site in known], id="sites")
    return tag.span(tag.label("Site", for_="site"), box, names, class_="field")


def _choice(name: str, label: str, options: list[tuple[str, str]], chosen: str) -> Node:
    if chosen and chosen not in {value for value, _ in options}:
        options = [*options, (chosen, chosen)]
    made = [tag.option(text, value=value, selected=value == chosen) for value, text in options]
    box = tag.select(made, name=name, id=name)
    return tag.span(tag.label(label, for_=name), box, class_="field")


def _summary(wanted: ProductFilter, about: int) -> Node:
    """Say how many there are, and how they are had as a file."""
    kept = {name: value for name, value in _asked(wanted).items() if name in {"site", "stock"}}
    what = " and ".join(kept.values())
    label = f"Download {what} as CSV" if what else "Download all as CSV"
    conditions = [("site_id", wanted.site), ("availability", wanted.stock)]
    where = "".join(f" --where {field}={value}" for field, value in conditions if value)
    return tag.p(
        f"About {count(about)} in all. ",
        tag.a(label, href=address("products.csv", **kept), download="products.csv"),
        tag.span(" or ", tag.code(f"scrapy export products{where} -o products.csv"), class_="desk"),
    )


def _none(wanted: ProductFilter) -> Node:
    if wanted == ProductFilter(order=wanted.order):
        return ("No product is stored yet: ", tag.code("scrapy crawl catalog -a url=https://…"))
    if wanted.move:
        return "No price of such a product moved that way in the last 30 days."
    return "No product matches. The last word may be a beginning, the others are whole."


def _row(row: Row, *, moved: bool) -> list[Node]:
    stock = row["availability"]
    cells: list[Node] = [
        tag.a(row["name"], href=address("products", row["site_id"], row["external_id"])),
        row["site_id"],
        tag.span(row["external_id"], class_="url"),
        badge("gone", "bad") if row["gone_at"] else _stock(stock),
        price(row["new_price"] if moved else row["price"], row["currency"]),
    ]
    if moved:
        return [*cells, price(row["old_price"], row["currency"]), percent(row)]
    return [*cells, moment(row["updated_at"].timestamp())]


def _stock(stock: str | None) -> Node:
    return badge(stock_words(stock), _STOCK_MOODS.get(stock, "")) if stock else "–"


def stock_words(stock: str) -> str:
    """Write schema.org's name of an availability as people do.

    >>> stock_words("LimitedAvailability"), stock_words("–")
    ('limited availability', '–')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", stock).lower()


def percent(row: Row) -> str:
    """Write how far a price moved.

    >>> percent({"old_price": Decimal(20), "new_price": Decimal(15)})
    '-25.0 %'
    >>> percent({"old_price": Decimal(0), "new_price": Decimal(15)})
    '–'
    """
    old, new = row["old_price"], row["new_price"]
    return f"{100 * (new / old - 1):+.1f} %" if old else "–"


def price(amount: Decimal | None, currency: str | None) -> str:
    """Write a price with its currency; a dash where there is none.

    >>> price(Decimal("1299.5"), "EUR"), price(None, None)
    ('1,299.50 EUR', '–')
    """
    return "–" if amount is None else f"{amount:,.2f} {currency or ''}".strip()
