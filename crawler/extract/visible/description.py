"""What a page says of its product, where no structured data and no meta element does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.page import class_words
from crawler.extract.page.lines import BEYOND, ELSEWHERE, Line, begins_others
from crawler.extract.page.page import Element, Page, short_text, squashed
from crawler.extract.price.other_amounts import POSTAGE
from crawler.extract.stock.availability import availability_of_text
from crawler.extract.words import Marks, whole_of

_WORDS = (
    rb"desc(?:r|\b)|beschreibung|omschrijving|beskriv|popis|opis|kuvaus|leiras|descri[pcz]|aciklama"
    rb"|item[-_]?details?\b|product[-_]?details?\b|mota|mo-ta"
)
_NAMED = lazy_patterns.pattern(
    rb"(?:class|id|itemprop)\s?=\s?[\"']?[^\"'<>]{0,80}(?:" + _WORDS + rb")"
)
#: Each of the words holds one of these, which most pages do not: the pattern asks at each place.
_IN_WORDS = (
    b"desc", b"detail", b"opis", b"beschreibung", b"omschrijving", b"beskriv", b"kuvaus", b"leiras",
    b"aciklama", b"mota", b"mo-ta",
)  # fmt: skip


def _classes_with(pattern: re.Pattern[str]) -> Marks[bool]:
    """Whether a box's classes hold a word, of which the first 300 letters are looked at."""
    return Marks(lambda words: pattern.search(words[:300].lower()) is not None)


_CALLED = lazy_patterns.pattern(class_words.DESCRIPTION)
_IS_CALLED = _classes_with(_CALLED)
#: Boxes for other things than the page's own, by class and by tag; a page's own box tells its layout.
_OF_OTHERS = lazy_patterns.pattern(class_words.OF_OTHERS)
_IS_OTHERS = _classes_with(_OF_OTHERS)
_FRAMES = frozenset({"a", "nav", "footer", "aside"})
_BOXES = ("div", "section", "article", "p", "td", "dd", "span")
#: Boxes that are looked at, those around one, and characters of a description.
_MOST_BOXES, _MOST_AROUND = 8_000, 8
_SHORTEST, _LONGEST = 12, 5_000
#: Letters by which a word of a name is known in another text.
_STEM = 4
#: What says that a description follows; boxes around and behind it, and those to which a tab leads.
_SAYS_TITLE = whole_of(lambda any_of: any_of("headings", "description"))
_SIGNS_AROUND = re.compile(r"[\W_]").match


def _is_title(text: str) -> bool:
    """Whether a text is the title of a description and nothing else, but for signs around it."""
    since, until = 0, len(text)
    while since < until and _SIGNS_AROUND(text[since]):
        since += 1
    while until > since and _SIGNS_AROUND(text[until - 1]):
        until -= 1
    return until - since <= _LONGEST_LABEL and _SAYS_TITLE(text[since:until]) is not None


_IS_TITLE = Marks(_is_title)
_PRESSED = frozenset({"li", "a", "button", "label", "span"})
_TARGETS = ("div", "section", "li", "article")
_MOST_ABOVE, _MOST_BELOW, _LONGEST_LABEL = 2, 3, 40
_APART = ELSEWHERE | BEYOND
_TITLES = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "legend", "summary"})
#: The same of a paragraph: the elements that may be one, and how many behind the heading.
_BLOCKS = frozenset(
    {"p", "pre", "div", "td", "li", "dd", "section", "span", "font", "h2", "h3", "h4", "h5", "h6",
     "footer"}
)  # fmt: skip
_MOST_BEHIND, _MOST_PARTS, _SHORTEST_PROSE, _LONGEST_TITLE, _FEWEST_WORDS = 400, 20, 30, 300, 5
#: What is longer, and speaks of a stock, speaks of more than that.
_LONGEST_STOCK = 100
_WORD = lazy_patterns.pattern(r"[^\W\d_]{2,}")
_HAN = lazy_patterns.pattern("[\u3040-\u30ff\u4e00-\u9fff\u0e00-\u0e7f]{12}")
#: A sentence of four words or more; their syllables are a sign each.
_HANGUL = lazy_patterns.pattern("[\uac00-\ud7a3]{1,12}(?:[ ,][\uac00-\ud7a3]{1,12}){3,9}[.!]")
_HAN_ENDS = lazy_patterns.pattern("[。．！\u0e00-\u0e7f]")
_ENDS = frozenset(".!?…。！？।؟")
_ASIDE = frozenset({"button", "label", "thead", "th", "dialog"})
_BESIDE = lazy_patterns.pattern(
    r"cookie|consent|gdpr|newsletter|shipping|delivery|warrant|popup|modal|alert|notice|promo"
    r"|breadcrumb|versand|liefer|livraison|envio|entrega|price|preis|stock|(?<!label-)hidden|d-none|error"
)
_IS_ASIDE = _classes_with(_BESIDE)


def may_describe(page: Page) -> bool:
    """Whether an attribute somewhere on a page may call a box a description."""
    low = page.raw.lower()
    return any(word in low for word in _IN_WORDS) and _NAMED.search(low) is not None


def speaks_of(text: str, name: str) -> bool:
    """Whether a text holds half of a name's words, or as much of them as a language may leave.

    >>> speaks_of("Lamps of oak", "Oaken lamp"), speaks_of("Your shop in Graz", "Oak lamp")
    (True, False)
    """
    text = text.casefold()
    words = [word[:_STEM] for word in name.casefold().split() if len(word) >= _STEM]
    return bool(words) and 2 * sum(word in text for word in words) >= len(words)


