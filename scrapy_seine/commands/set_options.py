"""Checks the values of -s before Scrapy applies them.

Scrapy converts the value of a table at once, before a command sees it, and a value that is no table
ends in a traceback, or in a line that doubts the NAME=VALUE.
"""

from __future__ import annotations

from collections.abc import Sequence


def wrong_values_of_set(words: Sequence[str]) -> str | None:
    """Return what is wrong with the values that a command line sets; None: nothing was found.

    >>> wrong_values_of_set(["crawl", "s", "-s", "DOWNLOAD_SLOTS=5"])
    "DOWNLOAD_SLOTS='5' is not a table (in JSON, if it is a text), of which each value is a table \
(in JSON, if it is a text)"
    >>> wrong_values_of_set(["crawl", "-sLOG_LEVEL=loud", "--set=LOG_LEVEL=INFO", "--set", "X=1"])
    >>> wrong_values_of_set(["crawl", "s"])
    """
    if not (values := dict(_set_values(words))):
        return None
    # Imported here, because its table takes 10 ms.
    from scrapy_seine.engine.settings_check import wrong_values

    return "; ".join(wrong_values(values)) or None


def _set_values(words: Sequence[str]) -> list[tuple[str, str]]:
    """Return the names and values of each -s or --set; the last value of a name counts."""
    given = []
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word in {"-s", "--set"}:
            given.append(following)
        elif word.startswith(("-s", "--set=")):
            given.append(word.removeprefix("--set=" if word.startswith("--") else "-s"))
    return [(name, value) for name, sign, value in (one.partition("=") for one in given) if sign]
