"""Labelled facts of a page: rows of tables, `SKU: X-1`, `<span class="sku">`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.fields import Fields
from crawler.extract.gtin import is_barcode, named_gtin
from crawler.extract.page import lines as _lines
from crawler.extract.page.class_words import BEFORE_MAKER, MAKERS
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.page import MAX_TEXT_LENGTH, Element, holds_digit, short_text
from crawler.extract.shop_number import in_address, is_model_number
from crawler.extract.visible.fact_labels import (
    LETTERS,
    NUMBERS,
    barcode_inside,
    in_a_row,
    label_of,
    maker_up_to_label,
    numbered_before,
    unseparated,
    up_to_label,
)
from crawler.extract.visible.fact_lines import (
    MAX_BRAND,
    MAX_CODE,
    MAX_FACT,
    PAIR,
    facts_of_boxes,
    label_inside,
    unseparated_in,
)
from crawler.extract.visible.fact_rows import (
    AROUND,
    IS_WEAK,
    is_empty_behind,
    logo_behind,
    pairs_below_heads,
    row_pair,
)
from crawler.extract.visible.fact_values import LISTED, as_maker, as_number, may_be_value
from crawler.extract.visible.home_links import leads_home
from crawler.extract.visible.linked_makers import maker_of_link, without_by
from crawler.extract.visible_signs import Visible
from crawler.extract.words import CachedRule

#: A dash divides two facts if a word with a figure stands behind it: `Acme — ref. X-12`.
_MAY_BE_DIVIDED = re.compile("[-:#：|՝·•–—]").search
DIVIDED = re.compile(r"[:#：|՝·•]|\s[-–—]\s\D{2,25}\d").search
#: A separator between two facts of one line.
_RULED = re.compile(r"\s[|·•]\s").search
#: The last separator of a line may stand before a link: `Code 12-B ·`.
PARTS = lazy_patterns.pattern(
    rf"\s(?:[-–—|·•]\s|[|·•]$)|\s?(?:[,;/]\s|[／、，；])(?=[^\W\d][{LETTERS} .-]{{1,25}}[:：#])"
)
#: A line that may end with a label and a number.
_ENDS_IN_CODE = re.compile(r"\S (?=\S{0,30}[\d-])[\w./-]{3,30}\)?\Z").search
#: Fields of labels that are read last.
_LAST_FIELDS = frozenset({"part", "designer"})
#: Key of the barcodes within texts among further facts.
_INSIDE = "barcode"
#: The end of a sentence, which no abbreviation has: `Acme Works. Ref. X-12`.
_SENTENCE_END = lazy_patterns.pattern(r"(?:(?<=[^\W\d]{4})|(?<=\d))\.\s")
_MAX_SENTENCES = 8
#: Boxes around a line that are looked at.
_MAX_AROUND = 2
#: No maker's name has an amount: a box of the class `merk` may hold an instalment.
_HAS_CENTS = re.compile(r"\d[.,]\d\d(?!\d)").search
_NAMES_OEM = lazy_patterns.pattern(r"\boem?\b", re.I)
_NAMES_VENDOR = re.compile("vendor|supplier").search
#: Not within another word of a class: `sku clean`, `sku jeans`.
_NAMES_BARCODE = re.compile(r"(?<![a-z])(?:ean|upc)(?=[^a-z]|$|value|code|number|text)").search
#: Cells of labels, and cells of a row with a label and its value.
_HEADS = frozenset({"th", "dt"})
_CELLS = frozenset({"td", "th", "dt", "dd"})
_FACT_OR_LABEL = _lines.FACT | _lines.LABEL
#: Elements that hold a part of a line.
_INLINE = frozenset({"i", "em", "small", "span", "b", "strong", "code"})
#: Digits of a number in the address; shorter numbers stand in many texts.
_MIN_ADDRESSED = 6
#: Classes of elements that hold a brand.
names_maker = re.compile(
    BEFORE_MAKER + rf"(?:{MAKERS}|supplier)"
    r"(?:[-_]?(?:name|link|title|value|text|logo|image|img))?(?:[-_]{1,2}[a-z0-9]{1,12}){0,2}(?=\s|$)"
).search


def find_facts(walk: Lines, signs: Visible) -> None:
    """Put identifiers, brand and attributes into *signs*."""
    last_facts = _rows_of_facts(walk, signs)
    lines, coded_lines = walk.lines, []
    fact, joined = _lines.FACT, _lines.JOINED
    marked = fact | joined
    for line in walk.product_lines:
        flags = line.flags
        if not flags & marked and _HAS_NO_FACT[line.text]:
            continue  # nearly all lines
        if flags & _FACT_OR_LABEL == fact:
            _take_marked(walk, signs, line)
        is_joined = flags & joined
        if not _HAS_NO_FACT[line.text] or (is_joined and label_inside(line)):
            if is_joined and _take_boxes(signs, line):
                continue
            next_index = line.index + 1
            _take_facts(signs, line, lines[next_index] if next_index < len(lines) else None)
        elif is_joined and _ENDS_IN_CODE(line.text):
            coded_lines.append(line)
    for identifier in last_facts:
        _take(signs, *identifier)
    _take_last(signs)
    if "sku" not in signs.fields and not _take_weak(signs):
        _take_parts(coded_lines, signs)
        if walk.has_others:
            _facts_beyond(walk, signs)


def _take_last(signs: Visible) -> None:
    """Take the number of the part as the maker's, or as the shop's where the maker's is known.

    And the designer as the maker where no maker is named; and the barcode within a text.
    """
    if not signs.further_facts:
        return  # nearly all pages
    inside = [value for field, value in signs.further_facts if field == _INSIDE]
    if len(inside) == 1:  # several ones are those of tiles
        _take(signs, "gtin", inside[0])
    last = {field: value for field, value in reversed(signs.further_facts) if field in _LAST_FIELDS}
    if "part" in last and not {"mpn", "sku"} <= signs.fields.keys():
        _take(signs, "sku" if "mpn" in signs.fields else "mpn", last["part"])
    if "designer" in last:
        _take(signs, "brand", last["designer"])


def _take_weak(signs: Visible) -> bool:
    """Take the first number behind a label that others precede; return whether it is one."""
    number = next((value for field, value in signs.further_facts if field == "sku"), None)
    if number is not None:
        _take(signs, "sku", number)
    return "sku" in signs.fields


def _is_heading(walk: Lines, line: Line) -> bool:
    """Whether the main heading is one *line*; some templates call the full name's box a brand's."""
    following = walk.lines[line.index + 1 : line.index + 2]
    return not any(n.flags & _lines.HEADING for n in following)


def take_addressed(walk: Lines, signs: Visible, url: str) -> None:
    """Take the number in the page's address as SKU if the page shows it, too."""
    number = in_address(url)
    if number is None or len(number) < _MIN_ADDRESSED:
        return
    is_shown = any(
        number in line.text and line.index != walk.heading for line in walk.product_lines
    )
    if is_shown or number in _text_before(walk):
        _take(signs, "sku", number)


