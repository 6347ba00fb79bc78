r"""Rules of listed words: a text is matched only with the words whose required letters it contains.

Compiling all languages' words into one pattern takes `re` longer than reading a hundred pages, and
a shop's pages contain nearly none of the words. So each word is a pattern of its own, compiled for
the first text that contains the letters that each match of the word contains.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Protocol

from crawler.extract.words.prefixes import NEVER, PLAIN, divided, written_out


class AnyOf(Protocol):
    """The function that a rule gets to insert the entries of named lists into its pattern."""

    def __call__(self, section: str, *names: str, not_after: str = "") -> str:
        """Return a pattern that matches any entry of the named lists."""


Rule = Callable[[AnyOf], str]
Entries = Callable[[str, str], Iterable[str]]
Search = Callable[[str], re.Match[str] | None]

#: First required letters by which words are indexed; words with fewer are compared one by one.
_GRAM_LENGTH = 3
#: Characters of the longest text whose grams are cached for the next rule.
_MAX_CACHED_LENGTH = 200
#: Texts without a match that a rule remembers, and characters of the longest of them, because the
#: labels, buttons and menus of a site are the same on all of its pages.
_MAX_MISSES, _MAX_MISS_LENGTH = 256, 60
#: Parts of a pattern without a certain letter: escapes, classes, and what is repeated or optional.
_NOT_LITERAL = re.compile(r"(?:\\.|\[(?:\\.|[^\\\]])+\])(?:[?*+]+|\{[^}]*\})?", re.S)
_GROUP = re.compile(r"\([^()]*\)(?:[?*+]+|\{[^}]*\})?")
_REPEATED = re.compile(r".(?:[?*+]+|\{[^}]*\})|[.^$]", re.S)
_SEPARATOR = "\0"
_LEADING = re.compile(r"[^\\.^$*+?{}\[\]()|]+(?![*+?{])")
#: Nested divisions of an entry into its choices.
_MAX_DEPTH = 3
#: First letters by which words at a text's start are indexed; the longest start is tried first.
_START_LENGTH = 3
_START_LENGTHS = range(_START_LENGTH, -1, -1)
_SIGNS = re.compile(r"\W*").match


def lowered(text: str) -> str:
    """Return a text in lower case, in which Turkish `İ` is one letter, `i`.

    >>> lowered("İndirimli Fiyat")
    'indirimli fiyat'
    """
    return text.lower() if text.isascii() or "İ" not in text else text.replace("İ", "i").lower()


Frame = tuple[str, str]
"""A rule's pattern before and behind its words."""


