"""Find a product's description in the page's text, if no structured data has one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import dropwhile, islice
from operator import is_not

from crawler.extract import lazy_patterns
from crawler.extract.page import class_words
from crawler.extract.page.lines import BEYOND, ELSEWHERE, Line, begins_other_section
from crawler.extract.page.page import Element, Page, short_text, squashed
from crawler.extract.price.other_amounts import POSTAGE
from crawler.extract.stock.availability import availability_of_text
from crawler.extract.words import CachedRule, full_matcher_of


def _classes_with(pattern: re.Pattern[str]) -> CachedRule[bool]:
    """Return a cached test of a box's classes (their first 300 letters) for a pattern."""
    return class_words.by_shape(lambda words: pattern.search(words[:300]) is not None)


_DESCRIPTION_CLASS = lazy_patterns.pattern(class_words.DESCRIPTION)
_IS_DESCRIPTION = _classes_with(_DESCRIPTION_CLASS)
#: Boxes about other products, by class and by tag; `body` is none, because its class is a layout's.
_OF_OTHERS = lazy_patterns.pattern(class_words.OF_OTHERS)
_IS_OTHERS = _classes_with(_OF_OTHERS)
_FRAMES = frozenset({"a", "nav", "footer", "aside"})
#: Attributes that name a box.
_NAMING = frozenset({"class", "id", "itemprop"})
_BOXES = ("div", "section", "article", "p", "td", "dd", "span")
#: Boxes of a page, boxes around one, and characters of a description.
_MAX_BOXES, _MAX_AROUND = 8_000, 8
_MIN_DESCRIPTION, _MAX_DESCRIPTION = 12, 5_000
#: First letters of a word by which a text is searched for it.
_STEM = 4
#: The title of a description; a tab's tags, and the boxes to which one leads.
_TITLE_WORDS = full_matcher_of(lambda any_of: any_of("headings", "description"))
_SIGNS_AROUND = re.compile(r"[\W_]").match


def _is_title(text: str) -> bool:
    """Whether a text is just the title of a description, with or without signs around it."""
    start, end = 0, len(text)
    while start < end and _SIGNS_AROUND(text[start]):
        start += 1
    while end > start and _SIGNS_AROUND(text[end - 1]):
        end -= 1
    return end - start <= _LONGEST_LABEL and _TITLE_WORDS(text[start:end]) is not None


_IS_TITLE = CachedRule(_is_title)
_TAB_TAGS = frozenset({"li", "a", "button", "label", "span"})
_TARGETS = ("div", "section", "li", "article")
_MAX_ABOVE, _MAX_BELOW, _LONGEST_LABEL = 2, 3, 40
_ELSEWHERE_FLAGS = ELSEWHERE | BEYOND
_TITLES = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "legend", "summary"})
#: Elements that may be a paragraph of the description.
_BLOCKS = frozenset(
    {"p", "pre", "div", "td", "li", "dd", "section", "span", "font", "h2", "h3", "h4", "h5", "h6",
     "footer"}
)  # fmt: skip
_MAX_BEHIND, _MAX_PARTS, _SHORTEST_PROSE, _LONGEST_TITLE, _MIN_WORDS = 400, 20, 30, 300, 5
#: Characters of a text that is about the stock alone.
_LONGEST_STOCK = 100
_WORD = lazy_patterns.pattern(r"[^\W\d_]{2,}")
_HAN = lazy_patterns.pattern("[\u3040-\u30ff\u4e00-\u9fff\u0e00-\u0e7f]{12}")
#: A Korean sentence of four words or more; each sign is a syllable.
_HANGUL = lazy_patterns.pattern("[\uac00-\ud7a3]{1,12}(?:[ ,][\uac00-\ud7a3]{1,12}){3,9}[.!]")
#: What matches of the two add to a text in bytes. Most texts add less, and the patterns, of
#: thousands of signs, take long to compile.
_HAN_BYTES, _HANGUL_BYTES = 24, 8
_HAN_SENTENCE_END = lazy_patterns.pattern("[。．！\u0e00-\u0e7f]")
_SENTENCE_ENDS = frozenset(".!?…。！？।؟")
_ASIDE_TAGS = frozenset({"button", "label", "thead", "th", "dialog"})
_ASIDE_CLASS = lazy_patterns.pattern(
    r"cookie|consent|gdpr|newsletter|shipping|delivery|warrant|popup|modal|alert|notice|promo"
    r"|breadcrumb|versand|liefer|livraison|envio|entrega|price|preis|stock|(?<!label-)hidden|d-none|error"
)
_IS_ASIDE = _classes_with(_ASIDE_CLASS)


def speaks_of(text: str, name: str) -> bool:
    """Whether a text holds half of a name's words, compared by their first letters.

    >>> speaks_of("Lamps of oak", "Oaken lamp"), speaks_of("Your shop in Graz", "Oak lamp")
    (True, False)
    """
    text = text.casefold()
    words = [word[:_STEM] for word in name.casefold().split() if len(word) >= _STEM]
    return bool(words) and 2 * sum(word in text for word in words) >= len(words)


def called_boxes(page: Page, heading: Element) -> Iterator[Element]:
    """Yield the boxes behind the heading whose class, id or itemprop names a description."""
    boxes = islice(page.root.iter(*_BOXES, heading.tag), _MAX_BOXES)
    for element in dropwhile(partial(is_not, heading), boxes):
        for name, words in element.items():
            if name in _NAMING and _IS_DESCRIPTION[words]:
                yield element
                break


