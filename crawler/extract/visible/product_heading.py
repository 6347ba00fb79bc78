"""Choose the heading that names the product, and read the name in it."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice, pairwise

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import without_origin
from crawler.extract.money.amounts import find_prices
from crawler.extract.page.lines import begins_other_section
from crawler.extract.page.page import (
    MAX_TEXT_LENGTH,
    Element,
    Page,
    holds_digit,
    is_hidden,
    short_text,
)
from crawler.extract.stock.behind_price import SOLD
from crawler.extract.stock.inputs import is_buy_button
from crawler.extract.visible.priced_heading import (
    IS_PRODUCT_NAME,
    heading_by_price,
    is_general,
    is_logo,
    is_of_frame,
    is_price,
    says_host,
)
from crawler.extract.visible.titles import (
    BOXES,
    MAX_BOXES,
    SIZE_BY_CLASS,
    begins_with_shop,
    name_behind_author,
    named_by_title,
    size_of_letters,
    title_parts,
)
from crawler.extract.words import CachedRule
from scrapy_seine.urls import host_of

_HEADINGS, _MAX_HEADINGS = ("h1", "h2", "h3"), 80
#: The highest score of a heading that is not in the title.
_MAX_UNTITLED = 3.0
#: The lowest score of a product's heading: a second heading with a part of the title.
_MIN_SCORE = 2.4
_MIN_NAME = 3
#: Characters of a remark behind the name in a heading.
_MAX_REMARK = 20
_MAX_NAME = 200
_NO_NAMES = (None, None)
_LONGEST_CLASS = 1_000
#: Elements of a heading that begin a line of their own.
_LINE_TAGS = frozenset({"div", "p", "h2", "h3", "h4"})
_WORDS = lazy_patterns.pattern(r"\w+")
_SIZED_TAGS = frozenset({"font", "big"})
#: How like the title a text in large letters is that the title names, and texts and buttons behind
#: another one that are searched for an amount and for one that buys.
_LIKE_TITLE, _MAX_BEHIND, _MAX_PRESSED = 0.5, 3_000, 100
#: Elements in a box that may be a name.
_MAX_STEPS = 60
#: The maker behind a product's name.
_ENDS_HEADING = re.compile(
    r"\W{0,2}(?:by|von|par|от|door)\s+\S|\([^\W\d_]{0,8}[.:°º]?\s?\d{5,16}\)\Z"
).match
_REMARKS = frozenset({"small", "em"})
_BY = frozenset({"by", "von", "par", "от", "door"})
#: A rating, in a heading's letters: `4,5`, `4.5/5`.
_IS_RATING = re.compile(r"\d(?:[.,]\d{1,2})?(?:\s?/\s?\d{1,2})?").fullmatch
#: Three words, a number behind its label, or stars; and what Japanese shops promise before a name.
_IS_REMARK = lazy_patterns.pattern(
    r"[^\w(]{2,}|\W?\w+(?:\W+\w+){2}|\W?[^\W\d]+\W{1,3}(?:\w{1,4}\W)?\d{4,}\W?\Z"
)
#: Quotation marks, of which a heading has one before the name and one behind it.
_OPENING, _CLOSING = '«»“„”"', ("»", "«", "”", "“", '"')
#: What stands in a title between the shop's name and the product's.
_BEFORE_NAME = frozenset({": ", "| ", "- ", "– ", "— "})
#: Links of a trail in a heading, and what stands between them.
_MAX_TRAIL, _STEPS = 8, "/>»›|→ "
_BRACKETS = lazy_patterns.pattern(r"^(?:【[^【】]{1,40}】\s*)+")
#: Classes and ids of a product's number, and of a subtitle below its name.
_ENDS_NAME = CachedRule(
    lambda words: (
        re.search(
            r"(?:^|[\s_-])(?:sku|(?:product|item|article|artikel)[-_]?(?:code|no|nr|number|id)|model-?no)"
            r"(?:[-_]?(?:value|label|title))?(?=\s|$)|sub[-_]?(?:title|heading|headline)\b",
            words[:_LONGEST_CLASS].lower(),
        )
        is not None
    )
)


def heading_of(page: Page, expected: str | None = None) -> Element | None:
    """Return the element with the product's name: of all headings the one that the title names."""
    name = expected or ""
    if name not in page.headings_by_name:
        page.headings_by_name[name] = _heading_of(page, name)
    return page.headings_by_name[name]


