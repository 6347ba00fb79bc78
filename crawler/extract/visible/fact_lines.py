"""The facts of one line, by its boxes and its sentences: a label and a value."""

from __future__ import annotations

from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line
from crawler.extract.page.page import holds_digit, short_text
from crawler.extract.visible.fact_labels import label_of, unseparated
from crawler.extract.visible.fact_rows import AROUND

PAIR = lazy_patterns.pattern(
    r"([^:：՝#]{2,40}?\s?#?)\s?(?:[:：՝]|\bis\b)\s?(\S.{0,80})"
    r"|([^:：՝#]{2,40}?\s?#)\s?(\S.{0,80})"
)
#: A sentence of a few words and a number at the end of a text: "For the garden. Ref. X-12".
_LAST_SENTENCE = lazy_patterns.pattern(
    r"[.!?]\s((?:[^\s.]{1,14}\.?\s){1,3}(?=\S{0,30}[\d-])[\w./-]{3,30})\.?$"
)
#: One at a text's begin: "Stock no. X-12. Height 34 cm".
_FIRST_SENTENCE = lazy_patterns.pattern(
    r"((?:[^\s.]{1,14}\.?\s){1,3}(?=\S{0,30}[\d-])[\w./-]{3,30}?)\.\s"
)
#: Characters of a line that may be a fact, and of a brand.
MAX_FACT, MAX_BRAND = 120, 40
#: Characters of a line that may be a label and a number without a sign.
MAX_CODE = 40
#: Boxes of a line that are read one by one.
_MAX_BOXES = 6


def label_inside(line: Line) -> tuple[str, str] | None:
    """Return the field and value of a line of several elements whose first one is a label.

    `<span>Item no</span><span>88-12</span>` is one line, without a blank between its elements.
    """
    if not line.flags & _lines.JOINED:
        return None
    box = line.element
    label = (box.text or "")[:MAX_FACT].strip()
    # `len(box)` would count all elements of the box for each of its lines.
    if not label and (icon := next(iter(box), None)) is not None:  # the label stands behind an icon
        label = (icon.tail or "")[:MAX_FACT].strip()
    if not label or len(label) >= len(line.text) or not line.text.startswith(label):
        return None
    field = label_of(label)
    if not field:
        return None
    value = line.text[len(label) :].strip()
    following = box.getnext()
    following_text = "" if following is None else short_text(following, MAX_FACT)
    if following_text.strip(AROUND) and value.startswith(f"{following_text} "):
        value = following_text  # the line's text behind it is about something else
    if value[:1] == "(" and value.find(")") == len(value) - 1:
        value = value[1:-1]
    return (field, value)


def facts_of_boxes(line: Line) -> list[tuple[str, str]]:
    """Return the facts of a line's boxes if at least two are a fact: `<i>Ref. 12-B</i> <i>EAN 40…</i>`."""
    first = line.element
    text = (first.text or "").strip()
    # Nearly all lines end here: their first box is no fact, or it is the whole line.
    if not text or len(text) + 3 > len(line.text) or not holds_digit(text):
        return []
    facts: list[tuple[str, str]] = []
    length = 0
    for part in (first, *islice(first.itersiblings(), _MAX_BOXES)):
        if length >= len(line.text) or (part.tail or "").strip():
            break
        text = short_text(part, MAX_FACT)
        length += len(text) + 1
        pair = PAIR.match(text)
        if pair and (field := label_of(pair[1] or pair[3])):
            facts.append((field, pair[2] or pair[4]))
        elif text and pair is None and (fact := unseparated_in(text)):
            facts.append(fact)
        elif not facts:
            break
    return facts if len(facts) > 1 else []


def unseparated_in(text: str) -> tuple[str, str] | None:
    """Split a short text into label and number, or the sentence at a text's end or begin."""
    fact = unseparated(text) if len(text) < MAX_CODE else None
    if fact is None and ". " in text:
        if last := _LAST_SENTENCE.search(text[-MAX_CODE:]):
            return unseparated(last[1]) or unseparated(last[1].rpartition(". ")[2])
        if first := _FIRST_SENTENCE.match(text):
            return unseparated(first[1])
    if fact is None and " - " in text:  # "Code 12-B - available", but "Code OAK10 - 10 % off"
        code, _, remark = text.partition(" - ")
        return None if holds_digit(remark) else unseparated(code)
    return fact
