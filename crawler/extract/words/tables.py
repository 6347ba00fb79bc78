"""The words of all languages from one file, because parsing one per language cost a start 60 ms.

`make format` writes `tables.json` from the languages' files (`words.write_tables`); `make lint`
and a test report a stale one. It contains a digest of those files: if the digest differs, the
languages' files are read instead, so that no changed word is ignored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib import resources
from typing import Any

import orjson

Lists = dict[str, dict[str, list[str]]]
"""Entries by section and name."""

#: The file of all languages, and the suffix of each language's own file.
TABLES, _LANGUAGE_SUFFIX = "tables.json", ".toml"
#: The language whose words come first in a rule, because shops of all countries use some of them.
_FIRST_LANGUAGE = "en.toml"


def read() -> Lists:
    """Return all languages' entries of each list, English first, each entry once."""
    languages = _languages()
    stored = _stored_tables()
    return stored["lists"] if stored.get("of") == _digest(languages) else _merged(languages)


def current() -> bytes:
    """Return the content that the file of all languages should have."""
    languages = _languages()
    content = {"of": _digest(languages), "lists": _merged(languages)}
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


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
