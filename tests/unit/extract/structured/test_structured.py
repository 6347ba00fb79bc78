"""Structured data in the shapes that shops give it: which product is the page's, and its price."""

import json
from decimal import Decimal
from typing import Any

import pytest

from crawler.extract import Found, extract, merge, parse
from crawler.extract.structured import microdata

HERE = "https://shop.example.com/products/napkin"


def found(*blocks: Any, url: str = HERE, head: str = "", body: str = "", lang: str = "en") -> Found:
    scripts = "".join(
        f'<script type="application/ld+json">{json.dumps(block)}</script>' for block in blocks
    )
    text = f'<html lang="{lang}"><head>{head}{scripts}</head><body>{body}</body></html>'
    return extract(parse(text.encode(), url, "text/html"))


def offer(price: Any, currency: str = "EUR", **more: Any) -> dict[str, Any]:
    return {"@type": "Offer", "price": price, "priceCurrency": currency, **more}


def product(name: str, offers: Any = None, **more: Any) -> dict[str, Any]:
    node = {"@context": "https://schema.org", "@type": "Product", "name": name, **more}
    return node if offers is None else {**node, "offers": offers}


def told(page: Found, *names: str) -> list[str | None]:
    assert page.kind == "product", page.verdict.reasons
    return [None if page.fields.get(n) is None else str(page.fields[n]) for n in names]


@pytest.mark.parametrize(
    ("offers", "price", "regular"),
    [
        ([offer(0), offer(12)], "12", None),
        (offer({"@value": "12.00"}), "12.00", None),
        (offer({"@type": "PriceSpecification", "price": "12.00"}), "12.00", None),
        (
            {
                "@type": "Offer",
                "priceSpecification": [
                    {"price": "10.00", "priceCurrency": "EUR", "valueAddedTaxIncluded": False},
                    {"price": "12.00", "priceCurrency": "EUR", "valueAddedTaxIncluded": "true"},
                ],
            },
            "12.00",
            None,
        ),
        (offer("12", "€"), "12", None),
        ({"0": offer(12), "1": offer(13)}, "12", None),
        ({"@type": "AggregateOffer", "offers": [offer(9), offer(7)]}, "7", None),
        ({"@type": "AggregateOffer", "lowPrice": "7,50", "priceCurrency": "EUR"}, "7.50", None),
        ({"@type": "AggregateOffer", "lowprice": 43.95, "pricecurrency": "EUR"}, "43.95", None),
        (offer("1.299,00"), "1299.00", None),
        (offer("1,299"), "1299", None),
        (
            {
                "@type": "Offer",
                "priceCurrency": "EUR",
                "priceSpecification": [
                    {"price": 100, "priceType": "https://schema.org/ListPrice"},
                    {"price": 80},
                ],
            },
            "80",
            "100",
        ),
        (offer(20, priceSpecification=[{"price": 15, "validForMemberTier": {}}]), "20", None),
    ],
)
def test_an_offers_price(offers: Any, price: str, regular: str | None) -> None:
    page = found(product("Linen Napkin", offers))
    assert told(page, "price", "regular_price", "currency") == [price, regular, "EUR"]


def test_a_variant_takes_from_its_group_what_only_that_tells() -> None:
    variant = product("Duffel 40L", offer(165, "USD"), sku="V1", isVariantOf={"@id": "#g"})
    rating = {"@type": "AggregateRating", "ratingValue": 4.45, "reviewCount": 147}
    group = {"@type": "ProductGroup", "@id": "#g", "name": "Duffel", "aggregateRating": rating}
    page = found({"@graph": [variant, group]})
    assert told(page, "name", "price", "rating", "review_count") == [
        "Duffel 40L", "165", "4.45", "147",
    ]  # fmt: skip


@pytest.mark.parametrize("url", [f"{HERE}/NAP-RUST", f"{HERE}.NAP-RUST.html"])
def test_a_variant_whose_code_the_address_names_is_the_pages(url: str) -> None:
    variants = [
        {"@type": "Product", "sku": sku, "name": f"Napkin - {sku}", "offers": offer(price)}
        for sku, price in (("NAP-SAGE", 12), ("NAP-RUST", 14))
    ]
    page = found(product("Linen Napkin", hasVariant=variants), url=url)
    assert told(page, "price", "sku") == ["14", "NAP-RUST"]


