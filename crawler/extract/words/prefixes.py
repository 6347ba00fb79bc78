r"""Patterns of many words as a tree of their first letters, which Python's `re` searches fast.

`re` skips each place of a text that begins none of a pattern's parts, but only if every part
begins with a plain letter, and it then tries all parts in turn. So leading groups and classes are
written out, and the parts that begin alike share their first letters: `add|art|buy` becomes
`(?:a(?:dd|rt)|buy)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

NEVER = "(?!)"
_GROUP, _QUANTIFIERS = "(?:", ("?", "*", "+", "{")
#: What stands for no letter of its own.
_ANY = (".", "^", "$")
_DIGITS, _ESCAPED_DIGIT, _ESCAPE = "0123456789", r"\d", "\\"
#: Letters alone, as most words are.
PLAIN = re.compile(r"[^\\.^$*+?{}\[\]()|]+").fullmatch
#: A class of plain letters, which may be written out.
_CLASS = re.compile(r"\[([^\\\]^-]{1,12})\]")
#: Letters that are shared at most, and parts that are worth a branch of their own.
_DEEPEST, _FEW = 2, 2


def tree(patterns: Iterable[str], not_after: str = "") -> str:
    """One pattern that matches what any of *patterns* matches; it captures nothing.

    With *not_after*, a class, no match follows a character of it.

    >>> tree(["add", "(?:art|big)s", "[bc]uy"])
    '(?:a(?:dd|rts)|b(?:igs|uy)|cuy)'
    >>> tree(["add", "art"], not_after="[a-z]")
    '(?:a(?<![a-z]a)(?:dd|rt))'
    """
    parts = [part for pattern in patterns for part in written_out(pattern)]
    if not parts:
        return NEVER  # no words are found nowhere; an empty pattern is found in each text
    return _branches(list(dict.fromkeys(parts)), _DEEPEST, not_after)


def written_out(pattern: str) -> list[str]:
    r"""The parts of a pattern, each beginning with a letter where that can be said.

    >>> written_out(r"(?:no )?stock"), written_out(r"\d left")[:2], written_out("s?hip")
    (['no stock', 'stock'], ['0 left', '1 left'], ['ship', 'hip'])
    """
    if PLAIN(pattern):
        return [pattern]
    head, rest = _head(pattern)
    optional = rest[:1] == "?" and rest[1:2] not in ("?", "+")
    if rest.startswith(_QUANTIFIERS) and not optional:
        return [pattern]
    choices = _choices(head)
    if choices is None or (choices == [head] and not optional):
        return [pattern]
    rest = rest[optional:]
    found = [choice + rest for choice in choices] + ([rest] if optional and rest else [])
    return [part for one in found for part in ([one] if one == pattern else written_out(one))]


def divided(pattern: str) -> list[str]:
    r"""The parts of a pattern by its alternatives, or by those of its first group outside of groups.

    >>> divided("new|used"), divided(r"\d (?:left|piece(?:s|n))x")
    (['new', 'used'], ['\\d leftx', '\\d piece(?:s|n)x'])
    >>> divided("(?:no )?stock"), divided("(?:ab|c)+"), divided("stocks?")
    (['no stock', 'stock'], ['(?:ab|c)+'], ['stocks?'])
    """
    if len(alternatives := _alternatives(pattern)) > 1:
        return alternatives
    place = 0
    while place < len(pattern):
        head, rest = _head(pattern[place:])
        optional = rest[:1] == "?" and rest[1:2] not in ("?", "+")
        if head.startswith(_GROUP) and (optional or not rest.startswith(_QUANTIFIERS)):
            before, rest = pattern[:place], rest[optional:]
            choices = [*_alternatives(head[len(_GROUP) : -1]), *([""] if optional else [])]
            return [f"{before}{choice}{rest}" for choice in choices]
        place += len(head)
    return [pattern]


def _head(pattern: str) -> tuple[str, str]:
    """A pattern's first group, class, escape or letter, and the rest."""
    first = pattern[:1]
    if first == "(":
        end = _end_of_group(pattern)
    elif first == "[":
        found = _CLASS.match(pattern)
        end = found.end() if found else pattern.find("]", 2) + 1
    else:
        end = 2 if first == _ESCAPE else 1
    return pattern[:end], pattern[end:]


def _end_of_group(pattern: str) -> int:
    deep, place, in_class = 0, 0, False
    while place < len(pattern):
        char = pattern[place]
        if char == _ESCAPE:
            place += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char in "()":
            deep += 1 if char == "(" else -1
            if not deep:
                return place + 1
        place += 1
    return place


def _choices(head: str) -> list[str] | None:
    """What the beginning of a pattern stands for; None where that cannot be written out."""
    if head.startswith(_GROUP):
        return _alternatives(head[len(_GROUP) : -1])
    if head == _ESCAPED_DIGIT:
        return list(_DIGITS)
    if found := _CLASS.fullmatch(head):
        return list(found[1])
    return [head] if head and head[0] not in "([.^$" else None


def _alternatives(inner: str) -> list[str]:
    """The alternatives of a group, without those of the groups in it."""
    found, place, begin = [], 0, 0
    while place < len(inner):
        if inner[place] in "([":
            place += len(_head(inner[place:])[0])
            continue
        if inner[place] == "|":
            found.append(inner[begin:place])
            begin = place + 1
        place += 1 + (inner[place] == _ESCAPE)
    return [*found, inner[begin:]]


def _branches(parts: list[str], depth: int, not_after: str = "") -> str:
    """Alternatives, those that begin with the same letter behind it."""
    groups: dict[str, list[str]] = {}
    for part in parts:
        head, rest = _head(part) if depth > 0 else ("", part)
        plain = len(head) == 1 or (head[:1] == _ESCAPE and not head[1:].isalnum())
        plain = plain and head not in _ANY and not rest.startswith(_QUANTIFIERS)
        groups.setdefault(head if plain else "", []).append(part)
    found = groups.pop("", [])
    found = [f"(?<!{not_after}){part}" for part in found] if not_after else found
    for head, members in groups.items():
        rests = [member[len(head) :] for member in members]
        rest = rests[0] if len(rests) < _FEW else _branches(rests, depth - 1)
        found.append(f"{head}(?<!{not_after}{head}){rest}" if not_after else head + rest)
    return f"(?:{'|'.join(found)})"
