"""Shops as templates: pages in the manner of widespread systems and of hand-made shops.

Nothing in them was made to fit the parser: markup, classes and words are those that such systems
write. Each shop has pages of products with and without structured data, and of a category.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from decimal import Decimal
from html import escape

import attrs

_NOUNS = ("Lamp", "Kettle", "Chair", "Basket", "Clock", "Blanket", "Mirror", "Hammer", "Vase",
          "Teapot", "Shelf", "Pillow", "Carafe", "Stool", "Candle", "Tray")  # fmt: skip
_KINDS = ("Oak", "Linen", "Copper", "Nordic", "Folding", "Slim", "Vintage", "Glazed", "Woven",
          "Matte", "Garden", "Travel", "Classic", "Round", "Tall", "Soft")  # fmt: skip
_BRANDS = ("Hay & Holm", "Lumo", "Ferrum", "Casa Nove", "Tivoli Werk")


@attrs.frozen
class Thing:
    """What a shop sells, as its pages must be read."""

    number: int
    name: str
    price: Decimal
    regular: Decimal | None
    sku: str
    brand: str
    in_stock: bool


@attrs.frozen
class Words:
    """A shop's language and money."""

    lang: str
    currency: str
    money: Callable[[Decimal], str]
    cart: str
    sku: str
    yes: str
    no: str
    other: str = "You may also like"


def _comma(value: Decimal, group: str = ".") -> str:
    whole, _, cents = f"{value:,.2f}".partition(".")
    return f"{whole.replace(',', group)},{cents}"


ENGLISH = Words(
    "en", "USD", lambda v: f"${v:,.2f}", "Add to cart", "SKU", "In stock", "Out of stock"
)
BRITISH = Words("en-gb", "GBP", lambda v: f"£{v:,.2f}", "Add to basket", "Product code",
                "Available now", "Sold out")  # fmt: skip
GERMAN = Words("de", "EUR", lambda v: f"{_comma(v)} €", "In den Warenkorb", "Artikelnummer",
               "Sofort lieferbar", "Ausverkauft", "Ähnliche Artikel")  # fmt: skip
FRENCH = Words("fr", "EUR", lambda v: f"{_comma(v, ' ')} €", "Ajouter au panier", "Référence",
               "En stock", "Rupture de stock", "Produits similaires")  # fmt: skip
POLISH = Words("pl", "PLN", lambda v: f"{_comma(v, ' ')} zł", "Do koszyka", "Kod produktu",
               "Dostępny", "Niedostępny", "Podobne produkty")  # fmt: skip
SWEDISH = Words("sv", "SEK", lambda v: f"{_comma(v, ' ')} kr", "Lägg i varukorgen", "Artikelnummer",
                "I lager", "Slut i lager", "Liknande produkter")  # fmt: skip
RUSSIAN = Words("ru", "RUB", lambda v: f"{_comma(v, ' ')} ₽", "В корзину", "Артикул", "В наличии",
                "Нет в наличии", "Похожие товары")  # fmt: skip
CZECH = Words("cs", "CZK", lambda v: f"{_comma(v, ' ')} Kč", "Do košíku", "Kód produktu",
              "Skladem", "Vyprodáno", "Podobné zboží")  # fmt: skip


def things(count: int, seed: int) -> list[Thing]:
    """So many different things, the same for one *seed*."""
    rng, made = random.Random(seed), []
    for number in range(count):
        name = f"{rng.choice(_KINDS)} {rng.choice(_NOUNS)} {100 + number}"
        price = (Decimal(rng.randrange(499, 90_000)) / 100).quantize(Decimal("0.01"))
        regular = (price * Decimal("1.25")).quantize(Decimal("0.01"))
        made.append(
            Thing(
                number,
                name,
                price,
                regular if rng.random() < 0.25 else None,
                f"{rng.choice('ABCDEF')}{rng.randrange(10, 99)}-{1000 + number}",
                rng.choice(_BRANDS),
                rng.random() > 0.15,
            )
        )
    return made


@attrs.frozen
class Shop:
    """One template in one language."""

    name: str
    words: Words
    product: Callable[[Thing, Words], str]
    """The body of a product's page."""
    path: str
    """A product's address; {n} is its number, {slug} its name."""
    body: str = ""
    """Attributes of the body."""

    def url(self, thing: Thing) -> str:
        """Address of a thing's page."""
        slug = thing.name.lower().replace(" ", "-")
        return f"https://{self.name}.example" + self.path.format(n=1000 + thing.number, slug=slug)

    def page(self, thing: Thing, structured: bool) -> str:
        """A thing's page, with JSON-LD and OpenGraph or without."""
        head = _structured(thing, self.words) if structured else ""
        title = escape(f"{thing.name} | {self.name.title()} Shop")
        return _frame(self, f"<title>{title}</title>{head}", self.product(thing, self.words))

    def listing(self, shown: list[Thing]) -> str:
        """A category's page."""
        tiles = "".join(_tile(self, thing) for thing in shown)
        return _frame(self, "<title>All things</title>", f"<h1>Living room</h1><ul>{tiles}</ul>")