class WordFinder:
    """A function that finds a rule's words in a text of any case; its match is in lower case.

    If a text contains several words, the match is of the word that is listed first.
    """

    def __init__(
        self,
        rule: Rule,
        entries: Entries,
        compiled: Callable[[str], Search],
        lower: Callable[[str], str] = lowered,
    ) -> None:
        self.rule = rule
        self._lower = lower
        self._entries = entries
        self._compiled = compiled
        # The parts of the rule's entries: required letters, pattern, and search function, which is
        # compiled for the first text that may match. Three lists cost the start-up a third of what
        # one object per part did.
        self._required: list[str] = []
        self._parts: list[tuple[str, Frame]] = []
        self._searches: list[Search | None] = []
        self._by_gram: dict[str, list[int]] = {}
        self._grams: frozenset[str] = frozenset()
        self._without_gram: list[tuple[int, str]] = []
        self._ascii_without_gram: list[tuple[int, str]] = []
        self._misses: set[str] = set()

    def __call__(self, text: str) -> re.Match[str] | None:
        """Return the match of the first listed word that the text contains, or None."""
        misses = self._misses
        if len(text) > _MAX_MISS_LENGTH:
            return self._first_match(self._lower(text))
        if text in misses:
            return None
        match = self._first_match(self._lower(text))
        if match is None:
            if len(misses) >= _MAX_MISSES:
                misses.clear()
            misses.add(text)
        return match

    def may_hold(self, text: str) -> bool:
        """Whether the text contains the required letters of some word."""
        if not self._required:
            self._index_entries()
        return bool(self._candidates(self._lower(text)))

    def required_letters(self) -> list[str]:
        """Return the required letters of each part of the rule's entries."""
        if not self._required:
            self._index_entries()
        return self._required

    def _first_match(self, text: str) -> re.Match[str] | None:
        if not self._required:
            self._index_entries()
        candidates = self._candidates(text)
        if len(candidates) > 1:
            candidates.sort()
        for index in candidates:
            search = self._searches[index]
            if search is None:
                part, frame = self._parts[index]
                search = self._searches[index] = self._compiled(part.join(frame))
            if (match := search(text)) is not None:
                return match
        return None

    def _candidates(self, text: str) -> list[int]:
        """Return the indexes of the parts whose required letters a text contains."""
        without_gram = self._ascii_without_gram if text.isascii() else self._without_gram
        candidates = [index for index, required in without_gram if required in text]
        required_of, by_gram = self._required, self._by_gram
        if len(text) <= _MAX_CACHED_LENGTH:
            for gram in self._grams & _grams(text):
                candidates += [index for index in by_gram[gram] if required_of[index] in text]
        else:
            candidates += [
                i for indexes in by_gram.values() for i in indexes if required_of[i] in text
            ]
        return candidates

    def _index_entries(self) -> None:
        """Index the entries; `_required` is set last, because a limit on reading may interrupt.

        What an interrupted call had begun would be an index of other entries for all later pages.
        """
        all_required: list[str] = []
        by_gram: dict[str, list[int]] = {}
        parts: list[tuple[str, Frame]] = []
        without_gram: list[tuple[int, str]] = []
        lower = self._lower
        for entry, frame in _framed_entries(self.rule, self._entries):
            for part, letters_of_part in _parts_of(entry):
                required = lower(letters_of_part)
                required = (
                    letters_of_part if required == letters_of_part else required
                )  # one text in memory, not two
                if len(required) >= _GRAM_LENGTH:
                    by_gram.setdefault(required[:_GRAM_LENGTH], []).append(len(all_required))
                else:
                    without_gram.append((len(all_required), required))
                all_required.append(required)
                parts.append((part, frame))
        self._by_gram, self._grams, self._parts = by_gram, frozenset(by_gram), parts
        self._without_gram = without_gram
        self._ascii_without_gram = [pair for pair in without_gram if pair[1].isascii()]
        self._searches = [None] * len(all_required)
        self._required = all_required


class FinderGroup:
    """Finds which of several rules may match a text.

    Most texts of a page contain no word of any rule, so one lookup replaces one lookup per rule.

    >>> sold, gone = (WordFinder(lambda any_of, n=n: any_of("s", n), lambda section, name: [name],
    ...                      lambda pattern: re.compile(pattern).search) for n in ("sold", "gone"))
    >>> either = FinderGroup(sold, gone)
    >>> [*either("It is GONE")] == [gone], [*either("Oak lamp")]
    (True, [])
    """

    def __init__(self, *rules: WordFinder) -> None:
        self.rules = rules
        self._by_gram: dict[str, list[tuple[str, WordFinder]]] = {}
        self._without_gram: list[tuple[str, WordFinder]] = []
        self._ascii_without_gram: list[tuple[str, WordFinder]] = []

    def __call__(self, text: str) -> Iterable[WordFinder]:
        """Return the rules of which the text contains some word's required letters."""
        if not self._by_gram:
            self._index_entries()
        text, by_gram = lowered(text), self._by_gram
        without_gram = self._ascii_without_gram if text.isascii() else self._without_gram
        candidates = {rule: None for required, rule in without_gram if required in text}
        grams = _grams(text) if len(text) <= _MAX_CACHED_LENGTH else _grams_of(text)
        for gram in by_gram.keys() & grams:
            for required, rule in by_gram[gram]:
                if required in text:
                    candidates[rule] = None
        return candidates

    def _index_entries(self) -> None:
        """Index the rules' entries; `_by_gram` is set last, because a limit may interrupt."""
        by_gram: dict[str, list[tuple[str, WordFinder]]] = {}
        without_gram: list[tuple[str, WordFinder]] = []
        all_required = dict.fromkeys(
            (required, rule) for rule in self.rules for required in rule.required_letters()
        )
        for required, rule in all_required:
            if len(required) >= _GRAM_LENGTH:
                by_gram.setdefault(required[:_GRAM_LENGTH], []).append((required, rule))
            else:
                without_gram.append((required, rule))
        self._without_gram = without_gram
        self._ascii_without_gram = [pair for pair in without_gram if pair[0].isascii()]
        self._by_gram = by_gram


