"""A switch of languages tells which folders are copies, where a shop has no alternates."""

from __future__ import annotations

import pytest

from crawler.extract import find_links, parse

SHOP = "https://shop.example"
GOODS = "<a href=/p/hali-usak-1003>Hal\u0131</a>"
MENU = "<ul class=menu><li><a href=/hali>Hal\u0131</a><li><a href=/kilim>Kilim</a></ul>"


def followed(switch: str, path: str = "/", lang: str = "tr") -> set[str]:
    body = f"<html lang={lang}><title>A</title><body>{switch}{MENU}{GOODS}"
    links = find_links(parse(body, SHOP + path))
    return {link.url.removeprefix(SHOP) for link in links} - {
        "/",
        "/hali",
        "/kilim",
        "/p/hali-usak-1003",
    }


@pytest.mark.parametrize(
    "switch",
    [
        "<div><a href=/>TR</a><a href=/en/>EN</a><a href=/ar/>AR</a></div>",
        "<ul><li><a href=https://shop.example/>T\u00fcrk\u00e7e</a><li><a href=/en>English</a></ul>",
        "<div><span>T\u00fcrk\u00e7e</span> <a href=/zh-tw/>\u7e41\u9ad4\u4e2d\u6587</a></div>",
        "<p><a href=/><img alt=TR></a> <a href=/en/><img alt=English></a></p>",
    ],
)
def test_copies_that_a_switch_leads_to_are_left_out(switch: str) -> None:
    """Copies below /en/ and /ar/ took 248 of 317 requests of a shop of 28 products."""
    assert followed(switch) == set()


def test_a_page_of_a_copy_is_left_out_with_its_folder() -> None:
    switch = "<div><a href=/>TR</a><a href=/en/>EN</a></div><p><a href=/en/carpets>Carpets</a></p>"
    assert followed(switch) == set()


@pytest.mark.parametrize(
    ("switch", "lang"),
    [
        ("<div><a href=/it/>IT</a><a href=/tv/>TV</a></div>", "tr"),
        ("<div><a href=/tr/>TR</a><a href=/en/>EN</a></div>", "tr"),
        ("<div><a href=/>TR</a><a href=/it/>Computers</a></div>", "tr"),
        ("<div><a href=/>TR</a><a href=/en/>EN</a></div>", "en"),
        ("<nav><a href=/english>English</a><a href=/it/>IT</a><a href=/es/>ES</a></nav>", "en"),
        ("<p><a href=/>EN</a></p><p><a href=/it/>IT</a></p><p><a href=/hr/>HR</a></p>", "en"),
        ("<div><span>ID 55</span><a href=/en/>EN</a></div>", "id"),
    ],
    ids=[
        "no own language",
        "each has a folder",
        "its name is no language",
        "the page's own",
        "departments",
        "departments elsewhere",
        "a number",
    ],
)
def test_folders_that_may_be_the_only_shop_or_goods_are_followed(switch: str, lang: str) -> None:
    assert followed(switch, lang=lang)


@pytest.mark.parametrize("goods", ["", "<a href=/de/p/lampe-1003>Lampe</a>"])
def test_the_only_shop_is_followed_from_a_front_page_without_goods(goods: str) -> None:
    """A firm's pages in English led to its German shop, of which no page was fetched."""
    firm = "".join(f"<a href=/{x}>{x}</a> " for x in ("about", "team", "news", "press", "faq", "a"))
    body = f"<nav>{firm}</nav><p><span>EN</span> <a href=/de/>DE</a></p>{goods}"
    page = parse(f"<html lang=en><title>A</title><body>{body}", f"{SHOP}/")
    assert f"{SHOP}/de/" in {link.url for link in find_links(page)}


def test_alternates_are_known_as_react_writes_them() -> None:
    """Next.js writes `hrefLang`, and copies on other hosts were fetched."""
    head = '<link rel=alternate hrefLang=en href="https://en.shop.example/">'
    body = f'<html lang=tr><head>{head}</head>{MENU}<a href="https://en.shop.example/rugs">EN</a>'
    found = [link.url for link in find_links(parse(body, f"{SHOP}/yastik"))]
    assert found == [f"{SHOP}/hali", f"{SHOP}/kilim"]
