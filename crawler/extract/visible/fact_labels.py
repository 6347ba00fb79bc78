"""Labels of facts: which field a label names, and where a value ends before a further label."""

from __future__ import annotations

import re
from functools import lru_cache

from crawler.extract import lazy_patterns
from crawler.extract.gtin import checked_gtin
from crawler.extract.page.page import Element, holds_digit, short_text
from crawler.extract.visible.fact_rows import AROUND
from crawler.extract.visible.maker_names import name_alone
from crawler.extract.words import full_matcher_by_start
from crawler.extract.words.listed_words import AnyOf

#: A `part` is the maker's number, or the shop's where another label names the maker's; a `designer`
#: is the maker where no other label names that.
_LABELS = ("sku", "gtin", "mpn", "brand", "model", "part", "designer")
#: The fields of a product's numbers.
NUMBERS = frozenset({"sku", "mpn", "gtin", "part"})


def _any_label(any_of: AnyOf) -> str:
    alternatives = "|".join(f"({any_of('label', field)})" for field in _LABELS)
    return rf"(?:{alternatives})\.?(?:\s*#)?(?:\s*\((?![^)]*\d{{3}})[^)]*\))?"


_IS_LABEL = full_matcher_by_start(_any_label)
_SHOP_NUMBERS = frozenset({"sku", "mpn", "part"})
#: Characters of a number that may count the parts of a text.
_MAX_ORDINAL = 2
#: Letters of labels with the vowels of Thai and Hindi, which are marks and no letters to `re`.
LETTERS = r"\w\u0900-\u0903\u093a-\u094f\u0e31-\u0e4e"
#: A further label behind a value, `12-B EAN: 4006381333931`, or a remark in brackets.
_NEXT_LABEL = lazy_patterns.pattern(
    rf"\s[^\W\d][{LETTERS}.-]{{1,25}}(?:\s[{LETTERS}.-]{{1,15}})?[:：]\s"
    r"|(?:(?<!\s)\s++)?\([^()]*\)$"
)
#: A shop's name before the label of its number: `Acme-Teilenr`.
_SHOP_NAME_LABEL = re.compile(r"[A-Z][\w&.]{1,20}-(\S.{4,20})").fullmatch
#: A shop's initials as the label of its own number, and not those of a vehicle's maker (`OE #`) or of
#: a register.
_INITIALS = re.compile(
    r"(?!(?:OEM?S?|CAS|UNS?|FCC|VIN|NSN|HS|HTS|RAL|VAT|TIN|ISO|DIN|TEL|FAX|PO)\b)[A-Z]{2,4}\s?#"
).fullmatch
#: Last words of labels of numbers.
LABEL_ENDS = frozenset({"no", "nr", "number", "nummer", "code", "sku", "#"})
#: Names of barcodes at the end of a label in any language, and characters of such a label.
_CODE_NAMES, _MAX_CODE_LABEL = frozenset({"EAN", "GTIN", "UPC", "ISBN"}), 20
#: The label of a book's number with the count of its figures.
_ISBN_ENDS = ("ISBN 10", "ISBN 13", "ISBN-10", "ISBN-13")
#: Words before the code of a package, or of a product before this one: `Carton EAN`, `Alte EAN`.
_OF_OTHER_GOODS = re.compile(
    r"\bold|\balt|ersetz|repla|rempla|reemp|sostit|prev|ancien|anterior|vorig|case|[ck]arton|outer"
    r"|inner|\bx\b|box|pack|pall?et|master|doos|cai?xa|caja|colis|gebinde|vpe"
).search
#: The word for a number at the end of a label without spaces, and characters of such a label.
_JOINED_ENDS, _MAX_JOINED = ("번호", "番号", "編號", "编号"), 4
#: Words of a shop's name before the label of its number.
_MAX_NAME_WORDS = 3
#: Digits of a number behind a label that may be a word of a name.
_MIN_NUMBER = 3
#: Words of a value that are searched for a further label.
_MAX_WORDS = 8
_CELLS = frozenset({"td", "dd", "span"})
#: Characters of a cell that may be a label.
_MAX_CELL = 120
#: A maker's name that ends a sentence, no abbreviation, and behind it a sentence with a figure, or
#: one of three words and more: `Acme Tools. Zinc plated steel.`
_NAME_SENTENCE = lazy_patterns.pattern(
    r"([^.]{0,40}[^\W\d]{4})\.\s(\S.*\d.*|(?:[^\s.]+\s){2,}[a-zß-ÿ]{3,}\.?)$"
)
#: Signs at the end of a sentence or a part of one.
_STOPS = frozenset(".,;")
#: The figures of a barcode within a text, and at most two words before them.
_BARCODE_INSIDE = lazy_patterns.pattern(
    r"(?<!\S)((?:\S{1,20}\s)?\S{2,20}?)[\s:：#]{1,3}(97[89][\d-]{10,14}|\d{12,14}|\d{8})(?![\w-]|[.,]\d)"
)
#: Words of a label behind a maker's name.
_MAX_LABEL_WORDS = 3
#: Words before a colon that are a name and a label, of one word each.
_NAME_AND_LABEL = 2


