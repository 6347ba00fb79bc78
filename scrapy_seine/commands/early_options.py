"""Checks the options that Scrapy uses before a command of ours could.

Scrapy converts the value of a table after -s at once, before a command sees it, and a value that is
no table ends in a traceback, or in a line that doubts the NAME=VALUE. It writes --pidfile before
the command runs, and --profile when the crawl is over. Bytes that are not UTF-8 are no name, URL or
text that a store takes, whichever command gets them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

#: Options that name a file to write.
_FILES = ("--pidfile", "--profile")


def wrong_options(words: Sequence[str]) -> str | None:
    """Return what is wrong with the options of a command line; None: nothing was found.

    >>> wrong_options(["crawl", "s", "-s", "DOWNLOAD_SLOTS=5"])
    "DOWNLOAD_SLOTS='5' is not a table (in JSON, if it is a text), of which each value is a table \
with a delay of at most 86400 s"
    >>> wrong_options(["crawl", "-sLOG_LEVEL=loud", "--set=LOG_LEVEL=INFO", "--set", "X=1"])
    >>> wrong_options(["crawl", "s", "--pidfile=/proc/no/x"])
    '--pidfile /proc/no/x cannot be written: No such file or directory'
    >>> wrong_options(["dlq", "show", "caf\\udce9"])
    "the argument b'caf\\\\xe9' is not UTF-8 text; write it in UTF-8"
    >>> wrong_options(["crawl", "s"]), wrong_options([])
    (None, None)
    """
    for word in words:
        if not word.isascii() and not _is_text(word) and not os.path.lexists(word):
            return f"the argument {os.fsencode(word)!r} is not UTF-8 text; write it in UTF-8"
    for option in _FILES:
        for name in _values_of(words, option):
            try:
                Path(name).open("ab").close()
            except OSError as error:
                return f"{option} {name} cannot be written: {error.strerror}"
    if not (values := set_values(words)):
        return None
    # Imported here, because its table takes 10 ms.
    from scrapy_seine.engine.settings_check import wrong_values

    return "; ".join(wrong_values(values)) or None


def _is_text(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def set_values(words: Sequence[str]) -> dict[str, str]:
    """Return the settings of each -s or --set; the last value of a name counts."""
    pairs = [value.partition("=") for value in _values_of(words, "--set", "-s")]
    return {name: value for name, sign, value in pairs if sign}


def _values_of(words: Sequence[str], option: str, short: str = "") -> Iterator[str]:
    """Yield the value of each use of an option, in the order of the words."""
    for word, following in zip(words, [*words, ""][1:], strict=True):
        if word and word in {option, short}:
            yield following
        elif word.startswith(f"{option}="):
            yield word.removeprefix(f"{option}=")
        elif short and word.startswith(short):
            yield word.removeprefix(short)
