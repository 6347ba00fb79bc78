"""A gate before a shop: a page with one button that a visitor presses, and no way past it.

Only a button that sends nothing of the visitor's is pressed: its form has hidden fields alone, or
asks for a date of birth, its address is on the same host and belongs to no cart, login or
newsletter. Where the visitor's age is asked, the button may stand beside one that says no. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from urllib.parse import urlencode

import attrs

from crawler.extract.links import birth_date
from crawler.extract.links.choice import Link
from crawler.extract.links.traps import is_trap
from crawler.extract.links.unlinked import action_of, hidden_fields_of, request_of
from crawler.extract.page.page import Element, Page, short_text, tidied
from crawler.extract.words import any_of, any_word, finder
from scrapy_seine.attrs_bases import Value
from scrapy_seine.urls import domain

#: Links of a gate (imprint, terms), and forms of it, at most.
MAX_LINKS, _MAX_FORMS = 10, 5
#: Buttons of a form that asks for the visitor's age: yes, no, and what the question is for.
_MAX_ANSWERS = 3
CATALOGUE = frozenset({"product", "pagination", "listing"})
_asks_age = any_word("gate", "age")
_says_no = finder(rf"(?<!\w)(?:{any_of('gate', 'no')})(?!\w)")


@attrs.frozen(eq=False, repr=False)
class Answer(Value):
    """The request that a gate's button sends."""

    url: str
    body: str = ""
    """The fields of a POST."""
    is_post: bool = False
    """Whether it is sent by POST, which a button without a name does with an empty body."""


def answer_of(page: Page, links: Sequence[Link], *, sets_cookie: bool) -> Answer | None:
    """Return the request that leads past a gate, or None if the page is none.

    A page without any link that *sets_cookie* wants to be asked again with its cookie.
    """
    if len(page.anchors) > MAX_LINKS or any(link.kind in CATALOGUE for link in links):
        return None
    forms = list(islice(page.root.iter("form"), _MAX_FORMS))
    asks_age = bool(forms or links) and _asks_age(page.root.xpath("string()")) is not None
    filled = [(form, birth_date.filled(form, page, asks_age=asks_age)) for form in forms]
    if any(fields is None for _, fields in filled):
        return None
    for form, fields in filled:
        answer = _pressed(form, page, fields or [], asks_age=asks_age or bool(fields))
        if answer is not None:
            return answer
    if links and asks_age:
        refusing = {page.resolve(a.get("href") or "") for a in page.anchors if _refuses(a)}
        own_urls = (link.url for link in links if domain(link.url) == domain(page.url))
        return next((Answer(url) for url in own_urls if url not in refusing), None)
    return Answer(page.url) if sets_cookie and not page.anchors and not forms else None


def _refuses(element: Element) -> bool:
    """Whether the text or the value of a button or a link says no."""
    value = element.get("value") or ""
    return value in {"0", "false"} or _says_no(f"{short_text(element)} {value}") is not None


def _pressed(
    form: Element, page: Page, filled: list[tuple[str, str]], *, asks_age: bool
) -> Answer | None:
    """Return the request of a form's only button, or of the one that says yes to the age.

    None if it leads to another host or a cart.
    """
    buttons = [
        field
        for field in form.iter("input", "button")
        if (field.get("type") or ("submit" if field.tag == "button" else "")).lower()
        in {"submit", "image"}
    ]
    if asks_age and 1 < len(buttons) <= _MAX_ANSWERS and any(map(_refuses, buttons)):
        buttons = [button for button in buttons if not _refuses(button)][:1]
    if len(buttons) != 1:
        return None
    fields = [*hidden_fields_of(form), *filled]
    if name := buttons[0].get("name"):
        fields.append((name, buttons[0].get("value") or ""))
    action, method = action_of(form), (form.get("method") or "get").strip().lower()
    reference = request_of(action, fields) if method == "get" and fields else action
    url = tidied(page.resolve(reference or page.url) or "")
    if url is None or domain(url) != domain(page.url) or is_trap(url):
        return None
    is_post = method == "post"
    return Answer(url, urlencode(fields) if is_post else "", is_post)