def _text_before(walk: Lines) -> str:
    """Return the text before the heading: some shops end the breadcrumbs with the number."""
    heading = walk.lines[walk.heading].element if walk.heading >= 0 else None
    above = None if heading is None else heading.getprevious()
    return "" if above is None else short_text(above, MAX_TEXT_LENGTH)


def take_confirmed(signs: Visible, structured: Fields, url: str) -> None:
    """Take, of several labelled numbers, the one that the structured data or the address names.

    A designer is no maker where the data name one, which may be the shop itself.
    """
    facts, stated = signs.further_facts, structured.get("sku")  # most pages have no such facts
    if facts and structured.get("brand") and ("designer", signs.fields.get("brand")) in facts:
        del signs.fields["brand"]
    if not facts or (stated and stated == signs.fields.get("sku")):
        return
    if ("sku", stated) in facts:
        signs.fields["sku"] = stated
        return
    for field, number in facts:
        is_long = field == "sku" and len(number) >= _MIN_ADDRESSED
        if is_long and number in url and in_address(url) == number:
            signs.fields["sku"] = number


def _facts_beyond(walk: Lines, signs: Visible) -> None:
    """Take facts below a heading about other products, if each field has just one value there.

    On some market places, tables of details follow the tiles of similar products.
    """
    values_by_field: dict[str, set[str]] = {}
    for line in walk.lines[max(walk.heading, 0) :]:
        if not line.flags & _lines.BEYOND or len(line.text) > MAX_FACT:
            continue
        if not _HAS_NO_FACT[line.text] or label_inside(line):
            after, facts = line.index + 1, Visible()
            _take_facts(facts, line, walk.lines[after] if after < len(walk.lines) else None)
            for field, value in _fields_with_model(facts).items():
                values_by_field.setdefault(field, set()).add(value)
    for field, values in values_by_field.items():
        if len(values) == 1:
            _take(signs, field, values.pop())


