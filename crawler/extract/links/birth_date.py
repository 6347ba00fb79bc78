"""An adult's date of birth in a gate's form: selects, numbers, or one field, and nothing else. Pure.

The fields are known by what they take (31 options, `maxlength="4"`, `max="12"`, `DD.MM.YYYY`), by
their names and by `autocomplete`. Day and month are both the first, so that their order is of no
importance. A form that asks for anything else is left alone.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Literal, NamedTuple

from crawler.extract.links.yes_or_no import chosen_option
from crawler.extract.page.page import Element, Page, short_text
from crawler.extract.words import any_word

#: The year that is given, and the latest that is an adult's.
_YEAR, _LATEST_YEAR = 1980, 2000
#: A select with a day, a month and years from this one on asks for a birth date.
_BIRTH_YEARS = 1960
_AGE = "35"
_MONTHS, _DAYS = 12, 31
_MOST_OPTIONS = 300
#: Types of fields that a visitor may leave as they are.
_LEFT_ALONE = frozenset({"hidden", "submit", "image", "button", "reset", "checkbox"})
_TEXTS = frozenset({"text", "number", "tel", "date", ""})
_WORD = re.compile(r"[a-z]+|[A-Z][a-z]*")
_SAYS_BIRTH = re.compile(r"birth|\bdob\b|bday", re.I)
_PATTERN = re.compile(r"(?:(\w)\1(\W)(?!\1)(\w)\3\2(\w)\4{3}|(\w)\5{3}(\W)(\w)\7\6(\w)\8)")
_FOUR_LETTERS, _TWO_LETTERS = re.compile(r"(\w)\1{3}|(?:19|20)\d\d"), re.compile(r"(\w)\1|[0-3]\d")
_asks_birth = any_word("gate", "birth")
Role = Literal["year", "part", "date", "age", "as it is"]


class _Field(NamedTuple):
    role: Role
    value: str
    is_birth: bool


def filled(form: Element, page: Page, *, asks_age: bool) -> list[tuple[str, str]] | None:
    """Return names and values for what a visitor fills in or has to tick; [] if there is nothing.

    None if the form asks for anything but a date of birth or an age. *asks_age*: words of the page
    ask for the visitor's age; then a select may take yes or no, and radio buttons are left alone.
    """
    sent: list[tuple[str, str]] = []
    fields: list[_Field] = []
    for element in form.iter("input", "select", "textarea"):
        kind = (element.get("type") or "").lower()
        if (answered := _without_date(element, kind, asks_age=asks_age)) is not None:
            sent += answered
            continue
        field = _read(element, kind)
        if field is None:
            return None
        fields.append(field)
        if name := element.get("name"):
            sent.append((name, field.value))
    if not fields:
        return sent
    roles = sorted(field.role for field in fields if field.role != "as it is")
    is_date = roles in (["date"], ["part", "part", "year"])
    is_less = roles in (["age"], ["year"], ["part", "year"])
    if is_date and any(field.is_birth for field in fields):
        return sent
    if not (is_date or is_less):
        return None
    return sent if asks_age or _asks_birth(page.root.xpath("string()")) else None


def asks_date(form: Element) -> bool:
    """Whether a form that `filled` can fill in has a field for a date or an age."""
    fields = ((field, (field.get("type") or "").lower()) for field in form.iter("input", "select"))
    read = [_read(field, kind) for field, kind in fields if kind not in _LEFT_ALONE]
    return any(field is not None and field.role != "as it is" for field in read)


def _without_date(element: Element, kind: str, *, asks_age: bool) -> list[tuple[str, str]] | None:
    """Return what is sent of a field that takes no date; None: it may take one."""
    name = element.get("name")
    if element.tag == "select":
        yes = chosen_option(element) if asks_age else None
        return None if yes is None else [(name, yes.get("value") or short_text(yes))] * bool(name)
    if element.tag != "input" or not (kind in _LEFT_ALONE or (asks_age and kind == "radio")):
        return None
    is_ticked = kind == "checkbox" and element.get("required") is not None and name
    return [(name, element.get("value") or "on")] if is_ticked else []


def _read(element: Element, kind: str) -> _Field | None:
    if element.tag == "select":
        return _of_select(element)
    if element.tag != "input" or kind not in _TEXTS:
        return None
    name = element.get("name") or element.get("id") or ""
    auto = (element.get("autocomplete") or "").lower()
    is_birth = _SAYS_BIRTH.search(f"{name} {auto}") is not None
    if kind == "date":
        return _Field("date", f"{_YEAR}-01-01", is_birth)
    words = {word.lower() for word in _WORD.findall(name)}
    hint = (element.get("placeholder") or "").strip()
    if auto == "bday-year" or words & {"year", "yyyy"} or _takes_year(element, hint):
        return _Field("year", str(_YEAR), is_birth)
    if auto in {"bday-day", "bday-month"} or words & {"day", "month", "dd", "mm"}:
        return _Field("part", "01", is_birth)
    if _takes_two_digits(element, hint):
        return _Field("part", "01", is_birth)
    if pattern := _PATTERN.fullmatch(hint.replace(" ", "")):
        mark = pattern[2] or pattern[6]
        parts = ("01", "01", str(_YEAR)) if pattern[2] else (str(_YEAR), "01", "01")
        return _Field("date", mark.join(parts), is_birth)
    if is_birth:
        return _Field("date", f"{_YEAR}-01-01" if auto == "bday" else f"01/01/{_YEAR}", True)
    return _Field("age", _AGE, False) if "age" in words else None


def _takes_year(element: Element, hint: str) -> bool:
    limits = [_number(element, "min"), _number(element, "max")]
    return (
        _number(element, "maxlength") == len(str(_YEAR))
        or any(limit >= 1900 for limit in limits)
        or _FOUR_LETTERS.fullmatch(hint) is not None
    )


def _takes_two_digits(element: Element, hint: str) -> bool:
    return (
        _number(element, "maxlength") == 2
        or _number(element, "max") in {_MONTHS, _DAYS}
        or _TWO_LETTERS.fullmatch(hint) is not None
    )


def _number(element: Element, name: str) -> int:
    value = (element.get(name) or "").strip()
    return int(value) if re.fullmatch(r"[0-9]{1,6}", value) else 0


def _of_select(select: Element) -> _Field | None:
    options = [*islice(select.iter("option"), _MOST_OPTIONS)]
    texts = [short_text(option) for option in options]
    values = [option.get("value") for option in options]
    sent = [text if value is None else value for text, value in zip(texts, values, strict=True)]
    years = [
        (abs(int(text) - _YEAR), int(text), value)
        for text, value in zip(texts, sent, strict=True)
        if re.fullmatch(r"(?:19|20)[0-9]{2}", text)
    ]
    if len(years) >= _MONTHS:
        _, year, value = min(years)
        is_birth = min(year for _, year, _ in years) <= _BIRTH_YEARS
        return _Field("year", value, is_birth) if year <= _LATEST_YEAR else None
    for size in (_MONTHS, _DAYS):
        if len(sent) in {size, size + 1} and sent[-size]:  # the first of more names the field
            return _Field("part", sent[-size], False)
    chosen = [v for v, o in zip(sent, options, strict=True) if o.get("selected") is not None]
    value = (chosen or sent or [""])[0]
    return _Field("as it is", value, False) if value else None
