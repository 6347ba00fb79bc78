"""What crawls of whole shops in the default themes of widespread systems taught."""

from decimal import Decimal

import pytest

from crawler.extract import Found, extract, find_links, parse

SHOP = "https://shop.example"


def read(body: str, lang: str = "en", path: str = "/p/oak-lamp-12345") -> Found:
    return extract(parse(f'<html lang="{lang}"><body>{body}</body></html>', f"{SHOP}{path}"))


def links(body: str, path: str) -> list[str]:
    page = parse(f"<html lang=en><body><h1>Lamps</h1>{body}</body></html>", f"{SHOP}{path}")
    return [link.url.removeprefix(SHOP) for link in find_links(page)]


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", "Free shipping"),
        ("en", "Delivery: free"),
        ("de", "Versandkostenfrei"),
        ("de", "Kostenloser Versand"),
        ("fr", "Livraison offerte"),
        ("pl", "Darmowa dostawa"),
    ],
)
def test_free_postage_above_two_prices_is_no_label_of_the_first(lang: str, words: str) -> None:
    found = read(
        f"<h1>Lampe Ada</h1><div>{words}</div><div><del>97,36 €</del> <b>77,88 €</b></div>"
        "<button>Add to cart</button>",
        lang,
    )
    assert found.fields["price"] == Decimal("77.88")
    assert found.fields["regular_price"] == Decimal("97.36")


def test_an_amount_below_free_postage_from_is_not_the_price() -> None:
    found = read(
        "<h1>Oak lamp</h1><div>Free shipping from</div><div>$50.00</div><p class='price'>$77.88</p>"
        "<button>Add to cart</button>"
    )
    assert found.fields["price"] == Decimal("77.88")


@pytest.mark.parametrize(
    ("lang", "first", "last"), [("es-MX", "De", "Hasta"), ("pt-BR", "De", "Até")]
)
def test_a_bundle_costs_the_lower_end_of_its_range(lang: str, first: str, last: str) -> None:
    found = read(
        f"<h1>Olla Ada</h1><div class='price-box'><p class='price-from'><span class='price-label'>"
        f"{first}</span> <span class='price'>$928.05</span></p><p class='price-to'><span "
        f"class='price-label'>{last}</span> <span class='price'>$1,856.10</span></p></div>"
        "<button>Add to cart</button>",
        lang,
    )
    assert found.fields["price"] == Decimal("928.05")


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("fr", "Cet article n’est plus disponible"),
        ("fr", "Plus disponible"),
        ("da", "Ikke længere på lager"),
        ("nb", "Ikke lenger på lager"),
    ],
)
def test_what_is_not_in_stock_any_more_may_return(lang: str, words: str) -> None:
    found = read(f"<h1>Lampe Ada</h1><p class='price'>45,00 €</p><p>{words}</p>", lang)
    assert found.fields["availability"] == "OutOfStock"


def test_the_end_of_a_price_filter_is_not_the_price_of_a_lists_last_tile() -> None:
    found = read(
        "<h1>Květináče</h1><div id='filters'><div class='slider-wrapper'><h4>Cena</h4><span>"
        "<span id='min'>49</span> Kč</span><span><span id='max'>9000</span> Kč</span></div></div>"
        "<div class='products'><div class='product'><a href='/truhlik-ada/' class='image'>"
        "<img src='/1.jpg'></a><a href='/truhlik-ada/' class='name'>Truhlík Ada</a><span>Skladem"
        "</span><strong>129 Kč</strong><form method=post><button>Do košíku</button></form></div></div>",
        "cs",
        "/kvetinace/",
    )
    assert found.kind != "product"


@pytest.mark.parametrize(
    "box",
    [
        "<div class='type-product product_cat-oil-filters'>{}<button>Add to cart</button></div>",
        "<div class='variant-filters'><p>Oak</p>{}</div><button>Add to cart</button>",
    ],
)
def test_the_box_of_a_category_of_filters_or_of_a_choice_is_no_filter(box: str) -> None:
    found = read(f"<h1>Oil filter Ada</h1>{box.format('<p class=price>$89.00</p>')}")
    assert (found.kind, found.fields.get("price")) == ("product", Decimal("89.00"))


@pytest.mark.parametrize(
    "words",
    [
        "<div>Kostenloser Versand</div><div>ab 50 €</div><div>77,88 €</div>",
        "<div>Versandkostenfrei:</div><div>50,00 €</div><div>77,88 €</div>",
    ],
)
def test_the_sum_from_which_postage_is_free_is_no_price(words: str) -> None:
    fields = read(f"<h1>Lampe Ada</h1>{words}<button>In den Warenkorb</button>", "de").fields
    assert (fields["price"], fields.get("regular_price")) == (Decimal("77.88"), None)


def test_a_map_in_the_box_is_no_price_for_those_who_hold_a_card() -> None:
    found = read("<h1>Bordspel</h1><p>Bordspel met kaart € 24,95</p><button>Bestel</button>", "nl")
    assert found.fields["price"] == Decimal("24.95")


def test_a_dolls_house_in_stock_is_no_flat() -> None:
    found = read(
        "<h1>Maison de poupée 3 pièces</h1><p class=price>89,00 €</p><p>En stock</p><p>Réf. 3344</p>",
        "fr",
    )
    assert found.kind == "product"


@pytest.mark.parametrize(
    "reference",
    [
        "/productemailafriend/1204",
        "/quote.php?id=1204",
        "/product/recommend_mail.html?product_no=1204",
        "/?mode=inq&pid=1204",
    ],
)
def test_a_form_about_a_product_is_not_fetched(reference: str) -> None:
    assert links(f"<a href='{reference}'>Tell a friend</a>", "/?pid=1204") == []


def test_an_arrow_to_the_first_page_is_the_page_itself() -> None:
    pager = (
        "<div><a href='?page=1'><img src='/left.gif'></a><ol><li><a href='?page=1'>1</a></li>"
        "<li><a href='?page=2'>2</a></li></ol><a href='?page=2'><img src='/right.gif'></a></div>"
    )
    assert links(pager, "/lamps/") == ["/lamps/?page=2"]
    tile = "<a href='/p/oak-lamp-12'>Oak lamp</a>"
    assert links(tile + pager, "/lamps/?page=2") == ["/p/oak-lamp-12", "/lamps/"]
