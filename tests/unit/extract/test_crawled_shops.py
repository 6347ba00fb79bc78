"""What crawls of whole shops of widespread systems taught: columns, pages of lists, words below."""

from decimal import Decimal

import pytest

from crawler.extract import Found, extract, find_links, parse

SHOP = "https://shop.example"


def read(body: str, path: str = "/p/oak-lamp-12345", lang: str = "en", title: str = "") -> Found:
    html = f'<html lang="{lang}"><head><title>{title}</title></head><body>{body}</body></html>'
    return extract(parse(html, f"{SHOP}{path}"))


TILES = "".join(
    f'<div class="tile"><a href="/p/{n}"><img src="/{n}.jpg"></a><a href="/p/{n}">Lamp {n}</a>'
    f'<span class="price">{n}9,00 €</span><button>Buy</button></div>'
    for n in (1, 2, 3)
)


def test_a_column_whose_amount_stands_before_its_first_link_sells_the_pages_own_thing() -> None:
    found = read(
        "<h1>Oak lamp</h1><aside><div><span>129,00 €</span></div><div>12,90 € x 10 <a href='/rates'>"
        "rates</a></div><button>Add to cart</button><a href='/shop/7'>Lamp house</a></aside>"
        "<section><h2>Reviews</h2><p>I got it for 89,00 € and like it</p></section>"
    )
    assert found.fields["price"] == Decimal("129.00")
    assert found.fields["availability"] == "InStock"


@pytest.mark.parametrize(
    "column",
    [
        "<aside><a href='/p/2'>Elm lamp</a> <span>89,00 €</span><button>Buy</button></aside>",
        "<aside><span>89,00 €</span><a href='/p/2'><img src='/2.jpg'>Elm lamp</a></aside>",
    ],
)
def test_a_column_with_a_picture_or_a_link_before_its_amount_shows_another_thing(
    column: str,
) -> None:
    found = read(f"<h1>Oak lamp</h1>{column}<p class='price'>129,00 €</p><button>Buy</button>")
    assert found.fields["price"] == Decimal("129.00")


def test_a_price_behind_another_editions_link_and_price_is_no_tiles() -> None:
    found = read(
        '<h1>Cien noches</h1><a href="/ebook-9">eBook <b>13,24 €</b></a><div class="box">'
        '<strong class="price">22,07 €</strong></div><a class="btn" href="#">Comprar</a>'
        '<p class="price">Socios: 5% de descuento adicional, 20,97 €</p>',
        lang="es",
    )
    assert found.fields["price"] == Decimal("22.07")


@pytest.mark.parametrize(
    "words", ["Protection acheteurs incluse", "with buyer protection", "inkl. Käuferschutz"]
)
def test_an_amount_that_the_words_below_call_another_one_is_not_the_price_before(
    words: str,
) -> None:
    found = read(
        f'<h1>Robe</h1><div class="pricing"><p>27,21 €</p><button class="price-incl"><div>29,27 €'
        f"</div><span>{words}</span></button></div><button>Acheter</button>"
    )
    assert found.fields["price"] == Decimal("27.21")
    assert "regular_price" not in found.fields


@pytest.mark.parametrize("path", ["/books/?page=3", "/books?sort=new&pag=2", "/libros?pagina=12"])
def test_the_one_thing_on_a_lists_last_page_is_not_the_list(path: str) -> None:
    found = read(f"<h1>Novels</h1>{TILES.split('</div>')[0]}</div><a href='?page=1'>1</a>", path)
    assert found.kind != "product"


@pytest.mark.parametrize("path", ["/index.php?page=3", "/?page=12", "/p/oak-lamp?page=1"])
def test_a_number_of_a_page_that_may_be_any_says_nothing(path: str) -> None:
    body = "<h1>Oak lamp</h1><p class='price'>129,00 €</p><button>Add to cart</button>"
    assert read(body, path).kind == "product"


