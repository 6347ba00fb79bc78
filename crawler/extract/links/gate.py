"""A gate before a shop: a page with one button that a visitor presses, and no way past it.

Only a button that sends nothing of the visitor's is pressed: its form has hidden fields alone, its
address is on the same host and belongs to no cart, login or newsletter. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from urllib.parse import urlencode

import attrs

from crawler.extract.links.choice import Link
from crawler.extract.links.traps import is_trap
from crawler.extract.links.unlinked import action_of, hidden_fields_of, request_of
from crawler.extract.page.page import Element, Page, tidied
from crawler.extract.words import any_word
from scrapy_seine.attrs_bases import Value
from scrapy_seine.urls import domain

#: Links of a gate (imprint, terms), and forms of it, at most.
MAX_LINKS, _MAX_FORMS = 10, 5
CATALOGUE = frozenset({"product", "pagination", "listing"})
#: Types of fields that a visitor may leave as they are.
_LEFT_ALONE = frozenset({"hidden", "submit", "image", "button", "reset", "checkbox"})
_asks_age = any_word("gate", "age")


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
    if any(map(_has_field_to_fill, forms)):
        return None
    for form in forms:
        answer = _pressed(form, page)
        if answer is not None:
            return answer
    if links and _asks_age(page.root.xpath("string()")):
        return next(
            (Answer(link.url) for link in links if domain(link.url) == domain(page.url)), None
        )
    return Answer(page.url) if sets_cookie and not page.anchors and not forms else None


def _has_field_to_fill(form: Element) -> bool:
    return any(
        field.tag != "input" or (field.get("type") or "text").lower() not in _LEFT_ALONE
        for field in form.iter("input", "select", "textarea")
    )


def _pressed(form: Element, page: Page) -> Answer | None:
    """Return the request of a form with one button; None if it leads to another host or a cart."""
    buttons = [
        field
        for field in form.iter("input", "button")
        if (field.get("type") or ("submit" if field.tag == "button" else "")).lower()
        in {"submit", "image"}
    ]
    if len(buttons) != 1:
        return None
    fields = hidden_fields_of(form)
    if name := buttons[0].get("name"):
        fields.append((name, buttons[0].get("value") or ""))
    action, method = action_of(form), (form.get("method") or "get").strip().lower()
    reference = request_of(action, fields) if method == "get" and fields else action
    url = tidied(page.resolve(reference or page.url) or "")
    if url is None or domain(url) != domain(page.url) or is_trap(url):
        return None
    is_post = method == "post"
    return Answer(url, urlencode(fields) if is_post else "", is_post)
