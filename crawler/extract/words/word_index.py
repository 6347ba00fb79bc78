"""Which of many runs of letters a text contains, by the text's words.

The texts of a site's pages differ, but nearly all of their words are those of earlier pages. So the
runs of letters in a word are looked up once, and a text of known words costs a comparison of sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from sys import intern

#: First letters by which runs of letters are indexed; shorter ones are compared one by one.
_GRAM_LENGTH = 3
#: Words that an index remembers, letters of the longest of them, and the signs behind a word.
_MAX_WORDS, _MAX_WORD_LENGTH, _SIGNS = 512, 40, ".,:;!?"


class WordIndex:
    """Finds which of *letters*, by their places, a text contains.

    >>> index = WordIndex(["sold out", "lamp", "of", "old"])
    >>> sorted(index("the lamps are sold out")), index("a red vase"), index("office")
    ([0, 1, 3], [], [2])
    """

    def __init__(self, letters: Sequence[str]) -> None:
        self._letters = letters
        self._pieces = [_piece(run) for run in letters]
        self._by_gram: dict[str, list[int]] = {}
        self._short: list[int] = []
        for place, piece in enumerate(self._pieces):
            gram = piece[:_GRAM_LENGTH]
            if len(gram) == _GRAM_LENGTH:
                self._by_gram.setdefault(gram, []).append(place)
            else:
                self._short.append(place)
        self._short_ascii = [place for place in self._short if letters[place].isascii()]
        self._empty: set[str] = set()
        self._holding: dict[str, list[int]] = {}

    def __call__(self, text: str) -> list[int]:
        """Return the places of the letters that a text contains."""
        letters = self._letters
        short = self._short_ascii if text.isascii() else self._short
        places = [place for place in short if letters[place] in text] if short else []
        words = text.split()
        if not self._empty.issuperset(words):
            # Each place once: thousands of new words may hold a piece of the same letters, and each
            # comparison reads the whole text.
            held: set[int] = set()
            for word in set(words).difference(self._empty):
                held.update(self._holding.get(word) or self._looked_up(word))
            places += [place for place in held if letters[place] in text]
        return places

    def _looked_up(self, word: str) -> list[int]:
        """Return the places of the letters of which a word contains a piece."""
        grams = {word[at : at + _GRAM_LENGTH] for at in range(len(word) - _GRAM_LENGTH + 1)}
        held = [
            place
            for gram in self._by_gram.keys() & grams
            for place in self._by_gram[gram]
            if self._pieces[place] in word
        ]
        # A number or an amount is on no further page.
        if len(word) <= _MAX_WORD_LENGTH and word.rstrip(_SIGNS).isalpha():
            if len(self._empty) + len(self._holding) >= _MAX_WORDS:
                self._empty.clear()
                self._holding.clear()
            if held:
                self._holding[intern(word)] = held
            else:
                self._empty.add(intern(word))  # one text in memory for the indexes of all rules
        return held


def _piece(letters: str) -> str:
    """Return the longest piece of letters without a blank, which one word of a text contains."""
    return letters if letters.isalpha() else max(letters.split(), key=len, default="")