def _fields_with_model(signs: Visible) -> dict[str, str]:
    model = signs.fields.pop("attributes", {}).get("model")
    return {**signs.fields, "model": model} if model else signs.fields


def _take_facts(signs: Visible, line: Line, following: Line | None) -> None:
    """Take the facts of a line, or of a line that is a label for the line *following*."""
    if following is not None and following.flags & _lines.HEADING:
        following = _unless_section(line, following)
    label = label_inside(line)
    # "Stock code (X-5)": the box in brackets is no remark but the number.
    field = None if label and holds_digit(label[1]) else label_of(line.text)
    if field and following is not None:
        _take_following(signs, field, line, following)
    elif label and not _RULED(line.text):
        _take(signs, *label)
        if holds_digit(rest := line.text.partition(label[1])[2]):
            _take_next_fact(signs, rest.strip())  # `<i>Code</i> <b>12-B</b> <i>EAN</i> <b>40…`
    elif DIVIDED(line.text):
        if label:  # `Brand <b>Acme</b> · Code <b>12-B</b>`
            _take(signs, label[0], PARTS.split(label[1])[0])
        _take_divided(signs, line.text, following)
    elif fact := unseparated_in(line.text):
        _take(signs, *fact)
    elif barcode := barcode_inside(line.text):
        signs.further_facts.append((_INSIDE, barcode))
        for fact in in_a_row(line.text):
            _take(signs, *fact)


def _take_boxes(signs: Visible, line: Line) -> bool:
    """Take the facts of a line whose boxes are a fact each; return whether it is one."""
    facts = facts_of_boxes(line)
    for fact in facts:
        _take(signs, *fact)
    return bool(facts)


def _take_following(signs: Visible, field: str, line: Line, following: Line) -> None:
    """Take the line behind a label as its value, or the text of the maker's logo between them."""
    label, value = line.element, following.element
    in_row = False
    if (tag := label.tag) in _CELLS:
        if tag == value.tag and tag in _HEADS:
            return  # the head of a table, or a label without a value
        box = label.getparent()
        in_row = value.getparent() is box
        if not in_row and value.tag in _CELLS and len(box) > 1:
            return  # the next row, because the value's cell is empty
    if field == "brand" and value.getparent() is not label:  # Brand: <a>Acme</a>
        logo = logo_behind(label)
        if logo is not None:
            _take_labelled(signs, field, line.text, logo)
            return
    if in_row or (may_be_value(field, following) and not is_empty_behind(label)):
        _take_labelled(signs, field, line.text, following.text)


def _unless_section(line: Line, heading: Line) -> Line | None:
    """Return the heading behind a label if it is the value in a row; None if a part begins there."""
    in_row = heading.element.getparent() is line.element.getparent()
    return heading if in_row else None


def _take_divided(signs: Visible, text: str, following: Line | None) -> None:
    """Take the facts of a line's parts: `in stock - item #12`."""
    for part in filter(None, PARTS.split(text)):
        match = PAIR.match(part)
        if match is None and ". " in part:
            match = PAIR.match(part.rpartition(". ")[2])  # a sentence and "ISBN: 978…"
        label = (match[1] or match[3]) if match else ""
        field = label_of(label) or label_of(label.rpartition(". ")[2])  # "Of wool. No: X-12"
        if match and field:
            _take_labelled(signs, field, label, match[2] or match[4])
        elif (" " in label or part[-1] == ":") and (facts := numbered_before(label or part)):
            _take(signs, *facts[0])
            if value := (match[2] or match[4]) if match else following and following.text:
                _take(signs, facts[1], value)
        elif match and match[3]:
            signs.further_facts.append((match[3], match[4]))  # "Acme # 12": maybe the shop's name
        elif match is None and following and (field := _label_at_end(text, part)):
            _take(signs, field, following.text)
        elif match is None:
            _take_unseparated(signs, part)
        elif ". " in match[2]:
            _take_sentences(signs, match[2])  # "Width: 24 cm. Made in 1930. Item no: 12-B"