def test_three_tiles_with_a_button_each_below_a_sentence_with_an_amount_are_a_list() -> None:
    found = read(f"<h1>Lamps</h1><p>Oak lamps from € 42,00. 8 products</p>{TILES}", "/lamps/oak/")
    assert found.kind == "listing"


@pytest.mark.parametrize(
    ("price", "expected"),
    [
        ("<p>44:80 /st</p>", "44.80"),
        ("<p class='price'>1 044:80</p>", "1044.80"),
        ("<p><span>29:-</span> <span>/st</span></p>", "29"),
    ],
)
def test_a_colon_before_the_cents_of_a_swedish_price(price: str, expected: str) -> None:
    found = read(
        f"<h1>Kaffe</h1>{price}<p>Jämförpris 76,16 kr/kg</p><button>Köp</button>", lang="sv"
    )
    assert (found.fields["price"], found.fields["currency"]) == (Decimal(expected), "SEK")


def test_a_swedish_time_of_the_day_is_no_price() -> None:
    found = read("<h1>Kaffe</h1><p>10:30</p><p>149 kr</p><button>Köp</button>", lang="sv")
    assert found.fields["price"] == Decimal(149)


def test_a_recipe_with_a_price_a_portion_is_no_product() -> None:
    found = read(
        "<h1>Pannkakor</h1><p>12 kr/portion</p><button>Lägg i varukorgen</button>",
        "/recept/pannkakor",
        lang="sv",
    )
    assert found.kind != "product"


def test_a_name_behind_its_makers_link_finds_the_product_in_the_pages_state() -> None:
    found = read(
        '<h1><a href="/mavi-x-b12">Mavi</a> <span>Mom Jean</span></h1><div>1.299,90 TL</div><script>'
        'window.__STATE__={"product":{"name":"Mom Jean","brand":{"name":"Mavi"},"productCode":"T7",'
        '"price":{"value":1299.9},"currency":"TRY","inStock":true}}</script>',
        lang="tr",
    )
    assert found.fields["brand"] == "Mavi"
    assert found.fields["sku"] == "T7"


@pytest.mark.parametrize(("address", "brand"), [("/mavi-x-b12", "Mavi"), ("/mavis", None)])
def test_a_link_at_the_headings_beginning_names_the_maker(address: str, brand: str | None) -> None:
    found = read(
        f'<h1><a href="{address}">Mavi</a> <span>Mom Jean</span></h1><div class="price">12,00 €</div>'
        "<button>Add to cart</button>"
    )
    assert found.fields.get("brand") == brand


def test_a_pager_of_radio_buttons_is_turned() -> None:
    pager = "".join(
        f'<li class="page-item"><input type="radio" name="p" id="p{n}" value="{n}"'
        f'{" checked" * (n == 1)}><label class="page-link" for="p{n}">{n}</label></li>'
        for n in (1, 2, 3)
    )
    html = f'<html><body><h1>Lamps</h1><ul class="pagination">{pager}</ul></body></html>'
    links = {link.url: link.kind for link in find_links(parse(html, f"{SHOP}/lamps/"))}
    assert links == {f"{SHOP}/lamps/?p=2": "pagination", f"{SHOP}/lamps/?p=3": "pagination"}


def test_what_is_published_soon_is_preordered() -> None:
    found = read(
        "<h1>Mapas</h1><p class='precio'>12,07 €</p><div>Próxima publicación. Resérvalo ya</div>"
        "<a class='btn' href='#'>Añadir a la cesta</a>",
        lang="es",
    )
    assert found.fields["availability"] == "PreOrder"


def test_an_amount_that_a_word_below_calls_the_card_holders_is_not_the_price() -> None:
    found = read(
        "<h1>Чайник</h1><div><button><div><div><span>5 595 ₽</span></div><div><span>с Картой</span></div>"
        "</div></button><div><div><span>6 043 ₽</span><span>8 460 ₽</span></div><span>без Карты</span>"
        "</div></div><button>Добавить в корзину</button>",
        lang="ru",
    )
    assert found.fields["price"] == Decimal(6043)
    assert found.fields["regular_price"] == Decimal(8460)


