"""The draft of a site file: which pages are looked at, and which values stand beside a field."""

from __future__ import annotations

from crawler.cli import site_draft
from crawler.cli.site_draft import PAGES, Round, draft, guess, product_pattern
from crawler.extract import Found, Link, parse
from crawler.extract.site import Site

PAGE = """<html><head><title>{name} | Shop</title><script type="application/ld+json">
{{"@context": "https://schema.org", "@type": "Product", "name": "{name}", "sku": "A{n}",
"offers": {{"@type": "Offer", "price": "{n}.50", "priceCurrency": "EUR"}}}}</script></head>
<body><h1>{name}</h1><p class="author-name">{maker}</p><p class="author-name-long">x</p>
<button>Add to cart</button></body></html>"""


def found(n: int, name: str, maker: str) -> Found:
    url = f"https://shop.example/p/{n}"
    return Site().extract(parse(PAGE.format(n=n, name=name, maker=maker).encode(), url))


def test_a_draft_has_values_beside_each_field_and_a_selector_to_try() -> None:
    seen = [found(1, "Red lamp", "Acme"), found(2, "Blue lamp", '"Bolt" \\ Co')]
    text = draft("my_shop", ["https://shop.example/"], seen)

    compile(text, "my_shop.py", "exec")
    assert "# price         2 of 2  json-ld" in text
    assert '#     "1.50", "2.50"' in text
    assert '# "brand": ".author-name::text",  # "Acme", \'"Bolt" \\\\ Co\'' in text
    assert '# "gtin": "css selector::text",  # not found' in text
    assert 'product_pages = r"/p/[^/]+$"' in text


def test_a_draft_of_a_shop_without_products_is_python_too() -> None:
    text = draft("x", ["https://shop.example/", "https://shop.example/b"], [])

    compile(text, "x.py", "exec")
    assert 'seeds = ("https://shop.example/", "https://shop.example/b")' in text


def test_a_selector_is_proposed_only_where_half_of_the_pages_answer_it() -> None:
    pages = [found(n, "x", "m").page.root for n in range(4)]

    assert guess("gtin", pages) is None
    tried = guess("brand", pages)
    assert tried is not None
    assert tried.selector == ".author-name::text"


def test_products_of_different_shelves_come_first_and_no_page_twice() -> None:
    todo = Round([], {"https://s.example/"})
    links = [Link(f"https://s.example/p/{n}", "product", "") for n in range(30)]
    todo.add([Link("https://s.example/c", "listing", ""), *links])
    order = [todo.next(), todo.next(), todo.next(), todo.next()]

    assert [link.url for link in order if link] == [
        "https://s.example/p/0",
        "https://s.example/p/10",
        "https://s.example/p/20",
        "https://s.example/c",
    ]
    assert todo.other_products.pop(0).url == "https://s.example/p/0"
    others = [link.url for link in iter(todo.next, None) if link]
    assert others[:2] == ["https://s.example/p/1", "https://s.example/p/2"]
    assert len(others) == 27


def test_a_shop_of_any_size_costs_so_many_pages_at_most() -> None:
    todo, n = Round([]), 0
    while todo.next() is not None or n == 0:
        todo.add(Link(f"https://s.example/{n}/{i}", "listing", "") for i in range(9))
        n += 1

    assert len(todo.queued_urls) == PAGES


def test_the_pattern_fits_its_urls() -> None:
    assert product_pattern(["http://a.example/p/1/red", "http://a.example/p/2/blue"]) == (
        "/p/[^/]+/[^/]+$"
    )
    assert product_pattern([]) == ""
    assert site_draft.product_pattern(["http://a.example/x", "http://a.example/y/z"]) == ""