def called_boxes(page: Page, heading: Element) -> Iterator[Element]:
    """The boxes behind the heading that are called a description."""
    passed = False
    for element in islice(page.root.iter(*_BOXES, heading.tag), _MOST_BOXES):
        passed = passed or element is heading
        names = (element.get("class"), element.get("id"), element.get("itemprop"))
        if passed and any(name and _IS_CALLED[name] for name in names):
            yield element


def described(boxes: Iterable[Element], heading: Element) -> str | None:
    """The text of the first of some boxes that is in none for other things."""
    for element in boxes:
        if element.tag not in _BOXES and element.tag != heading.tag:
            continue
        text = _without_title(short_text(element, _LONGEST), element)
        around = islice(element.iterancestors(), _MOST_AROUND)
        if len(text) < _SHORTEST or _is_title(text):
            continue
        if not any(map(_is_of_others, (element, *around))):
            return text
    return None


def _without_title(text: str, box: Element) -> str:
    """A box's text without the heading with which it begins: "Description"."""
    first = next(
        (inner for inner in islice(box.iter(), _MOST_AROUND) if (inner.text or "").strip()), box
    )
    return text.removeprefix(short_text(first)).lstrip(" :") if first.tag in _TITLES else text


def told_below_title(page: Page, lines: list[Line]) -> str | None:
    """What stands behind the first line that says that a description follows; or where a tab leads.

    *lines* are those from the heading on.
    """
    for line in lines[1:]:
        if len(line.text) > _LONGEST_LABEL or line.flags & _APART or not _IS_TITLE[line.text]:
            continue
        around = islice(line.element.iterancestors(), _MOST_AROUND)
        if not any(map(_is_of_others, around)) and (told := _below(page, line.element)):
            return told
    return None


def _below(page: Page, title: Element) -> str | None:
    boxes = (title, *islice(title.iterancestors(), _MOST_ABOVE))
    link = next((box for box in boxes if box.tag == "a"), title)
    target = (link.get("href") or "")[:_LONGEST_LABEL]
    if target[:1] == "#" and len(target) > 1:
        called = (box for box in page.root.iter(*_TARGETS) if box.get("id") == target[1:])
        box = next(called, None)
        return None if box is None else _text(box)
    for box in boxes:
        following = box.getnext()
        if box.tag in _PRESSED and following is not None and following.tag == box.tag:
            continue  # the other tabs
        said = [box.tail or ""] if box is title else []
        for following in islice(box.itersiblings(), _MOST_BELOW):
            if following.tag in _TITLES:
                break
            if following.tag not in _FRAMES and (text := _text(following)):
                said.append(text)
        text = " ".join(" ".join(said).split())[:_LONGEST]
        if len(text) >= _SHORTEST:
            return text
    return None


def _text(box: Element) -> str | None:
    text = _without_title(short_text(box, _LONGEST), box)
    return text if len(text) >= _SHORTEST and not _is_of_others(box) else None


def told_in_prose(heading: Element) -> str | None:
    """The first sentences behind the heading, and before what is about other things.

    They stand for the description of a page that calls no box one.
    """
    for element in islice(_behind(heading), _MOST_BEHIND):
        titled = element.tag in _TITLES and begins_others(short_text(element, _LONGEST_TITLE))
        if titled or element.tag == "footer":
            return None
        parts = (element.text, *(inner.tail for inner in islice(element, _MOST_PARTS)))
        own = next((part for part in parts if part and _is_prose(part)), None)
        if own is None or (own is element.text and element.tag in _TITLES):
            continue
        if "©" in own or "copyright" in own[:_LONGEST_TITLE].lower():
            return None  # the page's foot
        around = (element, *islice(element.iterancestors(), _MOST_AROUND))
        if any(map(_is_of_others, around)) or any(map(_is_aside, around)):
            continue
        whole = short_text(element, _LONGEST) if own is element.text else ""
        return whole if whole and _is_prose(whole) else squashed(own)
    return None


def _behind(heading: Element) -> Iterator[Element]:
    for box in (heading, *islice(heading.iterancestors(), _MOST_AROUND)):
        for following in islice(box.itersiblings(), _MOST_BEHIND):
            # To give lxml fifteen tags takes it as long as twenty elements.
            yield from (inner for inner in following.iter() if inner.tag in _BLOCKS)


def _is_prose(text: str) -> bool:
    """Whether a text is a sentence or more, and none about postage or the stock alone."""
    if len(text) < _SHORTEST_PROSE:
        if len(text) <= _SHORTEST or text.isascii():
            return False
        return _HAN.search(text) is not None or _HANGUL.fullmatch(text.strip()) is not None
    ends = text.rstrip()[-1:] in _ENDS
    if not ends and text.isascii():
        return False  # most texts are neither
    words = _WORD.findall(text[:_LONGEST_TITLE])
    if len(words) < _FEWEST_WORDS:
        begun = _HAN.search(text)
        return begun is not None and _HAN_ENDS.search(text, begun.end()) is not None
    if not ends or POSTAGE(text[:_LONGEST_TITLE]) is not None:
        return False
    return len(text) > _LONGEST_STOCK or availability_of_text(text) is None


def _is_aside(box: Element) -> bool:
    return box.tag in _ASIDE or _IS_ASIDE[f"{box.get('class') or ''} {box.get('id') or ''}"]


def _is_of_others(box: Element) -> bool:
    return box.tag in _FRAMES or (box.tag != "body" and _IS_OTHERS[box.get("class") or ""])
