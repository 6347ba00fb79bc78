r"""Rules of listed words, of which a text has only those tried whose letters it holds.

All languages' words in one pattern take `re` longer to compile than a hundred pages to read, and
nearly none of them stands on a shop's pages. So each word is a pattern of its own, compiled for the
first text that holds the letters that the word cannot do without.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Protocol

from crawler.extract.words.prefixes import NEVER, PLAIN, divided, written_out


class AnyOf(Protocol):
    """What `any_of` is for a rule: a pattern of the named lists' entries."""

    def __call__(self, section: str, *names: str, not_after: str = "") -> str:
        """A pattern that matches any entry of the named lists."""


Rule = Callable[[AnyOf], str]
Entries = Callable[[str, str], Iterable[str]]
Look = Callable[[str], re.Match[str] | None]

#: Letters by which words are found in a text; who needs fewer is looked for by itself.
_GRAM = 3
#: Characters of a text whose letters are remembered for the next rule.
_SHORT = 200
#: Short texts, and characters of one, of which a rule remembers that they hold none of its words: the
#: labels, buttons and menus of a site are the same on all of its pages.
_MOST_BARE, _LONGEST_BARE = 256, 60
#: What holds no letter for sure: escapes, classes and groups, and what is repeated or optional.
_UNSURE = re.compile(r"(?:\\.|\[(?:\\.|[^\\\]])+\])(?:[?*+]+|\{[^}]*\})?", re.S)
_GROUP = re.compile(r"\([^()]*\)(?:[?*+]+|\{[^}]*\})?")
_REPEATED = re.compile(r".(?:[?*+]+|\{[^}]*\})|[.^$]", re.S)
_BREAK = "\0"
_LEADING = re.compile(r"[^\\.^$*+?{}\[\]()|]+(?![*+?{])")
#: Divisions of an entry, each within a part of the one before.
_MAX_DEPTH = 3
#: Letters by which the words are found with which a text begins; the longest start is asked first.
_START = 3
_START_LENGTHS = range(_START, -1, -1)
_SIGNS = re.compile(r"\W*").match


Frame = tuple[str, str]
"""What a rule has before and behind its words."""


class Listed:
    """A rule as a function of a text of any case; its match is in lower case.

    Of several words that a text holds the match is of the one that is listed first.
    """

    def __init__(
        self,
        rule: Rule,
        entries: Entries,
        compiled: Callable[[str], Look],
        lower: Callable[[str], str] = str.lower,
    ) -> None:
        self.rule = rule
        self._lower = lower
        self._entries = entries
        self._compiled = compiled
        # The parts of the rule's entries: letters that each needs, its pattern, and the function
        # that looks for it, made when a text may hold it. Three lists take a start a third of what
        # an object a part took.
        self._needs: list[str] = []
        self._parts: list[tuple[str, Frame]] = []
        self._looks: list[Look | None] = []
        self._by_gram: dict[str, list[int]] = {}
        self._grams: frozenset[str] = frozenset()
        self._others: list[tuple[int, str]] = []
        self._ascii: list[tuple[int, str]] = []
        self._bare: set[str] = set()

    def __call__(self, text: str) -> re.Match[str] | None:
        """The match of a word in the text."""
        bare = self._bare
        if len(text) > _LONGEST_BARE:
            return self._found(self._lower(text))
        if text in bare:
            return None
        found = self._found(self._lower(text))
        if found is None:
            if len(bare) >= _MOST_BARE:
                bare.clear()
            bare.add(text)
        return found

    def may_hold(self, text: str) -> bool:
        """Whether the text holds the letters that some word cannot do without."""
        if not self._needs:
            self._read()
        return bool(self._held(self._lower(text)))

    def needs(self) -> list[str]:
        """The letters that each of the rule's words cannot do without."""
        if not self._needs:
            self._read()
        return self._needs

    def _found(self, text: str) -> re.Match[str] | None:
        if not self._needs:
            self._read()
        held = self._held(text)
        if len(held) > 1:
            held.sort()
        for place in held:
            look = self._looks[place]
            if look is None:
                part, frame = self._parts[place]
                look = self._looks[place] = self._compiled(part.join(frame))
            if (found := look(text)) is not None:
                return found
        return None

    def _held(self, text: str) -> list[int]:
        """The places of the words whose letters a text holds."""
        others = self._ascii if text.isascii() else self._others
        held = [place for place, needs in others if needs in text]
        needs_of, by_gram = self._needs, self._by_gram
        if len(text) <= _SHORT:
            for gram in self._grams & _grams(text):
                held += [place for place in by_gram[gram] if needs_of[place] in text]
        else:
            held += [p for places in by_gram.values() for p in places if needs_of[p] in text]
        return held

    def _read(self) -> None:
        found: list[str] = []
        by_gram, parts, lower = self._by_gram, self._parts, self._lower
        for entry, frame in _framed_entries(self.rule, self._entries):
            for part, told in _parts_of(entry):
                needs = lower(told)
                needs = told if needs == told else needs  # one text in memory, not two
                if len(needs) >= _GRAM:
                    by_gram.setdefault(needs[:_GRAM], []).append(len(found))
                else:
                    self._others.append((len(found), needs))
                found.append(needs)
                parts.append((part, frame))
        self._grams = frozenset(by_gram)
        self._ascii = [(place, needs) for place, needs in self._others if needs.isascii()]
        self._looks = [None] * len(found)
        self._needs = found


