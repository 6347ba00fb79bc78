"""Reads settings from environment variables of the same names.

Each settings module ends with `apply`, so that a variable overrides the module; a spider's own
settings and the command line override the variable. The text is converted to the default's type:
a number, yes or no, a list (commas, or JSON), a table (JSON). A text that cannot be converted stays
unchanged, and the check of all settings at the start reports it. An empty variable is ignored.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

#: Settings with another variable, because many tools use LOG_LEVEL.
VARIABLES = {"LOG_LEVEL": "SEINE_LOG_LEVEL"}
#: Variables whose value may come from a file, whose path is in NAME_FILE.
SECRETS = (
    "REDIS_URL",
    "DATABASE_URL",
    "SEINE_DASHBOARD_TOKEN",
    "SEINE_SECRET",
    "SEINE_SECRET_PREVIOUS",
    "SEINE_WEBHOOK_SECRET",
)
#: Prefixes of our settings' names.
OURS = ("SEINE_", "FRONTIER_")
#: The value that Kubernetes sets in NAME_PORT for a Service `name`, such as `seine-dashboard`.
_SERVICE_URL = re.compile(r"(tcp|udp|sctp)://")
_WORDS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


def apply(names: dict[str, Any], environ: Mapping[str, str] = os.environ) -> None:
    """Replace settings in *names*, a module's globals, by the values in *environ*."""
    for name, default in list(names.items()):
        if not takes_variable(name, default):
            continue
        text = environ.get(VARIABLES.get(name, name), "").strip()
        if text and not (name.endswith("_PORT") and _SERVICE_URL.match(text)):
            names[name] = parsed(text, default)


def takes_variable(name: str, default: object) -> bool:
    """Whether a setting may come from the environment.

    Tables of Scrapy's components may not, because they name code.
    """
    if not name.isupper() or default is None:
        return False
    return name.startswith(OURS) or not isinstance(default, dict)


def parsed(text: str, default: object) -> Any:
    """Convert *text* to the type of *default*; unchanged where that is not possible.

    >>> parsed("on", False), parsed("2.5", 1), parsed("a, b", []), parsed('{"a": 1}', {})
    (True, 2.5, ['a', 'b'], {'a': 1})
    >>> parsed("many", 1), parsed("[1", {}), parsed("8800", "8800")
    ('many', '[1', '8800')
    """
    if isinstance(default, bool):
        return _WORDS.get(text.lower(), text)
    if isinstance(default, int | float):
        return _number(text)
    if isinstance(default, list):
        return _list(text)
    if isinstance(default, dict):
        return _parsed_by(json.loads, text, dict)
    return text


def _number(text: str) -> float | str:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def _list(text: str) -> Any:
    if text.startswith("["):
        return _parsed_by(json.loads, text, list)
    return [part.strip() for part in text.split(",") if part.strip()]


def _parsed_by(read: Callable[[str], Any], text: str, kind: type) -> Any:
    try:
        found = read(text)
    except ValueError:
        return text
    return found if isinstance(found, kind) else text


def secret(name: str) -> str:
    """Return the variable *name*, else the trimmed content of the file *name*_FILE.

    An empty file ends the start, because without the secret a laptop would start its own servers.
    """
    path = os.environ.get(f"{name}_FILE", "")
    if os.environ.get(name) or not path:
        return os.environ.get(name, "")
    try:
        found = Path(path).read_text("utf-8-sig").strip()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise SystemExit(f"seine: {name}_FILE={path} cannot be read: {why}") from None
    if not found:
        raise SystemExit(f"seine: {name}_FILE={path} is empty; write the value, or unset it")
    return found


def proxies() -> tuple[str, str]:
    """Return proxies as lines and as a file's path: PROXY_LIST is either of them."""
    given = os.environ.get("PROXY_LIST", "") or os.environ.get("PROXY_LIST_FILE", "")
    is_path = given.startswith(("/", "./", "../"))
    return "" if is_path else given, given if is_path else ""
