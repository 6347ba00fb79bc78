"""The list of products: search by words, site, stock and price moves; pictures; CSV download."""

from __future__ import annotations

import re
from decimal import Decimal

from aiohttp import web

from crawler.dashboard.context import context_of
from crawler.dashboard.html import Node, tag
from crawler.dashboard.layout import address, badge, moment, page, table
from crawler.dashboard.product_pictures import PictureStore, picture
from crawler.reads.database import Row, estimate
from crawler.reads.products import MAX_SITES, MOVES, ORDERS, ProductFilter, search_products, sites
from scrapy_seine.reads.formatting import count

PAGE = 50
#: The most common values of schema.org's ItemAvailability.
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
    """List products by words, site, stock and price move, in one of four orders."""
    context, query = context_of(request), request.query
    product_filter = ProductFilter(
        words=query.get("q", "").strip()[:500],
        site=query.get("site", ""),
        stock=query.get("stock", ""),
        move=query.get("move", "") if query.get("move", "") in MOVES else "",
        order=query.get("order", "") if query.get("order", "") in ORDERS else "changed",
    )
    after = query.get("after", "")
    result = await search_products(context.database, product_filter, limit=PAGE, after=after)
    store = PictureStore.within(context.config.images)
    names = [*([""] if store else []), "Product", "Site", "Number", "Stock"]
    words = len(names)
    names += ["Price", *(["Before", "Change"] if product_filter.move else ["Changed (UTC)"])]
    rows = [
        [
            *([picture(store, row)] if store else []),
            *_row(row, has_moved=bool(product_filter.move)),
        ]
        for row in result.rows
    ]
    caption = (
        f"Price {_MOVES[product_filter.move]}"
        if product_filter.move
        else _ORDERS[product_filter.order].capitalize()
    )
    return page(
        request,
        "Products",
        _search(product_filter, await sites(context.database)),
        _summary(product_filter, await estimate(context.database, "products")),
        table(
            caption, names, rows, words=words, empty=_empty_text(product_filter), class_="products"
        ),
        _page_links(product_filter, after, result.after),
    )


def _parameters(product_filter: ProductFilter) -> dict[str, str]:
    parameters = {
        "q": product_filter.words,
        "site": product_filter.site,
        "stock": product_filter.stock,
        "move": product_filter.move,
    }
    if product_filter.order != "changed":
        parameters["order"] = product_filter.order
    return {name: value for name, value in parameters.items() if value}


def _page_links(product_filter: ProductFilter, after: str, next_after: str) -> Node:
    links = []
    if after:
        links.append(
            tag.a(
                "First page",
                href=address("products", **_parameters(product_filter)),
                class_="button",
            )
        )
    if next_after:
        href = address("products", **_parameters(product_filter), after=next_after)
        links.append(tag.a("Next page", href=href, class_="button", rel="next"))
    return tag.p(links, class_="actions") if links else None


def _search(product_filter: ProductFilter, site_ids: list[str]) -> Node:
    orders = [(name, _ORDERS[name]) for name in ORDERS]
    moves = [("", "any"), *((name, _MOVES[name]) for name in MOVES)]
    stocks = [("", "any"), *((name, stock_words(name)) for name in STOCKS)]
    return tag.form(
        tag.span(
            tag.label("Words of name or brand, number, or URL", for_="q"),
            tag.input(
                type="search", name="q", id="q", value=product_filter.words, autocomplete="off"
            ),
            class_="field wide",
        ),
        _site(site_ids, product_filter.site),
        _choice("stock", "Stock", stocks, product_filter.stock),
        _choice("move", "Price", moves, product_filter.move),
        _choice("order", "Order", orders, product_filter.order),
        tag.button("Search", class_="main"),
        method="get",
        role="search",
    )


def _site(site_ids: list[str], selected: str) -> Node:
    """Render a list of the sites; if there are too many, a text field with suggestions."""
    if len(site_ids) < MAX_SITES:
        return _choice(
            "site", "Site", [("", "all"), *((site, site) for site in site_ids)], selected
        )
    input_field = tag.input(
        name="site", id="site", value=selected, list="sites", placeholder="all", autocomplete="off"
    )
    names = tag.datalist([tag.option(value=site) for site in site_ids], id="sites")
    return tag.span(tag.label("Site", for_="site"), input_field, names, class_="field")


def _choice(name: str, label: str, options: list[tuple[str, str]], selected: str) -> Node:
    if selected and selected not in {value for value, _ in options}:
        options = [*options, (selected, selected)]
    option_tags = [
        tag.option(text, value=value, selected=value == selected) for value, text in options
    ]
    select = tag.select(option_tags, name=name, id=name)
    return tag.span(tag.label(label, for_=name), select, class_="field")


def _summary(product_filter: ProductFilter, total: int) -> Node:
    """Render the number of products, and how to get them as a file."""
    parameters = {
        name: value
        for name, value in _parameters(product_filter).items()
        if name in {"site", "stock"}
    }
    selection = " and ".join(parameters.values())
    label = f"Download {selection} as CSV" if selection else "Download all as CSV"
    conditions = [("site_id", product_filter.site), ("availability", product_filter.stock)]
    where_options = "".join(f" --where {field}={value}" for field, value in conditions if value)
    return tag.p(
        f"About {count(total)} in all. ",
        tag.a(label, href=address("products.csv", **parameters), download="products.csv"),
        tag.span(
            " or ",
            tag.code(f"scrapy export products{where_options} -o products.csv"),
            class_="desk",
        ),
    )


def _empty_text(product_filter: ProductFilter) -> Node:
    if product_filter == ProductFilter(order=product_filter.order):
        return ("No product is stored yet: ", tag.code("scrapy crawl catalog -a url=https://…"))
    if product_filter.move:
        return "No price of such a product moved that way in the last 30 days."
    return "No product matches. The last word may be a beginning, the others are whole."


def _row(row: Row, *, has_moved: bool) -> list[Node]:
    stock = row["availability"]
    cells: list[Node] = [
        tag.a(row["name"], href=address("products", row["site_id"], row["external_id"])),
        row["site_id"],
        tag.span(row["external_id"], class_="url"),
        badge("gone", "bad") if row["gone_at"] else _stock(stock),
        price(row["new_price"] if has_moved else row["price"], row["currency"]),
    ]
    if has_moved:
        return [*cells, price(row["old_price"], row["currency"]), percent(row)]
    return [*cells, moment(row["updated_at"].timestamp())]


def _stock(stock: str | None) -> Node:
    return badge(stock_words(stock), _STOCK_MOODS.get(stock, "")) if stock else "–"


def stock_words(stock: str) -> str:
    """Format schema.org's name of an availability as words.

    >>> stock_words("LimitedAvailability"), stock_words("–")
    ('limited availability', '–')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", stock).lower()


def percent(row: Row) -> str:
    """Format the change of a price in percent.

    >>> percent({"old_price": Decimal(20), "new_price": Decimal(15)})
    '-25.0 %'
    >>> percent({"old_price": Decimal(0), "new_price": Decimal(15)})
    '–'
    """
    old_price, new_price = row["old_price"], row["new_price"]
    return f"{100 * (new_price / old_price - 1):+.1f} %" if old_price else "–"


def price(amount: Decimal | None, currency: str | None) -> str:
    """Format a price with its currency; a dash if there is none.

    >>> price(Decimal("1299.5"), "EUR"), price(None, None)
    ('1,299.50 EUR', '–')
    """
    return "–" if amount is None else f"{amount:,.2f} {currency or ''}".strip()