def _tile(shop: Shop, thing: Thing) -> str:
    return (
        f'<li class="product-item"><a href="{shop.url(thing)}"><img src="/i/{thing.number}.jpg" '
        f'alt="{escape(thing.name)}"><h3>{escape(thing.name)}</h3></a>'
        f'<span class="price">{shop.words.money(thing.price)}</span></li>'
    )


def _frame(shop: Shop, head: str, main: str) -> str:
    menu = "".join(f'<li><a href="/c/{n}">Category {n}</a></li>' for n in range(12))
    footer = "<p>Free delivery over 50. Returns within 30 days.</p><a href='/imprint'>Imprint</a>"
    return (
        f'<!doctype html><html lang="{shop.words.lang}"><head><meta charset="utf-8">{head}</head>'
        f'<body {shop.body}><header><nav><ul>{menu}</ul></nav><a href="/cart">Cart (0)</a></header>'
        f"{main}<footer>{footer}</footer></body></html>"
    )


def _structured(thing: Thing, words: Words) -> str:
    stock = "InStock" if thing.in_stock else "OutOfStock"
    node = {
        "@context": "https://schema.org", "@type": "Product", "name": thing.name, "sku": thing.sku,
        "brand": {"@type": "Brand", "name": thing.brand},
        "offers": {"@type": "Offer", "price": str(thing.price), "priceCurrency": words.currency,
                   "availability": f"https://schema.org/{stock}"},
    }  # fmt: skip
    return (
        f'<script type="application/ld+json">{json.dumps(node)}</script>'
        f'<meta property="og:type" content="product"><meta property="og:title" '
        f'content="{escape(thing.name)}">'
    )


def _others(words: Words) -> str:
    cards = "".join(
        f'<div class="product-card"><a href="/p/o{n}"><h4>Other {n}</h4></a>'
        f'<span class="price">{words.money(Decimal(n) * 7)}</span></div>'
        for n in range(3, 7)
    )
    return f'<section class="related"><h2>{words.other}</h2>{cards}</section>'


def _button(thing: Thing, words: Words, kind: str = "btn") -> str:
    off = "" if thing.in_stock else " disabled"
    return f'<button type="submit" class="{kind}"{off}>{words.cart}</button>'


def _stock(thing: Thing, words: Words) -> str:
    return words.yes if thing.in_stock else words.no


def woo(t: Thing, w: Words) -> str:
    amount = '<span class="woocommerce-Price-amount amount"><bdi>{}</bdi></span>'
    now = amount.format(w.money(t.price))
    price = f"<del>{amount.format(w.money(t.regular))}</del> <ins>{now}</ins>" if t.regular else now
    stock = f'<p class="stock {"in-stock" if t.in_stock else "out-of-stock"}">{_stock(t, w)}</p>'
    form = f'<form class="cart">{_button(t, w, "single_add_to_cart_button button")}</form>'
    return (
        f'<div class="product type-product post-{t.number}"><div class="summary entry-summary">'
        f'<h1 class="product_title entry-title">{t.name}</h1><p class="price">{price}</p>{stock}'
        f'{form if t.in_stock else ""}<div class="product_meta"><span class="sku_wrapper">{w.sku}: '
        f'<span class="sku">{t.sku}</span></span></div></div></div>{_others(w)}'
    )


def dawn(t: Thing, w: Words) -> str:
    old = f'<s class="price-item price-item--regular">{w.money(t.regular)}</s>' if t.regular else ""
    return (
        f'<main id="MainContent"><div class="product__info-wrapper"><p class="product__text">'
        f'{t.brand}</p><div class="product__title"><h1>{t.name}</h1></div><div class="price">'
        f'<span class="visually-hidden">Price</span>{old}<span class="price-item '
        f'price-item--sale">{w.money(t.price)}</span></div><p class="product__sku">{w.sku}: '
        f'{t.sku}</p><p class="product__inventory">{_stock(t, w)}</p><form>{_button(t, w)}</form>'
        f"</div></main>{_others(w)}"
    )