def _label_at_end(text: str, part: str) -> str | None:
    """Return the field that the last part of a line names, None for any other part."""
    return label_of(part) if text.rstrip(AROUND).endswith(part.rstrip(AROUND)) else None


def _take_sentences(signs: Visible, text: str) -> None:
    """Take the facts of a text's sentences."""
    for sentence in _SENTENCE_END.split(text)[:_MAX_SENTENCES]:
        pair = PAIR.match(sentence)
        value = (pair[2] or pair[4]) if pair else ""
        field = label_of(pair[1] or pair[3]) if pair else None
        if field and not (field in NUMBERS and " " in value):  # "Item no: 4712 sold separately"
            _take(signs, field, value)
        elif sentence and (fact := unseparated_in(sentence)):
            _take(signs, *fact)


def _has_no_fact(text: str) -> bool:
    """Whether a line holds neither a label nor a fact, however it is divided."""
    if label_of(text) or (_MAY_BE_DIVIDED(text) and DIVIDED(text)):
        return False
    # A number behind a label has a figure or a dash, or is a word in capitals: "Ref. EGF".
    may_be_code = "-" in text or holds_digit(text) or (". " in text and text[-1].isupper())
    return not may_be_code or (unseparated_in(text) or barcode_inside(text)) is None


#: Labels and menus are the same on all of a shop's pages.
_HAS_NO_FACT = CachedRule(_has_no_fact)


def _rows_of_facts(walk: Lines, signs: Visible) -> list[tuple[str, str]]:
    """Take the facts of rows; return internal ids and makers in columns, which any others precede."""
    attributes: dict[str, str] = {}
    last_facts: list[tuple[str, str]] = []
    for row in walk.rows[:200]:
        pair = row_pair(row)
        if pair is None:
            for label, value in pairs_below_heads(row):
                field = label_of(label)
                if field == "brand":
                    last_facts.append((field, value))
                elif field:
                    _take(signs, field, value)
            continue
        field = label_of(pair[0])
        if field == "sku" and IS_WEAK(pair[0].strip(AROUND)):
            last_facts.append((field, pair[1]))
        elif field:
            _take(signs, field, pair[1])
        if (
            field in {None, "model"}
            and len(pair[0]) < 60
            and (len(pair[1]) < MAX_FACT or next(row.iter("table"), None) is None)
        ):
            attributes.setdefault(pair[0].rstrip(" :"), pair[1].lstrip(" :："))
    if attributes:
        earlier = signs.fields.get("attributes", {})
        signs.fields["attributes"] = dict(list(attributes.items())[:60]) | earlier
    return last_facts


def _take_marked(walk: Lines, signs: Visible, line: Line) -> None:
    """Take a value whose class names its field: `<span class="sku">X-1</span>`."""
    if (line.index == walk.heading and _is_heading(walk, line)) or line.element.tag == "button":
        return  # Asian shops call a choice of sizes after the number that each has
    if any(map(names_maker, _classes_around(line.element))):
        text = maker_of_link(line.element, _linked_name(line))
        is_short = ":" not in text and len(text) <= MAX_BRAND
        is_short = is_short and not (line.flags & _lines.DIGIT and _HAS_CENTS(text))
        if is_short and not leads_home(line.element) and not _may_be_seller(line):
            _take(signs, "brand", text)
        return
    words = (line.element.get("class") or "")[:1000].lower()
    field = next((f for f in ("gtin", "mpn") if f in words), "sku")
    field = "gtin" if _NAMES_BARCODE(words) else field
    text = line.text
    if pair := PAIR.match(text):
        # The box may hold the label as well: `<li class="sku"><b>Item:</b><i>X-1</i></li>`.
        text = (pair[2] or pair[4]) if label_of(pair[1] or pair[3]) else text
    elif label_of(text.partition(" ")[0]) == field:
        text = text.partition(" ")[2]  # "SKU WED"
    if " " not in text and "：" not in text and not text.endswith(":"):
        _take(signs, field, text)


