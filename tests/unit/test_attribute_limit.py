"""I11: no tag holds a parser for long, however its author hides where it ends."""

from __future__ import annotations

import random

import pytest
from lxml import html

from scrapy_seine.attribute_limit import MOST, bounded

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
    root = html.fromstring(bounded(page))
    assert max(len(element.attrib) for element in root.iter("p")) <= 2 * MOST
    assert "text" in root.text_content()


def test_a_page_with_many_tags_and_values_is_left_as_it_is() -> None:
    row = (
        b"<div class='a b' id=x data-html=\"<b>bold</b>\"><a href='/p/1?x=1' title='a > b'>text</a>"
    )
    page = row * 2000 + b"<svg><path d='" + b"M1 2 3 4 " * 2000 + b"'/></svg>"
    assert bounded(page) is page


PIECES = (
    b"<p class='a'>it's 5 > 3 and \"so\" on</p>\n",
    b"<script>if (a<b && c>d) { f('x=\"'); }</script>",
    b'<div data-x="a>b" title=y>text = "quoted"</div>',
    b"<!-- a > b ' \" -->",
    b"word " * 300,
    b'{"a":"b","c":[1,2,3]}' * 200,
)
ATTRIBUTES = (
    b"a%d", b"a%d=1", b"a%d='>'", b'a%d="<b>"', b"a%d = '>x'", b"a%d=\n\"'>\"", b"a%d='=\"'",
    b'a%d="' + b"y" * 300 + b'>"', b"a%d='" + b" " * 90 + b">'", b"a%d=" + b" " * 90 + b"'>'",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_a_long_tag_is_found_wherever_its_values_hide_its_end(seed: int) -> None:
    chance = random.Random(seed)
    used = chance.sample(ATTRIBUTES, chance.randint(1, 3))
    made = b" ".join(chance.choice(used) % i for i in range(2_500))
    around = [b"".join(chance.choices(PIECES, k=chance.randint(0, 60))) for _ in range(2)]
    page = around[0] + b"<p " + made + b">" + around[1] + b"<b>x</b>" * 4_000
    root = html.fromstring(bounded(page))
    assert max(len(p.attrib) for p in root.iter("*")) <= 2 * MOST
    short = b"<b>x</b>" * 5_000
    assert bounded(short) is short  # the answer of one page is no other page's
