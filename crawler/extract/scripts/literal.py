"""Parser of JavaScript's object literals, for data of scripts that is no JSON.

It reads values and runs nothing: objects, arrays, texts, numbers, and names whose values are the
arguments of a call, as in Nuxt's `(function(a,b){return {…}})(1,"x")`.
"""

from __future__ import annotations

import re
from typing import Any

import attrs

from crawler.extract import lazy_patterns
from scrapy_seine.attrs_bases import Record

_MAX_NODES = 20_000
_MAX_LENGTH = 1_500_000
_MAX_DEPTH = 60
_SKIP = lazy_patterns.pattern(r"(?:\s++|//[^\n]*+|/\*.*?\*/)++", re.S)
# Possessive, because with backtracking a text of 1 MB would take 100 MB.
_TEXT = lazy_patterns.pattern(
    r'"((?:[^"\\]++|\\.)*+)"' r"|'((?:[^'\\]++|\\.)*+)'" r"|`((?:[^`\\]++|\\.)*+)`", re.S
)
_NUMBER = lazy_patterns.pattern(
    r"[-+]?(?:0[xX][\da-fA-F]++|(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?)"
)
_NAME = lazy_patterns.pattern(r"[A-Za-z_$][\w$]*")
_ESCAPE = lazy_patterns.pattern(
    r"\\(u\{[\da-fA-F]{1,6}\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|\r?\n|.)", re.S
)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_CONSTANTS = {"true": True, "false": False, "null": None, "undefined": None, "NaN": None}
_FUNCTION_HEAD = lazy_patterns.pattern(r"\(?\s*+function\s*+\w*+\(([\w$,\s]*+)\)\s*+\{")
_RETURN = lazy_patterns.pattern(r"\breturn\s*+(?=[{\[])")


class Unreadable(ValueError):
    """The text is no literal, or the literal is too large."""


def parse(text: str, place: int = 0, names: dict[str, Any] | None = None) -> tuple[Any, int]:
    """Return the literal that begins at *place*, and its end.

    Raises Unreadable where the text is no literal. Names without a value in *names* are None.

    >>> parse("{id: 7, 'name': \\"Bell\\", on: !0, list: [1, .5,], other: a}", names={"a": "A"})[0]
    {'id': 7, 'name': 'Bell', 'on': True, 'list': [1, 0.5], 'other': 'A'}
    """
    reader = _Reader(text, place, names or {})
    return reader.value(0), reader.place


def parse_call(text: str, place: int = 0) -> Any:
    """Return the result of a function that is called at once: `(function(a){return {b:a}})(1)`.

    Raises Unreadable where the text is no such call.

    >>> parse_call('(function(a,b){return {name:a,price:b}}("Lamp",12.5));')
    {'name': 'Lamp', 'price': 12.5}
    """
    head = _FUNCTION_HEAD.match(text, place)
    return_match = _RETURN.search(text, head.end()) if head else None
    if head is None or return_match is None:
        raise Unreadable("no function that returns an object")
    start = max(text.rfind("}(", return_match.end()) + 2, text.rfind("})(", return_match.end()) + 3)
    arguments = _Reader(text, start, {}).listed(")", 0) if start > return_match.end() else []
    names = [name.strip() for name in head[1].split(",")]
    return parse(text, return_match.end(), dict(zip(names, arguments, strict=False)))[0]


def text_at(text: str, place: int) -> tuple[str, int]:
    """Return the quoted text that begins at *place*, and its end.

    Raises Unreadable where the text is not quoted.

    >>> text_at("'it\\\\'s'", 0)
    ("it's", 7)
    """
    match = _TEXT.match(text, place)
    if match is None:
        raise Unreadable("no text")
    inner = match[match.lastindex or 1]
    return (_ESCAPE.sub(_unescaped, inner) if "\\" in inner else inner), match.end()


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "ux" and len(code) > 1:
        number = int(code[1:].strip("{}"), 16)
        return chr(number) if number < 0x110000 else ""
    return "" if code[-1] == "\n" else _ESCAPED.get(code, code)


@attrs.define(eq=False, repr=False)
class _Reader(Record):
    text: str
    place: int
    names: dict[str, Any]
    nodes_left: int = _MAX_NODES

    def value(self, depth: int) -> Any:
        """Return the value at the current place, and advance the place to its end."""
        self.nodes_left -= 1
        if self.nodes_left < 0 or depth > _MAX_DEPTH or self.place > _MAX_LENGTH:
            raise Unreadable("too large")
        self._skip()
        char = self.text[self.place : self.place + 1]
        if char == "{":
            self.place += 1
            return self._object(depth)
        if char == "[":
            self.place += 1
            return self.listed("]", depth)
        if char and char in "\"'`":
            quoted, self.place = text_at(self.text, self.place)
            return quoted
        return self._word(char, depth)

    def _word(self, char: str, depth: int) -> Any:
        if char == "!":
            self.place += 1
            return not self.value(depth + 1)
        number = _NUMBER.match(self.text, self.place)
        if number:
            self.place = number.end()
            return _number(number[0])
        name = _NAME.match(self.text, self.place)
        if name is None:
            raise Unreadable("no value")
        self.place = name.end()
        if name[0] == "void":
            self.value(depth + 1)
            return None
        return _CONSTANTS[name[0]] if name[0] in _CONSTANTS else self.names.get(name[0])

    def listed(self, end: str, depth: int) -> list[Any]:
        """Return the values up to the closing sign *end*; a hole between commas is None."""
        values = []
        while not self._ends(end):
            hole = self.text[self.place] == ","
            values.append(None if hole else self.value(depth + 1))
            self.nodes_left -= hole
            if self.nodes_left < 0:
                raise Unreadable("too large")
            self._comma(end)
        return values

    def _object(self, depth: int) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        while not self._ends("}"):
            key = self._key()
            self._skip()
            if self.text[self.place : self.place + 1] == ":":
                self.place += 1
                entries[key] = self.value(depth + 1)
            else:
                entries[key] = self.names.get(key)  # {name} is short for {name: name}
            self._comma("}")
        return entries

    def _key(self) -> str:
        char = self.text[self.place]
        if char in "\"'":
            key, self.place = text_at(self.text, self.place)
            return key
        word = _NAME.match(self.text, self.place) or _NUMBER.match(self.text, self.place)
        if word is None:
            raise Unreadable("no key")
        self.place = word.end()
        return word[0]

    def _ends(self, end: str) -> bool:
        self._skip()
        char = self.text[self.place : self.place + 1]
        if not char:
            raise Unreadable("it does not end")
        if char != end:
            return False
        self.place += 1
        return True

    def _comma(self, end: str) -> None:
        self._skip()
        char = self.text[self.place : self.place + 1]
        if char == ",":
            self.place += 1
        elif char != end:
            raise Unreadable(f"{char!r} between values")

    def _skip(self) -> None:
        blank = _SKIP.match(self.text, self.place)
        if blank:
            self.place = blank.end()


def _number(text: str) -> int | float:
    if text.lstrip("+-")[:2].lower() == "0x":
        return int(text[:300], 16)
    return float(text) if "." in text or "e" in text.lower() else int(text[:300])
