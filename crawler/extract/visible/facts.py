"""Labelled facts of a page: rows of tables, `SKU: X-1`, `<span class="sku">`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from unicodedata import decimal

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import is_front
from crawler.extract.fields import Fields
from crawler.extract.page import lines as _lines
from crawler.extract.page.class_words import BEFORE_MAKER
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.page import LONGEST, Element, holds_digit, short_text
from crawler.extract.page.places import leads_away
from crawler.extract.price.words_beside import CALLS_PRICE
from crawler.extract.shop_number import in_address
from crawler.extract.structured.schema import NOTHING, gtin, has_check_digit, stands_in
from crawler.extract.visible_signs import Visible
from crawler.extract.words import Marks, begun_of
from crawler.extract.words.listed_words import AnyOf

_LABELS = ("sku", "gtin", "mpn", "brand", "model")


def _each_label(any_of: AnyOf) -> str:
    each = "|".join(f"({any_of('label', field)})" for field in _LABELS)
    return rf"(?:{each})\.?(?:\s*#)?(?:\s*\((?![^)]*\d{{3}})[^)]*\))?"


_IS_LABEL = begun_of(_each_label)
_PAIR = lazy_patterns.pattern(
    r"([^:：՝#]{2,40}?\s?#?)\s?(?:[:：՝]|\bis\b)\s?(\S.{0,80})"
    r"|([^:：՝#]{2,40}?\s?#)\s?(\S.{0,80})"
)
#: A dash divides where a word with a figure stands behind it: `Acme — ref. X-12`.
_DIVIDED = re.compile(r"[:#：|՝·•]|\s[-–—]\s\D{2,25}\d").search
#: A rule between two facts of one line.
_RULED = re.compile(r"\s[|·•]\s").search
_MOST_CELLS, _FEWEST_HEADS = 100, 3
_PARTS = lazy_patterns.pattern(r"\s[-–—|·•]\s|\s?[,;/]\s(?=[^\W\d][\w .-]{1,25}[:#])")
#: Where a further label begins behind a value: `12-B EAN: 4006381333931`; and a remark about it.
_NEXT_LABEL = lazy_patterns.pattern(
    r"\s[^\W\d][\w.-]{1,25}(?:\s[\w.-]{1,15})?[:：]\s|(?:(?<!\s)\s++)?\([^()]*\)$"
)
#: Blanks and signs of direction around a label or a value.
_AROUND = " :：՝.*|/·•\u200b\u200e\u200f\u202a\u202c\ufeff"
#: A word that may be the number of a model, and of an identifier of several words.
_IN_BRACKETS = lazy_patterns.pattern(r"\[(\S{3,30})\]")
#: The name of a code before it: `ISBN Number: ISBN 978…`.
_CODE_NAME = lazy_patterns.pattern(r"^(?:isbn|ean|gtin|upc)[-\s:\d]{0,3}?\s", re.I)
#: A number in brackets: years, measures and packs have few figures, a sign between, or small letters.
_BRACKETED_AT_END = lazy_patterns.pattern(
    r"\s\((?!(?:1[4-9]|20)\d\d(?:\D(?:19|20)?\d\d)?\))(?=(?:[^\s()\d]{0,12}\d){4})([A-Z\d./_-]{4,30})\)$"
)
_NUMBERS = frozenset({"sku", "mpn"})
_CODE = lazy_patterns.pattern(r"(?=[^\s\d]{0,30}\d)(?!(?:19|20)\d\d$)\S{3,30}")
_CODE_WORD = lazy_patterns.pattern(r"(?=[^\s\d]{0,40}\d)\S{1,40}|[A-Z]{1,4}")
_BY = lazy_patterns.pattern(r"(?:by|von|par|de|da|от)\s+", re.I)
#: What a word in lower case must hold to be an identifier.
_TELLING = lazy_patterns.pattern(r"[\d_-]")
#: A shop's name before the label of its number: `Acme-Teilenr`.
_OWN_LABEL = re.compile(r"[A-Z][\w&.]{1,20}-(\S.{4,20})").fullmatch
#: How a label ends that may be an internal number's.
_IS_ID = re.compile(r"(?:^|[\s.-])id\Z", re.I).search
#: A shop's initials before its own number.
_INITIALS = re.compile(r"[A-Z]{2,4}\s?#").fullmatch
#: How labels of numbers end.
_ENDS = frozenset({"no", "nr", "number", "nummer", "code", "sku", "#"})
#: Characters of a line that may be a fact, and of a maker's name.
_LONGEST_FACT, LONGEST_BRAND = 120, 40
#: A line that may be a label and a number without a sign between them is shorter.
_LONGEST_CODE = 40
_MOST_AROUND = 2
#: Elements within a line that hold a part of it, and rows of a table of variants.
_SMALL, _MOST_VARIANTS = frozenset({"i", "em", "small", "span", "b", "strong", "code"}), 60
#: Words of a value in which a further label is looked for.
_MOST_WORDS = 8
#: Shorter numbers stand in many texts.
_SHORTEST_ADDRESSED = 6
#: Figures of barcodes that other numbers seldom have.
_BARCODES = frozenset({13, 14})
#: Classes of elements that hold a maker's name.
names_maker = re.compile(
    BEFORE_MAKER + r"(?:brand|manufacturer|vendor|hersteller|fabricant|producent|mar[ck]a"
    r"|marke|marque|merk|fabricante|vyrobce|znacka|gyarto|producator|brend|proizvodjac|supplier)"
    r"(?:[-_]?(?:name|link|title|value|text|logo|image|img))?(?:[-_]{1,2}[a-z0-9]{1,12}){0,2}(?=\s|$)"
).search


@lru_cache(maxsize=256)
def _label(text: str) -> str | None:
    """The field that a label names."""
    text = text.strip(_AROUND)
    if not text or len(text) > 40:
        return None
    found = _IS_LABEL(text) or ("№" in text and _IS_LABEL(text.replace("№", "no"))) or None
    if found is None and (label := _OWN_LABEL(text)) and _IS_LABEL(label[1]):
        return "sku"
    if found is None and _INITIALS(text):
        return "sku"  # "BH #": the shop's own
    if found is None and " " in text:
        # "RS Stock No": shops put their own name before the label.
        name, rest = text.split(" ", 1)
        ends = re.split(r"[ -]", rest)
        named = len(ends) > 1 and (name.isupper() or " " in rest)
        own = named and ends[-1].lower().strip(".") in _ENDS and _IS_LABEL(rest)
        return "sku" if own and own[1] else None
    return _LABELS[found.lastindex - 1] if found and found.lastindex else None


def find_facts(read: Lines, seen: Visible) -> None:
    """Put identifiers, brand and attributes into *seen*."""
    ids = _rows_of_facts(read, seen)
    lines = read.lines
    for line in read.own:
        if line.flags & _lines.FACT and not line.flags & _lines.LABEL:
            _take_marked(seen, line)
        joined = line.flags & _lines.JOINED  # else no label is inside
        if not _TELLS_NOTHING[line.text] or (joined and _label_inside(line)):
            following = line.index + 1
            _take_told(seen, line, lines[following] if following < len(lines) else None)
    for told in ids:
        _take(seen, *told)
    if "sku" not in seen.fields:
        if seen.priced_choices:
            _take_parts(read, seen)
        _facts_beyond(read, seen)


def is_number_cell(cell: Element) -> bool:
    """Whether a box is a cell of a table with the number that the cell before it labels."""
    label = cell.getprevious() if cell.tag in {"td", "dd"} else None
    return label is not None and _label(short_text(label, _LONGEST_FACT)) in {"sku", "mpn", "gtin"}


def take_addressed(read: Lines, seen: Visible, url: str) -> None:
    """Take the number in the page's address for the product's where the page shows it, too."""
    number = in_address(url) if "sku" not in seen.fields else None
    if number is None or len(number) < _SHORTEST_ADDRESSED:
        return
    shown = any(number in line.text and line.index != read.heading for line in read.own)
    if shown or number in _text_before(read):
        _take(seen, "sku", number)


def _text_before(read: Lines) -> str:
    """What stands right before the heading: some shops end the trail of categories with the number."""
    heading = read.lines[read.heading].element if read.heading >= 0 else None
    before = None if heading is None else heading.getprevious()
    return "" if before is None else short_text(before, LONGEST)


def take_confirmed(seen: Visible, known: Fields) -> None:
    """Take, of several labelled numbers, the one that another source tells as well."""
    if ("sku", known.get("sku")) in seen.further_facts:
        seen.fields["sku"] = known["sku"]


def _facts_beyond(read: Lines, seen: Visible) -> None:
    """Take what stands under a heading about other things, where one product alone is told there.

    Tables of details follow the tiles of similar products on some market places.
    """
    told: dict[str, set[str]] = {}
    for line in read.lines[max(read.heading, 0) :]:
        if not line.flags & _lines.BEYOND or len(line.text) > _LONGEST_FACT:
            continue
        if not _TELLS_NOTHING[line.text] or _label_inside(line):
            following, apart = line.index + 1, Visible()
            _take_told(apart, line, read.lines[following] if following < len(read.lines) else None)
            for field, value in _told_of(apart).items():
                told.setdefault(field, set()).add(value)
    for field, values in told.items():
        if len(values) == 1:
            _take(seen, field, values.pop())


def _told_of(seen: Visible) -> dict[str, str]:
    model = seen.fields.pop("attributes", {}).get("model")
    return {**seen.fields, "model": model} if model else seen.fields


def _take_told(seen: Visible, line: Line, following: Line | None) -> None:
    """A fact of a line, or of a line that is a label and the one after it."""
    field = _label(line.text)
    if field and following is not None:
        if not line.element.tag == following.element.tag == "th":  # the head of a table
            _take(seen, field, following.text)
    elif (label := _label_inside(line)) and not _RULED(line.text):
        _take(seen, *label)
    elif _DIVIDED(line.text):
        # "In stock - item #12": each part may be a fact.
        for part in filter(None, _PARTS.split(line.text)):
            match = _PAIR.match(part)
            field = _label(match[1] or match[3]) if match else None
            if match and field:
                _take(seen, field, match[2] or match[4])
            elif match is None and (field := _label(part)) and following is not None:
                _take(seen, field, following.text)  # the line ends in a label
            elif match is None:
                _take_unseparated(seen, part)
    elif len(line.text) < _LONGEST_CODE:
        _take_unseparated(seen, line.text)


def _tells_nothing(text: str) -> bool:
    """Whether a line tells no fact, whatever comes after it and wherever it is divided."""
    if _label(text) or _DIVIDED(text):
        return False
    return len(text) >= _LONGEST_CODE or _unseparated(text) is None


#: Labels and menus are the same on all of a shop's pages.
_TELLS_NOTHING = Marks(_tells_nothing)


def _label_inside(line: Line) -> tuple[str, str] | None:
    """The field and the value of a line of several parts whose first element holds just a label.

    `<span>Item no</span><span>88-12</span>` is one line, without a blank where it is divided.
    """
    if not line.flags & _lines.JOINED:
        return None
    box = line.element
    label = (box.text or "")[:_LONGEST_FACT].strip()
    if not label and len(box):  # behind a sign
        label = (box[0].tail or "")[:_LONGEST_FACT].strip()
    if not label or len(label) >= len(line.text) or not line.text.startswith(label):
        return None
    field = _label(label)
    value = line.text[len(label) :].strip()
    following = box.getnext()
    told = "" if following is None else short_text(following, _LONGEST_FACT)
    if told and value.startswith(f"{told} "):
        value = told  # what comes behind it in its line is about something else
    if value[:1] == "(" and value.find(")") == len(value) - 1:
        value = value[1:-1]
    return (field, value) if field else None


def _rows_of_facts(read: Lines, seen: Visible) -> list[tuple[str, str]]:
    """Take what rows tell, but for a number that is called an id: another label's goes before it."""
    attributes: dict[str, str] = {}
    ids: list[tuple[str, str]] = []
    for row in read.rows[:200]:
        pair = _row(row)
        if pair is None:
            for told in _below_heads(row):
                _take(seen, *told)
            continue
        field = _label(pair[0])
        if field == "sku" and _IS_ID(pair[0].strip(_AROUND)):
            ids.append((field, pair[1]))
        elif field:
            _take(seen, field, pair[1])
        if field in {None, "model"} and len(pair[0]) < 60:
            attributes.setdefault(pair[0].rstrip(" :"), pair[1])
    if attributes:
        own = seen.fields.get("attributes", {})
        seen.fields["attributes"] = dict(list(attributes.items())[:60]) | own
    return ids


