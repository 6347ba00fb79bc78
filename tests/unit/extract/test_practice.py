"""The site files of the public practice sites, on pages made after their published markup."""

import pytest

from crawler.extract import parse
from crawler.items import Product
from spiders import which_site
from tests.pages import cases

QUOTES = "https://quotes.toscrape.com/"
QUOTE = (
    '<div class="quote" itemscope itemtype="http://schema.org/CreativeWork">'
    '<span class="text" itemprop="text">“{0}”</span><span>by <small class="author" '
    'itemprop="author">{1}</small> <a href="/author/{2}">(about)</a></span><div class="tags">Tags:'
    '<meta class="keywords" itemprop="keywords" content="a,b"/>'
    '<a class="tag" href="/tag/a/page/1/">a</a>'
    '<a class="tag" href="/tag/b/page/1/">b</a></div></div>'
)
LISTING = (
    "<html><head><title>Quotes to Scrape</title></head><body><div class='container'>"
    + QUOTE.format("Be yourself.", "Oscar Wilde", "Oscar-Wilde")
    + QUOTE.format("Imagination is more.", "Albert Einstein", "Albert-Einstein")
    + QUOTE.format("Life is a bicycle.", "Albert Einstein", "Albert-Einstein")
    + '<nav><ul class="pager"><li class="next"><a href="/page/2/">Next <span>→</span></a></li></ul>'
    '</nav><a class="tag" href="/tag/love/">love</a><a href="/login">Login</a></div></body></html>'
)
AUTHOR = (
    '<html><body><div class="author-details"><h3 class="author-title">Albert Einstein</h3><p>Born: '
    '<span class="author-born-date">March 14, 1879</span> <span class="author-born-location">in Ulm'
    '</span></p><div class="author-description">He taught.</div></div></body></html>'
)


def read(html: str, url: str) -> list[Product]:
    site = which_site.find(url)
    page = parse(html, url)
    return list(site.products(page, site.extract(page)))


def test_quotes_are_grouped_by_their_author() -> None:
    items = read(LISTING, QUOTES)
    assert [(item.brand, item.name) for item in items] == [
        ("Albert Einstein", "Imagination is more."),
        ("Albert Einstein", "Life is a bicycle."),
        ("Oscar Wilde", "Be yourself."),
    ]
    assert items[0].breadcrumbs == ["Albert Einstein"]
    assert items[0].attributes == {"tags": "a, b"}
    assert len({item.external_id for item in items}) == 3


def test_an_author_is_an_item_in_the_same_group() -> None:
    (author,) = read(AUTHOR, QUOTES + "author/Albert-Einstein/")
    assert author.name == author.brand == "Albert Einstein"
    assert author.external_id == "author:Albert-Einstein"
    assert author.attributes == {"born": "March 14, 1879", "birthplace": "in Ulm"}


def test_quotes_are_followed_by_page_and_author_only() -> None:
    site = which_site.find(QUOTES)
    links = {link.url.removeprefix(QUOTES) for link in site.links(parse(LISTING, QUOTES))}
    assert links == {"page/2/", "author/Oscar-Wilde", "author/Albert-Einstein"}


def test_a_book_has_its_upc_as_sku() -> None:
    case = next(case for case in cases() if case.name == "oscar-olio")
    product = case.found().product()
    assert product is not None
    assert (product.sku, product.external_id) == ("feb7cc7701ecf901", "feb7cc7701ecf901")
    assert product.price is not None
    assert product.sources["sku"] == "site"


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://scrapeme.live/shop/Bulbasaur/", "product"),
        ("https://scrapeme.live/shop/page/2/", "other"),
        ("https://scrapeme.live/shop/", "other"),
    ],
)
def test_scrapemes_products_stand_right_below_the_shop(url: str, kind: str) -> None:
    html = (
        '<h1 class="product_title entry-title">Bulbasaur</h1><p class="price"><span class="'
        'woocommerce-Price-amount amount"><span class="woocommerce-Price-currencySymbol">£</span>'
        '63.00</span></p><p class="stock in-stock">45 in stock</p><span class="sku_wrapper">SKU: '
        '<span class="sku">4391</span></span>'
    )
    found = which_site.find(url).extract(parse(html, url))
    assert found.kind == kind
    if kind == "product":
        product = found.product()
        assert product is not None
        assert (product.name, str(product.price), product.currency, product.sku) == (
            "Bulbasaur", "63.00", "GBP", "4391",
        )  # fmt: skip
        assert product.availability == "InStock"
