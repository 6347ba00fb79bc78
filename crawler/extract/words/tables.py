"""The words of all languages from one file, because parsing a file a language took a start 60 ms.

`tables.json` is made of the languages' files: `make format` writes it (`words.write_tables`), `make lint`
and a test tell of one that is old. It says of which bytes it was made: where they are others, the
languages' files are read themselves, so that nobody's word is left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib import resources
from typing import Any

import orjson

Lists = dict[str, dict[str, list[str]]]
"""Entries by section and name."""

#: The file of all languages, and how the name of a language's own ends.
TABLES, _LANGUAGE = "tables.json", ".toml"
#: The language whose words come first in a rule; shops of all countries use some of them.
_FIRST = "en.toml"


def read() -> Lists:
    """All languages' entries of each list, English first, each entry once."""
    languages = _languages()
    found = _kept()
    return found["lists"] if found.get("of") == _digest(languages) else _merged(languages)


def current() -> bytes:
    """What the file of all languages has to hold."""
    languages = _languages()
    made = {"of": _digest(languages), "lists": _merged(languages)}
    return orjson.dumps(made, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _kept() -> dict[str, Any]:
    """The file of all languages; nothing where it is missing, or two sides of a merge."""
    try:
        found = orjson.loads((resources.files(__package__) / TABLES).read_bytes())
    except (FileNotFoundError, orjson.JSONDecodeError):
        return {}
    return found if isinstance(found, dict) else {}


def _languages() -> dict[str, bytes]:
    """Each language's file, English first."""
    files = [f for f in resources.files(__package__).iterdir() if f.name.endswith(_LANGUAGE)]
    files.sort(key=lambda file: (file.name != _FIRST, file.name))
    return {file.name: file.read_bytes() for file in files}


def _digest(languages: Mapping[str, bytes]) -> str:
    """What tells one state of all files from another."""
    found = hashlib.blake2b(digest_size=8)
    for name, text in languages.items():
        found.update(b"%s\0%d\0" % (name.encode(), len(text)))
        found.update(text)
    return found.hexdigest()


def _merged(languages: Mapping[str, bytes]) -> Lists:
    import tomllib  # a start is spared the parser, too

    lists: dict[str, dict[str, dict[str, None]]] = {}
    for text in languages.values():
        for section, named in tomllib.loads(text.decode()).items():
            for name, entries in named.items():
                lists.setdefault(section, {}).setdefault(name, {}).update(dict.fromkeys(entries))
    return {
        section: {name: list(entries) for name, entries in named.items()}
        for section, named in lists.items()
    }