def test_of_two_products_the_one_in_the_address_is_the_pages() -> None:
    page = found(
        product("Other Vase", offer(19)),
        product("Main Vase", offer(29)),
        url="https://shop.example.com/main-vase",
    )
    assert told(page, "name", "price") == ["Main Vase", "29"]


def test_values_of_other_products_fill_no_gap() -> None:
    page = found(product("Main Vase"), product("Other Vase", offer(19)), body="<h1>Main Vase</h1>")
    assert "price" not in page.offered["json-ld"]


def test_variants_that_begin_with_the_heading_are_one_product() -> None:
    page = found(
        *(product(f"Tee - {size}", offer(10), sku=f"T{size}") for size in "SML"),
        body="<h1>Tee</h1>",
    )
    assert told(page, "name", "price") == ["Tee", "10"]


def test_an_offer_may_hold_its_product() -> None:
    assert told(found(offer(5, itemOffered=product("Mug"))), "name", "price") == ["Mug", "5"]


def test_references_are_followed_from_product_to_price() -> None:
    page = found(
        {
            "@graph": [
                product("Mug", {"@id": "#o"}),
                {"@type": "Offer", "@id": "#o", "priceSpecification": {"@id": "#s"}},
                {"@id": "#s", "price": "9.50", "priceCurrency": "EUR"},
            ]
        }
    )
    assert told(page, "price", "currency") == ["9.50", "EUR"]


def test_types_in_lower_case_are_read() -> None:
    node = {"@type": "product", "name": "Lamp", "offers": {"@type": "offer", "price": "5"}}
    assert told(found(node), "name", "price") == ["Lamp", "5"]


def test_a_thousand_written_with_a_point_is_told_by_what_the_page_shows() -> None:
    shown = '<h1>Sofa</h1><div class="price">1.299,00 €</div>'
    assert told(found(product("Sofa", offer("1.299")), body=shown, lang="de"), "price") == ["1299"]
    assert told(found(product("Sofa", offer("1.299"))), "price") == ["1.299"]


def test_a_price_tag_that_holds_the_currency_is_passed_over() -> None:
    tags = (("product:price:amount", "AED"), ("product:price:amount", "271.00"),
            ("product:price:currency", "AED"), ("og:type", "product"), ("og:title", "Lady"))  # fmt: skip
    head = "".join(f'<meta property="{key}" content="{value}">' for key, value in tags)
    assert told(found(head=head), "name", "price", "currency") == ["Lady", "271.00", "AED"]


@pytest.mark.parametrize(
    ("price", "currency", "value"),
    [("22,902", "BHD", "22.902"), ("1,799.00", "JOD", "1799.00"), ("1.126,00", "PLN", "1126.00"),
     ("30.000", "OMR", "30.000"), ("279,00", "QAR", "279.00"), ("1,082.00", "try", "1082.00")],
)  # fmt: skip
def test_a_price_in_its_currency(price: str, currency: str, value: str) -> None:
    page = found(product("Mug", offer(price, currency)))
    assert told(page, "price", "currency") == [value, currency.upper()]
    tags = {"og:type": "product", "og:title": "Mug", "product:price:amount": price,
            "product:price:currency": currency}  # fmt: skip
    head = "".join(f'<meta property="{key}" content="{text}">' for key, text in tags.items())
    assert told(found(head=head), "price", "currency") == [value, currency.upper()]


def test_a_node_with_odd_names_is_read() -> None:
    assert found(product("Mug", offer(5), **{"@id": []}), {"@id": {}, "@type": 7}).kind == "product"


def test_an_article_that_mentions_products_is_none() -> None:
    article = {
        "@type": "NewsArticle",
        "headline": "Kettles",
        "mentions": [product("K2", offer(89))],
    }
    page = found(
        article,
        url="https://shop.example.com/news/kettles",
        body="<h1>Kettles</h1><p>$89</p><a>Buy now</a>",
    )
    assert page.kind == "other"


@pytest.mark.parametrize(
    ("name", "heading", "expected"),
    [
        ("Slim 5 | Best price in town", "Slim 5", "Slim 5"),
        ("Slim<br> 5 - EXAMPLESHOP", "", "Slim 5"),
        ("Slim 5 - red", "Slim 5", "Slim 5 - red"),
        ("Slim 5 | red", "Other words", "Slim 5 | red"),
    ],
)
def test_what_search_engines_are_told_beside_a_name_is_left_out(
    name: str, heading: str, expected: str
) -> None:
    url = "https://www.exampleshop.com/product/slim-5"
    page = found(product(name, offer(5)), url=url, body=f"<h1>{heading}</h1>")
    assert told(page, "name") == [expected]


