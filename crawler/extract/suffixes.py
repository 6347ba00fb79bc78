"""The domain that somebody registered, by Mozilla's list of public suffixes.

The list is the one that tldextract brings (Scrapy depends on it). Its own code is not used: that
brings an HTTP client, and asks for 0.07 s of each start and 6 MB.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

#: What follows it are companies' domains, whose shops count as one site.
_COMPANIES = "===BEGIN PRIVATE DOMAINS==="


@cache
def rules() -> frozenset[str]:
    """The registries' suffixes, as the list writes them: `co.uk`, `*.ck`, `!www.ck`."""
    package = find_spec("tldextract")  # finds it without importing it
    assert package is not None
    assert package.origin is not None
    text = Path(package.origin).with_name(".tld_set_snapshot").read_text("utf-8")
    lines = text.partition(_COMPANIES)[0].splitlines()
    return frozenset(line for line in lines if line and not line.startswith("//"))


def registered(host: str) -> str:
    """The part of a host name that somebody registered; empty where it is no such name.

    >>> registered("www.shop.example.co.uk"), registered("localhost"), registered("co.uk")
    ('example.co.uk', '', '')
    """
    known, labels = rules(), host.rstrip(".").split(".")
    begin, below = len(labels), None
    for i in range(len(labels) - 1, -1, -1):
        label = _readable(labels[i])
        name = label if below is None else f"{label}.{below}"
        if name in known:
            begin = i
        elif f"*.{below}" in known:
            begin = i + 1 if f"!{name}" in known else i
            break
        below = name
    named = 0 < begin < len(labels) and labels[begin - 1]
    return ".".join(labels[begin - 1 :]) if named else ""


def _readable(label: str) -> str:
    """Return a label as the list writes it, which has no punycode."""
    if not label.startswith("xn--"):
        return label
    try:
        return label[4:].encode("ascii").decode("punycode")
    except UnicodeError:
        return label
