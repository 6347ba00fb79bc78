"""Addresses outside of links: frames, options of a form, buttons that load more, loaded menus."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from urllib.parse import urlencode

from crawler.extract import lazy_patterns
from crawler.extract.links.pagination import is_page_parameter
from crawler.extract.page.page import Element, Page, elements_with, short_text
from crawler.extract.words import any_of, finder, full_matcher
from scrapy_seine.urls import MAX_LENGTH

#: Options of one `select`, elements of one form, and buttons of a page.
_MAX_OPTIONS, _MAX_FORM_ELEMENTS, _MAX_BUTTONS = 300, 500, 50
#: Attributes that hold the address which a script loads for a button.
_ADDRESS_ATTRIBUTES = (
    "data-href", "data-url", "data-next", "data-next-url", "data-next-page", "data-endpoint",
)  # fmt: skip
#: Those and longer names: `data-load-url`, `data-load-more-url`. It begins with letters and no
#: alternative, because the search then takes a twelfth of the time.
_NAMES_ADDRESS = lazy_patterns.pattern(
    rb"data-(?:next\b|(?:[a-z]{1,12}-){0,2}(?:href|url|endpoint)\b)"
)
_MAX_NAMES = 20
#: Attributes with the address of a part of the page that a script fills in, and words of a menu.
_NAMES_PART = lazy_patterns.pattern(
    rb"(?:data-(?:[a-z]{1,12}-){0,2}(?:href|url|src|source|endpoint|load)|hx-get)\b"
)
_MENU = lazy_patterns.pattern(r"menu|\bnav|header|departments", re.I)
#: Elements of a search and its suggestions.
_NO_MENUS = frozenset({"form", "input"})
_MENU_TAGS, _MAX_MENU_LEVELS, _MAX_MENUS = frozenset({"nav", "header"}), 3, 10
_MORE_LABEL = finder(rf"\b(?:{any_of('paging', 'next')})")
_MORE_CLASS = lazy_patterns.pattern(r"more|next|load|weiter|infinite", re.I)
#: Names of form fields that choose another view of the same products.
_VIEW_PARAMETER = full_matcher(
    r"sort\w*|order\w*|listing_sort|limit|per_?page|lang\w*|currency|qty|quantity|page_?size"
    r"|(?:colou?r|size|variante?|option|attribute)\w*"
)
_ADDRESS = lazy_patterns.pattern(
    r"(?:https?://|\.{0,2}/|\?\w|[^\s?#]{1,200}\.(?:html?|php|aspx?)\b)", re.I
)


def unlinked(page: Page) -> Iterator[tuple[Element, str]]:
    """Yield frames and `select` elements of a page, each with an address as it is written."""
    for element in page.frames:
        if source := element.get("src"):
            yield element, source
    for select in page.selects:
        yield from _choice_addresses(select)


def loaded_addresses(page: Page) -> Iterator[tuple[Element, str]]:
    """Yield elements with the address from which a script loads more of the page's listing."""
    if page.has_data and (found := _NAMES_ADDRESS.findall(page.raw)):
        names = dict.fromkeys([*_ADDRESS_ATTRIBUTES, *map(bytes.decode, found)])
        yield from _loading_buttons(page, list(names)[:_MAX_NAMES])
    if page.holds(b"pagination") and page.holds(b'"radio"'):
        yield from _pager_radio_buttons(page)


def loaded_menus(page: Page) -> Iterator[tuple[Element, str]]:
    """Yield the boxes of menus without a link, with the address from which a script fills them."""
    if not (page.has_data or page.holds(b"hx-get")):
        return
    names = [*dict.fromkeys(map(bytes.decode, _NAMES_PART.findall(page.raw)))][:_MAX_NAMES]
    for element in elements_with(page, names)[:_MAX_MENUS]:
        address = next(value for name in names if (value := element.get(name)) is not None)
        is_menu = element.tag not in _NO_MENUS and next(element.iter("a"), None) is None
        if is_menu and _ADDRESS.match(address) and _is_in_menu(element):
            yield element, address