@lru_cache(maxsize=256)
def label_of(text: str) -> str | None:
    """Return the field that a label names."""
    text = text.strip(AROUND)
    if not text or len(text) > 40:
        return None
    match = _IS_LABEL(text) or ("№" in text and _IS_LABEL(text.replace("№", "no"))) or None
    if match is not None:
        return _LABELS[match.lastindex - 1] if match.lastindex else None
    if "/" in text:  # "GTIN / EAN code"
        fields = set(map(label_of, text.split("/")))
        return fields.pop() if len(fields) == 1 else None
    if "-" in text and (label := _SHOP_NAME_LABEL(text)) and _IS_LABEL(label[1]):
        return "sku"
    if text[-1] == "#" and _INITIALS(text):
        return "sku"  # "BH #": the shop's own number
    # The last word decides first, because nearly no line ends as a label does.
    text = text[:-3] if text.endswith(_ISBN_ENDS) else text  # "Softcover ISBN 13"
    last_word = text[max(text.rfind(" "), text.rfind("-")) + 1 :]
    if last_word in _CODE_NAMES and len(text) < _MAX_CODE_LABEL and not holds_digit(text):
        return None if _OF_OTHER_GOODS(text.lower()) else "gtin"  # "Número EAN", "Šifra EAN"
    if last_word.lower().strip(".") in LABEL_ENDS and " " in text:
        # "RS Stock No": shops put their own name before the label.
        name, tail = text.split(" ", 1)
        if last_word == "SKU" and label_of(text[: -len(last_word)]) == "sku":
            return "sku"  # "Kod produktu SKU": the label in two languages
        has_shop_name = " " in tail or ("-" in tail and name.isupper())
        labelled = has_shop_name and _IS_LABEL(tail)
        return "sku" if labelled and labelled[1] else None
    if text.endswith(_JOINED_ENDS) and " " not in text:  # the shop's name stands before the label
        labelled = _IS_LABEL(text[-_MAX_JOINED:])
        return "sku" if labelled and labelled[1] else None
    return None


def name_in_label(text: str) -> str:
    """Return the name before or behind a number's label, '' without one: `Parts Depot Part Number`."""
    words = text.split(" ")
    most = _MAX_NAME_WORDS if words[-1].lower() in LABEL_ENDS else 1
    for count in range(1, min(len(words) - 1, most) + 1):
        if label_of(" ".join(words[count:])) in NUMBERS:
            return " ".join(words[:count])
    tail, _, name = text.rpartition(" ")
    return name if label_of(tail) in NUMBERS else ""


def up_to_label(value: str) -> tuple[str, str]:
    """Split a value before a further label: `12-B EAN: 400…`, `12-B Model 40`."""
    if " " not in value:
        return value, ""
    if match := _NEXT_LABEL.search(value):
        return value[: match.start()], value[match.start() :].strip()
    words = value.split(" ")[:_MAX_WORDS]
    for place in range(1, len(words)):
        if not holds_digit(words[place]) and label_of(words[place]):
            return " ".join(words[:place]), " ".join(words[place:])
    return value, ""


def maker_up_to_label(value: str) -> tuple[str, str]:
    """Split a maker's name before the label of a further fact: `Acme Works Part no.: 88-12`.

    Behind a name that ends a sentence, or one of one word, any word may be the label: `Acme. Finish:
    satin`, `Acme Finish: satin`.
    """
    before, colon, _ = value.partition(":")
    words = before.split(" ") if colon else []
    for count in range(min(_MAX_LABEL_WORDS, len(words) - 1), 0, -1):
        name, label = " ".join(words[:-count]), " ".join(words[-count:])
        if label_of(label):
            return name, value[len(name) :].lstrip()
    following = _NEXT_LABEL.search(value) if colon else None
    if following and value[: following.start()][-1:] in _STOPS:
        return value[: following.start()], following[0].strip() + value[following.end() - 1 :]
    if len(words) == _NAME_AND_LABEL and value[len(before) + 1 :][:1].isspace():
        return words[0], value[len(words[0]) :].lstrip()
    name = name_alone(value)
    if name != value and ". " not in name:
        return _name_before_number(value) or (name, "")
    if ". " in value and (sentence := _NAME_SENTENCE.match(value)):
        return sentence[1], sentence[2]
    return (_name_before_number(value) if holds_digit(value) else None) or (value, "")