def luma(t: Thing, w: Words) -> str:
    old = (
        f'<span class="old-price"><span class="price">{w.money(t.regular)}</span></span>'
        if t.regular
        else ""
    )
    return (
        f'<main class="page-main"><div class="page-title-wrapper"><h1 class="page-title"><span '
        f'class="base">{t.name}</span></h1></div><div class="product-info-price"><div '
        f'class="price-box price-final_price"><span class="special-price"><span class="price">'
        f'{w.money(t.price)}</span></span>{old}</div><div class="product-info-stock-sku"><div '
        f'class="stock available"><span>{_stock(t, w)}</span></div><div class="product attribute '
        f'sku"><strong class="type">{w.sku}</strong><div class="value">{t.sku}</div></div></div>'
        f'</div><div class="box-tocart">{_button(t, w, "action primary tocart")}</div></main>'
        f"{_others(w)}"
    )


def presta(t: Thing, w: Words) -> str:
    old = f'<span class="regular-price">{w.money(t.regular)}</span>' if t.regular else ""
    return (
        f'<section id="main"><h1 class="h1">{t.name}</h1><div class="product-prices"><div '
        f'class="product-discount">{old}</div><div class="current-price"><span '
        f'class="current-price-value">{w.money(t.price)}</span></div></div><div '
        f'class="product-add-to-cart">{_button(t, w, "btn btn-primary add-to-cart")}<span '
        f'id="product-availability">{_stock(t, w)}</span></div><div class="product-reference">'
        f'<label class="label">{w.sku}</label> <span>{t.sku}</span></div></section>{_others(w)}'
    )


def opencart(t: Thing, w: Words) -> str:
    old = f"<li><span class='price-old'>{w.money(t.regular)}</span></li>" if t.regular else ""
    return (
        f'<div id="content"><h1>{t.name}</h1><ul class="list-unstyled"><li>Brand: {t.brand}</li>'
        f"<li>{w.sku}: {t.sku}</li><li>{_stock(t, w)}</li></ul><ul class='list-unstyled'>{old}<li>"
        f"<h2>{w.money(t.price)}</h2></li></ul><div id='product'><label>Qty</label><input "
        f"name='quantity' value='1'>{_button(t, w, 'btn btn-primary btn-lg')}</div></div>"
        f"{_others(w)}"
    )


def shopware(t: Thing, w: Words) -> str:
    old = f'<span class="list-price-price">{w.money(t.regular)}</span>' if t.regular else ""
    return (
        f'<div class="product-detail-headline"><h1 class="product-detail-name">{t.name}</h1></div>'
        f'<div class="product-detail-buy"><p class="product-detail-price">{w.money(t.price)}</p>'
        f'{old}<p class="product-detail-tax">inkl. MwSt. zzgl. Versandkosten</p><p '
        f'class="delivery-information">{_stock(t, w)}</p>{_button(t, w, "btn btn-buy")}<div '
        f'class="product-detail-ordernumber-container"><span class="product-detail-ordernumber-'
        f'label">{w.sku}:</span> <span class="product-detail-ordernumber">{t.sku}</span></div>'
        "</div>"
    )


def table(t: Thing, w: Words) -> str:
    old = f"<tr><td>List price</td><td><s>{w.money(t.regular)}</s></td></tr>" if t.regular else ""
    return (
        f'<table width="800"><tr><td valign="top"><img src="/img/{t.number}.jpg"></td><td>'
        f'<font size="4"><b>{t.name}</b></font><table>{old}<tr><td>Price</td><td><b>'
        f"{w.money(t.price)}</b></td></tr><tr><td>{w.sku}</td><td>{t.sku}</td></tr><tr><td>Stock"
        f"</td><td>{_stock(t, w)}</td></tr></table><form><input type='submit' value='{w.cart}'"
        f"{'' if t.in_stock else ' disabled'}></form></td></tr></table>"
    )


def plain(t: Thing, w: Words) -> str:
    old = f"<small><strike>{w.money(t.regular)}</strike></small> " if t.regular else ""
    return (
        f"<div id=w><h2>{t.name}</h2><p>{old}<b>{w.money(t.price)}</b></p><p>{w.sku}: {t.sku}</p>"
        f"<p>{_stock(t, w)}</p>{_button(t, w)}<p>Made by hand in our workshop since 1987.</p></div>"
    )


def tiles(t: Thing, w: Words) -> str:
    cells = "".join(
        f'<div class="tile"><a href="/x/{n}"><b>Thing {n}</b></a><i>{w.money(Decimal(n) * 3)}</i>'
        "</div>"
        for n in range(5, 13)
    )
    old = f"<del>{w.money(t.regular)}</del> " if t.regular else ""
    return (
        f'<div class="detail"><h1>{t.name}</h1><div class="buy"><span class="cost">{old}'
        f"{w.money(t.price)}</span>{_button(t, w)}<span>{_stock(t, w)}</span></div><dl><dt>{w.sku}"
        f'</dt><dd>{t.sku}</dd><dt>Brand</dt><dd>{t.brand}</dd></dl></div><div class="grid">{cells}'
        "</div>"
    )