def test_a_menu_is_no_listing() -> None:
    entries = [{"@type": "SiteNavigationElement", "name": n, "url": f"/{n}"} for n in "abcde"]
    menu = {"@type": "ItemList", "itemListElement": entries}
    assert found(menu, url="https://shop.example.com/help").kind == "other"


def test_twitters_labels_tell_price_and_stock() -> None:
    tags = {"twitter:title": "Lamp", "twitter:label1": "Price", "twitter:data1": "12,00 €",
            "twitter:label2": "Availability", "twitter:data2": "Out of stock", "og:type": "product"}  # fmt: skip
    head = "".join(f'<meta name="{key}" content="{text}">' for key, text in tags.items())
    assert told(found(head=head), "name", "price", "availability") == [
        "Lamp",
        "12.00",
        "OutOfStock",
    ]


def test_the_table_says_which_source_wins_whatever_was_read_first() -> None:
    offered = {source: {"brand": source} for source in reversed(merge.ORDER)}
    for winner in merge.ORDER:
        assert merge.merged(offered)[1] == {"brand": winner}
        del offered[winner]
    with pytest.raises(ValueError, match="not in tuple"):  # its values would be lost without a word
        merge.merged({"tea leaves": {"brand": "Acme"}})


@pytest.mark.parametrize(
    "attribute", ["typeof=", "typeof = ", "typeof\n=", "typeof" + " " * 90 + "="]
)
def test_rdfa_is_read_behind_a_script_that_asks_for_types(attribute: str) -> None:
    raw = (
        "<html><head><script>if (typeof x == 1 || typeof(y)) go()</script></head><body>"
        f'<div vocab="https://schema.org/" {attribute}"Product"><h1 property="name">Red lamp</h1>'
        '<div property="offers" typeof="Offer"><span property="price">12.50</span></div></div>'
    )
    assert extract(parse(raw, "https://a.example/p/1")).offered["rdfa"]["name"] == "Red lamp"


def test_a_script_that_asks_for_types_is_no_rdfa() -> None:
    raw = "<html><body><script>if (typeof x == 1 || typeof(y)) go()</script><h1>Red lamp</h1>"
    assert not microdata.rdfa(parse(raw, "https://a.example/p/1"))


def test_two_sources_that_agree_outvote_structured_data_and_one_alone_does_not() -> None:
    offered = {
        "json-ld": {"price": Decimal(10)},
        "opengraph": {"price": Decimal(8)},
        "text": {"price": Decimal(9)},
    }
    merge.outvote(offered, b"<p>Price before: 10</p>")
    assert offered["json-ld"] == {"price": Decimal(10)}
    offered["text"]["price"] = Decimal(8)
    merge.outvote(offered, b"<p>Price before: 10</p>")
    assert offered["json-ld"] == {"price": Decimal(8), "regular_price": Decimal(10)}


@pytest.mark.parametrize(
    "name",
    [
        '<a itemprop="name" href="/shop/stool-{0}.html">Stool {0}</a>',
        '<h3 itemprop="name"><a href="/shop/stool-{0}.html">Stool {0}</a></h3>',
        '<a href="/shop/stool-{0}.html"><b itemprop="name">Stool {0}</b></a>',
    ],
)
def test_products_whose_names_are_links_stand_beside_the_page_s_own(name: str) -> None:
    """Related products in microdata, whose only address is that of the name's link."""
    tiles = "".join(
        f'<div itemscope itemtype="http://schema.org/Product">{name.format(n)}'
        f'<div itemprop="offers" itemscope'
        f' itemtype="http://schema.org/Offer"><b itemprop="price" content="9.{n}0">£9.{n}0</b>'
        "</div></div>"
        for n in range(4)
    )
    own = (
        '<h1>Oak Lamp</h1><p class="code">SKU: OL-410</p><span class="price">£49.00</span>'
        '<form method="post" action="/cart/add"><button>Add to basket</button></form>'
    )
    page = found(body=own + tiles, url="https://a.example/shop/oak-lamp.html")
    assert told(page, "name", "price") == ["Oak Lamp", "49.00"]


def test_a_folder_of_swedish_goods_is_nothing_to_read() -> None:
    """`artiklar` are goods and articles."""
    node = product("Lampa", offer("900", "SEK", availability="InStock"), sku="L-1", image="/l.jpg")
    page = found(node, url="https://a.example/sv/artiklar/lampa.html", lang="sv")
    assert told(page, "name", "price") == ["Lampa", "900"]


