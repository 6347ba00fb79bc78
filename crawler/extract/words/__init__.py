r"""The words that shops use, one data file a language, and rules made of them.

Each file `<language>.toml` has the same sections; what a section's list is for stands beside the
rule that uses it. An entry is words in lower case, with the signs of a regular expression where a
word has several forms: `art(ikel|\.)?[\s-]*nr`. Its groups capture nothing. A further language is
one more file, and a test compiles every entry. `make format` writes all of them into one file,
which a start reads (:mod:`crawler.extract.words.tables`).

Words are looked for in texts in lower case, which is several times faster than re.I: Python
compares each alternative without its case at each place of a text, and can then not rule a place
out by its first letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Generic, TypeVar

from crawler.extract.words import tables
from crawler.extract.words.listed_words import Begun, Listed, Rule
from crawler.extract.words.prefixes import tree

_PART = re.compile(r"\\.|[^\\]+", re.S)
Found = Callable[[str], re.Match[str] | None]
_Told = TypeVar("_Told")
#: Characters of an attribute that are looked at, and values that are kept for each rule.
_LONGEST, _MOST = 1_000, 4_096


#: A group that would capture, and a word that must begin where it stands.
_GROUP = re.compile(r"(\\.|\[(?:\\.|[^\\\]]){1,80}+\])|\((?!\?)", re.S)
_BEGINS = re.compile(r"\\b(\w[\w ]*)(?![?*+{\w ])")


_lists = cache(tables.read)


def entries(section: str, name: str) -> list[str]:
    """All languages' entries of one list, each once.

    :raises KeyError: where no language has the list, because a rule of no words is a mistake
    """
    found = _lists().get(section, {}).get(name)
    if not found:
        raise KeyError(f"no file in {__name__} has a list {name!r} under [{section}]")
    return found


def any_of(section: str, *names: str, not_after: str = "") -> str:
    """A pattern that matches any entry of the named lists; it captures nothing.

    With *not_after*, a class such as `[a-z]`, no match follows a character of it.
    """
    return tree((_uncaptured(e) for name in names for e in entries(section, name)), not_after)


def any_word(section: str, *names: str) -> Listed:
    """A function that finds an entry of the named lists in a text of any case."""
    return finder_of(lambda any_of: any_of(section, *names))


def finder(pattern: str) -> Found:
    r"""A function that finds a pattern in a text of any case; the match is in lower case.

    >>> finder(r"\bSold\s+out")("Now SOLD  out!")[0]
    'sold  out'
    """
    return _when_asked(lambda: _compiled(pattern).search)


def whole(pattern: str) -> Found:
    """The same for a text that the pattern matches from end to end."""
    return _when_asked(lambda: _compiled(pattern).fullmatch)


def finder_of(rule: Rule) -> Listed:
    """The same as :func:`finder` for a pattern of listed words, which *rule* makes.

    The match is of the entry that is listed first, wherever in the text it stands.
    """
    return Listed(rule, _each_uncaptured, lambda pattern: _compiled(pattern).search)


def whole_of(rule: Rule) -> Listed:
    """The same for a text that the pattern matches from end to end."""
    return Listed(rule, _each_uncaptured, lambda pattern: _compiled(pattern).fullmatch)


def alone_of(section: str, name: str, max_signs: int | None = None) -> Listed:
    r"""The same for an entry of a list alone, with up to *max_signs* signs on each side of it.

    None is any number of signs.

    >>> alone_of("headings", "description", 3)(" Product description:")[0]
    ' product description:'
    """
    signs = r"\W*" if max_signs is None else rf"\W{{0,{max_signs}}}"
    return begun_of(lambda any_of: f"{signs}(?:{any_of(section, name)}){signs}")


def begun_of(rule: Rule) -> Listed:
    """The same for a rule that begins with its words, or with signs before them."""
    return Begun(rule, _each_uncaptured, lambda pattern: _compiled(pattern).fullmatch)


def start_of(rule: Rule) -> Listed:
    """The same for what a text begins with, in any case that Turkish and Greek have, too."""
    return Begun(
        rule, _each_uncaptured, lambda pattern: _compiled(_one_case(pattern)).match, _folded
    )


def _each_uncaptured(section: str, name: str) -> list[str]:
    return [_uncaptured(entry) for entry in entries(section, name)]


def _folded(text: str) -> str:
    """A text in one case, as re.I has it.

    >>> _folded("BİRLİKTE SATIN") == _folded("birlikte satın")
    True
    """
    return _one_case(text.lower())


def _one_case(text: str) -> str:
    return text.replace("i̇", "i").replace("ı", "i").replace("ς", "σ")


def _uncaptured(entry: str) -> str:
    pattern = _GROUP.sub(lambda found: found[1] or "(?:", entry) if "(" in entry else entry
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
