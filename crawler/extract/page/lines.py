"""A page as the lines that a visitor reads, each with flags of its markup.

A line is text without a block's edge in it: `<b>€</b><span>12</span><sup>99</sup>` is one line,
`€12.99`. One walk over the tree serves prices, stock, facts and headings.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import accumulate, chain, compress, islice, repeat

import attrs

from crawler.extract.page import class_words, joints
from crawler.extract.page.cards import section_of, shows_another
from crawler.extract.page.joints import SIGNS
from crawler.extract.page.page import Element, Page, holds_digit, squashed
from crawler.extract.page.tags import INLINE, SKIPPED
from crawler.extract.words import CachedRule, entry_matcher, prefix_matcher_of

(
    OLD, ELSEWHERE, HIDDEN, LINK, PRICE, BUTTON, STOCK, HEADING, LABEL,
    RATING, FACT, BADGE, OFF, CARD, BEYOND, JOINED, NOW, DIGIT, DESCRIPTION,
    TITLE, LONG,
) = (1 << bit for bit in range(21))  # fmt: skip

#: A bit that no line has: elements of this tag are skipped or collected.
_ASKED = LONG << 1
_TAGS = dict.fromkeys((*SKIPPED, "tr", "input", "a"), _ASKED) | {
    "del": OLD, "s": OLD, "strike": OLD, "aside": CARD, "footer": ELSEWHERE,
    "nav": ELSEWHERE, "button": BUTTON, "h1": HEADING, "h2": HEADING, "h3": HEADING,
    "h4": HEADING, "th": LABEL, "dt": LABEL, "label": LABEL,
}  # fmt: skip
#: By a pattern of words: the flag of an element whose class or id has one.
_FLAG_OF = {
    class_words.OLD_MARK: OLD, class_words.OLD_PRICE: OLD, class_words.OLD_STRUCK: OLD,
    class_words.ELSEWHERE: ELSEWHERE, class_words.CARD: CARD, class_words.OFF: OFF,
    class_words.HIDDEN: HIDDEN, class_words.PRICE: PRICE, class_words.NOW: NOW,
    class_words.STOCK: STOCK, class_words.BUTTON: BUTTON, class_words.LABEL: LABEL,
    class_words.FACT: FACT, class_words.BADGE: BADGE, class_words.RATING: RATING,
    class_words.DESCRIPTION: DESCRIPTION, class_words.TITLE: TITLE,
}  # fmt: skip
#: Words in a price block's class that make it no old price: the block holds both.
_BOTH_PRICES = re.compile(
    r"price(?:list\b|[-_]?(?:box|container|wrapper|block|info|group|area)(?!__))"
)
#: Whether a heading begins a section of other products, or of reviews.
begins_other_section = prefix_matcher_of(lambda any_of: any_of("headings", "others"))
#: Whether a heading begins the product's own description.
describes = entry_matcher("headings", "description", 3)
_MAX_ELEMENTS, _MAX_SIBLINGS = 30_000, 1500
#: Lines read after the main heading; the product's facts are among them.
MAX_LINES = 400
#: Successive lines without a price, fact or button, after which the walk ends.
_MAX_DULL_LINES = 120
_USEFUL = PRICE | STOCK | BUTTON | LABEL | FACT
#: Flags of the lines that change the walk's state.
_WALK_FLAGS = _USEFUL | HEADING | TITLE
#: Characters of the longest fact (a longer line is a sentence), of the longest cents, and of a text
#: that may be a separator or a part of an amount: fewer than these.
_MAX_LENGTH, _MAX_CENTS_LENGTH, _SHORT_LENGTH = 120, 3, 6
_SEPARATORS = frozenset({"|", "•", "·", "│"})
_AMOUNT_ENDS = SIGNS | {"-", "–", "—"}


@attrs.define(eq=False, repr=False)
class Line:
    """Text that no block's edge divides."""

    text: str
    flags: int
    """With `DIGIT` (it contains a figure) and `LONG` (no fact is as long), which most readers check."""
    element: Element
    """The element in which the line begins."""
    index: int = 0


