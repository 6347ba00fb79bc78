"""A gate before a shop: a page with one button that a visitor presses, and no way past it.

Only a button that sends nothing of the visitor's is pressed: its form has hidden fields alone, or
asks for a date of birth, its address is on the same host and belongs to no cart, login or
newsletter, and neither its text nor its address names an act that has an effect, such as a vote, a
gift, the end of a contract or a consent to pass data on. Where the visitor's age is asked, such a word may mean the age
("Apply"), which the site's front page has to show, and the button may stand beside one that says no, below radio buttons or a select with
yes and no, or set its cookie by a script that is on the page. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from urllib.parse import unquote, urlencode

import attrs

from crawler.extract.links import birth_date
from crawler.extract.links.choice import Link
from crawler.extract.links.script_cookies import script_cookies
from crawler.extract.links.traps import is_trap
from crawler.extract.links.unlinked import action_of, hidden_fields_of, request_of
from crawler.extract.links.yes_or_no import chosen_option, chosen_radios, refuses, yes_of
from crawler.extract.page.page import Element, Page, short_text, tidied
from crawler.extract.stock.availability import BUY
from crawler.extract.words import any_of, any_word, finder
from scrapy_seine.attrs_bases import Value
from scrapy_seine.urls import domain

#: Links of a gate (imprint, terms), and forms of it, at most.
MAX_LINKS, _MAX_FORMS = 10, 5
#: Characters of a form's address that are read for what it does.
_MAX_ADDRESS = 300
#: Where WordPress takes the answer to a question of age; its other addresses there are nobody's page.
_WORDPRESS = re.compile(r"/wp-admin/admin-post\.php$|/wp-json/[\w/-]*age")
#: Where a form sends that cookies are accepted; a link there leads to what a site says of them.
_COOKIES = re.compile(r"/cookies?/?$")
#: A parameter that says where a form leads afterwards; such an address names no act of the form.
_TARGET = re.compile(r"=(?:https?:/)?/[^&#]*")
CATALOGUE = frozenset({"product", "pagination", "listing"})
_asks_age = any_word("gate", "age")
_names_act = finder(
    rf"(?<![^\W\d_])(?:{any_of('gate', 'acts')})(?![^\W\d_])|{any_of('gate', 'acts_within')}"
)
_agrees, _passes_on = any_word("gate", "agrees"), any_word("gate", "passed_on")
#: Characters of a page that are read for what its button agrees to: terms are longer.
_MAX_TEXT = 2_000


@attrs.frozen(eq=False, repr=False)
class Answer(Value):
    """The request that a gate's button sends."""

    url: str
    body: str = ""
    """The fields of a POST."""
    is_post: bool = False
    """Whether it is sent by POST, which a button without a name does with an empty body."""
    asks_age: bool = False
    """Whether the visitor's age is asked, and no act named, so that the page is a gate."""
    cookies: tuple[bytes, ...] = ()
    """Cookies that a script of the page sets: names with values."""


def answer_of(page: Page, links: Sequence[Link], *, sets_cookie: bool) -> Answer | None:
    """Return the request that leads past a gate, or None if the page is none.

    A page without any link that *sets_cookie* wants to be asked again with its cookie.
    """
    if len(page.anchors) > MAX_LINKS:
        return None
    forms = list(islice(page.root.iter("form"), _MAX_FORMS))
    asks_age = _asks_age(page.root.xpath("string()")) is not None
    questions = {_place_of(form, page) for form in forms if asks_age and _has_yes(form)}
    if any(x.kind in CATALOGUE and x.url.partition("?")[0] not in questions for x in links):
        return None
    filled = [(form, _filled(form, page, asks_age=asks_age)) for form in forms]
    if any(fields is None for _, fields in filled):
        return None
    answers = [
        answer
        for form, fields in filled
        if (
            answer := _pressed(
                form, page, fields or [], asks_age=asks_age or birth_date.asks_date(form)
            )
        )
    ]
    if answers:  # several are a choice, as of a currency, unless the visitor's age is asked
        is_one = asks_age or all(_is_same(answer, answers[0]) for answer in answers)
        return answers[0] if is_one else None
    is_bare = not page.anchors and not forms
    if (asks_age or is_bare) and (cookies := script_cookies(page)):
        return Answer(page.url, cookies=cookies)
    if links and asks_age:
        refusing = {page.resolve(a.get("href") or "") for a in page.anchors if refuses(a)}
        own_urls = (link.url for link in links if domain(link.url) == domain(page.url))
        return next((Answer(u, asks_age=True) for u in own_urls if u not in refusing), None)
    return Answer(page.url) if sets_cookie and is_bare else None


def _is_same(answer: Answer, other: Answer) -> bool:
    return (answer.url, answer.body) == (other.url, other.body)


def _has_yes(form: Element) -> bool:
    """Whether a form has a select with yes and no, whose options would else be listings."""
    return any(chosen_option(select) is not None for select in form.iter("select"))


def _place_of(form: Element, page: Page) -> str:
    return (page.resolve(action_of(form) or page.url) or "").partition("?")[0]


def _filled(form: Element, page: Page, *, asks_age: bool) -> list[tuple[str, str]] | None:
    """Return names and values of what a visitor fills in and chooses; None: it is no gate's form."""
    radios = chosen_radios(form) if asks_age else []
    fields = birth_date.filled(form, page, asks_age=asks_age)
    return None if radios is None or fields is None else [*fields, *radios]


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
    if asks_age and (yes := yes_of(buttons)) is not None:
        buttons = [yes]
    if len(buttons) != 1 or _buys(buttons[0]):
        return None
    has_effect = _has_effect(buttons[0], form, page)
    if has_effect and not asks_age:
        return None
    fields = [*hidden_fields_of(form), *filled]
    if name := buttons[0].get("name"):
        fields.append((name, buttons[0].get("value") or ""))
    action, method = action_of(form), (form.get("method") or "get").strip().lower()
    reference = request_of(action, fields) if method == "get" and fields else action
    url = tidied(page.resolve(reference or page.url) or "")
    if url is None or domain(url) != domain(page.url):
        return None
    is_post, address = method == "post", url.partition("?")[0]
    is_answer = (asks_age and _WORDPRESS.search(address)) or (is_post and _COOKIES.search(address))
    if is_trap(url) and not is_answer:
        return None
    is_sure = asks_age and not has_effect  # else the page may be a vote of those who are 18
    return Answer(url, urlencode(fields) if is_post else "", is_post, is_sure)


def _buys(button: Element) -> bool:
    return BUY(_text_of(button)) is not None


def _has_effect(button: Element, form: Element, page: Page) -> bool:
    """Whether a button votes, gives, ends or tells something, by its text or its address.

    So it is where it agrees to more than the age: that data are passed on, or a subscription.
    """
    address = _TARGET.sub("", unquote(action_of(form)[:_MAX_ADDRESS]))
    said = _divided(f"{_text_of(button)} {button.get('name') or ''} {address}")
    names = " ".join(name for name, _ in hidden_fields_of(form))[:_MAX_TEXT]
    if _names_act(said) or _passes_on(_divided(f"{said} {short_text(form)} {names}")):
        return True
    return bool(_agrees(said) and _passes_on(page.root.xpath("string()")[:_MAX_TEXT]))


def _divided(text: str) -> str:
    return text.replace("_", " ").replace("-", " ")


def _text_of(button: Element) -> str:
    return f"{short_text(button)} {button.get('value') or ''}"