def _name_before_number(value: str) -> tuple[str, str] | None:
    """Split a name before a number's label without a colon: `Acme Works Art. no. 88-12`.

    One word before a figure or two may be a name's: `Studio Code 41`.
    """
    words = value.split(" ")[:_MAX_WORDS]
    for place in range(2, len(words)):
        if holds_digit(words[place]):
            for begin in range(max(1, place - _MAX_LABEL_WORDS), place):
                text = " ".join(words[begin:place])
                label = _IS_LABEL(text.strip(AROUND))
                is_bare = text.isalpha() and sum(map(str.isdigit, words[place])) < _MIN_NUMBER
                if label and not is_bare and _LABELS[(label.lastindex or 0) - 1] in NUMBERS:
                    name = " ".join(words[:begin])
                    return name, value[len(name) :].lstrip()
    return None


def in_a_row(text: str) -> list[tuple[str, str]]:
    """Split a text of nothing but labels and numbers: `Art. no. 88-12, EAN 4006381333931`.

    A single number is no row.
    """
    facts: list[tuple[str, str]] = []
    label: list[str] = []
    for word in text.split(" ")[: 2 * _MAX_WORDS]:
        if not label or not holds_digit(word):
            label.append(word)
            continue
        field = label_of(" ".join(label))
        if field not in NUMBERS:
            return []
        facts.append((field, word.rstrip(",;")))
        label.clear()
    return facts if len(facts) > 1 and not label else []


def unseparated(text: str) -> tuple[str, str] | None:
    """Split `Item no. 88-12` or `(Code 88-12)`: the label ends before a word with a digit."""
    if text[0] == "(" and text[-1] == ")":
        text = text[1:-1]
    words = text.split(" ")
    for count in range(1, min(4, len(words))):
        is_last = len(words) == count + 1
        is_code = words[count].isupper() and (
            "-" in words[count] or (is_last and words[count - 1][-1] == ".")
        )
        if holds_digit(words[count]) or is_code:
            if count == 1 and len(words[1]) <= _MAX_ORDINAL and words[0].isalpha():
                return None  # "Article 4" of the terms, "Item 2" of a list
            field = label_of(" ".join(words[:count])) if len(words) == count + 1 else None
            return (field, words[count]) if field and field != "brand" else None
        is_last = len(words) == count + 2 and words[count + 1].isdecimal()
        if is_last and words[count].isupper() and not label_of(" ".join(words[:-1])):
            field = label_of(" ".join(words[:count]))  # `Item no. K 101`, but `Mã SP 101`
            return (field, " ".join(words[count:])) if field in _SHOP_NUMBERS else None
    return None


def numbered_before(text: str) -> tuple[tuple[str, str], str] | None:
    """Split `Item no. 88-12 2W Maker`: the fact before a further fact's label, and its field.

    Behind the number may stand a further word, as of a supplier.
    """
    if not holds_digit(text):
        return None
    words = text.rstrip(AROUND).split(" ")[:_MAX_WORDS]
    for count in range(min(_MAX_LABEL_WORDS, len(words) - 2), 0, -1):
        if field := label_of(" ".join(words[-count:])):
            before = words[:-count]
            fact = unseparated(" ".join(before))
            if fact is None and len(before) > 2:
                fact = unseparated(" ".join(before[:-1]))
            return None if fact is None else (fact, field)
    return None


def barcode_inside(text: str) -> str | None:
    """Return the barcode behind its label anywhere in a text: `Oak, 2 kg. EAN 4006381333931 (new)`."""
    for match in _BARCODE_INSIDE.finditer(text):
        words = match[1].split(" ")
        is_label = "gtin" in (label_of(" ".join(words)), label_of(words[-1]))
        if is_label and not _OF_OTHER_GOODS(match[1].lower()):
            return checked_gtin(match[2])
    return None


def is_number_cell(cell: Element) -> bool:
    """Whether a cell or a span holds a number because the one before it is a label of one.

    The number may have an element of its own in its cell.
    """
    label = cell.getprevious() if cell.tag in _CELLS else None
    if label is None and (box := cell.getparent()) is not None and box.tag in _CELLS:
        label = box.getprevious() if len(box) == 1 else None
    return label is not None and label_of(short_text(label, _MAX_CELL)) in NUMBERS