def _heading_of(page: Page, expected: str) -> Element | None:
    likeliest, best_score, framed = None, 0.0, None
    title, site = page.title[:MAX_TEXT_LENGTH].casefold(), page.meta("og:site_name").casefold()
    expected_name = (expected or page.meta("og:title"))[:MAX_TEXT_LENGTH].casefold()
    headings = [h for h in page.headings[:_MAX_HEADINGS] if not is_hidden(h)]
    for element in [h for tag in _HEADINGS for h in headings if h.tag == tag]:
        text = short_text(element).casefold()
        # A heading with the shop's name names no product.
        is_shop_name = site and text == site != expected_name
        if not text or is_shop_name or is_general(text) or is_logo(page, element):
            continue
        score = _score(element, text, title, expected_name, page.url)
        if score > best_score and is_of_frame(element) and not _is_addressed(text, page):
            framed = framed if framed is not None else element
        elif score > best_score or (score == best_score == _MAX_UNTITLED and _in_dialog(likeliest)):
            likeliest, best_score = element, score
        if best_score >= 5.5:
            break
    if best_score <= _MAX_UNTITLED:
        is_headed = best_score >= _MAX_UNTITLED
        title_box = named_by_title(page, (expected_name, title), is_headed=is_headed)
        if (
            title_box is not None
            and not is_of_frame(title_box)
            and not is_general(short_text(title_box))
            and not _is_shops_title(title_box, title, page.url)
        ):
            return (
                name_behind_author(title_box, title)
                if title_box.getnext() is not likeliest or best_score < _MIN_SCORE
                else likeliest
            )
    if likeliest is None and not any(map(short_text, headings)):
        heading = heading_by_price(page)
        return _large(page) if heading is None else heading
    if likeliest is not None and likeliest.tag == "h1":
        likeliest = _name_behind_maker(likeliest, title)
    heading = likeliest if best_score >= _MIN_SCORE else heading_by_price(page)
    return _unless_whole_title(framed, title) if heading is None else heading


def _in_dialog(heading: Element | None) -> bool:
    """Whether a heading stands in a dialog over the page, as one that asks for cookies does."""
    boxes = () if heading is None else heading.iterancestors()
    return any(box.tag == "dialog" or "dialog" in (box.get("role") or "") for box in boxes)


def _is_shops_title(box: Element, title: str, url: str) -> bool:
    """Whether a box has the whole title, which is the shop's name on all of its pages."""
    return short_text(box).casefold() == title and says_host(title, host_of(url))


def _unless_whole_title(framed: Element | None, title: str) -> Element | None:
    """Return a heading of the page's head, unless it is the whole title: the shop's name."""
    is_whole_title = framed is not None and short_text(framed).casefold() == title
    return None if is_whole_title else framed


def _is_addressed(text: str, page: Page) -> bool:
    """Whether the title and the address have a heading's text, which is no shop's name then.

    `<div class="header">` may be the product's own, with its trail.
    """
    address = without_origin(page.url).casefold()
    words = [word for word in _WORDS.findall(text) if len(word) >= _MIN_NAME]
    in_address = sum(word in address for word in words)
    return text in page.title.casefold() and 2 <= in_address >= len(words) / 2


def _name_behind_maker(heading: Element, title: str) -> Element:
    """Return the heading right behind the first one, if the title has both: maker and name."""
    following = heading.getnext()
    if following is None or following.tag != heading.tag:
        return heading
    both_texts = f"{short_text(heading)} {short_text(following)}".casefold()
    return following if both_texts in title else heading


def _score(element: Element, text: str, title: str, expected_name: str, url: str) -> float:
    """Return the score of a heading by its tag, its itemprop and its likeness to the title."""
    # Few headings begin like the host, and this check costs least.
    if text[:4] in url[: url.find("/", 8)] and begins_with_shop(title, text, url):
        return 0.0
    score = 3.0 if element.tag == "h1" and not _is_shops(text, title, url) else 0.0
    if element.get("itemprop") == "name":
        score += 3
    score += 3 * likeness(text, expected_name) + 2.5 * likeness(text, title)
    if score == _MAX_UNTITLED and (
        begins_other_section(text) or is_price(text) or _IS_RATING(text)
    ):
        return 0.0  # "Related Products", the price or a rating, in letters of the main heading
    return score


def _is_shops(text: str, title: str, url: str) -> bool:
    """Whether a heading is the shop's name: the end of the title, and the name of the host.

    >>> _is_shops("red house", "oak lamp - red house", "https://www.redhouse.example/12")
    True
    >>> _is_shops("oak lamp", "red house - oak lamp", "https://www.redhouse.example/12")
    False
    """
    return title.endswith(text) and not title.startswith(text) and says_host(text, host_of(url))


