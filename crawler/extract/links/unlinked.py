"""Addresses that stand in no link: frames, choices of a form, and buttons that load more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlencode

from crawler.extract import lazy_patterns
from crawler.extract.links.pagination import is_page
from crawler.extract.page.page import Element, Page, short_text
from crawler.extract.words import any_of, finder, whole
from scrapy_seine.urls import MAX_LENGTH

#: Options of one choice, elements of one form, and buttons of a page.
_MOST_OPTIONS, _MOST_INSIDE, _MOST_BUTTONS = 300, 500, 50
#: Attributes in which scripts keep the address that a button loads.
_KEPT = ("data-href", "data-url", "data-next", "data-next-url", "data-next-page")
_IS_KEPT = (b"data-href", b"data-url", b"data-next")
_BUTTONS = "//*[{}]".format(" or ".join(f"@{name}" for name in _KEPT))
_MORE = finder(rf"\b(?:{any_of('paging', 'next')})")
_MORE_CLASS = lazy_patterns.pattern(r"more|next|load|weiter", re.I)
#: A choice of these is another view of the same things.
_VIEW = whole(
    r"sort\w*|order\w*|listing_sort|limit|per_?page|lang\w*|currency|qty|quantity|page_?size"
    r"|(?:colou?r|size|variante?|option|attribute)\w*"
)
_ADDRESS = lazy_patterns.pattern(
    r"(?:https?://|\.{0,2}/|\?\w|[^\s?#]{1,200}\.(?:html?|php|aspx?)\b)", re.I
)


def unlinked(page: Page) -> Iterator[tuple[Element, str]]:
    """Elements of a page that lead somewhere, and where to, as it is written there."""
    for element in page.frames:
        if source := element.get("src"):
            yield element, source
    for select in page.selects:
        yield from _chosen(select)


def continued(page: Page) -> Iterator[tuple[Element, str]]:
    """Elements that say what a script loads into the page, where that is more of its listing."""
    if page.has_data and any(map(page.raw.__contains__, _IS_KEPT)):
        yield from _kept(page)
    if b"pagination" in page.raw and b'"radio"' in page.raw:
        yield from _pressed(page)


def _pressed(page: Page) -> Iterator[tuple[Element, str]]:
    """The choices of a pager that a script sends: `<input type="radio" name="p" value="2">`."""
    for element in page.root.xpath('//input[@type="radio"]')[:_MOST_OPTIONS]:
        name, value = element.get("name") or "", element.get("value") or ""
        if is_page(name) and value.isdecimal() and element.get("checked") is None:
            yield element, f"?{name}={value}"


def _kept(page: Page) -> Iterator[tuple[Element, str]]:
    """Buttons and links of a script that say what they load, where that is more of a listing."""
    for element in page.root.xpath(_BUTTONS)[:_MOST_BUTTONS]:
        name, address = next((name, v) for name in _KEPT if (v := element.get(name)) is not None)
        if not _ADDRESS.match(address) or (element.get("href") or "#")[0] not in "#jJ":
            continue
        words = f"{element.get('class') or ''} {element.get('id') or ''}"
        if "next" in name or _MORE_CLASS.search(words) or _MORE(short_text(element)):
            yield element, address


def _chosen(select: Element) -> Iterator[tuple[Element, str]]:
    """The addresses of a choice: its values are addresses, or its form asks for one with each."""
    options = list(select.iter("option"))
    values = [value for one in options if (value := (one.get("value") or "").strip())]
    if not 1 < len(values) <= _MOST_OPTIONS:
        return
    if all(map(_ADDRESS.match, values)):
        yield from ((select, value) for value in values)
        return
    name, form = select.get("name"), next(select.iterancestors("form"), None)
    if form is None or not name or _VIEW(name) or not _only_chooses(form):
        return
    action = (form.get("action") or "").partition("#")[0]
    given = [
        (one.get("name"), one.get("value") or "")
        for one in form.iter("input")
        if one.get("type", "").lower() == "hidden" and one.get("name")
    ]
    if len(action) > MAX_LENGTH or any(value.isdigit() for _, value in given):
        return  # the number is that of a product, whose size or colour is chosen
    mark = "&" if "?" in action else "?"
    for value in values:
        yield select, f"{action}{mark}{urlencode([*given, (name, value)])}"


def _only_chooses(form: Element) -> bool:
    """Whether a form of one choice asks for a page by GET, and wants nothing typed in."""
    if (form.get("method") or "get").strip().lower() != "get":
        return False
    fields = list(form.iter("select", "input", "textarea"))[:_MOST_INSIDE]
    selects = [field for field in fields if field.tag == "select"]
    others = {(f.get("type") or "text").lower() for f in fields if f.tag == "input"}
    silent = others <= {"hidden", "submit", "image", "button"}
    return len(selects) == 1 and silent and not any(f.tag == "textarea" for f in fields)