@attrs.define(eq=False, repr=False)
class Lines:
    """The lines and elements that one walk over a page collected."""

    lines: list[Line] = attrs.Factory(list)
    heading: int = -1
    """Index of the line with the main heading, -1 without one."""
    rows: list[Element] = attrs.Factory(list)
    """Table rows and terms (tr, dt) outside navigation."""
    inputs: list[Element] = attrs.Factory(list)
    ratings: list[Element] = attrs.Factory(list)
    description_boxes: list[Element] = attrs.Factory(list)
    """Boxes whose class names a description."""
    has_others: bool = False
    """Whether some lines stand below a heading about other products (`BEYOND`)."""
    inside: dict[tuple[Element, str], list[Element]] = attrs.Factory(dict)
    """The first elements with a tag in boxes that readers searched."""
    _product_lines: list[Line] | None = attrs.field(default=None, init=False)
    _texts_before: list[int] = attrs.field(factory=list, init=False)

    @property
    def product_lines(self) -> list[Line]:
        """The visible, short lines from the heading on, outside of boxes about other things."""
        if self._product_lines is None:
            lines, excluded = self.lines[max(self.heading, 0) :], ELSEWHERE | HIDDEN | LONG
            self._product_lines = [line for line in lines if not line.flags & excluded]
        return self._product_lines

    def texts_before(self, line: Line) -> int:
        """Return how many of the lines before a line are no links."""
        if not self._texts_before:  # counted once for all lines
            self._texts_before = [*accumulate(not other.flags & LINK for other in self.lines)]
        return self._texts_before[line.index] - (not line.flags & LINK)


def _class_flags(words: str) -> int:
    flags = 0
    for kind in class_words.kinds(words):
        flags |= _FLAG_OF[kind]
    if flags & OLD and (flags & NOW or _BOTH_PRICES.search(words)):
        flags &= ~OLD
    return flags


def _style_flags(style: str) -> int:
    style = style.replace(" ", "").lower()
    hidden = HIDDEN if "display:none" in style or "visibility:hidden" in style else 0
    return hidden | (OLD if "line-through" in style else 0)


def _squashed(text: str) -> tuple[str, int]:
    """Return the text of a line, and of the flags `DIGIT` and `LONG` those that it has."""
    raw = text.encode() if text.isascii() and "  " not in text else b""
    if raw and len(raw.translate(None, _FIGURES_AND_SPACES)) == len(raw):
        text, flags = text.strip(), 0  # most sentences: one pass checks both
    else:
        text, flags = squashed(text), DIGIT if holds_digit(text) else 0
    return text, flags | LONG if len(text) > _MAX_LENGTH else flags


_FIGURES_AND_SPACES = b"0123456789\t\n\v\f\r\x1c\x1d\x1e\x1f"
#: A site's pages share their menus, labels and buttons.
_SQUASHED = CachedRule(_squashed)
_CLASS_FLAGS = class_words.by_shape(_class_flags)
#: Attributes for tests, which name the boxes of templates whose classes are hashes.
_TEST_ATTRIBUTES = (
    "data-testid", "data-test", "data-test-id", "data-qa", "data-hook", "data-ui",
    "data-automation-id", "data-e2e", "data-zta", "data-cy",
)  # fmt: skip
_TEST_FLAGS = OLD | PRICE | NOW | STOCK
#: By an attribute's name: the flags of its element's text, by the attribute's value.
_FLAG_RULES: dict[str, CachedRule[int]] = {
    "class": _CLASS_FLAGS,
    "id": _CLASS_FLAGS,
    **dict.fromkeys(_TEST_ATTRIBUTES, CachedRule(lambda words: _CLASS_FLAGS[words] & _TEST_FLAGS)),
    "itemprop": CachedRule(lambda words: _CLASS_FLAGS[words] & (_TEST_FLAGS | DESCRIPTION)),
    # A number is a choice's price, for a script; a word names the box of a price.
    "data-price": CachedRule(lambda value: 0 if holds_digit(value) else PRICE),
    "hidden": CachedRule(lambda _: HIDDEN),
    "style": CachedRule(_style_flags),
}