def _large(page: Page) -> Element | None:
    """Return the name's box on a page without headings, whose title has no text of the page.

    It is a box with a class for the product's name, else the text in large letters that is most like
    the title, and of those the first of the largest; one in the page's head or foot comes last. A text
    with the name of the host is the shop's, and one unlike the title names what costs something.
    """
    large, best = None, (False, -1.0, 0.0)
    title, site = page.title[:MAX_TEXT_LENGTH].casefold(), host_of(page.url)
    for element in islice(page.root.iter(*BOXES, "big"), MAX_BOXES):
        names = element.get("class"), element.get("id")
        is_called = names != _NO_NAMES and IS_PRODUCT_NAME[f"{names[0]} {names[1]}"]
        size = SIZE_BY_CLASS[names[0]] if names[0] and not is_called else 0.0
        if not size and (element.tag in _SIZED_TAGS or element.get("style")):
            size = size_of_letters(element)
        if not (is_called or size):
            continue
        text = short_text(element, _MAX_NAME, _MAX_STEPS)
        has_link = next(element.iter("a"), None) is not None or element.getparent().tag == "a"
        is_name = _MIN_NAME <= len(text) < _MAX_NAME and any(map(str.isalpha, text))
        if not is_name or has_link or text.endswith(":") or is_price(text) or is_general(text):
            continue
        if is_called:
            return element
        text = text.casefold()
        # The page's head has the shop's name; without its end tag, it has the whole page.
        rank = (not is_of_frame(element), likeness(text, title), size)
        if rank > best and not says_host(text, site):
            large, best = element, rank
    is_named = large is None or best[1] >= _LIKE_TITLE or _precedes_goods(large)
    return large if is_named else None


def _precedes_goods(box: Element) -> bool:
    """Whether an amount or a button that buys stands behind a box in the page, as behind a name."""
    texts = box.xpath("following::*[not(self::script or self::style)]/text()")[:_MAX_BEHIND]
    return any(
        len(text) <= _MAX_NAME and next(find_prices(text), None) is not None
        for text in map("".join, pairwise(("", *texts)))
        if holds_digit(text)
    ) or any(
        is_buy_button(pressed)
        for pressed in box.xpath("following::*[self::button or self::input]")[:_MAX_PRESSED]
    )


@lru_cache(maxsize=512)
def likeness(text: str, title: str) -> float:
    """Return how much of a title a heading has, from 0 to 1; upper and lower case count.

    >>> likeness("red lamp", "red lamp"), likeness("red lamp", "red lamp | shop")
    (1.0, 1.0)
    >>> round(likeness("red lamp (12)", "shade 12 for a lamp"), 3), likeness("about us", "red lamp")
    (0.533, 0.0)
    """
    if not title:
        return 0.0
    if title.startswith(text):
        return 1.0
    if text in title:
        return 0.97 if text in title_parts(title) else 0.6
    if len(title) > 3 and title in text:
        return 0.8
    words, title_words = set(_WORDS.findall(text)), set(_WORDS.findall(title))
    shared_part = len(words & title_words) / max(len(words), 1)
    return 0.8 * shared_part if shared_part >= 0.5 else 0.0


def _part_in_title(heading: Element, page: Page) -> str | None:
    """Return the text of a heading's box that is the title's first part, without a slogan."""
    if not len(heading) or (heading.text or "").strip():
        return None
    if name := _behind_trail(heading):
        return name
    tail, first_part = heading[0].tail, title_parts(page.title)[:1]
    if tail and (name := " ".join(tail.split())) in first_part:
        return name  # a label for screen readers stands before it
    if len(heading) < 2:
        return None
    parts = (short_text(inner) for inner in islice(heading, _MAX_STEPS))
    return next((part for part in parts if part in first_part), None)


def _behind_trail(heading: Element) -> str | None:
    """Return the text behind the links of a trail in a heading: `Shop / Lamps / Oak lamp`."""
    tails = [(link.tail or "").strip() for link in islice(heading, _MAX_TRAIL)]
    is_trail = len(tails) > 1 and all(link.tag == "a" for link in heading)
    if not is_trail or not tails[-1] or any(tail[:1] not in _STEPS for tail in tails):
        return None
    return " ".join(tails[-1].strip(_STEPS).split()) if set(tails[:-1]) <= set(_STEPS) else None


def _innermost(heading: Element) -> Element:
    """Return the box in a heading that holds all of its text."""
    while len(heading) == 1 and not (heading.text or heading[0].tail or "").strip():
        heading = heading[0]
    return heading