@pytest.mark.parametrize("path", ["/list?category_id=1&pageno=3", "/list?category_id=1&start=12"])
def test_a_link_that_holds_picture_name_and_price_is_a_tile(path: str) -> None:
    found = read(
        '<div>1 product</div><ul><li><a href="/detail/9"><img src="/9.jpg"><p>Oak lamp</p>'
        '<p class="price">€ 38,00</p></a><button>Add to cart</button></li></ul>',
        path,
        title="Red house / Kitchen",
    )
    assert found.kind != "product"


def test_a_link_that_shows_the_picture_or_fills_the_cart_is_no_tile() -> None:
    for address in ("/large/9.jpg", "/cart/add/9"):
        found = read(
            f'<h1>Oak lamp</h1><a href="{address}"><img src="/9.jpg"><b>Large view</b> <b>€ 38,00</b>'
            "</a><button>Add to cart</button>"
        )
        assert found.fields["price"] == Decimal(38)


def test_a_message_above_the_box_with_the_heading_says_that_the_sale_ended() -> None:
    found = read(
        '<div class="message">Anúncio pausado</div><div><div><div><h1>Panela 6l</h1></div>'
        '<div class="price">R$ 189,90</div></div></div>',
        "/MLB-3000027756-panela",
        "pt-BR",
    )
    assert found.fields["availability"] == "OutOfStock"


@pytest.mark.parametrize(
    ("lang", "heading", "told"),
    [
        ("pl", "Opinie o produkcie", "Kupiłem za 89,00 zł i jestem zadowolony"),
        ("fa", "دیدگاه کاربران", "من ۱٬۲۰۰٬۰۰۰ تومان خریدم راضیم"),
        ("tr", "Yorumlar", "450 TL'ye aldım çok memnunum"),
        ("fr", "Avis clients", "Acheté 45 € en promo"),
        ("th", "รีวิวสินค้า", "ซื้อมา 99 บาท คุ้มมาก"),
    ],
)
def test_what_buyers_say_they_paid_is_no_price(lang: str, heading: str, told: str) -> None:
    found = read(
        f"<h1>Lamp X-200 white</h1><p>SKU: 55-12-7</p><h2>{heading}</h2><p>{told}</p>", lang=lang
    )
    assert "price" not in found.fields


@pytest.mark.parametrize(
    ("lang", "body", "price"),
    [
        ("it", "<div><b>21,90 €</b> / bottiglia</div><div>29,20 €/l</div>"
         "<div>Cassa da 6 bottiglie: <b>124,83 €</b></div>", "21.90"),
        ("de", "<div><b>9,90 €</b> / Flasche</div><div>13,20 €/l</div>"
         "<div>6er-Karton: <b>56,40 €</b></div>", "9.90"),
    ],
)  # fmt: skip
def test_the_price_of_a_bottle_is_that_of_one_piece(lang: str, body: str, price: str) -> None:
    found = read(f"<h1>Barolo 2018</h1>{body}<button>Add to cart</button>", lang=lang)
    assert found.fields["price"] == Decimal(price)


def test_struck_postage_near_two_amounts_does_not_keep_them_apart() -> None:
    found = read(
        "<h1>Mixer Grinder</h1><div>₹3,648</div><div>₹5,836</div><div>37% off</div><button>Buy now</button>"
        "<div>Delivery by 29 Nov | Free <s>₹40</s></div><div>See other sellers from ₹3,718</div>"
    )
    assert found.fields["price"] == Decimal(3648)
    assert found.fields["regular_price"] == Decimal(5836)


