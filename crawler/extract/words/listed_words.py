r"""Rules of listed words: a text is matched only with the words whose required letters it contains.

Compiling all languages' words into one pattern takes `re` longer than reading a hundred pages, and
a shop's pages contain nearly none of the words. So each word is a pattern of its own, compiled for
the first text that contains the letters that each match of the word contains.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Protocol

from crawler.extract.words.parts import Part, choices_of_letters
from crawler.extract.words.prefixes import NEVER
from crawler.extract.words.word_index import WordIndex


class AnyOf(Protocol):
    """The function that a rule gets to insert the entries of named lists into its pattern."""

    def __call__(self, section: str, *names: str, not_after: str = "") -> str:
        """Return a pattern that matches any entry of the named lists."""


Rule = Callable[[AnyOf], str]
Parts = Callable[[str, str], Iterable[Part]]
"""Returns the parts of a list's entries."""
Search = Callable[[str], re.Match[str] | None]

#: Texts without a match that a rule remembers, and characters of the longest of them, because the
#: labels, buttons and menus of a site are the same on all of its pages.
_MAX_MISSES, _MAX_MISS_LENGTH = 256, 60
_SEPARATOR = "\0"
_LEADING = re.compile(r"[^\\.^$*+?{}\[\]()|]+(?![*+?{])")
#: First letters by which words at a text's start are indexed; the longest start is tried first.
_START_LENGTH = 3
_SIGNS = re.compile(r"\W*").match
_TURKISH = re.compile("[İı]").search


def lowered(text: str) -> str:
    """Return a text in lower case, in which Turkish `İ` and `ı` are one letter, `i`.

    The capital of `ı` is `I`, so that nothing tells "SATIN AL" from a word with an `i`.

    >>> lowered("İndirimli Fiyat"), lowered("SATIN AL") == lowered("Satın al")
    ('indirimli fiyat', True)
    """
    if text.isascii() or _TURKISH(text) is None:
        return text.lower()
    return text.replace("İ", "i").lower().replace("ı", "i")


Frame = tuple[str, str]
"""A rule's pattern before and behind its words."""


class WordFinder:
    """A function that finds a rule's words in a text of any case; its match is in lower case.

    If a text contains several words, the match is of the word that is listed first.
    """

    def __init__(
        self,
        rule: Rule,
        parts: Parts,
        compiled: Callable[[str], Search],
        lower: Callable[[str], str] = lowered,
    ) -> None:
        self.rule = rule
        self._lower = lower
        self._parts_of = parts
        self._compiled = compiled
        # The parts of the rule's entries: required letters, pattern, and search function, which is
        # compiled for the first text that may match. Three lists cost the start-up a third of what
        # one object per part did.
        self._required: list[str] = []
        self._parts: list[tuple[str, Frame]] = []
        self._searches: list[Search | None] = []
        self._candidates: Callable[[str], list[int]] = _none
        #: Further letters of parts that are not compiled yet, for the first texts that may match.
        self._choices: dict[int, list[tuple[str, ...]]] = {}
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
            if search is None and (search := self._search_of(index, text)) is None:
                continue
            if (match := search(text)) is not None:
                return match
        return None

    def _search_of(self, index: int, text: str) -> Search | None:
        """Compile a part's pattern, or return None if the text lacks some of its letters.

        A pattern takes as long to compile as a hundred texts take to be looked at, and three of
        four patterns whose longest run of letters is in a text match none of a shop's texts.
        """
        part, frame = self._parts[index]
        choices = self._choices.get(index)
        if choices is None:
            choices = self._choices[index] = [
                tuple(map(self._lower, runs)) for runs in choices_of_letters(part)
            ]
        for runs in choices:
            for run in runs:
                if run in text:
                    break
            else:
                return None
        search = self._searches[index] = self._compiled(part.join(frame))
        return search

    def _index_entries(self) -> None:
        """Index the entries; `_required` is set last, because a limit on reading may interrupt.

        What an interrupted call had begun would be an index of other entries for all later pages.
        """
        all_required: list[str] = []
        parts: list[tuple[str, Frame]] = []
        lower = self._lower
        for part, letters, frame in _framed_parts(self.rule, self._parts_of):
            required = lower(letters)
            # One text in memory, not two.
            all_required.append(letters if required == letters else required)
            parts.append((part, frame))
        self._candidates = WordIndex(all_required)
        self._parts, self._searches = parts, [None] * len(all_required)
        self._required = all_required


