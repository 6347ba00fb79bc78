"""Barcodes that only the addresses of a shop's products have."""

from __future__ import annotations

from crawler.extract import extract, parse
from crawler.extract.template import Book
from crawler.extract.template.profile import Profile

_PAGE = "<title>{0}</title><h1>{0}</h1><p>€ 12.00</p><form action=/cart><button>Add to cart</button></form>"


def _code(number: int) -> str:
    body = f"57012345{number:04d}"
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(body))
    return f"{body}{-total % 10}"


def _read(book: Book, address: str) -> str | None:
    found = extract(
        parse(_PAGE.format(f"Oak lamp {address[:4]}"), f"https://shop.example/{address}")
    )
    book.judge("shop", found)
    code: str | None = found.fields.get("gtin")
    return code


def test_valid_numbers_of_several_products_are_barcodes() -> None:
    book = Book()
    codes = [_read(book, f"lamp-{_code(number)}") for number in range(10)]
    assert codes == [None] * 7 + [_code(number) for number in (7, 8, 9)]
    again = [url for url, _ in book.pages_to_reread("shop")]
    assert f"https://shop.example/lamp-{_code(0)}" in again
    assert _read(book, f"lamp-{_code(0)}") == _code(0)


def test_an_older_book_s_number_is_its_barcode() -> None:
    book = Book()
    for number in range(8):
        _read(book, f"book/{_code(number)}")
    assert _read(book, "book/316148410X") == "9783161484100"


def test_numbers_of_which_one_of_ten_is_valid_are_a_shop_s_own() -> None:
    book = Book()
    assert not any(_read(book, f"lamp-{9200000000000 + 7919 * number}") for number in range(80))


def test_one_product_read_again_and_again_proves_nothing() -> None:
    book = Book()
    assert not any(_read(book, f"lamp-{_code(1)}") for _ in range(20))


def test_what_is_known_of_a_make_s_addresses_is_stored() -> None:
    profile = Profile(codes=[_code(number) for number in range(8)])
    assert Profile.of(profile.plain()).codes == profile.codes
