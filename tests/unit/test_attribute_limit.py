"""I11: no tag holds a parser for long, however its author hides where it ends."""

from __future__ import annotations

import pytest
from lxml import html

from scrapy_seine.attribute_limit import MOST, bounded, is_suspect

N = 9000
VALUES = {
    "none": lambda i: b"",
    "an end in each": lambda i: b"='>'",
    "a tag in each": lambda i: b"='<b>'",
    "an end now and then": lambda i: b"='>'" if i % 400 == 0 else b"",
    "a tag now and then": lambda i: b'="<b>"' if i % 400 == 0 else b"",
    "an end after blanks": lambda i: b"=" + b" " * 60 + b'"\'>"' if i % 400 == 0 else b"",
}


def tag(value: str, many: int = N, first: int = 0) -> bytes:
    made = [b"a%d%s" % (i, VALUES[value](i)) for i in range(first, first + many)]
    return b"<p " + b" ".join(made) + b">text</p>\n"


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("tags", [1, 5])
def test_a_tag_with_many_attributes_is_found_and_cut(value: str, tags: int) -> None:
    page = b"<html><body>" + tag(value, N // tags) * tags
    page += b"<b>x</b>" * (40_000 // 8)
    assert is_suspect(page)
    root = html.fromstring(bounded(page))
    assert max(len(element.attrib) for element in root.iter("p")) <= 2 * MOST
    assert "text" in root.text_content()


def test_a_page_with_many_tags_and_values_is_left_as_it_is() -> None:
    row = (
        b"<div class='a b' id=x data-html=\"<b>bold</b>\"><a href='/p/1?x=1' title='a > b'>text</a>"
    )
    page = row * 2000 + b"<svg><path d='" + b"M1 2 3 4 " * 2000 + b"'/></svg>"
    assert not is_suspect(page)
    assert bounded(page) is page