class Together:
    """Several rules as one question: which of them may match a text?

    Most texts of a page hold no word of any of them, and are asked for once instead of once a rule.

    >>> sold, gone = (Listed(lambda any_of, n=n: any_of("s", n), lambda section, name: [name],
    ...                      lambda pattern: re.compile(pattern).search) for n in ("sold", "gone"))
    >>> either = Together(sold, gone)
    >>> [*either("It is GONE")] == [gone], [*either("Oak lamp")]
    (True, [])
    """

    def __init__(self, *rules: Listed) -> None:
        self.rules = rules
        self._by_gram: dict[str, list[tuple[str, Listed]]] = {}
        self._others: list[tuple[str, Listed]] = []
        self._ascii: list[tuple[str, Listed]] = []

    def __call__(self, text: str) -> Iterable[Listed]:
        """The rules of which a text holds the letters that some word cannot do without."""
        if not self._by_gram:
            self._read()
        text, by_gram = text.lower(), self._by_gram
        others = self._ascii if text.isascii() else self._others
        found = {rule: None for needs, rule in others if needs in text}
        grams = _grams(text) if len(text) <= _SHORT else _grams_of(text)
        for gram in by_gram.keys() & grams:
            for needs, rule in by_gram[gram]:
                if needs in text:
                    found[rule] = None
        return found

    def _read(self) -> None:
        all_needs = dict.fromkeys((needs, rule) for rule in self.rules for needs in rule.needs())
        for needs, rule in all_needs:
            if len(needs) >= _GRAM:
                self._by_gram.setdefault(needs[:_GRAM], []).append((needs, rule))
            else:
                self._others.append((needs, rule))
        self._ascii = [(needs, rule) for needs, rule in self._others if needs.isascii()]


class Begun(Listed):
    """The same for a rule whose words begin the text, or stand behind signs that begin it."""

    def _held(self, text: str) -> list[int]:
        start = text[:_START]
        if start and not start[0].isalnum():
            begin = _SIGNS(text).end()  # type: ignore[union-attr]  # no sign is a match, too
            start = text[begin : begin + _START]
        by_start, needs_of = self._by_gram, self._needs
        for length in _START_LENGTHS:
            places = by_start.get(start[:length])
            if places is not None:
                return [place for place in places if needs_of[place] in text]
        return []

    def _read(self) -> None:
        all_needs: list[str] = []
        by_start: dict[str, list[int]] = {"": []}
        for entry, frame in _framed_entries(self.rule, self._entries):
            for part in written_out(entry):
                written = letters(part)
                needed, start = self._lower(written), _start(part, written)
                start = needed if start == written else self._lower(start)
                start = start[:_START] if start[:1].isalnum() else ""
                by_start.setdefault(start, []).append(len(all_needs))
                all_needs.append(needed)
                self._parts.append((part, frame))
        # A text is looked up by its longest start only, so that start has the words of shorter ones.
        for start in sorted(by_start, key=len):
            shorter = {place for n in range(len(start)) for place in by_start.get(start[:n], ())}
            by_start[start] = sorted(shorter.union(by_start[start]))
        self._by_gram = by_start
        self._looks = [None] * len(all_needs)
        self._needs = all_needs


def _grams_of(text: str) -> frozenset[str]:
    return frozenset([text[place : place + _GRAM] for place in range(len(text) - _GRAM + 1)])


# The rules ask of the same text one after the other; a text's parts take 4 kB.
_grams = lru_cache(maxsize=64)(_grams_of)


def _framed_entries(rule: Rule, entries: Entries) -> Iterator[tuple[str, tuple[str, str]]]:
    """Each entry of a rule, and what the rule has around it, or a part of it, alone."""
    lists: list[tuple[str, tuple[str, ...], str]] = []

    def note(section: str, *names: str, not_after: str = "") -> str:
        lists.append((section, names, not_after))
        return _BREAK

    frame = rule(note).split(_BREAK)
    for number, (section, names, not_after) in enumerate(lists, start=1):
        before, behind = NEVER.join(frame[:number]), NEVER.join(frame[number:])
        before += f"(?:(?<!{not_after})(?:" if not_after else "(?:"
        behind = f")){behind}" if not_after else f"){behind}"
        frame_of = before, behind
        for entry in dict.fromkeys(e for name in names for e in entries(section, name)):
            yield entry, frame_of


def _parts_of(entry: str, depth: int = _MAX_DEPTH) -> list[tuple[str, str]]:
    r"""An entry as patterns, each with the letters that it needs.

    An entry is divided by its groups of choices while most texts would hold the letters around them.

    >>> _parts_of("in stock"), _parts_of(r"\d (?:piece|left)s?")
    ([('in stock', 'in stock')], [('\\d pieces?', ' piece'), ('\\d lefts?', ' left')])
    """
    if PLAIN(entry):
        return [(entry, entry)]
    needed = letters(entry)
    parts = divided(entry) if len(needed) < _GRAM and depth else [entry]
    if parts == [entry]:
        return [(entry, needed)]
    return [made for part in parts for made in _parts_of(part, depth - 1)]


def _start(pattern: str, needs: str) -> str:
    """The letters with which each match of a pattern begins that *needs* letters.

    >>> _start("arti?cle", "cle"), _start("[no] stock", " stock"), _start("in|of", "")
    ('art', '', '')
    """
    if pattern == needs:
        return pattern
    found = _LEADING.match(pattern)
    return found[0] if found and needs else ""


def letters(pattern: str) -> str:
    """The longest run of letters that each match of a pattern holds; '' where there is none.

    >>> letters("sold[ -]?out"), letters("(in )?stock( on hand)?"), letters("(no|nr)")
    ('sold', 'stock', '')
    """
    if PLAIN(pattern):
        return pattern
    rest, groups = _UNSURE.sub(_BREAK, pattern), 1
    while groups:
        rest, groups = _GROUP.subn(_BREAK, rest)
    if "|" in rest:
        return ""
    return max(_REPEATED.sub(_BREAK, rest).split(_BREAK), key=len)