def read(page: Page, heading: Element | None, line_limit: int = MAX_LINES) -> Lines:
    """Walk at most *line_limit* lines from the heading on; without a heading, the full page."""
    return _Reader(heading).read(page.root if heading is None else heading, line_limit)


def read_next_to(heading: Element, line_limit: int) -> Lines:
    """Walk a few lines after the heading, and skip boxes that are not about the product."""
    return _Reader(heading, OFF | ELSEWHERE | HIDDEN).read(heading, line_limit)


def read_all(page: Page, heading: Element | None) -> Lines:
    """Walk the whole page."""
    return _Reader(heading).read(page.root, MAX_LINES)


#: An element on the walk's stack: its remaining children, itself, the element and the flags of the
#: texts between them, and whether it is inline (the text behind it continues the line).
_Frame = tuple[Iterator[Element], Element, Element, int, bool]


class _Reader:
    """The walk's state: an explicit stack, for pages nested deeper than Python recurses."""

    def __init__(self, heading: Element | None, skipped: int = OFF) -> None:
        self.heading = heading
        self.skipped = skipped
        self.checked = skipped | CARD
        self.never_skipped: set[Element] = set() if heading is None else {heading}
        self.in_heading = frozenset(() if heading is None else heading.iter())
        self.result = Lines()
        self.lines = self.result.lines
        self.parts: list[str] = []
        self.flags = self.last_useful = self.line_limit = 0
        self.element: Element = None
        self.beyond_flags, self.beyond_section = 0, None
        self.colon = self.is_full = False
        self.stop_after = sys.maxsize
        self.seeks_heading = heading is not None

    def read(self, start: Element, line_limit: int) -> Lines:  # noqa: C901, PLR0912  # the one hot loop
        """Walk from an element on, in one function, because calls took a tenth of the time."""
        frames = _frames(start, start is self.heading)
        if start is not self.heading and self.heading is not None:
            self.never_skipped.update(self.heading.iterancestors())
        lines, parts, self.line_limit = self.lines, self.parts, line_limit
        elements_left = _MAX_ELEMENTS
        children, parent, text_element, inherited, in_line = frames.pop()
        while True:
            for element in children:
                flags, own_flags = inherited, _TAG_FLAGS[tag := element.tag]
                for name, value in element.items():
                    if name in _FLAG_RULES:
                        own_flags |= _FLAG_RULES[name][value]
                if own_flags:
                    flags = self._flags_of(element, tag, own_flags, inherited)
                elif self.beyond_flags and not inherited & ELSEWHERE:
                    flags |= self.beyond_flags
                if flags < 0:
                    child_count = 0
                else:
                    is_inline = tag in _INLINE and (tag != "a" or inherited & PRICE > 0)
                    if parts and not is_inline:
                        self._end()
                    text, child_count = element.text, len(element)
                    if text and (parts or not text.isspace()):
                        if child_count or is_inline:
                            self._text(element, text, flags, True)
                        else:  # most elements are leaves, and most leaves are lines
                            self._add(text, flags, element)
                if self.is_full:
                    if len(lines) > self.stop_after:
                        self._end()
                        return self.result
                    self.is_full = False  # a row of facts came since
                if child_count:
                    frames.append((children, parent, text_element, inherited, in_line))
                    children, parent, text_element = iter(element[:elements_left]), element, element
                    inherited, in_line = flags, is_inline
                    elements_left = (
                        elements_left - child_count if child_count < elements_left else 0
                    )
                    break
                tail = element.tail
                if tail and (parts or not tail.isspace()):
                    self._text(text_element, tail, inherited)
            else:
                # The innermost element's line ends, and the text behind it belongs outside.
                if parts and not in_line:
                    self._end()
                if self.beyond_flags and parent is self.beyond_section:
                    self.beyond_flags = 0
                if not frames:
                    self._end()
                    return self.result
                tail = parent.tail
                children, parent, text_element, inherited, in_line = frames.pop()
                if tail and (parts or not tail.isspace()):
                    self._text(text_element, tail, inherited)

    def _expect_more(self, place: int) -> None:
        """Extend the walk behind the line at *place*, a heading or a line with a price or fact."""
        self.last_useful = place
        heading = self.result.heading
        if heading >= 0:
            self.stop_after = min(heading + self.line_limit, max(heading, place) + _MAX_DULL_LINES)

    def _flags_of(self, element: Element, tag: str, flags: int, inherited: int) -> int:
        """Return the flags of an element's text, by its own *flags*; negative: skip it."""
        if tag in SKIPPED and (tag != "template" or not element.get("shadowrootmode")):
            return -1
        flags &= ~_ASKED
        if flags & DESCRIPTION:
            flags ^= DESCRIPTION
            if not self.beyond_flags:
                self.result.description_boxes.append(element)
        needs_context = flags and (flags & self.checked or element in self.never_skipped)
        if needs_context and (flags := self._in_context(element, flags)) < 0:
            return -1
        flags |= inherited if not flags & ELSEWHERE else inherited & ~BEYOND
        if self.beyond_flags and not flags & ELSEWHERE:
            flags |= self.beyond_flags
        if tag in _COLLECTED_TAGS:
            return self._collect(element, tag, flags)
        if flags & RATING and not flags & ELSEWHERE and not inherited & RATING:
            self.result.ratings.append(element)
        return flags

    def _in_context(self, element: Element, flags: int) -> int:
        """Correct an element's own flags by its content and place; negative: skip it."""
        if element in self.never_skipped:
            return flags & HEADING
        if flags & CARD and shows_another(element):
            flags |= ELSEWHERE
        return -1 if flags & self.skipped else flags

    def _collect(self, element: Element, tag: str, flags: int) -> int:
        """Collect an element that readers ask for after the walk; return the flags of its text."""
        if tag == "a":
            return flags | LINK
        if tag in {"tr", "dt"}:
            self._expect_more(len(self.lines))
            if not flags & ELSEWHERE:
                self.result.rows.append(element)
        elif not flags & (ELSEWHERE | HIDDEN):
            self.result.inputs.append(element)
        return flags

    def _text(self, element: Element, text: str, flags: int, own: bool = False) -> None:  # noqa: C901
        if self.beyond_flags and not flags & ELSEWHERE:
            flags |= self.beyond_flags  # the text is behind an element
        if len(text) < _SHORT_LENGTH and text.strip() in _SEPARATORS:
            self._end()  # "in stock | item 12" are two lines in one row
            return
        if not (parts := self.parts):
            if text.isspace():
                return
            self.flags, self.element = flags, element
        elif flags & HIDDEN and text in _DECIMAL_SIGNS:
            flags ^= HIDDEN & ~self.flags  # for screen readers: `899<i class=sr-only>,</i>10 €`
        elif (
            (flags ^ self.flags) & _DIVIDING
            or (self.colon and ":" in text)
            or (flags & PRICE and self._follows_count(text))
        ) and not text.isspace():
            self._end()
            self.flags, self.element = flags, element
        elif text[0].isalnum() or text[0] in SIGNS:
            if self._begins_another(text, flags):
                self._end()
                self.flags, self.element = flags, element
            elif text[0].isdigit():
                text = self._joint(element, text) + text
            elif self._is_glued(text) or (own and joints.is_value(element, text, parts[-1])):
                text = f" {text}"
        parts.append(text)
        self.flags |= flags
        if ":" in text:
            self.colon = True

    def _begins_another(self, text: str, flags: int) -> bool:
        """Whether a part without a blank before it begins another statement, as "Item no: 12"."""
        last_char = self.parts[-1][-1]
        gains = flags & ~self.flags & PRICE  # "DD-10" and a price of 1 548 Kč
        if text[0] in SIGNS:  # "€ 749,00" and "€ 906,29"; "Item no: 12" and "€ 749"
            follows_amount = joints.has_cents(self.parts[-1]) and holds_digit(text)
            return bool(follows_amount or (gains and self.colon)) and not (self.flags | flags) & OLD
        if text[0].isdigit():
            is_short = len(text) <= _MAX_CENTS_LENGTH and not joints.ends_in_number(self.parts[-1])
            return bool(gains) and last_char.isdigit() and not is_short
        if not text[0].isupper():
            return False
        if ":" in text:
            return last_char.islower() or last_char.isdigit()
        if "#" in text and "#" in "".join(self.parts):
            return True  # "Internet # 3044" and "Model # RW-D18K"
        # An amount, and words with another amount: "CHF 23'900.–" and "Leasing from CHF 289".
        ends_amount = last_char in _AMOUNT_ENDS or joints.ends_in_currency(self.parts[-1])
        return ends_amount and not (self.flags | flags) & OLD and holds_digit(text)

    def _follows_count(self, text: str) -> bool:
        """Whether a word and a figure precede a blank and a number: `from 10` and `131.92 €`."""
        is_apart = text[0].isspace() or self.parts[-1][-1].isspace()
        counts = is_apart and text.lstrip()[:1].isdigit()
        return counts and joints.ends_in_count("".join(self.parts[-2:]))

    def _is_glued(self, text: str) -> bool:
        """Whether the blank before a text is missing: `Regular priceC$24.00`, `90,-bez DPH`."""
        last_char = self.parts[-1][-1]
        return (text[0].isupper() and (last_char.islower() or last_char.isdigit())) or (
            joints.ends_in_currency(self.parts[-1])
            or joints.ends_in_stroke(self.parts[-1]) is not None
        )

    def _joint(self, element: Element, text: str) -> str:
        """Return the text between two inline parts of which the second begins with a digit."""
        if (before := self.parts[-1])[-1].isspace():
            before = self._last_part(element, text)
        if element.tag == "sup" and len(text) == 1:
            return " ("  # a footnote: cents are two figures
        if before[-1].isdigit():
            if "%" in text or "%" in before or joints.has_cents(before):
                return " "  # 71.999 and 20% are two numbers, and so are %17 and 7.499
            if joints.are_cents(element) or self._reads_as_cents(text):
                return "," if "." in before else "."
        elif before[-1] in SIGNS and holds_digit(before):
            if len(text) > _MAX_CENTS_LENGTH:
                return " "  # 149,99 € and 129,99 € are two amounts
            if joints.two_digits(text) and (self.flags & PRICE or joints.are_cents(element)):
                self.parts[-1] = before[:-1].rstrip() + before[-1]  # 119€99
        elif (
            joints.ends_in_stroke(before)
            or joints.ends_in_currency(self.parts[-1])
            or joints.ends_in_small_word(before)
            or (before[-1].isalpha() and joints.is_priced(text))
        ):
            return " "  # 399,99 TL and 249,99 TL; your price and 249,99
        return ""

    def _last_part(self, element: Element, text: str) -> str:
        """Return the part before an element, without the blanks at its end before cents."""
        before = self.parts[-1]
        if self.flags & PRICE and joints.are_cents(element):
            self.parts[-1:] = () if before.isspace() else (joints.before_cents(before, text),)
        return self.parts[-1]

    def _reads_as_cents(self, text: str) -> bool:
        """Whether two digits behind an integer in an element of its own are its cents.

        `<span>119</span>99 ₽` is 119.99, because markup divides a number only to style its parts.
        """
        if not joints.is_whole(self.parts[-1].strip()) or not joints.two_digits(text):
            return False
        return bool(self.flags & PRICE) or not SIGNS.isdisjoint("".join(self.parts) + text)

    def _extends_amount(self, before: Line, text: str, element: Element) -> bool:
        """Whether a short text in its own box is a part of the amount in the box before."""
        if not (before.flags & PRICE and joints.is_next_box(element, before.element)):
            return False
        joint = joints.box_joint(before.text, text, is_small=joints.are_cents(element))
        if joint is not None:
            before.text += joint + text
            before.flags |= JOINED
        return joint is not None

    def _end(self) -> None:
        parts = self.parts
        if parts:
            self.colon = False
            text, flags = parts[0], self.flags
            if len(parts) > 1:
                text, flags = "".join(parts), flags | JOINED
                if flags & PRICE:
                    text = joints.SPACED_SIGN.sub(r"\1", text)
            parts.clear()
            self._add(text, flags, self.element)

    def _add(self, text: str, flags: int, element: Element) -> None:
        length = len(text)
        text, text_flags = _SQUASHED[text] if length <= _MAX_LENGTH else _squashed(text)
        if not text:
            return
        lines = self.lines
        place = len(lines)
        if length < _SHORT_LENGTH and (
            text in _SEPARATORS
            or (flags & PRICE and lines and self._extends_amount(lines[-1], text, element))
        ):
            return
        if self.seeks_heading or flags & _WALK_FLAGS:
            flags = self._follow_section(text, flags, element)
        lines.append(Line(text, flags | text_flags, element, place))
        if place >= self.stop_after:
            self.is_full = True

    def _follow_section(self, text: str, flags: int, element: Element) -> int:
        """Update heading, section and end of the walk by a new line; return the line's flags."""
        result, place = self.result, len(self.lines)
        if result.heading < 0 and element in self.in_heading:
            result.heading, self.seeks_heading = place, False
            self._expect_more(self.last_useful)
        # A title behind the main heading; a link in a box for one is a tab.
        elif result.heading >= 0 and (flags & HEADING or flags & (TITLE | LINK) == TITLE):
            if begins_other_section(text):
                result.has_others = True
                self.beyond_flags = ELSEWHERE | BEYOND
                self.beyond_section = section_of(element, self.heading)
                flags |= ELSEWHERE
            elif self.beyond_flags and describes(text):  # behind a section of other sellers
                self.beyond_flags, self.beyond_section = 0, None
                flags &= ~(ELSEWHERE | BEYOND)
        if flags & _USEFUL:
            self._expect_more(place)
        return flags