def split(t: Thing, w: Words) -> str:
    whole, cents = str(t.price).split(".")
    old = f'<span class="was">was {w.money(t.regular)}</span>' if t.regular else ""
    return (
        f'<div class="pdp"><h1>{t.name}</h1><div class="pdp-price">{old}<span>{whole}</span>{cents}'
        f" ₽</div><div class='sellers'><p>Other shop {w.money(t.price + 90)}</p></div>"
        f'<div>{_stock(t, w)}</div>{_button(t, w)}<div class="params"><p>{w.sku}: {t.sku}</p></div>'
        "</div>"
    )


def state(t: Thing, w: Words) -> str:
    data = {
        "props": {"product": {
            "name": t.name, "price": float(t.price), "currency": w.currency, "sku": t.sku,
            "listPrice": float(t.regular) if t.regular else None, "inStock": t.in_stock}},
    }  # fmt: skip
    return (
        f'<div id="__next"><h1>{t.name}</h1><div class="skeleton"></div></div><script '
        f'id="__NEXT_DATA__" type="application/json">{json.dumps(data)}</script>'
    )


def silent(t: Thing, w: Words) -> str:
    """A price and a button, and the stock in no word; what cannot be had has neither."""
    old = f'<span class="price-old">{w.money(t.regular)}</span>' if t.regular else ""
    buy = f'{old}<span class="price-now">{w.money(t.price)}</span>{_button(t, w)}'
    return (
        f'<article class="item"><h1 class="item-title">{t.name}</h1><div class="code">{w.sku}: '
        f"{t.sku}</div>{buy if t.in_stock else f'<p>{w.no}</p>'}</article>"
    )


def instalments(t: Thing, w: Words) -> str:
    old = f'<span class="old">{w.money(t.regular)}</span>' if t.regular else ""
    month = w.money((t.price / 12).quantize(Decimal("0.01")))
    return (
        f'<section class="prod"><h1>{t.name}</h1><div class="rates">12 x {month} / month</div>'
        f'<div class="amount">{old}<strong>{w.money(t.price)}</strong></div><div>{_stock(t, w)}'
        f"</div>{_button(t, w)}<ul><li>{w.sku}: {t.sku}</li></ul></section>"
    )


def variants(t: Thing, w: Words) -> str:
    sizes = "".join(f"<option>{size} - {w.money(t.price)}</option>" for size in ("S", "M", "L"))
    old = f'<span class="compare-at">{w.money(t.regular)}</span>' if t.regular else ""
    return (
        f'<main><div class="col"><h1 itemprop="x">{t.name}</h1><div class="money">{old}<span '
        f'class="current">{w.money(t.price)}</span></div><select>{sizes}</select>{_button(t, w)}'
        f'<p>{_stock(t, w)}</p><p class="muted">{w.sku} {t.sku}</p></div></main>{_others(w)}'
    )


SHOPS = (
    Shop("woo", ENGLISH, woo, "/product/{slug}/", 'class="single-product woocommerce-page"'),
    Shop("wood", GERMAN, woo, "/produkt/{slug}/", 'class="single-product woocommerce-page"'),
    Shop("dawn", BRITISH, dawn, "/products/{slug}", 'class="gradient"'),
    Shop("luma", ENGLISH, luma, "/{slug}.html", 'class="catalog-product-view"'),
    Shop("lumas", SWEDISH, luma, "/{slug}.html", 'class="catalog-product-view"'),
    Shop("presta", FRENCH, presta, "/{n}-{slug}.html", 'id="product"'),
    Shop("cart", ENGLISH, opencart, "/index.php?route=product/product&product_id={n}"),
    Shop("kosik", CZECH, opencart, "/zbozi/{slug}"),
    Shop("ware", GERMAN, shopware, "/{slug}/SW{n}", 'class="is-ctl-product"'),
    Shop("table", ENGLISH, table, "/item.php?id={n}"),
    Shop("plain", BRITISH, plain, "/{slug}-{n}.htm"),
    Shop("tiles", POLISH, tiles, "/p/{slug}"),
    Shop("split", RUSSIAN, split, "/product/{n}"),
    Shop("next", ENGLISH, state, "/p/{slug}"),
    Shop("quiet", GERMAN, silent, "/artikel/{slug}-{n}"),
    Shop("rates", ENGLISH, instalments, "/shop/{slug}"),
    Shop("sizes", FRENCH, variants, "/produit/{slug}"),
)
