"""I11: thousands of amounts, fields or words in one box do not each search the whole box."""

from __future__ import annotations

import pytest

from tests.benchmarks.readers import read_page
from tests.measuring import within_cpu

#: What stands before, what is repeated with a number, how often, and the limit in CPU seconds.
WIDE = {
    "amounts beside links": (
        "<h1>Lamp</h1><div>",
        '<a href="/">Home</a> Free shipping over $%d ',
        40_000,
        0.71,
    ),
    "cells of one row": (
        "<h1>Lamp</h1><table><tr><th>Quantity<th>Price<th>Sum<tr>",
        "<td>%d</td><td>$0.89</td>",
        60_000,
        0.6,
    ),
    "selects within selects": (
        "<h1>Lamp</h1><form>",
        "<select name=a%d><option>10<option>25",
        12_000,
        0.27,
    ),
    "selects of one form": (
        "<h1>Lamp</h1><form>",
        "<select name=a%d><option value=10>1<option value=25>2</select>",
        4_000,
        0.64,
    ),
    "texts behind scripts in a long text": (
        "<h1>Lamp</h1><a>" + "long " * 60_000,
        "<script>%d</script>UVP",
        8_000,
        0.5,
    ),
    "amounts in a link without a picture": (
        "<h1>Mugs</h1><a href=/p/1>",
        "<div class=price-old>USD 9%d</div>",
        45_000,
        1.8,
    ),
    "lines of elements in one box": ("<body>", "<span>x</span><br>%d", 14_000, 1.5),
    "new words with the letters of one rule": (
        "<h1>Lamp</h1><b>$ 12</b><button>Add to cart</button><p>",
        "n%dhours ",
        20_000,
        0.5,
    ),
}


@pytest.mark.parametrize("kind", WIDE)
def test_a_wide_box_is_read_in_linear_time(kind: str) -> None:
    before, piece, count, limit_s = WIDE[kind]
    body = before + "".join(piece.replace("%d", str(number)) for number in range(count))
    with within_cpu(limit_s):
        read_page(body.encode())
