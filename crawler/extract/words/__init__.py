r"""The words that shops use, one data file a language, and rules made of them.

Each file `<language>.toml` has the same sections; what a section's list is for stands beside the
rule that uses it. An entry is words in lower case, with the signs of a regular expression where a
word has several forms: `art(ikel|\.)?[\s-]*nr`. Its groups capture nothing. A further language is
one more file, and a test compiles every entry.

Words are looked for in texts in lower case, which is several times faster than re.I: Python
compares each alternative without its case at each place of a text, and can then not rule a place
out by its first letter.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Set
from functools import cache, partial
from importlib import resources
from typing import Generic, Protocol, TypeVar

from crawler.extract.words.prefixes import tree

_PART = re.compile(r"\\.|[^\\]+", re.S)
Found = Callable[[str], re.Match[str] | None]
_Told = TypeVar("_Told")
#: Characters of an attribute that are looked at, and values that are kept for each rule.
_LONGEST, _MOST = 1_000, 4_096


#: The language whose words come first in a rule; shops of all countries use some of them.
_FIRST = "en"
#: A group that would capture, and a word that must begin where it stands.
_GROUP = re.compile(r"(\\.|\[(?:\\.|[^\\\]]){1,80}+\])|\((?!\?)", re.S)
#: What may be left out or stand for something else: a group, a class, a letter that is optional.
_CHOICE = re.compile(r"\((?:\?:)?[^()]{0,400}\)[?*]?|\[[^\]]{1,80}\]|[^\x00-\x7f][?*]")
_BEGINS = re.compile(r"\\b(\w[\w ]*)(?![?*+{\w ])")


@cache
def _languages() -> dict[str, dict[str, dict[str, list[str]]]]:
    """Each language's file, English first."""
    files = [f for f in resources.files(__name__).iterdir() if f.name.endswith(".toml")]
    files.sort(key=lambda file: (file.name != f"{_FIRST}.toml", file.name))
    return {
        file.name.removesuffix(".toml"): tomllib.loads(file.read_text("utf-8")) for file in files
    }


def entries(section: str, name: str) -> list[str]:
    """All languages' entries of one list, each once.

    :raises KeyError: where no language has the list, because a rule of no words is a mistake
    """
    tables = [sections.get(section, {}).get(name, []) for sections in _languages().values()]
    found = list(dict.fromkeys(entry for table in tables for entry in table))
    if not found:
        raise KeyError(f"no file in {__name__} has a list {name!r} under [{section}]")
    return found


def any_of(section: str, *names: str, not_after: str = "") -> str:
    """A pattern that matches any entry of the named lists; it captures nothing.

    With *not_after*, a class such as `[a-z]`, no match follows a character of it.
    """
    return tree((_uncaptured(e) for name in names for e in entries(section, name)), not_after)


def any_word(section: str, *names: str) -> Found:
    """A function that finds an entry of the named lists in a text of any case."""
    return finder_of(lambda any_of: any_of(section, *names))


class AnyOf(Protocol):
    """What :func:`any_of` is for a rule, with the entries of one alphabet."""

    def __call__(self, section: str, *names: str, not_after: str = "") -> str:
        """A pattern that matches any entry of the named lists."""


def finder(pattern: str) -> Found:
    r"""A function that finds a pattern in a text of any case; the match is in lower case.

    >>> finder(r"\bSold\s+out")("Now SOLD  out!")[0]
    'sold  out'
    """
    return _when_asked(lambda: _compiled(pattern).search)


def whole(pattern: str) -> Found:
    """The same for a text that the pattern matches from end to end."""
    return _when_asked(lambda: _compiled(pattern).fullmatch)


def finder_of(rule: Callable[[AnyOf], str]) -> Found:
    """The same as :func:`finder` for a pattern of many words, which *rule* makes; any match of it.

    Words in ASCII are looked for first, and those with other letters only where a text has such: a
    worker that reads shops of one language compiles no words of another alphabet.
    """
    return _by_alphabet(lambda any_of: _compiled(rule(any_of)).search)


def whole_of(rule: Callable[[AnyOf], str]) -> Found:
    """The same for a text that the pattern matches from end to end."""
    return _by_alphabet(lambda any_of: _compiled(rule(any_of)).fullmatch)