def spec(price: Any, **more: Any) -> dict[str, Any]:
    return {"@type": "UnitPriceSpecification", "price": price, "priceCurrency": "EUR", **more}


@pytest.mark.parametrize(
    "other",
    [
        {"@type": "DeliveryChargeSpecification", "price": "4.90", "priceCurrency": "EUR"},
        spec("9.00", eligibleQuantity={"@type": "QuantitativeValue", "minValue": 10}),
        spec("9.00", validForMemberTier={"@type": "MemberProgramTier", "name": "Gold"}),
        spec("9.00", priceType="https://schema.org/MinimumAdvertisedPrice"),
    ],
)
def test_a_charge_a_quantitys_and_a_members_price_are_not_the_price(other: dict[str, Any]) -> None:
    specs = [other, spec("12.50", eligibleQuantity={"minValue": 1})]
    page = found(product("Napkin", {"@type": "Offer", "priceSpecification": specs}))
    assert told(page, "price", "currency") == ["12.50", "EUR"]


@pytest.mark.parametrize(
    "other",
    [
        {"validForMemberTier": {"@type": "MemberProgramTier", "name": "Gold"}},
        {"eligibleQuantity": {"@type": "QuantitativeValue", "minValue": 10}},
    ],
)
def test_an_offer_to_members_or_of_a_quantity_is_not_the_price(other: dict[str, Any]) -> None:
    page = found(product("Napkin", [offer("9.00", **other), offer("12.50")]))
    assert told(page, "price") == ["12.50"]


@pytest.mark.parametrize(
    ("offers", "price", "currency"),
    [
        ({"priceSpecification": {"price": "12.990", "priceCurrency": "CLP"}}, "12990", "CLP"),
        ({"priceSpecification": {"price": "12,500", "priceCurrency": "KWD"}}, "12.500", "KWD"),
        (
            {"price": "12.990", "priceSpecification": {"price": "1", "priceCurrency": "CLP"}},
            "12990",
            "CLP",
        ),
        (
            {"@type": "AggregateOffer", "priceCurrency": "CLP", "offers": [{"price": "12.990"}]},
            "12990",
            "CLP",
        ),
    ],
)
def test_the_currency_beside_or_around_a_price_says_what_its_separators_mean(
    offers: dict[str, Any], price: str, currency: str
) -> None:
    page = found(product("Napkin", {"@type": "Offer", **offers}))
    assert told(page, "price", "currency") == [price, currency]


@pytest.mark.parametrize("gap", ["N/A", "null", "0", 0, "0000000000000"])
@pytest.mark.parametrize("name", ["sku", "mpn", "productID", "gtin13"])
def test_no_placeholder_is_a_products_key(name: str, gap: Any) -> None:
    """All products of a shop that have it would be stored as one."""
    of_product = found(product("Napkin", offer(12), **{name: gap}))
    assert told(of_product, name, "external_id") == [None, "napkin"]
    of_offer = found(product("Napkin", offer(12, **{name: gap})))
    assert told(of_offer, name, "external_id") == [None, "napkin"]


@pytest.mark.parametrize(
    "codes",
    [
        {"gtin13": "4006381333932", "gtin": "4006381333931"},
        {"gtin13": ["n/a", "4006381333931"]},
        {"gtin8": "00000000", "ean": 4006381333931},
    ],
)
def test_a_barcode_with_its_check_digit_goes_before_one_without(codes: dict[str, Any]) -> None:
    assert told(found(product("Napkin", offer(12), **codes)), "gtin") == ["4006381333931"]


@pytest.mark.parametrize(("flag", "stock"), [(True, "InStock"), (False, "OutOfStock")])
def test_a_flag_is_an_availability(flag: bool, stock: str) -> None:
    assert told(found(product("Napkin", offer(12, availability=flag))), "availability") == [stock]


@pytest.mark.parametrize("gap", ["0.00", "none"])
def test_a_sale_price_of_nothing_leaves_the_usual_price(gap: str) -> None:
    tags = {
        "og:type": "product",
        "og:title": "Napkin",
        "product:price:amount": "20.00",
        "product:price:currency": "EUR",
        "product:sale_price:amount": gap,
        "product:mfr_part_no": "N/A",
        "product:ean": "4006381333932",
        "product:gtin": "4006381333931",
    }
    head = "".join(f'<meta property="{name}" content="{text}">' for name, text in tags.items())
    page = found(head=head, body="<h1>Napkin</h1>")
    assert told(page, "price", "regular_price", "mpn") == ["20.00", None, None]
    assert told(page, "gtin") == ["4006381333931"]


