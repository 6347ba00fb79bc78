"""Loads Lua files as callable scripts; a file whose header breaks the contract fails to load.

A header contains, in this order: `-- name: purpose`, `-- include: _a _b` (optional), one `--
KEYS[n] …` for each key, one `-- ARGV[n] …` for each argument with its unit, `-- reply: …`. Files
with a leading underscore are included by others, because Redis has no `require`. One that its own
package lacks is taken from `scrapy_seine/lua`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

import attrs
from redis.asyncio import Redis
from redis.exceptions import NoScriptError

from scrapy_seine.attrs_bases import Value
from scrapy_seine.errors import ScriptContractError

_HEADER = re.compile(r"(?:--.*\n)+")
_INCLUDE = re.compile(r"^-- include: (.+)$", re.MULTILINE)
#: Parts of a script per function, because a Lua function takes 60 variables of outer ones.
_NESTED = 7
_SLOT = re.compile(r"^-- (KEYS|ARGV)\[(\d+)\] \S", re.MULTILINE)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Script(Value):
    """A Lua script with its includes, ready for EVALSHA."""

    name: str
    source: str
    sha: str
    keys: int
    """Number of KEYS it takes."""


def _check(name: str, source: str) -> tuple[str, int]:
    """Return the header and its number of keys, or raise ScriptContractError."""
    match = _HEADER.match(source)
    header = match.group() if match else ""
    slots = {"KEYS": 0, "ARGV": 0}
    for kind, number in _SLOT.findall(header):
        slots[kind] += 1
        if int(number) != slots[kind]:
            raise ScriptContractError(f"{name}.lua: {kind}[{number}] is out of order in the header")
    if not header.startswith(f"-- {name}: "):
        raise ScriptContractError(f"{name}.lua: the header must start with '-- {name}: <purpose>'")
    if "\n-- reply: " not in header:
        raise ScriptContractError(f"{name}.lua: the header does not say what the script replies")
    for kind, count in slots.items():
        numbers = {int(n) for n in re.findall(rf"{kind}\[(\d+)\]", source[len(header) :])}
        if numbers and max(numbers) > count:
            raise ScriptContractError(
                f"{name}.lua uses {kind}[{max(numbers)}], its header does not"
            )
    return header, slots["KEYS"]


@cache
def _text(package: str, name: str) -> str:
    """Read a file; cached, because nine of ten are included by several others."""
    own_file = resources.files(package) / "lua" / f"{name}.lua"
    shared = resources.files("scrapy_seine") / "lua" / f"{name}.lua"
    return (own_file if own_file.is_file() else shared).read_text("utf-8")


def _nested(parts: Sequence[str]) -> str:
    """Join the parts of a script, the later ones in nested functions.

    For each variable that a new function uses, Lua searches the variables of the running function
    that functions already use: in one long chunk that took a ninth of an empty lease's time. A
    nested function's variables are searched once.
    """
    groups = [parts[start : start + _NESTED] for start in range(0, len(parts), _NESTED)]
    ends = " end)()" * (len(groups) - 1)
    return "\nreturn (function()\n".join("\n".join(group) for group in groups) + ends + "\n"


@cache
def load_script(package: str, name: str) -> Script:
    """Load `lua/<name>.lua` of *package*.

    Raises:
        ScriptContractError: its header and its body do not match.
    """
    body = _text(package, name)
    header, keys = _check(name, body)
    include = _INCLUDE.search(header)
    parts = [_text(package, n) for n in include.group(1).split()] if include else []
    source = _nested([*parts, body])
    sha = hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()
    return Script(name=name, source=source, sha=sha, keys=keys)


def keys_below(prefix: str) -> tuple[str, str]:
    """Return the KEYS of a script that works on all keys with a prefix: two that never exist.

    A Cluster that moves a slot sends a call with one absent key on to the new server, where the
    script would find a part of the crawl's keys. With two, both servers answer TRYAGAIN until the
    slot has moved.

    >>> keys_below("{shop}:")
    ('{shop}:', '{shop}:-')
    """
    return prefix, f"{prefix}-"


async def call(redis: Redis, lua: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
    """Run a script by its hash, loading it if the server does not have it yet."""
    try:
        return await redis.evalsha(lua.sha, len(keys), *keys, *args)
    except NoScriptError:
        return await redis.eval(lua.source, len(keys), *keys, *args)