#: Letters of entries: of ASCII, of its Latin neighbours, and all.
_ALPHABETS = (range(0x80), range(0x250), range(0x110000))
_NEVER = "(?!)"


@cache
def _letters() -> frozenset[str]:
    """The letters beyond ASCII that entries have."""
    sections = [section for file in _languages().values() for section in file.values()]
    written = {char for lists in sections for found in lists.values() for char in "".join(found)}
    return frozenset(char for char in written if char.isalpha() and not char.isascii())


@cache
def _beyond(alphabet: int) -> frozenset[str]:
    """The letters of entries that an alphabet does not have; signs such as € are in each."""
    return frozenset(char for char in _letters() if ord(char) not in _ALPHABETS[alphabet])


def _alphabet_of(text: str) -> int:
    """The first alphabet whose entries, and those of the ones before, a text can hold.

    >>> _alphabet_of("12 € – sold"), _alphabet_of("größe"), _alphabet_of("цена")
    (0, 1, 2)
    """
    return next(n for n in range(len(_ALPHABETS)) if _beyond(n).isdisjoint(text))


def _entries_of(alphabet: int, section: str, *names: str, not_after: str = "") -> str:
    """A pattern of the entries that an alphabet suffices for, and none before it."""
    parts = [_uncaptured(entry) for name in names for entry in entries(section, name)]
    own = [part for part in parts if _needs_none(part, _beyond(alphabet))]
    if alphabet:
        own = [part for part in own if not _needs_none(part, _beyond(alphabet - 1))]
    return tree(own, not_after) if own else _NEVER


def _needs_none(pattern: str, beyond: Set[str]) -> bool:
    """Whether a text without some characters may hold a pattern: they stand in its choices only.

    >>> _needs_none("(?:añadir|agregar) al carrito", {"ñ"}), _needs_none("añadir", {"ñ"})
    (True, False)
    """
    found = 1
    while found and not beyond.isdisjoint(pattern):
        pattern, found = _CHOICE.subn("", pattern)
    return beyond.isdisjoint(pattern)


def _uncaptured(entry: str) -> str:
    pattern = _GROUP.sub(lambda found: found[1] or "(?:", entry)
    # What must stand before a word is asked behind it: a pattern whose parts all begin with a
    # letter skips each place that begins none of them.
    return _BEGINS.sub(r"\1(?<=\\b\1)", pattern, count=1) if entry[:2] == r"\b" else pattern


def _compiled(pattern: str) -> re.Pattern[str]:
    low = _PART.sub(lambda part: part[0] if part[0][0] == "\\" else part[0].lower(), pattern)
    return re.compile(low)


def _when_asked(make: Callable[[], Found]) -> Found:
    """A function that looks in a text of any case, by a pattern compiled for its first text."""
    look: Found | None = None

    def find(text: str) -> re.Match[str] | None:
        nonlocal look
        if look is None:
            look = make()
        return look(text.lower())

    return find


def _by_alphabet(make: Callable[[AnyOf], Found]) -> Found:
    """The same by a pattern for each alphabet."""
    looks: list[Found] = []

    def look(alphabet: int, text: str) -> re.Match[str] | None:
        while len(looks) <= alphabet:
            looks.append(make(partial(_entries_of, len(looks))))
        return looks[alphabet](text)

    def find(text: str) -> re.Match[str] | None:
        text = text.lower()
        found = looks[0](text) if looks else look(0, text)
        if found is None and not text.isascii():
            further = range(1, _alphabet_of(text) + 1)
            found = next((match for n in further if (match := look(n, text))), None)
        return found

    return find


class Marks(dict[str, _Told], Generic[_Told]):
    """What a rule tells of an attribute's value, by that value: a site's pages share their classes.

    The rule sees the beginning of a value, and only values that end there are kept.

    >>> Marks(len)["price old"], Marks(len)["a" * 9_000]
    (9, 1000)
    """

    def __init__(self, rule: Callable[[str], _Told]) -> None:
        self._rule = rule

    def __missing__(self, words: str) -> _Told:
        told = self._rule(words[:_LONGEST])
        if len(words) <= _LONGEST:
            if len(self) >= _MOST:
                self.clear()
            self[words] = told
        return told