def _take_marked(seen: Visible, line: Line) -> None:
    """A value whose class names it: `<span class="sku">X-1</span>`."""
    words = (line.element.get("class") or "")[:1000].lower()
    if any(map(names_maker, _classes_around(line.element))):
        if (
            ":" not in line.text
            and len(line.text) <= LONGEST_BRAND
            and not _leads_home(line.element)
        ):
            _take(seen, "brand", _BY.sub("", line.text, count=1))
        return
    field = next((f for f in ("gtin", "mpn") if f in words), "sku")
    field = "gtin" if "ean" in words or "upc" in words else field
    text = line.text
    if pair := _PAIR.match(text):
        # The label may stand in the box as well: `<li class="sku"><b>Item:</b><i>X-1</i></li>`.
        text = (pair[2] or pair[4]) if _label(pair[1] or pair[3]) else text
    if " " not in text and "：" not in text and not text.endswith(":"):
        _take(seen, field, text)


def _leads_home(element: Element) -> bool:
    """Whether a link to the front page holds a text: the shop's own name is called a brand as well."""
    around = (element, *islice(element.iterancestors(), _MOST_AROUND))
    link = next((box for box in around if box.tag == "a"), None)
    address = None if link is None else link.get("href")
    return address is not None and is_front(address.partition("#")[0].removeprefix("."))


