"""Links to another order of a listing's products are no listings of their own."""

from __future__ import annotations

import pytest

from crawler.extract import extract, find_links, parse


@pytest.mark.parametrize("name", ["ordina", "tri", "siralama", "ordenar"])
def test_an_order_of_a_scripts_listing_is_no_listing_of_its_own(name: str) -> None:
    """Each of six categories of an Italian shop was fetched in two further orders."""
    body = f"<a href=?k=3&{name}=x>x</a><a href=list.php?k=4>Bowls</a>"
    page = parse(f"<html><title>A</title>{body}", "https://a.example/list.php?k=3")
    assert [link.url for link in find_links(page)] == ["https://a.example/list.php?k=4"]


def test_a_numbered_order_is_no_number_of_products() -> None:
    """nopCommerce's `orderby=10` was followed as all of a listing, by each listing's select."""
    picture = "<div class=product-item><a href=/reel-{0}><img src=/{0}.jpg></a>"
    tile = picture + "<h2><a href=/reel-{0}>Reel {0}</a></h2><span class=price>${0}.50</span></div>"
    tiles = "".join(map(tile.format, range(20, 26)))
    orders = "<select><option value=/reels?orderby=0>0<option value=/reels?orderby=10>1</select>"
    html = f"<html lang=en><title>A</title><h1>Reels</h1>{orders}{tiles}"
    page = parse(html, "https://a.example/reels")
    extract(page)
    assert not [link.url for link in find_links(page) if "orderby" in link.url]


@pytest.mark.parametrize("name", ["vista", "vue", "ansicht", "widok"])
def test_pages_that_a_script_tells_apart_by_its_view_are_followed(name: str) -> None:
    """Scripts call what they show so: no page of such a shop was reached."""
    body = f"<a href=?{name}=lamps>Lamps</a><a href='?{name}=goods&id=3'>Goods</a>"
    page = parse(f"<html><title>A</title>{body}", "https://a.example/index.php")
    assert len(find_links(page)) == 2