def _frames(start: Element, is_heading: bool) -> list[_Frame]:
    """Return the walk's first stack: an element, and all that follows it if *is_heading*."""
    frames: list[_Frame] = [(iter((start,)), start, start, 0, True)]
    if is_heading:
        frames = []
        each_of = repeat(True, _MAX_ELEMENTS)  # shared, to bound the sum of all siblings
        for element in [start, *start.iterancestors()]:
            following = compress(islice(element.itersiblings(), _MAX_SIBLINGS), each_of)
            frames.append((following, element.getparent(), start, 0, False))
        innermost = frames[0]
        frames[0] = (chain((start,), innermost[0]), *innermost[1:])
        frames.reverse()
    return frames


#: Tags of elements within a line; in a price box, a link is one.
_INLINE = INLINE | {"a"}
_COLLECTED_TAGS = frozenset({"tr", "dt", "input", "a"})
#: Flags by a tag; a custom element's tag names its box, as a class does: `<site-footer>`.
_TAG_FLAGS = CachedRule(lambda tag: _CLASS_FLAGS[tag] if "-" in tag else _TAGS.get(tag, 0))
_DECIMAL_SIGNS = frozenset({",", "."})
#: Flags of which a change ends the line.
_DIVIDING = OLD | HIDDEN | LABEL | FACT | ELSEWHERE | NOW