@pytest.mark.parametrize(
    ("price", "currency", "expected"),
    [("12.990", "CLP", "12990"), ("22,902", "BHD", "22.902"), ("12.990", "EUR", "12.990")],
)
def test_a_price_in_scripts_is_read_by_its_currency(
    price: str, currency: str, expected: str
) -> None:
    node = {"name": "Napkin", "price": price, "sku": "N/A", "brand": "N/A", "mpn": "-", "id": 0}
    scripts = (
        f"<script>window.__STATE__ = {json.dumps({'currency': currency, 'product': node})}</script>"
    )
    page = found(body=f"<h1>Napkin</h1><button>Add to cart</button>{scripts}")
    assert told(page, "price", "currency") == [expected, currency]
    assert told(page, "sku", "brand", "mpn", "external_id") == [None, None, None, "napkin"]


@pytest.mark.parametrize(
    ("price", "expected", "currency"),
    [
        ("1.299,00 €", "1299.00", "EUR"),
        ("£1,299.00", "1299.00", "GBP"),
        ("1299.00 EUR", "1299.00", "EUR"),
        ("$1,299.00", "1299.00", "AUD"),  # the page's country says which dollar
    ],
)
def test_a_sign_beside_a_price_in_scripts_is_its_currency(
    price: str, expected: str, currency: str
) -> None:
    state = f"<script>window.__STATE__ = {json.dumps({'name': 'Napkin', 'price': price})}</script>"
    page = found(
        body=f"<h1>Napkin</h1><button>Add to cart</button>{state}",
        url="https://shop.example.com.au/products/napkin",
    )
    assert told(page, "price", "currency") == [expected, currency]


def test_a_number_that_a_script_wrote_with_a_point_is_a_products_number() -> None:
    page = found(product("Napkin", offer(12), sku=12345.0, gtin13=4006381333931.0))
    assert told(page, "sku", "gtin") == ["12345", "4006381333931"]


def test_a_list_price_in_another_currency_is_no_price_before() -> None:
    specs = [{"priceType": "ListPrice", "price": "20", "priceCurrency": "USD"}]
    page = found(product("Napkin", offer("12.50", priceSpecification=specs)))
    assert told(page, "price", "regular_price", "currency") == ["12.50", None, "EUR"]


@pytest.mark.parametrize(
    ("price", "currency"), [("£12.50", "GBP"), ("$12.50", "AUD"), ("USD 12.50", "USD")]
)
def test_a_sign_of_several_countries_in_data_is_that_of_the_pages_country(
    price: str, currency: str
) -> None:
    url = "https://shop.example.com.au/products/napkin"
    in_json = found(product("Napkin", {"@type": "Offer", "price": price}), url=url)
    assert told(in_json, "price", "currency") == ["12.50", currency]
    tags = (
        '<meta property="og:type" content="product"><meta property="og:title" content="Napkin">'
        f'<meta property="og:price:amount" content="{price}">'
    )
    in_tags = found(head=tags, body="<h1>Napkin</h1>", url=url)
    assert told(in_tags, "price", "currency") == ["12.50", currency]


def test_a_price_has_the_currency_and_the_price_before_of_its_own_source() -> None:
    """Meta elements in a visitor's currency gave theirs to the price of the data."""
    tags = (
        '<meta property="og:type" content="product"><meta property="og:title" content="Napkin">'
        '<meta property="product:price:amount" content="92.00">'
        '<meta property="product:price:currency" content="EUR">'
        '<meta property="product:original_price:amount" content="130.00">'
    )
    shown = "<h1>Napkin</h1><p class='price'>$100.00</p><button>Add to cart</button>"
    page = found(product("Napkin", {"@type": "Offer", "price": "100"}), head=tags, body=shown)
    assert told(page, "price", "currency", "regular_price") == ["100", "USD", None]


@pytest.mark.parametrize("currency", ["HUF", "IDR", "IRR"])
def test_a_full_stop_divides_thousands_in_a_currency_whose_cents_buy_nothing(currency: str) -> None:
    assert told(found(product("Napkin", offer("12.990", currency))), "price") == ["12990"]
