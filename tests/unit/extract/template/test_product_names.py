"""Names are told by comparing pages where a site's headings are the shop's own on all of them."""

import random
from typing import Any

import pytest

from crawler.extract import extract, parse
from crawler.extract.template import Book, Drift
from crawler.extract.template.product_names import name_place
from crawler.extract.template.values_by_place import Text, heading_at, texts_of, value_at

PARTS = ("Brake disc", "Oil filter", "Clutch set", "Wiper arm", "Fuel pump", "Spark plug")
GOODS = [(f"{PARTS[n % 6]} {n + 240} mm", f"{n // 6}-{n * 7919 % 10_000}") for n in range(40)]
MAKERS = ("ATE", "Bosch", "Sachs")


def titled(name: str, number: str, n: int) -> str:
    return f"<title>Bolt and Co :: {name} :: {MAKERS[n % 3]}</title><h1>Bolt and Co</h1>"


def in_a_row(name: str, number: str, n: int) -> str:
    return f"<title>{name} | Bolt and Co</title><h1>Bolt and Co</h1><b>Bolt and Co</b><i>{name}</i>"


def addressed(name: str, number: str, n: int) -> str:
    return f"<title>Bolt and Co</title><h1>Bolt and Co</h1><td>{name}</td>"


def headed(name: str, number: str, n: int) -> str:
    title = f"<title>{name} by {MAKERS[n % 3]} - Bolt and Co</title><h1>Bolt and Co</h1>"
    return f"{title}<h2>{name}</h2><p>by {MAKERS[n % 3]}</p>"


def in_one_box(name: str, number: str, n: int) -> str:
    head = f"<title>{name} | Bolt and Co</title><h1>Bolt and Co</h1>"
    return f"{head}<div><b>Bolt and Co</b><i>{name}</i></div>"


def page(head: str, number: str, n: int) -> str:
    return f"""<html lang=en><body>{head}<p>For cars of all makes since 1998, with screws, number {n}.</p>
    <p>Part no.: {number}</p><p class=price>{n + 3}.90 EUR</p>
    <form><button>Add to cart</button></form></body></html>"""


def url(name: str, n: int) -> str:
    return f"https://bolt.example/parts/{name.lower().replace(' ', '-')}-{n}"


@pytest.mark.parametrize("shop", [titled, in_a_row, addressed, headed, in_one_box])
def test_a_heading_that_all_pages_have_gives_way_to_what_names_each(shop):
    told: list[Drift] = []
    book, read = Book(told.append), []
    for n, (name, number) in enumerate(GOODS):
        found = extract(parse(page(shop(name, number, n), number, n), url(name, n)))
        judged = book.judge("bolt", found)
        read.append("name" not in judged.doubts and found.fields.get("name") == name)
    assert all(read[15:])
    assert not any(d.kind == "dispute" for d in told)
    asked = {address for address, _ in book.pages_to_reread("bolt")}
    assert all(read[n] or url(GOODS[n][0], n) in asked for n in range(15))


def shown(columns: list[dict[str, str]]) -> list[Any]:
    from crawler.extract.template.values_by_place import Text

    return [
        (c["url"], [Text(at, text, (), False, False) for at, text in c.items() if at != "url"])
        for c in columns
    ]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(lambda n: {"b": "Bolt and Co"}, id="the same everywhere"),
        pytest.param(lambda n: {"b": f"A word about part {n}, not in the title"}, id="other words"),
        pytest.param(lambda n: {"b": f"{n * 7919}"}, id="a number"),
        pytest.param(lambda n: {"b": "Oil filter"} if n % 2 else {}, id="on some pages"),
    ],
)
def test_what_names_no_page_is_no_name(other):
    pages = [
        {"title": "Bolt and Co", "url": f"https://bolt.example/p/{n}", **other(n)} for n in range(6)
    ]
    assert name_place(shown(pages)) is None


def test_a_title_with_the_shop_in_it_is_no_name():
    pages = [
        {"title": f"Bolt and Co :: {name}", "url": "https://bolt.example/p"}
        for name, _ in GOODS[:6]
    ]
    assert name_place(shown(pages)) == "0 last title"


def test_few_pages_tell_nothing():
    pages = [{"title": name, "url": "https://bolt.example/p"} for name, _ in GOODS[:4]]
    assert name_place(shown(pages)) is None


def test_addresses_that_differ_in_figures_alone_have_no_name_either():
    pages = [
        {"title": "Bolt and Co", "url": f"https://bolt.example/item{n}.html", "td": name}
        for n, name in enumerate(f"{part} {side}" for part in PARTS for side in ("left", "right"))
    ]
    assert name_place(shown(pages)) == "0 whole td"
    assert name_place(shown(pages[:5])) is None


