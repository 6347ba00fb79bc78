"""Object literals of JavaScript, where a page's scripts hold data that is no JSON.

Only values are read, nothing is run: objects, arrays, texts, numbers, and names that stand for
values told beside them, as in Nuxt's `(function(a,b){return {…}})(1,"x")`.
"""

from __future__ import annotations

import re
from typing import Any

import attrs

from crawler.extract import lazy_patterns
from scrapy_seine.records import Record

_MOST_NODES = 20_000
_MOST_CHARS = 1_500_000
_DEEPEST = 60
_SKIP = lazy_patterns.pattern(r"(?:\s++|//[^\n]*+|/\*.*?\*/)++", re.S)
# Nothing is kept to come back to: a text of a megabyte would else take a hundred of them.
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
_CALLED = lazy_patterns.pattern(r"\(?\s*+function\s*+\w*+\(([\w$,\s]*+)\)\s*+\{")
_RETURN = lazy_patterns.pattern(r"\breturn\s*+(?=[{\[])")


class Unreadable(ValueError):
    """The text is no literal, or too large a one."""


def read(text: str, place: int = 0, names: dict[str, Any] | None = None) -> tuple[Any, int]:
    """Read the literal that begins at *place*; returns it and where it ends.

    Raises Unreadable where there is none. Names that *names* does not hold are None.

    >>> read("{id: 7, 'name': \\"Bell\\", on: !0, list: [1, .5,], other: a}", names={"a": "A"})[0]
    {'id': 7, 'name': 'Bell', 'on': True, 'list': [1, 0.5], 'other': 'A'}
    """
    reader = _Reader(text, place, names or {})
    return reader.value(0), reader.place


def call(text: str, place: int = 0) -> Any:
    """Read what a function that is called at once returns: `(function(a){return {b:a}})(1)`.

    Raises Unreadable where the text is something else.

    >>> call('(function(a,b){return {name:a,price:b}}("Lamp",12.5));')
    {'name': 'Lamp', 'price': 12.5}
    """
    head = _CALLED.match(text, place)
    back = _RETURN.search(text, head.end()) if head else None
    if head is None or back is None:
        raise Unreadable("no function that returns an object")
    start = max(text.rfind("}(", back.end()) + 2, text.rfind("})(", back.end()) + 3)
    told = _Reader(text, start, {}).listed(")", 0) if start > back.end() else []
    names = [name.strip() for name in head[1].split(",")]
    return read(text, back.end(), dict(zip(names, told, strict=False)))[0]


def text_at(text: str, place: int) -> tuple[str, int]:
    """Read the quoted text that begins at *place*; raises Unreadable where there is none.

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
    left: int = _MOST_NODES

    def value(self, depth: int) -> Any:
        """The value here; its place is then behind it."""
        self.left -= 1
        if self.left < 0 or depth > _DEEPEST or self.place > _MOST_CHARS:
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
            made, self.place = text_at(self.text, self.place)
            return made
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
        """Values up to the closing sign."""
        made = []
        while not self._ends(end):
            hole = self.text[self.place] == ","
            made.append(None if hole else self.value(depth + 1))
            self.left -= hole
            if self.left < 0:
                raise Unreadable("too large")
            self._comma(end)
        return made

    def _object(self, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        while not self._ends("}"):
            key = self._key()
            self._skip()
            if self.text[self.place : self.place + 1] == ":":
                self.place += 1
                made[key] = self.value(depth + 1)
            else:
                made[key] = self.names.get(key)  # {name} is short for {name: name}
            self._comma("}")
        return made

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
