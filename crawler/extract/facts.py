"""Labelled facts of a page: rows of tables, `SKU: X-1`, `<span class="sku">`."""

from __future__ import annotations

import re
from functools import lru_cache

from crawler.extract import lines as _lines
from crawler.extract.lines import Line, Lines
from crawler.extract.page import Element, short_text
from crawler.extract.schema import gtin
from crawler.extract.seen import Visible
from crawler.extract.words import any_of

_LABEL_RULES = [
    (field, re.compile(rf"(?:{any_of('label', field)})\.?(?:\s*#)?(?:\s*\([^)]*\))?", re.I))
    for field in ("sku", "gtin", "mpn", "brand")
]
_PAIR = re.compile(
    r"([^:：#]{2,40}?\s?#?)\s?(?:[:：]|\bis\b)\s?(\S.{0,80})|([^:：#]{2,40}?\s?#)\s?(\S.{0,80})"
)
_MOST_CELLS = 100
_PARTS = re.compile(r"\s[-–—|·•]\s")
_DIGIT = re.compile(r"\d")
#: What a word in lower case must hold to be an identifier.
_TELLING = re.compile(r"[\d_-]")
_NOTHING = frozenset({"n/a", "-", "none", "na", "tbc", "tba"})


@lru_cache(maxsize=1024)
def _label(text: str) -> str | None:
    """The field that a label names."""
    text = text.strip().strip(":：.*").strip()
    if not text or len(text) > 40:
        return None
    for field, rule in _LABEL_RULES:
        if rule.fullmatch(text):
            return field
    return None


def find_facts(read: Lines, seen: Visible) -> None:
    """Put identifiers, brand and attributes into *seen*."""
    _rows_of_facts(read, seen)
    lines = read.lines
    for line in read.own:
        if line.flags & _lines.FACT and not line.flags & _lines.LABEL:
            _take_marked(seen, line)
        following = line.index + 1
        _take_told(seen, line, lines[following] if following < len(lines) else None)


def _take_told(seen: Visible, line: Line, following: Line | None) -> None:
    """A fact of a line, or of a line that is a label and the one after it."""
    field = _label(line.text)
    if field and following is not None:
        if not line.element.tag == following.element.tag == "th":  # the head of a table
            _take(seen, field, following.text)
    elif ":" in line.text or "#" in line.text or "：" in line.text:
        # "In stock - item #12": each part may be a fact.
        for part in _PARTS.split(line.text):
            match = _PAIR.match(part)
            field = _label(match[1] or match[3]) if match else None
            if match and field:
                _take(seen, field, match[2] or match[4])
    elif len(line.text) < 40 and _DIGIT.search(line.text):
        _take_unseparated(seen, line.text)


def _rows_of_facts(read: Lines, seen: Visible) -> None:
    attributes: dict[str, str] = {}
    for row in read.rows[:200]:
        pair = _row(row)
        if pair is None:
            continue
        field = _label(pair[0])
        if field:
            _take(seen, field, pair[1])
        elif len(pair[0]) < 60:
            attributes.setdefault(pair[0].rstrip(" :"), pair[1])
    if attributes:
        seen.fields["attributes"] = dict(list(attributes.items())[:60])


def _take_marked(seen: Visible, line: Line) -> None:
    """A value whose class names it: `<span class="sku">X-1</span>`."""
    words = (line.element.get("class") or "")[:1000].lower()
    field = next((f for f in ("gtin", "mpn") if f in words), "sku")
    field = "gtin" if "ean" in words or "upc" in words else field
    if " " not in line.text and not line.text.endswith(":"):
        _take(seen, field, line.text)


def _take_unseparated(seen: Visible, text: str) -> None:
    """`Item no. 88-12`: the label ends where a word with a digit begins."""
    words = text.split(" ")
    for count in range(1, min(4, len(words))):
        if _DIGIT.search(words[count]):
            field = _label(" ".join(words[:count])) if len(words) == count + 1 else None
            if field and field != "brand":
                _take(seen, field, words[count])
            break


def _take(seen: Visible, field: str, value: str) -> None:
    value = value.strip(" :：").strip()
    if field == "gtin":
        value = gtin(value) or ""
    elif field in {"sku", "mpn"}:
        # An identifier holds a digit and is one word or two; else the line was a sentence.
        value = value if len(value) <= 40 and value.count(" ") <= 2 else ""
        telling = _TELLING.search(value) or (value.isupper() and value.lower() not in _NOTHING)
        value = value if telling and not _label(value) else ""
    elif len(value) > 60 or _label(value):
        value = ""
    if value and field not in seen.fields:
        seen.fields[field] = value
        seen.facts += field != "brand"


def _row(row: Element) -> tuple[str, str] | None:
    if row.tag == "dt":
        value = row.getnext()
        if value is None or value.tag != "dd":
            return None
        pair = short_text(row), short_text(value)
    else:
        cells = [cell for cell in row[:_MOST_CELLS] if cell.tag in {"th", "td"}]
        if len(cells) != 2:
            return None
        pair = short_text(cells[0]), short_text(cells[1])
    return pair if pair[0] and pair[1] else None