def test_a_label_tells_the_name_from_an_author_where_titles_and_addresses_have_none():
    authors = ("Jane Hill", "Tom Oak", "Ida Lund", "Max Frey", "Ann Lee")
    pages = [
        {
            "title": "Bolt and Co",
            "url": f"https://bolt.example/item{n}.html",
            "th": "Author:",
            "td": authors[n],
            "th.two": "Title:",
            "b": name,
        }
        for n, (name, _) in enumerate(GOODS[:5])
    ]
    assert name_place(shown(pages)) == "0 whole b"
    for each in pages:
        del each["th.two"]
    assert name_place(shown(pages)) is None


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("Oak House - {} by {}", ["The far shore", "A late hour", "Red hill", "Salt", "Two doors"]),
        ("Oak House - {}, {}", [f"Lens 24-7{n}mm f/1.{n} 100{n}" for n in range(5)]),
        (
            "{} by {} - Oak House",
            ["Salt - part 1", "Elm - part 2", "Sun - part 1", "Dew - part 2", "Red hill"],
        ),
    ],
)
def test_the_box_with_the_name_alone_goes_before_the_title_with_more(title: str, names: list[str]):
    authors = ("Ann Voss", "Jo Lind", "Max Ruiz", "Ida Holm", "Tom Berg")
    pages = []
    for n, name in enumerate(names):
        title_text = Text("title", title.format(name, authors[n]), (), struck=False, labelled=False)
        box = Text("b<td<tr", name, (), struck=False, labelled=False)
        pages.append((f"https://oak.example/item{n}.html", (title_text, box)))
    assert name_place(pages) == "0 whole b<td<tr"


def names_of(heads: list[str], book: Book, link: str = "release") -> list[Any]:
    """Read pages one after the other; the names, None where one is doubted."""
    names = []
    for n, head in enumerate(heads):
        address = f"https://bolt.example/{link}/{n + 700}"
        found = extract(parse(page(head, f"B-{n + 40}", n), address))
        judged = book.judge("bolt", found)
        names.append(None if "name" in judged.doubts else found.fields.get("name"))
    return names


def test_a_heading_with_a_few_makers_or_artists_is_joined_by_the_one_below():
    told: list[Drift] = []
    book = Book(told.append)
    goods = [(MAKERS[n * 7 % 3], name) for n, (name, _) in enumerate(GOODS)]
    heads = [
        f"<title>{maker} - {name} | Bolt and Co</title><h1>{maker}</h1><h2>{name}</h2>"
        for maker, name in goods
    ]
    assert names_of(heads, book)[24:] == [f"{maker} - {name}" for maker, name in goods][24:]
    assert ("name", "moved") in {(drift.field, drift.kind) for drift in told}
    asked = {address for address, _ in book.pages_to_reread("bolt")}
    assert {f"https://bolt.example/release/{n + 700}" for n in range(23)} <= asked
    artist = {
        address: {"name": goods[0][0]} for _, urls in book.awaited_pages() for address in urls
    }
    book.recall("bolt", artist)
    assert names_of(heads, book) == [f"{maker} - {name}" for maker, name in goods]


def test_a_heading_with_the_brand_which_has_a_field_of_its_own_is_not_joined():
    heads = [
        f"<title>{m} - {name} | Bolt and Co</title><h1>{m}</h1><h2>{name}</h2><p>Brand: {m}</p>"
        for n, (name, _) in enumerate(GOODS)
        for m in (MAKERS[n * 7 % 3],)
    ]
    assert names_of(heads, Book())[24:] == [name for name, _ in GOODS][24:]


def test_a_name_that_begins_with_the_maker_is_not_joined_to_it():
    heads = [
        f"<title>{m} {m} {name} | Bolt and Co</title><h1>{m}</h1><h2>{m} {name}</h2>"
        for n, (name, _) in enumerate(GOODS)
        for m in (MAKERS[n % 3],)
    ]
    names = [f"{MAKERS[n % 3]} {name}" for n, (name, _) in enumerate(GOODS)]
    assert names_of(heads, Book())[24:] == names[24:]


def test_names_that_repeat_now_and_then_are_read_where_they_were():
    told: list[Drift] = []
    sides, rng = ("left", "right", "front", "rear"), random.Random(3)
    names = [f"{rng.choice(PARTS)} {rng.choice(sides)}" for _ in range(150)]
    heads = [f"<title>{name} | Bolt and Co</title><h1>{name}</h1>" for name in names]
    read = names_of(heads, Book(told.append))
    assert all(name in {None, expected} for name, expected in zip(read, names, strict=True))
    assert ("name", "moved") not in {(drift.field, drift.kind) for drift in told}


def test_a_category_above_the_names_is_left_out_where_the_title_has_it_apart():
    heads = [
        f"<title>{name} | {MAKERS[n % 3]} | Bolt and Co</title><h1>{MAKERS[n % 3]}</h1><h2>{name}</h2>"
        for n, (name, _) in enumerate(GOODS)
    ]
    assert names_of(heads, Book())[24:] == [name for name, _ in GOODS][24:]


@pytest.mark.parametrize("below", ["", "<h2>Size {}</h2>", "<h2>Only today</h2>"])
def test_variants_with_one_name_and_nothing_of_their_own_below_keep_it(below: str):
    heads = [
        f"<title>{PARTS[n % 6]} | Bolt and Co</title><h1>{PARTS[n % 6]}</h1>{below.format('SMLX'[n % 4])}"
        for n in range(40)
    ]
    assert names_of(heads, Book()) == [PARTS[n % 6] for n in range(40)]


