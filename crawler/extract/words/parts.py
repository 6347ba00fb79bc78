r"""The parts of a word's pattern, each with the letters that each of its matches contains.

A text without these letters contains no such word, so that no pattern is compiled for it.
"""

from __future__ import annotations

import re

from crawler.extract.words.prefixes import PLAIN, divided, required_groups, written_out

Part = tuple[str, str]
"""A pattern and its required letters."""

#: An entry with fewer required letters is divided by its choices.
_MIN_REQUIRED = 3
#: Parts of a pattern without a certain letter: escapes, classes, and what is repeated or optional.
_NOT_LITERAL = re.compile(r"(?:\\.|\[(?:\\.|[^\\\]])+\])(?:[?*+]+|\{[^}]*\})?", re.S)
_GROUP = re.compile(r"\([^()]*\)(?:[?*+]+|\{[^}]*\})?")
_REPEATED = re.compile(r".(?:[?*+]+|\{[^}]*\})|[.^$]", re.S)
_SEPARATOR = "\0"
#: Nested divisions of an entry into its choices.
_MAX_DEPTH = 3
#: A capturing group, and a word with a word boundary before it.
_CAPTURING = re.compile(r"(\\.|\[(?:\\.|[^\\\]]){1,80}+\])|\((?!\?)", re.S)
_BEGINS = re.compile(r"\\b(\w[\w ]*)(?![?*+{\w ])")


def uncaptured(entry: str) -> str:
    """Return the pattern of an entry without capturing groups."""
    if "(" in entry:
        entry = _CAPTURING.sub(lambda match: match[1] or "(?:", entry)
    # The word boundary is checked behind the word, because `re` skips positions only if all
    # alternatives of a pattern begin with a letter.
    return _BEGINS.sub(r"\1(?<=\\b\1)", entry, count=1) if entry[:2] == r"\b" else entry


def by_letters(entry: str, depth: int = _MAX_DEPTH) -> list[Part]:
    r"""Return the parts of an uncaptured entry, for words anywhere in a text.

    An entry with too few required letters is divided by its choices, because most texts contain
    those letters.

    >>> by_letters("in stock"), by_letters(r"\d (?:piece|left)s?")
    ([('in stock', 'in stock')], [('\\d pieces?', ' piece'), ('\\d lefts?', ' left')])
    """
    if PLAIN(entry):
        return [(entry, entry)]
    required = letters(entry)
    parts = divided(entry) if len(required) < _MIN_REQUIRED and depth else [entry]
    if parts == [entry]:
        return [(entry, required)]
    return [divided_part for part in parts for divided_part in by_letters(part, depth - 1)]


def by_start(entry: str) -> list[Part]:
    """Return the parts of an uncaptured entry, for words at a text's start."""
    return [(part, letters(part)) for part in written_out(entry)]


def letters(pattern: str) -> str:
    """Return the longest run of letters that each match of a pattern contains, or ''.

    >>> letters("sold[ -]?out"), letters("(in )?stock( on hand)?"), letters("(no|nr)")
    ('sold', 'stock', '')
    """
    return pattern if PLAIN(pattern) else max(_runs(pattern), key=len)


def choices_of_letters(pattern: str) -> list[tuple[str, ...]]:
    """Return further runs of letters, of each tuple of which each match of a pattern contains one.

    They decide for a text with the pattern's longest run whether the pattern is worth compiling.

    >>> choices_of_letters("items?-nr (?:no|code)")
    [('-nr ',), ('no', 'code')]
    """
    longest = letters(pattern)
    choices: list[tuple[str, ...]] = [(x,) for x in _runs(pattern) if x and x != longest]
    for alternatives in required_groups(pattern):
        runs = tuple(map(letters, alternatives))
        if all(runs):
            choices.append(runs)
    return choices


def _runs(pattern: str) -> list[str]:
    """Return the runs of letters that each match of a pattern contains; they may be empty."""
    literals, groups = _NOT_LITERAL.sub(_SEPARATOR, pattern), 1
    while groups:
        literals, groups = _GROUP.subn(_SEPARATOR, literals)
    return [""] if "|" in literals else _REPEATED.sub(_SEPARATOR, literals).split(_SEPARATOR)