def _is_in_menu(element: Element) -> bool:
    """Whether an element, or a box around it, is called a menu."""
    boxes = (element, *islice(element.iterancestors(), _MAX_MENU_LEVELS))
    return any(
        box.tag in _MENU_TAGS or _MENU.search(f"{box.get('class') or ''} {box.get('id') or ''}")
        for box in boxes
    )


def _pager_radio_buttons(page: Page) -> Iterator[tuple[Element, str]]:
    """Yield the radio buttons of a script's pager: `<input type="radio" name="p" value="2">`."""
    for element in page.root.xpath('//input[@type="radio"]')[:_MAX_OPTIONS]:
        name, value = element.get("name") or "", element.get("value") or ""
        if is_page_parameter(name) and value.isdecimal() and element.get("checked") is None:
            yield element, f"?{name}={value}"


def _loading_buttons(page: Page, names: Sequence[str]) -> Iterator[tuple[Element, str]]:
    """Yield a script's buttons and links, with the address from which they load more products."""
    for element in elements_with(page, names)[:_MAX_BUTTONS]:
        name, address = next((name, v) for name in names if (v := element.get(name)) is not None)
        if not _ADDRESS.match(address) or (element.get("href") or "#")[0] not in "#jJ":
            continue
        words = f"{element.get('class') or ''} {element.get('id') or ''}"
        is_list = "next" in name or (name == "data-endpoint" and "=" in address)
        if is_list or _MORE_CLASS.search(words) or says_more(element):
            yield element, address


def says_more(element: Element) -> bool:
    """Whether a button's text says that it loads more."""
    return _MORE_LABEL(short_text(element)) is not None


def _choice_addresses(select: Element) -> Iterator[tuple[Element, str]]:
    """Yield the addresses of a `select`: its values, or those that its form requests with each."""
    options = islice(select.iter("option"), 2 * _MAX_OPTIONS)  # selects may be nested
    values = [value for field in options if (value := (field.get("value") or "").strip())]
    if not 1 < len(values) <= _MAX_OPTIONS:
        return
    if all(map(_ADDRESS.match, values)):
        yield from ((select, value) for value in values)
        return
    name, form = select.get("name"), next(select.iterancestors("form"), None)
    if form is None or not name or _VIEW_PARAMETER(name) or not needs_no_text(form, selects=1):
        return
    action, hidden_fields = action_of(form), hidden_fields_of(form)
    if len(action) > MAX_LENGTH or any(value.isdigit() for _, value in hidden_fields):
        return  # the number identifies a product, and the form chooses its size or colour
    for value in values:
        yield select, request_of(action, [*hidden_fields, (name, value)])


def needs_no_text(form: Element, selects: int) -> bool:
    """Whether a form sends so many `select` elements by GET, and has no text to fill in."""
    if (form.get("method") or "get").strip().lower() != "get":
        return False
    fields = [*islice(form.iter("select", "input", "textarea"), _MAX_FORM_ELEMENTS + 1)]
    if len(fields) > _MAX_FORM_ELEMENTS or any(field.tag == "textarea" for field in fields):
        return False
    input_types = {(f.get("type") or "text").lower() for f in fields if f.tag == "input"}
    count = sum(field.tag == "select" for field in fields)
    return count == selects and input_types <= {"hidden", "submit", "image", "button"}


def hidden_fields_of(form: Element) -> list[tuple[str, str]]:
    """Return the names and values that a form sends whatever a visitor does."""
    return [
        (field.get("name"), field.get("value") or "")
        for field in form.iter("input")
        if field.get("type", "").lower() == "hidden" and field.get("name")
    ]


def action_of(form: Element) -> str:
    """Return the address that a form requests, as it is written, without its fragment."""
    return (form.get("action") or "").partition("#")[0]


def request_of(action: str, fields: Sequence[tuple[str, str]]) -> str:
    """Return the address that a form requests by GET with these fields."""
    return f"{action}{'&' if '?' in action else '?'}{urlencode(fields)}"
