r"""Patterns of many words as a tree of their first letters, which Python's `re` searches fast.

`re` skips the positions of a text at which none of a pattern's alternatives can begin, but only if
every alternative begins with a plain letter, and it then tries all alternatives in turn. So leading
groups and classes are written out, and alternatives that begin alike share their first letters:
`add|art|buy` becomes `(?:a(?:dd|rt)|buy)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

NEVER = "(?!)"
_GROUP, _QUANTIFIERS, _OPTIONAL = "(?:", ("?", "*", "+", "{"), ("?", "*", "{")
#: Signs of a pattern that match another text than themselves.
_METACHARACTERS = (".", "^", "$")
_DIGITS, _ESCAPED_DIGIT, _ESCAPE = "0123456789", r"\d", "\\"
#: A pattern of literal letters alone, as most words are.
PLAIN = re.compile(r"[^\\.^$*+?{}\[\]()|]+").fullmatch
#: A class of at most 12 plain letters, which is written out.
_CLASS = re.compile(r"\[([^\\\]^-]{1,12})\]")
#: An escape, a class, or a sign that divides a pattern.
_MARKS = re.compile(r"\\.|\[(?:\\.|[^\\\]])*+\]?|[()|]", re.S).finditer
#: Shared first letters at most, and the fewest alternatives that share a branch.
_MAX_DEPTH, _MIN_BRANCH_SIZE = 2, 2


def tree(patterns: Iterable[str], not_after: str = "") -> str:
    """Return one pattern that matches whatever any of *patterns* matches, without capturing.

    With *not_after*, a character class, no match follows a character of that class.

    >>> tree(["add", "(?:art|big)s", "[bc]uy"])
    '(?:a(?:dd|rts)|b(?:igs|uy)|cuy)'
    >>> tree(["add", "art"], not_after="[a-z]")
    '(?:a(?<![a-z]a)(?:dd|rt))'
    """
    parts = [part for pattern in patterns for part in written_out(pattern)]
    if not parts:
        return NEVER  # because an empty pattern would match every text
    return _branches(list(dict.fromkeys(parts)), _MAX_DEPTH, not_after)


def written_out(pattern: str) -> list[str]:
    r"""Return the variants of a pattern, each beginning with a plain letter where possible.

    >>> written_out(r"(?:no )?stock"), written_out(r"\d left")[:2], written_out("s?hip")
    (['no stock', 'stock'], ['0 left', '1 left'], ['ship', 'hip'])
    """
    if PLAIN(pattern):
        return [pattern]
    head, tail = _head(pattern)
    optional = tail[:1] == "?" and tail[1:2] not in ("?", "+")
    if tail.startswith(_QUANTIFIERS) and not optional:
        return [pattern]
    choices = _choices(head)
    if choices is None or (choices == [head] and not optional):
        return [pattern]
    tail = tail[optional:]
    variants = [choice + tail for choice in choices] + ([tail] if optional and tail else [])
    return [
        part
        for variant in variants
        for part in ([variant] if variant == pattern else written_out(variant))
    ]


def divided(pattern: str) -> list[str]:
    r"""Divide a pattern by its alternatives, else by those of its first group at the top level.

    >>> divided("new|used"), divided(r"\d (?:left|piece(?:s|n))x")
    (['new', 'used'], ['\\d leftx', '\\d piece(?:s|n)x'])
    >>> divided("(?:no )?stock"), divided("(?:ab|c)+"), divided("stocks?")
    (['no stock', 'stock'], ['(?:ab|c)+'], ['stocks?'])
    """
    if len(alternatives := _alternatives(pattern)) > 1:
        return alternatives
    place = 0
    while place < len(pattern):
        head, tail = _head(pattern[place:])
        optional = tail[:1] == "?" and tail[1:2] not in ("?", "+")
        if head.startswith(_GROUP) and (optional or not tail.startswith(_QUANTIFIERS)):
            before, tail = pattern[:place], tail[optional:]
            choices = [*_alternatives(head[len(_GROUP) : -1]), *([""] if optional else [])]
            return [f"{before}{choice}{tail}" for choice in choices]
        place += len(head)
    return [pattern]


def required_groups(pattern: str) -> list[list[str]]:
    r"""Return the alternatives of each group at the top level of which one is in each match.

    >>> required_groups("item (?:no|nr)(?:[.])?"), required_groups("(?:a|b)(?:c)*"), required_groups("(?:a)|b")
    ([['no', 'nr']], [['a', 'b']], [])
    """
    if len(_alternatives(pattern)) > 1:
        return []
    groups, place = [], 0
    while place < len(pattern):
        head, tail = _head(pattern[place:])
        if head.startswith(_GROUP) and not tail.startswith(_OPTIONAL):
            groups.append(_alternatives(head[len(_GROUP) : -1]))
        place += len(head)
    return groups


def _head(pattern: str) -> tuple[str, str]:
    """Split a pattern behind its first group, class, escape or letter."""
    first_char = pattern[:1]
    if first_char == "(":
        end = _end_of_group(pattern)
    elif first_char == "[":
        class_match = _CLASS.match(pattern)
        end = class_match.end() if class_match else pattern.find("]", 2) + 1
    else:
        end = 2 if first_char == _ESCAPE else 1
    return pattern[:end], pattern[end:]


def _end_of_group(pattern: str) -> int:
    depth = 0
    for mark in _MARKS(pattern):
        if mark[0] == "(":
            depth += 1
        elif mark[0] == ")":
            depth -= 1
            if not depth:
                return mark.end()
    return len(pattern)


def _choices(head: str) -> list[str] | None:
    """Return the literals that a pattern's head matches, or None if they cannot be listed."""
    if head.startswith(_GROUP):
        return _alternatives(head[len(_GROUP) : -1])
    if head == _ESCAPED_DIGIT:
        return list(_DIGITS)
    if class_match := _CLASS.fullmatch(head):
        return list(class_match[1])
    return [head] if head and head[0] not in "([.^$" else None


def _alternatives(inner: str) -> list[str]:
    """Return the top-level alternatives of a group's content."""
    alternatives, begin, depth = [], 0, 0
    for mark in _MARKS(inner):
        if mark[0] == "(":
            depth += 1
        elif mark[0] == ")":
            depth -= 1
        elif mark[0] == "|" and not depth:
            alternatives.append(inner[begin : mark.start()])
            begin = mark.end()
    return [*alternatives, inner[begin:]]


def _branches(parts: list[str], depth: int, not_after: str = "") -> str:
    """Return a group of alternatives in which those with the same first letter share it."""
    groups: dict[str, list[str]] = {}
    for part in parts:
        head, tail = _head(part) if depth > 0 else ("", part)
        plain = len(head) == 1 or (head[:1] == _ESCAPE and not head[1:].isalnum())
        plain = plain and head not in _METACHARACTERS and not tail.startswith(_QUANTIFIERS)
        groups.setdefault(head if plain else "", []).append(part)
    branches = groups.pop("", [])
    branches = [f"(?<!{not_after}){part}" for part in branches] if not_after else branches
    for head, members in groups.items():
        tails = [member[len(head) :] for member in members]
        tail = tails[0] if len(tails) < _MIN_BRANCH_SIZE else _branches(tails, depth - 1)
        branches.append(f"{head}(?<!{not_after}{head}){tail}" if not_after else head + tail)
    return f"(?:{'|'.join(branches)})"
