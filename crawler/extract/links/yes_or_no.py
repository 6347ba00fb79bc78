"""Which of a gate's choices says yes to the visitor's age: buttons, radio buttons, options. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from crawler.extract.page.page import Element, short_text
from crawler.extract.words import any_of, finder

#: Choices of a question about the visitor's age: yes, no, and what the question is for.
MAX_CHOICES = 3
_MAX_RADIOS = 20
_says_no = finder(rf"(?<!\w)(?:{any_of('gate', 'no')})(?!\w)")


def refuses(element: Element) -> bool:
    """Whether the text, the label or the value of a choice says no."""
    value = element.get("value") or ""
    said = f"{short_text(element)} {_label_of(element)} {value}"
    return value in {"0", "false"} or _says_no(said) is not None


def yes_of(choices: Sequence[Element]) -> Element | None:
    """Return the choice that says yes beside one that says no."""
    is_no = [refuses(choice) for choice in choices]
    if not 1 < len(choices) <= MAX_CHOICES or not any(is_no) or all(is_no):
        return None
    return choices[is_no.index(False)]


def chosen_option(select: Element) -> Element | None:
    """Return the option of a select that says yes; the first one may only name the field."""
    options = [*islice(select.iter("option"), MAX_CHOICES + 2)]
    return yes_of([option for option in options if option.get("value", "1")])


def chosen_radios(form: Element) -> list[tuple[str, str]] | None:
    """Return the names and values of the radio buttons that say yes; None: one group does not."""
    groups: dict[str, list[Element]] = {}
    for radio in islice(form.iter("input"), _MAX_RADIOS):
        if (radio.get("type") or "").lower() == "radio":
            groups.setdefault(radio.get("name") or "", []).append(radio)
    chosen = {name: yes_of(radios) for name, radios in groups.items()}
    if "" in chosen or None in chosen.values():
        return None
    return [(name, yes.get("value") or "on") for name, yes in chosen.items() if yes is not None]


def _label_of(field: Element) -> str:
    """Return the text of the label around a radio button, of the one for it, or that after it."""
    if field.tag != "input" or (field.get("type") or "").lower() != "radio":
        return ""
    around = next(field.iterancestors("label"), None)
    if around is not None:
        return short_text(around)
    form, name = next(field.iterancestors("form"), None), field.get("id")
    if form is not None and name:
        for label in islice(form.iter("label"), _MAX_RADIOS):
            if label.get("for") == name:
                return short_text(label)
    return (field.tail or "").strip()
