"""The cookies that the script of a gate's button sets, where it writes them out. Pure.

`document.cookie = "age_ok=1; path=/"; location.reload()`, `Cookies.set("age", "yes")`. No script is
run: a name or a value that the script computes is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from crawler.extract.page.page import Page

#: Characters of a page's scripts that are searched, elements with `onclick`, and cookies.
_MAX_SCRIPT, _MAX_BUTTONS, _MAX_COOKIES = 50_000, 20, 5
_TEXT = r"""(?:"[^"\\\n]{0,200}"|'[^'\\\n]{0,200}'|`[^`\\$]{0,200}`)"""
_ASSIGNED = re.compile(rf"document\.cookie\s?=\s?({_TEXT}(?:\s?\+\s?{_TEXT}){{0,6}})(\s?\+)?")
_CALLED = re.compile(
    r"(?:\b(?:set|create|write)_?cookie|\bCookies?\.set|\$\.cookie|docCookies\.setItem)"
    rf"\(\s?({_TEXT})\s?,\s?({_TEXT}|\w{{1,20}})\s?[,)]",
    re.I,
)
_QUOTED = re.compile(_TEXT)
_NAME, _VALUE = re.compile(r"[\w.-]{1,60}"), re.compile(r"[\w.%~:|+-]{1,200}")
_LEAVES = re.compile(r"\blocation\b")
_REMOVED = re.compile(r"max-age\s?=\s?-?0|expires\s?=\s?thu, 0?1.jan.1970", re.I)
_REFUSING = frozenset(
    ("0", "false", "no", "n", "off", "none", "denied", "declined", "refused", "null", "undefined")
)


def script_cookies(page: Page) -> tuple[bytes, ...]:
    """Return the cookies that a gate's scripts set before they request a page anew."""
    cookies: dict[str, str] = {}
    for script in _scripts(page):
        if not _LEAVES.search(script):
            continue
        for name, value in _cookies_in(script):
            if value.lower() not in _REFUSING:
                cookies.setdefault(name, value)
    return tuple(f"{name}={cookies[name]}".encode() for name in islice(cookies, _MAX_COOKIES))


def _scripts(page: Page) -> Iterator[str]:
    for script in page.scripts:
        yield (script.text or "")[:_MAX_SCRIPT]
    for element in islice(page.root.xpath("//*[@onclick]"), _MAX_BUTTONS):
        yield str(element.get("onclick"))[:_MAX_SCRIPT]


def _cookies_in(script: str) -> Iterator[tuple[str, str]]:
    """Yield the names and values of cookies that a script sets.

    >>> list(_cookies_in("document.cookie = 'age=' + '1' + '; path=/'; Cookies.set('ok', true)"))
    [('age', '1'), ('ok', 'true')]
    >>> list(_cookies_in("document.cookie = 'id=' + Math.random(); setCookie(name, 1)"))
    []
    """
    for found in _ASSIGNED.finditer(script):
        text = "".join(part[1:-1] for part in _QUOTED.findall(found[1]))
        pair, ends, attributes = text.partition(";")
        name, _, value = pair.strip().partition("=")
        is_whole = bool(ends) or not found[2]
        if is_whole and _is_cookie(name, value) and not _REMOVED.search(attributes):
            yield name, value
    for found in _CALLED.finditer(script):
        value = found[2].strip("\"'`")
        is_known = value != found[2] or value.isdigit() or value == "true"
        if is_known and _is_cookie(name := found[1][1:-1], value):
            yield name, value


def _is_cookie(name: str, value: str) -> bool:
    return bool(_NAME.fullmatch(name) and _VALUE.fullmatch(value))