class FinderGroup:
    """Finds which of several rules may match a text.

    Most texts of a page contain no word of any rule, so one lookup replaces one lookup per rule.

    >>> sold, gone = (WordFinder(lambda any_of, n=n: any_of("s", n), lambda section, name: [(name, name)],
    ...                      lambda pattern: re.compile(pattern).search) for n in ("sold", "gone"))
    >>> either = FinderGroup(sold, gone)
    >>> [*either("It is GONE")] == [gone], [*either("Oak lamp")]
    (True, [])
    """

    def __init__(self, *rules: WordFinder) -> None:
        self.rules = rules
        self._rule_of: list[WordFinder] = []
        self._index: WordIndex | None = None

    def __call__(self, text: str) -> Iterable[WordFinder]:
        """Return the rules of which the text contains some word's required letters."""
        index = self._index or self._indexed()
        return dict.fromkeys([self._rule_of[place] for place in index(lowered(text))])

    def _indexed(self) -> WordIndex:
        """Index the rules' entries; `_index` is set last, because a limit may interrupt."""
        pairs = dict.fromkeys(
            (required, rule) for rule in self.rules for required in rule.required_letters()
        )
        self._rule_of = [rule for _, rule in pairs]
        self._index = WordIndex([required for required, _ in pairs])
        return self._index


class StartFinder(WordFinder):
    """A WordFinder for words at the start of a text, or behind the signs at its start."""

    def _index_entries(self) -> None:
        all_required: list[str] = []
        parts: list[tuple[str, Frame]] = []
        by_start: dict[str, list[int]] = {"": []}
        lower = self._lower
        for part, letters, frame in _framed_parts(self.rule, self._parts_of):
            required, start = lower(letters), _start(part, letters)
            start = required if start == letters else lower(start)
            start = start[:_START_LENGTH] if start[:1].isalnum() else ""
            by_start.setdefault(start, []).append(len(all_required))
            all_required.append(required)
            parts.append((part, frame))
        # A text is looked up by its longest start alone, so that start includes the shorter starts.
        for start in sorted(by_start, key=len):
            shorter = {index for n in range(len(start)) for index in by_start.get(start[:n], ())}
            by_start[start] = sorted(shorter.union(by_start[start]))
        self._candidates = partial(_started, by_start, all_required)
        self._parts, self._searches = parts, [None] * len(all_required)
        self._required = all_required


def _none(_: str) -> list[int]:
    return []


def _started(by_start: dict[str, list[int]], required_of: list[str], text: str) -> list[int]:
    """Return the indexes of the parts that may begin a text, or follow the signs at its start."""
    start = text[:_START_LENGTH]
    if start and not start[0].isalnum():
        begin = _SIGNS(text).end()  # type: ignore[union-attr]  # zero signs match, too
        start = text[begin : begin + _START_LENGTH]
    # The list of parts that may begin with any letter is the only one that may be empty.
    indexes = (
        by_start.get(start) or by_start.get(start[:2]) or by_start.get(start[:1]) or by_start[""]
    )
    return [index for index in indexes if required_of[index] in text]


def _framed_parts(rule: Rule, parts: Parts) -> Iterator[tuple[str, str, Frame]]:
    """Yield each part of a rule's entries with its letters and the rule's pattern around it."""
    lists: list[tuple[str, tuple[str, ...], str]] = []

    def note(section: str, *names: str, not_after: str = "") -> str:
        lists.append((section, names, not_after))
        return _SEPARATOR

    frame = rule(note).split(_SEPARATOR)
    for number, (section, names, not_after) in enumerate(lists, start=1):
        before = NEVER.join(frame[:number])
        # Alternatives behind the entry that never match would only take time to compile.
        behind = NEVER.join(frame[number:]).replace(f"|({NEVER})", "")
        before += f"(?:(?<!{not_after})(?:" if not_after else "(?:"
        behind = f")){behind}" if not_after else f"){behind}"
        frame_of = before, behind
        for part, letters in dict.fromkeys(x for name in names for x in parts(section, name)):
            yield part, letters, frame_of


def _start(pattern: str, required: str) -> str:
    """Return the letters that begin each match of a pattern, '' if no letters are *required*.

    >>> _start("arti?cle", "cle"), _start("[no] stock", " stock"), _start("in|of", "")
    ('art', '', '')
    """
    if pattern == required:
        return pattern
    leading = _LEADING.match(pattern)
    return leading[0] if leading and required else ""