def described(boxes: Iterable[Element], heading: Element) -> str | None:
    """Return the text of the first box that is in no box about other products."""
    for element in boxes:
        if element.tag not in _BOXES and element.tag != heading.tag:
            continue
        text = _without_title(short_text(element, _MAX_DESCRIPTION), element)
        around = islice(element.iterancestors(), _MAX_AROUND)
        if len(text) < _MIN_DESCRIPTION or _is_title(text):
            continue
        if not any(map(_is_of_others, (element, *around))):
            return text
    return None


def _without_title(text: str, box: Element) -> str:
    """Return a box's text without the heading at its start: "Description"."""
    title_box = next(
        (inner for inner in islice(box.iter(), _MAX_AROUND) if (inner.text or "").strip()), box
    )
    return (
        text.removeprefix(short_text(title_box)).lstrip(" :") if title_box.tag in _TITLES else text
    )


def description_below_title(page: Page, lines: list[Line]) -> str | None:
    """Return the text below the first title of a description, or in the box to which a tab leads.

    *lines* are those from the heading on.
    """
    for line in lines[1:]:
        if (
            len(line.text) > _LONGEST_LABEL
            or not _IS_TITLE[line.text]  # first, because hardly a line is a title
            or line.flags & _ELSEWHERE_FLAGS
        ):
            continue
        around = islice(line.element.iterancestors(), _MAX_AROUND)
        if not any(map(_is_of_others, around)) and (description := _below(page, line.element)):
            return description
    return None


def _below(page: Page, title: Element) -> str | None:
    boxes = (title, *islice(title.iterancestors(), _MAX_ABOVE))
    link = next((box for box in boxes if box.tag == "a"), title)
    target = (link.get("href") or "")[:_LONGEST_LABEL]
    if target[:1] == "#" and len(target) > 1:
        targets = (box for box in page.root.iter(*_TARGETS) if box.get("id") == target[1:])
        box = next(targets, None)
        return None if box is None else _text(box)
    for box in boxes:
        following = box.getnext()
        if box.tag in _TAB_TAGS and following is not None and following.tag == box.tag:
            continue  # the other tabs
        texts = [box.tail or ""] if box is title else []
        for following in islice(box.itersiblings(), _MAX_BELOW):
            if following.tag in _TITLES:
                break
            if following.tag not in _FRAMES and (text := _text(following)):
                texts.append(text)
        text = " ".join(" ".join(texts).split())[:_MAX_DESCRIPTION]
        if len(text) >= _MIN_DESCRIPTION:
            return text
    return None


def _text(box: Element) -> str | None:
    text = _without_title(short_text(box, _MAX_DESCRIPTION), box)
    return text if len(text) >= _MIN_DESCRIPTION and not _is_of_others(box) else None


def first_sentences(heading: Element) -> str | None:
    """Return the first sentences behind the heading, up to a heading about other products.

    They replace the description on a page without a box for one.
    """
    for element in islice(_behind(heading), _MAX_BEHIND):
        begins_other = element.tag in _TITLES and begins_other_section(
            short_text(element, _LONGEST_TITLE)
        )
        if begins_other or element.tag == "footer":
            return None
        parts = [element.text]
        if len(element):
            parts += [inner.tail for inner in element[:_MAX_PARTS]]
        sentence = next(filter(_is_prose, filter(None, parts)), None)
        if sentence is None or (sentence is element.text and element.tag in _TITLES):
            continue
        if "©" in sentence or "copyright" in sentence[:_LONGEST_TITLE].lower():
            return None  # the page's foot
        around = (element, *islice(element.iterancestors(), _MAX_AROUND))
        if any(map(_is_of_others, around)) or any(map(_is_aside, around)):
            continue
        full_text = short_text(element, _MAX_DESCRIPTION) if sentence is element.text else ""
        return full_text if full_text and _is_prose(full_text) else squashed(sentence)
    return None


def _behind(heading: Element) -> Iterator[Element]:
    for box in (heading, *islice(heading.iterancestors(), _MAX_AROUND)):
        for following in islice(box.itersiblings(), _MAX_BEHIND):
            # A filter of fifteen tags costs lxml as much as twenty elements.
            for inner in following.iter():
                if inner.tag in _BLOCKS:
                    yield inner


def _is_prose(text: str) -> bool:
    """Whether a text has a sentence that is not about postage or the stock alone."""
    if len(text) < _SHORTEST_PROSE:
        if len(text) <= _MIN_DESCRIPTION or text.isascii():
            return False
        added = _bytes_added(text)
        if added >= _HAN_BYTES and _HAN.search(text) is not None:
            return True
        return added >= _HANGUL_BYTES and _HANGUL.fullmatch(text.strip()) is not None
    has_end = text.rstrip()[-1:] in _SENTENCE_ENDS
    if not has_end and text.isascii():
        return False  # most texts end here: neither a sentence nor East Asian
    words = _WORD.findall(text[:_LONGEST_TITLE])
    if len(words) < _MIN_WORDS:
        han_start = _HAN.search(text) if _bytes_added(text) >= _HAN_BYTES else None
        return han_start is not None and _HAN_SENTENCE_END.search(text, han_start.end()) is not None
    if not has_end or POSTAGE(text[:_LONGEST_TITLE]) is not None:
        return False
    return len(text) > _LONGEST_STOCK or availability_of_text(text) is None


def _bytes_added(text: str) -> int:
    """Return how many bytes more than characters a text has: two of each East Asian sign.

    >>> _bytes_added("Référence"), _bytes_added("檜の椅子")
    (2, 8)
    """
    return len(text.encode("utf-8", "surrogatepass")) - len(text)


def _is_aside(box: Element) -> bool:
    return box.tag in _ASIDE_TAGS or _IS_ASIDE[f"{box.get('class') or ''} {box.get('id') or ''}"]


def _is_of_others(box: Element) -> bool:
    return box.tag in _FRAMES or (box.tag != "body" and _IS_OTHERS[box.get("class") or ""])
