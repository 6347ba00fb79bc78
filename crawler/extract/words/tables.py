"""The words of all languages from one file, because parsing one per language cost a start 60 ms.

`make format` writes `tables.json` from the languages' files (`words.write_tables`); `make lint`
and a test report a stale one. It contains a digest of those files: if the digest differs, the
languages' files are read instead, so that no changed word is ignored.

A second file, `parts.txt`, has the parts of the entries (`words.parts`), because dividing the words
of a few rules took two fifths of what a worker's first hundred pages cost beyond later ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import resources
from typing import Any

import orjson

from crawler.extract.words.parts import Part, by_letters, by_start, uncaptured
from crawler.extract.words.prefixes import PLAIN

Lists = dict[str, dict[str, list[str]]]
"""Entries by section and name."""

#: The files of all languages, and the suffix of each language's own file.
TABLES, PARTS, _LANGUAGE_SUFFIX = "tables.json", "parts.txt", ".toml"
#: The language whose words come first in a rule, because shops of all countries use some of them.
_FIRST_LANGUAGE = "en.toml"
#: How the entries of a list are divided into parts.
_DIVISIONS: dict[str, Callable[[str], list[Part]]] = {"letters": by_letters, "start": by_start}
#: In `parts.txt`: what begins a line with the letters of an entry that is one part, and what
#: divides parts and letters otherwise.
_WHOLE, _DIVIDER = "=", "\t"
#: Behind each list of `parts.txt`.
_END = b"\n\n"


class Tables:
    """The entries of all languages and their parts."""

    def __init__(self, lists: Lists, digest: str = "") -> None:
        self.lists = lists
        """All languages' entries of each list, English first, each entry once."""
        self._digest = digest
        """The digest of the languages' files; empty where `parts.txt` may be stale."""

    def parts(self, division: str, section: str, name: str) -> list[Part]:
        """Return the parts of a list's entries."""
        entries = self.lists[section][name]
        lines = self._stored_parts.get(f"{division} {section} {name}".encode())
        if lines is None:
            divide = _DIVISIONS[division]
            return [part for entry in entries for part in divide(uncaptured(entry))]
        return _joined(entries, lines.decode())

    @cached_property
    def _stored_parts(self) -> dict[bytes, bytes]:
        try:
            content = (resources.files(__package__) / PARTS).read_bytes()
        except FileNotFoundError:
            return {}
        digest, _, lists = content.partition(_END)
        if not self._digest or digest != _digest_of_parts(self._digest, lists):
            return {}
        return dict(stored.split(b"\n", 1) for stored in lists.split(_END))


def read() -> Tables:
    """Return the tables from the file of all languages, or from their own files if it is stale."""
    languages = _languages()
    stored, digest = _stored_tables(), _digest(languages)
    if stored.get("of") == digest:
        return Tables(stored["lists"], digest)
    return Tables(_merged(languages))


def current() -> dict[str, bytes]:
    """Return the content that each file of all languages should have."""
    languages = _languages()
    lists, digest = _merged(languages), _digest(languages)
    content = {"of": digest, "lists": lists}
    parts = [
        f"{division} {section} {name}\n{lines}"
        for division, divide in _DIVISIONS.items()
        for section, lists_of_section in lists.items()
        for name, entries in lists_of_section.items()
        if (lines := _divided(entries, divide))  # plain words need none
    ]
    stored_parts = _END.join(part.encode() for part in parts)
    return {
        TABLES: orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE),
        PARTS: _digest_of_parts(digest, stored_parts) + _END + stored_parts,
    }


def _digest_of_parts(digest: str, stored_parts: bytes) -> bytes:
    """Return the first line of `parts.txt`, which a file that lost a line does not match."""
    return hashlib.sha256(digest.encode() + stored_parts).hexdigest().encode()


def _divided(entries: list[str], divide: Callable[[str], list[Part]]) -> str:
    r"""Return a line for each entry that is a pattern: its letters, or its parts and their letters.

    >>> _divided(["in stock", "sold[ -]?out", r"\d (?:pcs|left)"], by_letters)
    '=sold\n\\d pcs\t pcs\t\\d left\t left'
    """
    lines = []
    for entry in entries:
        if not PLAIN(entry):
            parts = divide(uncaptured(entry))
            is_whole = [part for part, _ in parts] == [entry]
            texts = [text for part in parts for text in part]
            lines.append(_WHOLE + texts[1] if is_whole else _DIVIDER.join(texts))
    return "\n".join(lines)


def _joined(entries: list[str], lines: str) -> list[Part]:
    """Return the parts of entries from the lines of `_divided`."""
    parts: list[Part] = []
    stored = iter(lines.split("\n"))
    for entry in entries:
        if PLAIN(entry):
            parts.append((entry, entry))
            continue
        line = next(stored)
        if line.startswith(_WHOLE):
            parts.append((entry, line[len(_WHOLE) :]))
        else:
            texts = line.split(_DIVIDER)
            parts += zip(texts[::2], texts[1::2], strict=True)
    return parts


def _stored_tables() -> dict[str, Any]:
    """Return the content of the file of all languages; {} if it is missing or not valid JSON."""
    try:
        stored = orjson.loads((resources.files(__package__) / TABLES).read_bytes())
    except (FileNotFoundError, orjson.JSONDecodeError):
        return {}
    return stored if isinstance(stored, dict) else {}


def _languages() -> dict[str, bytes]:
    """Return the content of each language's file by name, English first."""
    files = [f for f in resources.files(__package__).iterdir() if f.name.endswith(_LANGUAGE_SUFFIX)]
    files.sort(key=lambda file: (file.name != _FIRST_LANGUAGE, file.name))
    return {file.name: file.read_bytes() for file in files}


def _digest(languages: Mapping[str, bytes]) -> str:
    """Return a digest of all languages' files."""
    digest = hashlib.blake2b(digest_size=8)
    for name, text in languages.items():
        digest.update(b"%s\0%d\0" % (name.encode(), len(text)))
        digest.update(text)
    return digest.hexdigest()


def _merged(languages: Mapping[str, bytes]) -> Lists:
    import tomllib  # imported late, because a start rarely needs the parser

    lists: dict[str, dict[str, dict[str, None]]] = {}
    for text in languages.values():
        for section, lists_of_section in tomllib.loads(text.decode()).items():
            for name, entries in lists_of_section.items():
                lists.setdefault(section, {}).setdefault(name, {}).update(dict.fromkeys(entries))
    return {
        section: {name: list(entries) for name, entries in lists_of_section.items()}
        for section, lists_of_section in lists.items()
    }
