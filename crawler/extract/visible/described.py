"""What a page says of its product, where no structured data and no meta element does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.page import class_words
from crawler.extract.page.page import Element, Page, short_text
from crawler.extract.words import Marks

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
_CALLED = lazy_patterns.pattern(class_words.DESCRIPTION)
_IS_CALLED = Marks(lambda words: _CALLED.search(words[:300].lower()) is not None)
#: Boxes for other things than the page's own, by class and by tag.
_IS_OTHERS = Marks(
    lambda words: (
        re.search(
            r"related|up-?sell|cross-?sell|recommend|similar|also|review|comment|footer|sidebar"
            r"|(?:^|[\s_-])(?:card|tile|carousel|slider)(?=$|[\s_-])",
            words[:300].lower(),
        )
        is not None
    )
)
_FRAMES = frozenset({"a", "nav", "footer", "aside"})
_BOXES = ("div", "section", "article", "p", "td", "dd", "span")
#: Boxes that are looked at, those around one, and characters of a description.
_MOST_BOXES, _MOST_AROUND = 8_000, 8
_SHORTEST, _LONGEST = 12, 5_000


def may_describe(page: Page) -> bool:
    """Whether an attribute somewhere on a page may call a box a description."""
    low = page.raw.lower()
    return any(word in low for word in _IN_WORDS) and _NAMED.search(low) is not None


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
        text = short_text(element, _LONGEST)
        around = islice(element.iterancestors(), _MOST_AROUND)
        if len(text) >= _SHORTEST and not any(map(_is_of_others, (element, *around))):
            return text
    return None


def _is_of_others(box: Element) -> bool:
    return box.tag in _FRAMES or _IS_OTHERS[box.get("class") or ""]
