r"""The words that shops use, one data file per language, and the rules that match them.

Each file `<language>.toml` has the same sections; the rule that uses a list says what the list is
for. An entry is a pattern in lower case, with the signs of a regular expression if a word has
several forms: `art(ikel|\.)?[\s-]*nr`. Its groups capture nothing. To add a language, add a file;
a test compiles every entry. `make format` writes all entries into one file, which the process reads
at its start (:mod:`crawler.extract.words.tables`).

Texts are matched in lower case, because that is several times faster than re.I: with re.I, Python
compares each alternative at each position of a text and cannot rule out a position by its first
letter.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Generic, TypeVar

from crawler.extract.words import tables
from crawler.extract.words.listed_words import Rule, StartFinder, WordFinder, lowered
from crawler.extract.words.parts import Part, uncaptured
from crawler.extract.words.prefixes import tree

_PART = re.compile(r"\\.|[^\\]+", re.S)
Finder = Callable[[str], re.Match[str] | None]
_Result = TypeVar("_Result")
#: Characters of an attribute's value that a rule reads, and values that each rule caches.
_MAX_LENGTH, _MAX_VALUES = 1_000, 4_096


_tables = cache(tables.read)


def entries(section: str, name: str) -> list[str]:
    """Return all languages' entries of one list, each once.

    :raises KeyError: if no language has the list, because a rule without words is a mistake
    """
    all_entries = _tables().lists.get(section, {}).get(name)
    if not all_entries:
        raise KeyError(f"no file in {__name__} has a list {name!r} under [{section}]")
    return all_entries


def any_of(section: str, *names: str, not_after: str = "") -> str:
    """Return a pattern that matches any entry of the named lists, without capturing.

    With *not_after*, a class such as `[a-z]`, no match follows a character of that class.
    """
    return tree((uncaptured(e) for name in names for e in entries(section, name)), not_after)


def any_word(section: str, *names: str) -> WordFinder:
    """Return a function that finds an entry of the named lists in a text of any case."""
    return finder_of(lambda any_of: any_of(section, *names))


def finder(pattern: str) -> Finder:
    r"""Return a function that finds a pattern in a text of any case; the match is in lower case.

    >>> finder(r"\bSold\s+out")("Now SOLD  out!")[0]
    'sold  out'
    """
    return _compiled_late(lambda: _compiled(pattern).search)


def full_matcher(pattern: str) -> Finder:
    """Return a function that matches a pattern with the full text, in any case."""
    return _compiled_late(lambda: _compiled(pattern).fullmatch)


def finder_of(rule: Rule) -> WordFinder:
    """Return a function that finds the pattern that *rule* makes of listed words.

    The match is of the entry that is listed first, wherever it is in the text.
    """
    return WordFinder(rule, _parts_by_letters, lambda pattern: _compiled(pattern).search)


def full_matcher_of(rule: Rule) -> WordFinder:
    """Return a function that matches the pattern that *rule* makes with the full text."""
    return WordFinder(rule, _parts_by_letters, lambda pattern: _compiled(pattern).fullmatch)


def entry_matcher(section: str, name: str, max_signs: int | None = None) -> WordFinder:
    r"""Return a function that matches a text of one entry and up to *max_signs* signs on each side.

    None allows any number of signs.

    >>> entry_matcher("headings", "description", 3)(" Product description:")[0]
    ' product description:'
    """
    signs = r"\W*" if max_signs is None else rf"\W{{0,{max_signs}}}"
    return full_matcher_by_start(lambda any_of: f"{signs}(?:{any_of(section, name)}){signs}")


def full_matcher_by_start(rule: Rule) -> WordFinder:
    """As :func:`full_matcher_of`, for a rule that begins with its words, or signs before them."""
    return StartFinder(rule, _parts_by_start, lambda pattern: _compiled(pattern).fullmatch)


def prefix_matcher_of(rule: Rule) -> WordFinder:
    """Return a function that matches a text's start in any case, also of Turkish and Greek."""
    return StartFinder(
        rule, _parts_by_start, lambda pattern: _compiled(_one_case(pattern)).match, _folded
    )


def _parts_by_letters(section: str, name: str) -> list[Part]:
    entries(section, name)
    return _tables().parts("letters", section, name)


def _parts_by_start(section: str, name: str) -> list[Part]:
    entries(section, name)
    return _tables().parts("start", section, name)


def _folded(text: str) -> str:
    """Return a text in one case, as re.I compares it.

    >>> _folded("BİRLİKTE SATIN") == _folded("birlikte satın")
    True
    """
    return _one_case(text.lower())


def _one_case(text: str) -> str:
    return text.replace("i̇", "i").replace("ı", "i").replace("ς", "σ")


def _compiled(pattern: str) -> re.Pattern[str]:
    pattern = _PART.sub(lambda part: part[0] if part[0][0] == "\\" else part[0].lower(), pattern)
    return re.compile(pattern.replace("ı", "i"))


def _compiled_late(make_search: Callable[[], Finder]) -> Finder:
    """Return a function that searches a text of any case; its first call compiles the pattern."""
    search: Finder | None = None

    def find(text: str) -> re.Match[str] | None:
        nonlocal search
        if search is None:
            search = make_search()
        return search(lowered(text))

    return find


class CachedRule(dict[str, _Result], Generic[_Result]):
    """A rule's results by an attribute's value, cached because a site's pages share their classes.

    The rule reads the first 1,000 characters of a value, and longer values are not cached.

    >>> CachedRule(len)["price old"], CachedRule(len)["a" * 9_000]
    (9, 1000)
    """

    def __init__(self, rule: Callable[[str], _Result]) -> None:
        self._rule = rule

    def __missing__(self, value: str) -> _Result:
        result = self._rule(value[:_MAX_LENGTH])
        if len(value) <= _MAX_LENGTH:
            if len(self) >= _MAX_VALUES:
                self.clear()
            self[value] = result
        return result