def _classes_around(element: Element) -> Iterator[str]:
    for here in (element, *islice(element.iterancestors(), _MOST_AROUND)):
        yield (here.get("class") or "")[:1000].lower()


def brand_before(heading: Element, title: str) -> str | None:
    """The maker's name that stands right before a heading, in an element that is called so.

    Or in any, where the page's *title* says both in a row.
    """
    parent = heading.getparent()
    for element in (heading.getprevious(), None if parent is None else parent.getprevious()):
        called = (
            "" if element is None else f"{element.get('class') or ''} {element.get('id') or ''}"
        )
        if element is not None and names_maker(called[:1000].lower().rstrip()):
            text = short_text(element)
            if text and len(text) <= LONGEST_BRAND and ":" not in text and not _label(text):
                return text
        if element is not None and (told := _brand_behind_label(element)):
            return told
    before = heading.getprevious()
    if before is not None and before.tag == heading.tag == "h1":
        return short_text(before) or None  # the name is in two headings
    if before is not None and before.tag in {"a", "span", "div", "p"}:
        text = short_text(before)
        if _is_titled(text, short_text(heading), title):
            return text
    return None


def _brand_behind_label(element: Element) -> str | None:
    """The maker's name in a short text right above a heading: `Brand: Acme`."""
    match = _PAIR.match(short_text(element, _LONGEST_FACT))
    if match is None or _label(match[1] or match[3]) != "brand":
        return None
    told = (match[2] or match[4]).strip(_AROUND)
    return told if len(told) <= LONGEST_BRAND and ":" not in told else None