def _name_in(heading: Element) -> str:
    """Return a heading's text, up to a box in it with the product's number or its label."""
    heading = _innermost(heading)
    parts = [heading.text or ""]
    for inner in heading:
        if inner.tag == "br" and heading.tag not in _HEADINGS and parts[0].strip():
            return " ".join(parts[0].split())[:MAX_TEXT_LENGTH]  # the number is below it
        if (
            inner.tag in _REMARKS
            and any(map(str.strip, parts))
            and _ENDS_HEADING(short_text(inner))
        ):
            return " ".join("".join(parts).split())[:MAX_TEXT_LENGTH]
        if (
            inner.tag in _REMARKS
            and short_text(inner).casefold() in _BY
            and any(map(str.strip, parts))
        ):
            following = inner.getnext()
            if following is not None and following.tag == "a":  # "Name <em>by</em> <a>Author</a>"
                return " ".join("".join(parts).split())[:MAX_TEXT_LENGTH]
        class_and_id = f"{inner.get('class') or ''} {inner.get('id') or ''}".strip()
        ends_name = class_and_id and _ENDS_NAME[class_and_id]
        if (ends_name or says_sold(inner)) and (name := " ".join("".join(parts).split())):
            return name[:MAX_TEXT_LENGTH].rstrip(" -–—|(:#," if ends_name else " -–—|(:")
        parts += [short_text(inner), inner.tail or ""]
    return short_text(heading)


def says_sold(part: Element) -> bool:
    """Whether a box in a heading just says that the product is sold."""
    text = short_text(part, _MAX_REMARK + 1)
    return 0 < len(text) <= _MAX_REMARK and SOLD(text) is not None


def _spaced(name: str, heading: Element, page: Page) -> str:
    """Put a blank into a name where two of its boxes meet, if a title has both words apart.

    The same before a box that begins a line of its own.
    """
    heading = _innermost(heading)
    if not len(heading):
        return name
    parts = [heading.text or ""]
    for inner in heading:
        parts += [short_text(inner), inner.tail or ""]
    titles = f"{page.title} {page.meta('og:title')}".casefold()
    words, own_lines = None, set[str]()
    for before, behind in pairwise(part for part in parts if part):
        if before[-1:].isalnum() and behind[:1].isalnum():
            if words is None:
                words = set(_WORDS.findall(titles))
                own_lines = {short_text(inner) for inner in heading if inner.tag in _LINE_TAGS}
            last_word, first_word = _WORDS.findall(before)[-1], _WORDS.findall(behind)[0]
            are_apart = {last_word.casefold(), first_word.casefold()} <= words
            if behind in own_lines or (
                are_apart and f"{last_word}{first_word}".casefold() not in words
            ):
                name = name.replace(f"{last_word}{first_word}", f"{last_word} {first_word}", 1)
    return name


def _without_remarks(name: str, heading: Element, page: Page) -> str:
    """Return a name without remarks that no title has, if a title begins with the rest.

    A remark, as a slogan or a rating, has a box of its own, or Japan's brackets. One or two words
    are left, because they may be the choice that the page is of: `Lamp Ada <span>red</span>`.
    """
    titles = (page.title, page.meta("og:title"))
    rest = _BRACKETS.sub("", name)
    for inner in _innermost(heading):
        text = short_text(inner)
        is_in_title = any(text in title for title in titles)
        if _IS_REMARK.match(text) and not is_in_title and not _is_half_in(text, titles):
            rest = " ".join(rest.replace(text, " ", 1).split())
    is_titled = len(rest) >= _MIN_NAME and any(_is_part(rest, title) for title in titles)
    return rest if is_titled and name not in page.title else name


def _is_part(name: str, title: str) -> bool:
    """Whether a title begins with a name, or has it behind the shop's: `Shop: Red lamp`.

    One word there may be a kind of goods, or the maker.
    """
    before, found, behind = title.partition(name)
    is_behind = before[-2:] in _BEFORE_NAME and " " in name
    return bool(found) and not behind[:1].isalnum() and (not before or is_behind)


def _is_half_in(text: str, titles: tuple[str, str]) -> bool:
    """Whether titles have half of a text's words, as they have of a name that they shorten.

    >>> _is_half_in("Lamp Ada Deluxe 20", ("Acme Lamp 20 | Shop", "")), _is_half_in("A sale now", ("A lamp", ""))
    (True, False)
    """
    words = set(_WORDS.findall(text.casefold()))
    shared = words & set(_WORDS.findall(" ".join(titles).casefold()))
    return bool(words) and 2 * len(shared) >= len(words)


def name_in_heading(heading: Element, page: Page) -> str:
    """Return the product's name in its heading, without numbers, slogans and authors in it."""
    if name := _part_in_title(heading, page):
        return name
    name = _spaced(_name_in(heading), heading, page)
    name = _without_remarks(name, heading, page) if len(heading) or "【" in name else name
    return _without_quotes(name) if name[-1:] in _CLOSING else name


def _without_quotes(name: str) -> str:
    """Return a name without the quotation marks around the whole of it.

    >>> _without_quotes("« La mer »"), _without_quotes('"One" and "two"')
    ('La mer', '"One" and "two"')
    """
    inner = name[1:-1].strip()
    is_quoted = name[:1] in _OPENING and not any(mark in inner for mark in _OPENING)
    return inner if is_quoted and inner else name