def test_a_heading_is_read_at_its_place_as_among_all_texts():
    html = "<main class=p><h1>ATE</h1><h2>One <b>of</b>  two</h2><p>x</p><h2>Other</h2></main>"
    read, place = parse(html, "https://bolt.example/"), "0 whole h2<main.p<body"
    assert heading_at(place, read) == value_at("name", place, texts_of(read)) == "One of two"
    assert heading_at("1 whole h2<main.p<body", read) == "Other"
    assert heading_at("2 whole h2<main.p<body", read) is None


@pytest.mark.parametrize("head", ["<h1>Parts</h1>", "<h1>{maker}</h1><h2>{name} at its best</h2>"])
def test_names_found_where_a_template_changed_are_compared_with_the_stored_ones(head: str):
    book, wrong = Book(), 0
    names = [f"{name} {chr(65 + n % 26)}{n}" for n, (name, _) in enumerate(GOODS * 3)]
    for n, name in enumerate(names * 2):
        shown = head.format(maker=MAKERS[n % 3], name=name) if n >= 160 else f"<h1>{name}</h1>"
        title = f"<title>{name} at its best at a low price</title>"
        address = f"https://bolt.example/release/{n % 120}"
        found = extract(parse(page(title + shown, f"B-{n % 120 + 40}", n % 120), address))
        judged = book.judge("bolt", found)
        wrong += n >= 180 and "name" not in judged.doubts and found.fields.get("name") != name
        for site, urls in list(book.awaited_pages()):
            stored = {url: {"name": names[int(url.rpartition("/")[2])]} for url in urls}
            book.recall(site, stored if n >= 120 else dict.fromkeys(urls))
    assert not wrong


AUTHORS = ("Ida Lund-Petersen", "Thomas Oakfield", "Maximilian Frey")
BOOKS = [
    f"{first} {second}"
    for first in ("The far", "A low", "One cold", "Some other", "My last", "Every")
    for second in ("shore", "garden", "winter light", "house of salt")
]


def names_in(pages: list[tuple[str, str]]) -> list[Any]:
    """The names of pages (address, HTML) as they are read last."""
    book, read = Book(), dict[str, Any]()
    by_url = dict(pages)

    def look(address: str) -> None:
        found = extract(parse(by_url[address], address))
        doubtful = "name" in book.judge("shop", found).doubts
        read[address] = None if doubtful else found.fields.get("name")

    for address in by_url:
        look(address)
        for site, urls in list(book.awaited_pages()):
            book.recall(site, dict.fromkeys(urls))
        for again, _ in book.pages_to_reread("shop"):
            look(again)
    return [read[address] for address in by_url]


def test_names_behind_the_authors_are_read_from_any_box_where_few_authors_repeat():
    def shown(n: int, name: str) -> str:
        author = AUTHORS[n * 7 % 3]
        rows = f"<tr><td rowspan=3><img src=/c.jpg></td><td>Cim</td><td>{name}</td></tr><tr><td>Szerzo</td><td>{author}</td></tr>"
        return f"<title>{author} - {name} - Bolt</title><h1>Data</h1><table>{rows}<tr><td>Ar</td><td>{n + 9}.90 EUR</td></tr></table><button>Add to cart</button>"

    pages = [(f"https://bolt.example/b.php?id={n}", shown(n, name)) for n, name in enumerate(BOOKS)]
    assert names_in(pages) == BOOKS


def test_names_in_tiles_are_not_taken_for_those_above_them_that_repeat_a_word():
    kinds = ["Agate", "Pyrite", "Fluorite", "Malachite", "Smoky quartz", "Amethyst"]
    kinds += ["Opal", "Jade", "Ruby", "Topaz", "Beryl", "Onyx"]

    def shown(n: int) -> str:
        name, other = f"{kinds[n % 8]} {n} cm", f"{kinds[(n + 1) % 12]} {n + 50} cm"
        tiles = f"<tr><td>{other}<br>{n + 9}.50 EUR <a href=s.php?m={n + 50}>View</a></td></tr>" * 3
        head = "<title>Bolt - Product details</title><h1>Product details</h1>"
        return f"{head}<fieldset><legend>{name}</legend>Price: {n + 7}.50 EUR<br>In stock<br><button>Add to cart</button></fieldset><table>{tiles}</table>"

    pages = [(f"https://bolt.example/s.php?m={n}", shown(n)) for n in range(40)]
    assert not [name for name in names_in(pages) if name and name.split()[-2:-1] >= ["50"]]


def test_a_series_has_more_titles_than_a_shop_has_words_behind_its_names():
    titles = ("The blue hand", "Gold fever", "Eight minutes", "The end", "Out of sight", "Home")
    names = [f"Night Rider {n + 1} - {titles[n % 6]}" for n in range(12)]
    pages = [
        {"title": f"Comics » {name} » Bolt", "url": f"https://bolt.example/c/{n}", "b": name}
        for n, name in enumerate(names)
    ]
    assert name_place(shown(pages)) == "0 whole b"