def _is_titled(maker: str, name: str, title: str) -> bool:
    """Whether a page's title begins with a short text and, behind it, the product's name."""
    both = f"{maker} {name}".casefold()
    return 0 < len(maker) <= LONGEST_BRAND and title.casefold().startswith(both)


def number_in_heading(heading: Element, url: str) -> str | None:
    """What stands in round brackets at a heading's end, where the page's address tells it as well."""
    text = short_text(heading, LONGEST)
    found = _BRACKETED_AT_END.search(text) if text.endswith(")") else None
    return found[1] if found and stands_in(url, found[1]) else None


def number_beside(heading: Element) -> str | None:
    """The product's number in brackets at a heading's end, or right before it, behind its label."""
    last = short_text(heading[-1], _LONGEST_FACT) if len(heading) else ""
    if bracketed := _IN_BRACKETS.fullmatch(last):
        return _identifier(bracketed[1]) or None
    parent = heading.getparent()
    for element in (heading.getprevious(), None if parent is None else parent.getprevious()):
        text = "" if element is None else short_text(element, _LONGEST_FACT)
        match = _PAIR.match(text) if _DIVIDED(text) else None
        if match and _label(match[1] or match[3]) == "sku":
            return _identifier((match[2] or match[4]).strip(_AROUND)) or None
    return None


def _take_parts(read: Lines, seen: Visible) -> None:
    """A number behind its label in the line of a choice: `10 g 132 kr <i>art.nr 12-B</i>`."""
    wanted = _lines.JOINED | _lines.DIGIT
    for line in [n for n in read.own if n.flags & wanted == wanted]:
        for part in islice(line.element, _MOST_AROUND):
            text = part.text
            if text and " " in text.strip() and part.tag in _SMALL and len(text) < _LONGEST_CODE:
                _take_unseparated(seen, " ".join(text.split()))


def _take_unseparated(seen: Visible, text: str) -> None:
    told = _unseparated(text)
    if told is not None:
        _take(seen, *told)


def _unseparated(text: str) -> tuple[str, str] | None:
    """`Item no. 88-12`, `(Code 88-12)`: the label ends where a word with a digit begins."""
    if text[0] == "(" and text[-1] == ")":
        text = text[1:-1]
    words = text.split(" ")
    for count in range(1, min(4, len(words))):
        if holds_digit(words[count]) or ("-" in words[count] and words[count].isupper()):
            field = _label(" ".join(words[:count])) if len(words) == count + 1 else None
            return (field, words[count]) if field and field != "brand" else None
        if len(words) == count + 2 and words[count].isupper() and words[count + 1].isdecimal():
            field = _label(" ".join(words[:count]))  # `Item no. K 101`
            return (field, " ".join(words[count:])) if field in _NUMBERS else None
    return None


