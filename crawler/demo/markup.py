"""Renders a product in the markup of real shops: JSON-LD, microdata, OpenGraph, plain HTML."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from crawler.demo.catalogue import ShopProduct
from crawler.demo.prices import availability_text, price_text

#: Placeholder of the shop's URL; the server replaces it by the request's Host.
BASE = "http://shop.invalid"

_SKU_LABELS = ("SKU", "Item no.", "Product code")
_BRAND_LABELS = ("Brand", "Manufacturer", "Brand")
_GTIN_LABELS = ("EAN", "GTIN", "Barcode (EAN)")
_OPEN_GRAPH_AVAILABILITY = {"InStock": "in stock", "OutOfStock": "oos", "PreOrder": "preorder"}


def head(product: ShopProduct) -> str:
    """Return the product's markup for the page's head."""
    if product.markup == "json-ld":
        return _json_ld(product)
    if product.markup == "opengraph":
        return _open_graph(product)
    return ""


def main(product: ShopProduct) -> str:
    """Return the visible product, with microdata if that is the product's markup."""
    return _microdata(product) if product.markup == "microdata" else _visible(product)


def _offer(product: ShopProduct) -> dict[str, Any]:
    prefix = ("https://schema.org/", "http://schema.org/", "")[product.number % 3]
    return {
        "@type": "Offer",
        "url": BASE + product.path,
        "price": str(product.price) if product.number % 2 else float(product.price),
        "priceCurrency": product.currency,
        "availability": prefix + product.availability,
    }


def _json_ld(product: ShopProduct) -> str:
    offer, brand = _offer(product), {"@type": "Brand", "name": product.brand}
    node: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": product.name,
        "description": product.description,
        "image": [BASE + product.image, f"{BASE}/img/{product.number}-2.jpg"],
        "sku": product.sku,
        "gtin13": product.gtin,
        "mpn": product.mpn,
        "brand": brand if product.number % 4 else product.brand,
        "aggregateRating": {
            "@type": "AggregateRating",
            "ratingValue": product.rating,
            "reviewCount": product.review_count,
        },
        "offers": [offer] if product.number % 5 == 1 else offer,
    }
    if product.number % 3 == 0:  # as in many shop systems: all of a page's nodes in one graph
        site = {"@type": "WebSite", "name": "Seine Demo Shop", "url": BASE + "/"}
        node = {"@context": node.pop("@context"), "@graph": [site, node]}
    text = json.dumps(node, ensure_ascii=product.number % 2 == 0).replace("</", "<\\/")
    return f'<script type="application/ld+json">{text}</script>'


def _open_graph(product: ShopProduct) -> str:
    tags = {
        "og:type": "product",
        "og:title": product.name,
        "og:site_name": "Seine Demo Shop",
        "og:url": BASE + product.path,
        "og:image": BASE + product.image,
        "og:description": product.description,
        "product:price:amount": str(product.price),
        "product:price:currency": product.currency,
        "product:availability": _OPEN_GRAPH_AVAILABILITY[product.availability],
        "product:brand": product.brand,
        "product:retailer_item_id": product.sku,
    }
    return "\n".join(
        f'<meta property="{name}" content="{escape(value)}">' for name, value in tags.items()
    )


def _price(product: ShopProduct) -> str:
    price = f'<span class="price">{price_text(product.price, product.currency, product.number)}'
    if product.regular_price is None:
        return price + "</span>"
    old_price = price_text(product.regular_price, product.currency, product.number)
    return f'<del class="old-price">{old_price}</del> {price}</span>'


def _facts(product: ShopProduct) -> str:
    style = product.number // 10
    rows = {
        _SKU_LABELS[style % 3]: product.sku,
        _BRAND_LABELS[style % 3]: product.brand,
        "Material": product.material,
    }
    if product.markup != "opengraph":
        rows[_GTIN_LABELS[style % 3]] = product.gtin
    cells = [(escape(label), escape(value)) for label, value in rows.items()]
    if style % 2:
        terms = "\n".join(f"<dt>{label}</dt><dd>{value}</dd>" for label, value in cells)
        return f'<dl class="facts">\n{terms}\n</dl>'
    lines = "\n".join(f"<tr><th>{label}</th><td>{value}</td></tr>" for label, value in cells)
    return f'<table class="facts">\n{lines}\n</table>'


def _visible(product: ShopProduct) -> str:
    stock = availability_text(product.availability, product.number // 10)
    return f"""<div class="product">
<h1>{escape(product.name)}</h1>
<img src="{product.image}" alt="{escape(product.name)}">
<p class="offer">{_price(product)}</p>
<p class="stock">{stock}</p>
<form action="/cart" method="post"><button type="submit">Add to cart</button></form>
<div class="description"><p>{escape(product.description)}</p></div>
{_facts(product)}
</div>"""


def _microdata(product: ShopProduct) -> str:
    stock = availability_text(product.availability, product.number // 10)
    price = price_text(product.price, product.currency, product.number)
    brand = f'<span itemprop="brand">{escape(product.brand)}</span>'
    if product.number % 4 == 0:
        brand = (
            '<span itemprop="brand" itemscope itemtype="https://schema.org/Brand">'
            f'<span itemprop="name">{escape(product.brand)}</span></span>'
        )
    return f"""<div class="product" itemscope itemtype="https://schema.org/Product">
<h1 itemprop="name">{escape(product.name)}</h1>
<img itemprop="image" src="{product.image}" alt="{escape(product.name)}">
<div itemprop="offers" itemscope itemtype="https://schema.org/Offer">
<span itemprop="price" content="{product.price}">{price}</span>
<meta itemprop="priceCurrency" content="{product.currency}">
<link itemprop="availability" href="https://schema.org/{product.availability}">{stock}
</div>
<p>Brand: {brand}</p>
<p>Item <span itemprop="sku">{product.sku}</span>
<meta itemprop="gtin13" content="{product.gtin}"><meta itemprop="mpn" content="{product.mpn}"></p>
<div itemprop="aggregateRating" itemscope itemtype="https://schema.org/AggregateRating">
<span itemprop="ratingValue">{product.rating}</span> of 5 from
<span itemprop="reviewCount">{product.review_count}</span> reviews</div>
<div itemprop="description"><p>{escape(product.description)}</p></div>
</div>"""