def _linked_name(line: Line) -> str:
    """Return the text of the link behind a line in its own box, else the line's: `More by <a>Acme`."""
    link = None if line.flags & _lines.LINK else next(line.element.iterchildren("a"), None)
    name = "" if link is None else short_text(link, MAX_BRAND + 1)
    return name if name and name not in line.text else line.text


def _may_be_seller(line: Line) -> bool:
    """Whether a line is a part of a vendor's box: `Sold by <a>Acme</a> 4.8`.

    A box that holds the name alone is the maker's, because one shop system calls makers vendors.
    """
    for box in (line.element, *islice(line.element.iterancestors(), _MAX_AROUND)):
        if _NAMES_VENDOR((box.get("class") or "").lower()):
            return without_by(short_text(box, MAX_FACT)) != without_by(line.text)
    return False


def _classes_around(element: Element) -> Iterator[str]:
    for box in (element, *islice(element.iterancestors(), _MAX_AROUND)):
        yield (box.get("class") or box.get("id") or "")[:1000].lower()


def _take_parts(coded_lines: list[Line], signs: Visible) -> None:
    """Take a number behind its label in a part of a line: `10 g 132 kr <i>art.nr 12-B</i>`."""
    for box in (line.element for line in coded_lines):
        for part in (*islice(box, _MAX_AROUND), *islice(box.itersiblings(), _MAX_AROUND)):
            text = part.text
            if text and " " in text.strip() and part.tag in _INLINE and len(text) < MAX_CODE:
                _take_unseparated(signs, " ".join(text.split()))


def _take_unseparated(signs: Visible, text: str) -> None:
    if fact := unseparated(text):
        _take(signs, *fact)


def _take_labelled(signs: Visible, field: str, label: str, value: str) -> None:
    """Take a fact, or note a number behind a label that others precede.

    A value may begin with a label of its own: `Product code: JAN: 4006381333931`.
    """
    if field == "sku" and ":" in value and (pair := PAIR.match(value)) and label_of(pair[1] or ""):
        field, label, value = label_of(pair[1]) or field, pair[1], pair[2]
    if field == "sku" and IS_WEAK(label.strip(AROUND)):
        signs.further_facts.append((field, value.strip(AROUND)))
    elif field != "mpn" or len(LISTED(value)) < 2 or not _NAMES_OEM.search(label):
        _take(signs, field, value)  # else the numbers of parts that this one replaces


def _take(signs: Visible, field: str, value: str) -> None:
    if field in _LAST_FIELDS:
        signs.further_facts.append((field, value))
        return
    is_known = field in signs.fields and field != "mpn"  # the maker's number may be a barcode
    if is_known and not (field == "sku" and _is_model(signs.fields)):
        signs.further_facts.append((field, value.strip(AROUND)))
        return
    text, value = value, value.strip(AROUND)
    if field == "gtin":
        value = named_gtin(value) or ""
    else:
        if " " in value:
            value = value.replace("：", ": ")
            value, next_fact = (maker_up_to_label if field == "brand" else up_to_label)(value)
            if next_fact:
                value = value.rstrip(".,")
                _take_next_fact(signs, next_fact)
        value = as_maker(value, text) if field == "brand" else as_number(LISTED(value)[0])
    if field == "model":
        if is_model_number(value):
            signs.facts += "model" not in signs.fields.get("attributes", {})
            signs.fields.setdefault("attributes", {}).setdefault("model", value)
    elif field == "mpn" and "gtin" not in signs.fields and is_barcode(value):
        signs.fields["gtin"] = value  # some shops keep the barcode as the maker's number
        signs.facts += 1
    elif value and (is_known or field not in signs.fields):
        signs.fields[field] = value
        signs.facts += field != "brand"


def _is_model(fields: Fields) -> bool:
    """Whether the number is labelled as the model, in a box called as the shop's own number's."""
    return bool(fields["sku"] == fields.get("attributes", {}).get("model"))


def _take_next_fact(signs: Visible, text: str) -> None:
    """Take the fact behind another fact's value in its line."""
    pair = PAIR.match(text)
    if pair is None:
        if barcode := barcode_inside(text):
            _take(signs, "gtin", barcode)
        for fact in in_a_row(text):
            _take(signs, *fact)
        _take_sentences(signs, text)
    elif field := label_of(pair[1] or pair[3]):
        _take(signs, field, pair[2] or pair[4])
