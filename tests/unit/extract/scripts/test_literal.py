"""JavaScript's literals: what is read, and what is given up at once."""

from typing import Any

import pytest

from crawler.extract.scripts import literal
from tests.measuring import within_cpu


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{a: 1, 'b': \"x\", \"c\": [1, 2,], d: -.5,}", {"a": 1, "b": "x", "c": [1, 2], "d": -0.5}),
        ("{on: !0, off: !1, none: void 0, und: undefined}", {"on": True, "off": False, "none": None, "und": None}),
        ("{/* a */ a: 1, // b\n b: 2}", {"a": 1, "b": 2}),
        (r"['it\'s', 'a\u00e9\x41\n', `t`]", ["it's", "aéA\n", "t"]),
        ("[,1,,2]", [None, 1, None, 2]),
        ("{12: 'x', name}", {"12": "x", "name": None}),
        ("[0x1f, 1e3]", [31, 1000.0]),
    ],
)  # fmt: skip
def test_a_literal_is_read(text: str, value: Any) -> None:
    assert literal.parse(text)[0] == value


@pytest.mark.parametrize(
    "text",
    ["", "{", "{a", "{a:", "[1", "[1 2]", "'open", "{a: new Date(1)}", "[" * 10_000, "{a:" * 10_000,
     "!" * 10_000, "void " * 10_000, "{1.2.3}", "[function(){}]", "{'a\\"],
)  # fmt: skip
def test_what_is_none_is_given_up_at_once(text: str) -> None:
    with within_cpu(0.2), pytest.raises(literal.Unreadable):
        literal.parse(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('(function(a,b){return {n:a,p:[b]}}("x",1.5));', {"n": "x", "p": [1.5]}),
        ("(function(a){a.x=1;return {n:a}}({}));", {"n": {}}),
        ("function(){return {n:1}}", {"n": 1}),
    ],
)
def test_a_function_that_is_called_at_once_is_read_by_what_it_returns(
    text: str, value: Any
) -> None:
    assert literal.parse_call(text) == value


@pytest.mark.parametrize("text", ["", "(function(a){", "(function(a){return {n:a}}(", "x()"])
def test_a_function_cut_off_is_given_up(text: str) -> None:
    with pytest.raises(literal.Unreadable):
        literal.parse_call(text)