def _take(seen: Visible, field: str, value: str) -> None:
    if field in seen.fields and field != "mpn":  # the maker's number may be a barcode
        seen.further_facts.append((field, value.strip(_AROUND)))
        return
    value = value.strip(_AROUND)
    if field == "gtin":
        value = gtin(value) or gtin(_CODE_NAME.sub("", value, count=1)) or ""
    elif field == "brand":
        value = "" if len(value) > 60 or _label(value) or value.lower() in NOTHING else value
    else:
        value, rest = _up_to_label(value)
        if rest:
            _take_rest(seen, rest)
        value = _identifier(value)
        if not value.isascii():  # addresses and scripts write the figures of all scripts as 0 to 9
            value = "".join(str(decimal(c, c)) for c in value)
    if field == "model":
        if _CODE.fullmatch(value):
            seen.facts += "model" not in seen.fields.get("attributes", {})
            seen.fields.setdefault("attributes", {}).setdefault("model", value)
    elif field == "mpn" and "gtin" not in seen.fields and _is_barcode(value):
        seen.fields["gtin"] = value  # some shops keep the barcode as the maker's number
        seen.facts += 1
    elif value and field not in seen.fields:
        seen.fields[field] = value
        seen.facts += field != "brand"


def _up_to_label(value: str) -> tuple[str, str]:
    """A value and what follows it from a further label on: `12-B EAN: 400…`, `12-B Model 40`."""
    if " " not in value:
        return value, ""
    if found := _NEXT_LABEL.search(value):
        return value[: found.start()], value[found.start() :].strip()
    words = value.split(" ")[:_MOST_WORDS]
    for place in range(1, len(words) - 1):
        if not holds_digit(words[place]) and _label(words[place]):
            return " ".join(words[:place]), " ".join(words[place:])
    return value, ""


def _take_rest(seen: Visible, text: str) -> None:
    """The fact that stands behind another one's value in its line."""
    pair = _PAIR.match(text)
    if pair is None:
        _take_unseparated(seen, text)
    elif field := _label(pair[1] or pair[3]):
        _take(seen, field, pair[2] or pair[4])


def _identifier(value: str) -> str:
    """An identifier holds a digit and is one word or two, else the line was a sentence: ''."""
    words = value.split(" ")
    if len(value) > 40 or (len(words) > 3 and not all(map(_CODE_WORD.fullmatch, words))):
        return ""
    telling = _TELLING.search(value) or (value.isupper() and value.lower() not in NOTHING)
    return value if telling and not _label(value) else ""


def _is_barcode(value: str) -> bool:
    return len(value) in _BARCODES and gtin(value) == value and has_check_digit(value)


def _below_heads(row: Element) -> Iterator[tuple[str, str]]:
    """The facts of a table whose labels stand side by side, with the one row of values below them."""
    if row.tag != "tr" or len(row) < _FEWEST_HEADS or not row[0].tag == row[1].tag == "th":
        return
    values = row.getnext()
    if (
        values is None
        and row.getparent().tag == "thead"
        and (body := row.getparent().getnext()) is not None
    ):
        values = body[0] if len(body) else None
    if values is None or len(values) != len(row):
        return
    if values.getnext() is not None and not _are_variants(row, values):
        return
    for label, value in zip(row[:_MOST_CELLS], values[:_MOST_CELLS], strict=True):
        if value.tag == "td" and (field := _label(short_text(label))):
            yield field, short_text(value)


def _are_variants(heads: Element, values: Element) -> bool:
    """Whether a table with several rows has a column of prices, and no row that leads elsewhere."""
    priced = any(CALLS_PRICE(short_text(head)) for head in heads[:_MOST_CELLS])
    rows = islice(values.itersiblings(), _MOST_VARIANTS)
    return priced and not any(
        leads_away(a) for row in (values, *rows) for a in islice(row.iter("a"), 1)
    )


def _row(row: Element) -> tuple[str, str] | None:
    if row.tag == "dt":
        value = row.getnext()
        if value is None or value.tag != "dd":
            return None
        pair = short_text(row), short_text(value)
    else:
        cells = [cell for cell in row[:_MOST_CELLS] if cell.tag in {"th", "td"}]
        if len(cells) == 3 and not short_text(cells[1]).strip(_AROUND):
            del cells[1]  # the sign between label and value has a cell of its own
        if len(cells) != 2:
            return None
        pair = short_text(cells[0]), short_text(cells[1])
    return pair if pair[0] and pair[1] else None