def test_a_price_above_the_heading_is_found_where_a_sentence_below_has_an_amount() -> None:
    tiles = TILES.replace('class="tile"', 'class="listing-card"').replace(
        "<button>Buy</button>", ""
    )
    found = read(
        '<div><div data-qa="price"><p><span>Price:</span> €58,40</p></div><h1>Espresso cup</h1><a href="/shop/clay">'
        "ClayByAnna</a><button>Add to basket</button><p>Gift wrapping available for €3,50. See more at "
        f"my shop.</p></div><section><h2>You may also like</h2>{tiles}</section>"
    )
    assert found.fields["price"] == Decimal("58.40")


def test_a_bare_struck_amount_has_the_currency_of_the_price_behind_it() -> None:
    found = read(
        '<h1>کتری برقی</h1><div><span class="line-through">۱۱٬۹۶۱٬۰۰۰</span><span class="badge">۲۰٪</span>'
        '</div><div class="flex"><span data-testid="price-final">۹٬۵۶۹٬۰۰۰</span><p>تومان</p></div>'
        "<button>افزودن به سبد</button>",
        lang="fa",
    )
    assert found.fields["price"] == Decimal(95_690_000)
    assert found.fields["regular_price"] == Decimal(119_610_000)


def test_a_message_in_a_box_that_is_called_one_says_that_the_offer_is_gone() -> None:
    found = read(
        '<section><div class="outcome-warning">Diese Anzeige ist nicht mehr verfügbar.</div><article>'
        '<section><h1>Bohrmaschine</h1><h2 class="price">85 € VB</h2></section></article></section>',
        "/s-anzeige/bohrmaschine/2900061736",
        "de",
    )
    assert found.fields["availability"] == "Discontinued"


@pytest.mark.parametrize(
    "body",
    [
        "<p>CHF 349.– inkl. MwSt. und vRG</p>",
        "<div>CHF 349.–</div><p>inkl. MwSt., vRG: CHF 0.49</p>",
    ],
)
def test_the_fee_for_recycling_is_no_price_and_a_remark_on_it_no_fee(body: str) -> None:
    found = read(f"<h1>Oak lamp</h1>{body}<button>In den Warenkorb</button>", lang="de-CH")
    assert found.fields["price"] == Decimal(349)


def test_a_fee_below_the_price_above_the_heading_is_not_the_price() -> None:
    found = read(
        "<div><div><strong><button>CHF 176.–</button></strong><span>statt <b>226.–</b></span>"
        "<span>inkl. MwSt., vRG: CHF 0.49</span></div><h1><a href='/brand/sony-12'>Sony</a> "
        "<span>Headphones</span></h1><button>In den Warenkorb</button></div>",
        lang="de-CH",
    )
    assert found.fields["price"] == Decimal(176)
    assert found.fields["brand"] == "Sony"


@pytest.mark.parametrize(
    ("told", "currency"),
    [
        ("<p>Pesos argentinos</p>", "ARS"),
        (
            "<a href='https://www.argentina.gob.ar/produccion/defensadelconsumidor'>Reclamos</a>",
            "ARS",
        ),
        ("<a href='https://www.gob.mx/profeco'>Profeco</a><p>Pesos mexicanos</p>", "MXN"),
        ("<p>Precios en dólares</p>", "USD"),
    ],
)
def test_a_dollar_sign_is_that_of_the_state_that_the_page_speaks_of(
    told: str, currency: str
) -> None:
    found = read(
        f"<h1>Mate</h1><p class='price'>$13.606,00</p><button>Comprar</button>{told}", lang="es"
    )
    assert found.fields["currency"] == currency


def test_a_name_ends_at_the_number_in_a_lone_box() -> None:
    found = read(
        '<div class="product-details"><div class="name">Oak lamp<span class="sku">ID</span>'
        '<span class="code">300403</span></div></div><img src="/1.jpg"><p class="price">$120.24</p>'
        "<form action=/cart method=post><button>Add to cart</button></form>",
        title="Oak lamp | Store",
    )
    assert found.fields["name"] == "Oak lamp"
