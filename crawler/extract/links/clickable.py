"""Addresses that a visitor reaches without a link: by a click on a box, by a button, in a frame."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice

from crawler.extract import lazy_patterns
from crawler.extract.links.scripted import is_no_page, lists_of
from crawler.extract.links.unlinked import (
    action_of,
    hidden_fields_of,
    needs_no_text,
    request_of,
)
from crawler.extract.page.page import Element, Page, elements_with
from scrapy_seine.urls import MAX_LENGTH

#: Elements of one kind that are searched on a page.
_MAX_ELEMENTS = 500
#: Attributes with the address to which a script leads a visitor who clicks the element.
_BOX_ATTRIBUTES = ("data-href", "data-url", "data-link", "data-product-url", "data-product-link")
_NAMES_BOX = lazy_patterns.pattern(rb"data-(?:href|url|link|product-(?:url|link))")
#: A condition on the attribute takes a fifth of one on each element.
_OWN_ELEMENTS = "//*/@href[contains(name(..), '-')]/.."
_ADDRESS = lazy_patterns.pattern(
    r"(?:https?:/|\.{1,2})?/|\?\w|[\w-][\w/-]{0,200}\.(?:html?|php|aspx?)\b", re.I
)
#: What a script does to leave the page: sets `location`, or calls one of its methods, or `open`.
_LEAVES = lazy_patterns.pattern(
    r"(?:\blocation(?:\.href)?\s{0,9}=(?!=)\s{0,9}|\blocation\.(?:assign|replace)\s{0,9}\(\s{0,9}"
    r"|\bwindow\.open\s{0,9}\(\s{0,9})(['\"])([^'\"\s<>\\]{1,300})\1"
)
#: Characters of a script that are searched for an address to go on to.
_MAX_SCRIPT_LENGTH = 5_000
#: A call with one number or name, which a function of the page's scripts puts into an address.
_CALL = lazy_patterns.pattern(
    r"\s{0,9}(?:return\s)?([\w$]{1,60})\(\s?(['\"]?)([\w%-]{1,100})\2\s?\)"
)
_GOES = (
    r"(?:\blocation(?:\.href)?\s{0,9}=(?!=)|\blocation\.(?:assign|replace)\s{0,9}\("
    r"|\bwindow\.open\s{0,9}\()\s{0,9}"
)
_WITH_VALUE = lazy_patterns.pattern(
    _GOES + r"(?:(['\"])([^'\"\s<>\\]{1,300})\1\s?\+\s?(?:encodeURIComponent\(\s?)?([\w$]{1,60})"
    r"(?:\s?\)?\s?\+\s?(['\"])([^'\"\s<>\\]{1,100})\4)?"
    r"|`([^`$\s<>]{1,300})\$\{([\w$]{1,60})\}([^`$\s<>]{0,100})`)"
)
#: Functions of a page that are looked for, and scripts in which they are.
_MAX_FUNCTIONS, _MAX_SCRIPTS = 10, 30
#: Characters of a script that are searched for a function, of its head, and of its body.
_MAX_SCRIPTS_LENGTH, _MAX_HEAD, _MAX_BODY = 100_000, 60, 500


def clickable(page: Page) -> Iterator[tuple[Element, str]]:
    """Yield elements of a page, each with an address as it is written.

    A page whose products have links needs none of these, because they also lead to other views of
    the same products.
    """
    for frame in islice(page.root.iter("iframe"), _MAX_ELEMENTS):
        if source := frame.get("src"):
            yield frame, source
    if any(map(page.holds, (b"onclick", b"onClick", b"ONCLICK"))):
        yield from _clicked(page)
    if page.has_data and _NAMES_BOX.search(page.raw):
        yield from chain.from_iterable(lists_of(_boxes(page)))
    if any(map(page.holds, (b"<form", b"<FORM"))):
        yield from chain.from_iterable(lists_of(_forms(page)))
    yield from chain.from_iterable(lists_of(_named_elements(page)))
    if not page.anchors:
        yield from _next_address(page)


def _clicked(page: Page) -> Iterator[tuple[Element, str]]:
    """Yield what a click on an element opens by its own script, or by a function of the page."""
    functions: dict[str, tuple[str, str] | None] = {}
    for element in page.root.xpath("//*/@onclick/..")[:_MAX_ELEMENTS]:
        script = element.get("onclick")[:MAX_LENGTH]
        if match := _LEAVES.search(script):
            yield element, match[2]
        elif call := _CALL.match(script):
            if call[1] not in functions and len(functions) < _MAX_FUNCTIONS:
                functions[call[1]] = _address_by(call[1], page)
            if parts := functions.get(call[1]):
                yield element, call[3].join(parts)


def _address_by(name: str, page: Page) -> tuple[str, str] | None:
    """Return what a function of a page's scripts puts before and behind its value in an address.

    `function show(id) { location.href = "item?id=" + id }` leads to `item?id=7` by `show(7)`.
    """
    for script in page.scripts[:_MAX_SCRIPTS]:
        text = (script.text or "")[:_MAX_SCRIPTS_LENGTH]
        for head in (f"function {name}", f"{name} ="):
            start = text.find(head)
            if start < 0 or (start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_$")):
                continue
            start += len(head)
            match = _WITH_VALUE.search(text, start, start + _MAX_BODY)
            parameter = match and (match[3] or match[7])
            if match and parameter in text[start : min(start + _MAX_HEAD, match.start())]:
                return (match[2], match[5] or "") if match[3] else (match[6], match[8])
    return None


def _named_elements(page: Page) -> Iterator[tuple[Element, str]]:
    """Yield a page's own elements (`product-card`) with `href`, and microdata's links to items."""
    for element in page.root.xpath(_OWN_ELEMENTS)[:_MAX_ELEMENTS]:
        yield element, element.get("href")
    for link in page.links[:_MAX_ELEMENTS]:
        if link.get("itemprop") == "url" and link.get("href"):
            yield link, link.get("href")


def _next_address(page: Page) -> Iterator[tuple[Element, str]]:
    """Yield the script that leads on from a page without links, with the address."""
    for script in page.scripts:
        if match := _LEAVES.search((script.text or "")[:_MAX_SCRIPT_LENGTH]):
            yield script, match[2]
            return


def _boxes(page: Page) -> Iterator[tuple[Element, str]]:
    for element in elements_with(page, _BOX_ATTRIBUTES)[:_MAX_ELEMENTS]:
        if (element.get("href") or "#")[0] in "#jJ":
            value = next(v for name in _BOX_ATTRIBUTES if (v := element.get(name)) is not None)
            if _ADDRESS.match(value) and not is_no_page(value):
                yield element, value


def _forms(page: Page) -> Iterator[tuple[Element, str]]:
    """Yield forms that send only hidden fields by GET, and buttons with an address: `View`."""
    for button in page.root.xpath("//*/@formaction/..")[:_MAX_ELEMENTS]:
        form = next(button.iterancestors("form"), button)
        if (button.get("formmethod") or form.get("method") or "get").strip().lower() == "get":
            yield button, button.get("formaction")
    for form in islice(page.root.iter("form"), _MAX_ELEMENTS):
        if needs_no_text(form, selects=0) and (fields := hidden_fields_of(form)):
            yield form, request_of(action_of(form), fields)