class StartFinder(WordFinder):
    """A WordFinder for words at the start of a text, or behind the signs at its start."""

    def _candidates(self, text: str) -> list[int]:
        start = text[:_START_LENGTH]
        if start and not start[0].isalnum():
            begin = _SIGNS(text).end()  # type: ignore[union-attr]  # zero signs match, too
            start = text[begin : begin + _START_LENGTH]
        by_start, required_of = self._by_gram, self._required
        for length in _START_LENGTHS:
            indexes = by_start.get(start[:length])
            if indexes is not None:
                return [index for index in indexes if required_of[index] in text]
        return []

    def _index_entries(self) -> None:
        all_required: list[str] = []
        parts: list[tuple[str, Frame]] = []
        by_start: dict[str, list[int]] = {"": []}
        for entry, frame in _framed_entries(self.rule, self._entries):
            for part in written_out(entry):
                part_letters = letters(part)
                required, start = self._lower(part_letters), _start(part, part_letters)
                start = required if start == part_letters else self._lower(start)
                start = start[:_START_LENGTH] if start[:1].isalnum() else ""
                by_start.setdefault(start, []).append(len(all_required))
                all_required.append(required)
                parts.append((part, frame))
        # A text is looked up by its longest start alone, so that start includes the shorter starts.
        for start in sorted(by_start, key=len):
            shorter = {index for n in range(len(start)) for index in by_start.get(start[:n], ())}
            by_start[start] = sorted(shorter.union(by_start[start]))
        self._by_gram, self._parts = by_start, parts
        self._searches = [None] * len(all_required)
        self._required = all_required


def _grams_of(text: str) -> frozenset[str]:
    return frozenset(
        [text[place : place + _GRAM_LENGTH] for place in range(len(text) - _GRAM_LENGTH + 1)]
    )


# Several rules in turn match the same text; the grams of one text take 4 kB.
_grams = lru_cache(maxsize=64)(_grams_of)


def _framed_entries(rule: Rule, entries: Entries) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each entry of a rule with the rule's pattern before and behind the entry."""
    lists: list[tuple[str, tuple[str, ...], str]] = []

    def note(section: str, *names: str, not_after: str = "") -> str:
        lists.append((section, names, not_after))
        return _SEPARATOR

    frame = rule(note).split(_SEPARATOR)
    for number, (section, names, not_after) in enumerate(lists, start=1):
        before, behind = NEVER.join(frame[:number]), NEVER.join(frame[number:])
        before += f"(?:(?<!{not_after})(?:" if not_after else "(?:"
        behind = f")){behind}" if not_after else f"){behind}"
        frame_of = before, behind
        for entry in dict.fromkeys(e for name in names for e in entries(section, name)):
            yield entry, frame_of


def _parts_of(entry: str, depth: int = _MAX_DEPTH) -> list[tuple[str, str]]:
    r"""Return the parts of an entry, each a pattern with its required letters.

    An entry with too few required letters is divided by its choices, because most texts contain
    those letters.

    >>> _parts_of("in stock"), _parts_of(r"\d (?:piece|left)s?")
    ([('in stock', 'in stock')], [('\\d pieces?', ' piece'), ('\\d lefts?', ' left')])
    """
    if PLAIN(entry):
        return [(entry, entry)]
    required = letters(entry)
    parts = divided(entry) if len(required) < _GRAM_LENGTH and depth else [entry]
    if parts == [entry]:
        return [(entry, required)]
    return [divided_part for part in parts for divided_part in _parts_of(part, depth - 1)]


def _start(pattern: str, required: str) -> str:
    """Return the letters that begin each match of a pattern, '' if no letters are *required*.

    >>> _start("arti?cle", "cle"), _start("[no] stock", " stock"), _start("in|of", "")
    ('art', '', '')
    """
    if pattern == required:
        return pattern
    leading = _LEADING.match(pattern)
    return leading[0] if leading and required else ""


def letters(pattern: str) -> str:
    """Return the longest run of letters that each match of a pattern contains, or ''.

    >>> letters("sold[ -]?out"), letters("(in )?stock( on hand)?"), letters("(no|nr)")
    ('sold', 'stock', '')
    """
    if PLAIN(pattern):
        return pattern
    literals, groups = _NOT_LITERAL.sub(_SEPARATOR, pattern), 1
    while groups:
        literals, groups = _GROUP.subn(_SEPARATOR, literals)
    if "|" in literals:
        return ""
    return max(_REPEATED.sub(_SEPARATOR, literals).split(_SEPARATOR), key=len)
