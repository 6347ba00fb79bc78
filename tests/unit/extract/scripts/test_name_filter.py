"""A product in a page's state is found however its name is written there."""

import json

import pytest

from crawler.extract import extract, parse
from crawler.extract.scripts.name_filter import NameFilter


@pytest.mark.parametrize(
    "name",
    ["Straßenlampe", "Café 'Noir' & Co", "ÅÄÖ öl", "灯", "Ös", "STRASSE", "İpek Halı", "Tom’s"],
)
@pytest.mark.parametrize("escape", [str, str.upper, lambda name: name.replace("&", "&amp;")])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_name_in_the_state_is_the_pages_in_other_letters(name, escape, ascii_only):
    script = json.dumps({"product": {"name": escape(name), "price": 12.5}}, ensure_ascii=ascii_only)
    assert NameFilter(lambda: {name.casefold()})(script)


def test_a_script_about_other_things_is_not_read():
    assert not NameFilter(lambda: {"oak table", "oak table | shop"})(
        '{"name": "red chair", "price": 5}'
    )


def test_the_state_of_a_page_whose_name_has_no_latin_letters_is_read():
    state = json.dumps({"product": {"name": "銅の灯台", "price": 12.5, "currency": "JPY"}})
    page = f"<h1>銅の灯台</h1><script>window.__STATE__ = {state}</script>"
    assert extract(parse(page, "https://a.example/p/1")).offered["state"]["price"] == 12.5
