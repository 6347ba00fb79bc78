"""Recognise pages that sell no goods: an event's tickets, a stock, another shop's offer."""

from __future__ import annotations

import re

from crawler.extract import lazy_patterns
from crawler.extract.links.registered_domain import same_site
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.link_targets import link_around
from crawler.extract.page.page import Page
from crawler.extract.stock.availability import NO_GOODS
from crawler.extract.visible.goods_tables import is_in_goods_table
from crawler.extract.visible_signs import Visible
from crawler.extract.words import any_of, any_word, entry_matcher, finder_of, full_matcher_of

#: A time of day, which nearly no line of a product's page has.
_TIME = (
    r"(?:[0-2]?\d[:h時][0-5]\d(?![\d:])|kl(?:o|\.)?\s?[0-2]?\d[.:][0-5]\d"
    r"|[0-2]?\d(?:[.:][0-5]\d)?\s?[ap]\.?m\b"
    r"|[0-2]?\d(?:\s?[-–]\s?[0-2]?\d)?\s?(?:uhr\b|uur\b|h\b|時))"
)
_TIME_ALONE, _MAX_TIME = lazy_patterns.pattern(_TIME, re.I), 8
_MAY_HOLD_TIME = re.compile(
    r"\d[:h時]\d\d|\d\s?(?:[ap]\.?m\b|uhr|uur|h\b|時)|\bkl(?:o|\.)?\s?\d", re.I
).search
#: A line that begins with a day and its time: `Sat 12 December, 7:30 pm`, `14.01.2027, 20:00`.
_DAY_AND_TIME = lazy_patterns.pattern(
    rf"\W{{0,3}}(?:(?:{any_of('dates', 'days')})[.,/&–-]{{0,2}}\s?){{0,2}}"
    r"(?:[0-3]?\d\.?\s?[–-]\s?(?=[0-3]?\d))?"
    r"(?:[0-3]?\d\s?[./-]\s?[01]?\d(?:\s?[./-]\s?(?:20)?\d\d)?\.?|20\d\d[-/.][01]\d[-/.][0-3]\d"
    r"|(?:20\d\d[年년]\s?)?\d{1,2}[月월]\s?\d{1,2}[日일](?:\s?[（(][^)）]{1,3}[)）])?"
    rf"|[0-3]?\d(?:st|nd|rd|th|\.|º)?\s(?:de\s)?(?:{any_of('dates', 'months')})[^\W\d_]{{0,9}}\.?"
    r"(?:,?\s(?:de\s)?20\d\d\.?)?"
    rf"|(?:{any_of('dates', 'months')})[^\W\d_]{{0,9}}\.?\s[0-3]?\d(?:st|nd|rd|th)?\b(?:,?\s20\d\d)?)"
    rf"(?:\W{{0,4}}[^\W\d_]{{1,7}}\.?){{0,2}}\W{{0,4}}{_TIME}",
    re.I,
)
#: The label of a day: "When", "Date".
_WHEN = full_matcher_of(lambda any_of: rf"\W{{0,3}}(?:{any_of('dates', 'when')})\W{{0,3}}")
#: Flags that make a line with figures one that a visitor reads.
_SHOWN = _lines.DIGIT | _lines.ELSEWHERE | _lines.HIDDEN | _lines.LONG
#: Lines behind the heading, and behind the price, in which an event has its day.
_MAX_LINES, _MAX_BEHIND = 25, 6
_MAX_LABEL = 20
#: The caption of a button that sells what the other button buys.
_SELLS = entry_matcher("buy", "sells", 2)
_MAX_CAPTION = 20
#: The words behind a price that each person pays: "£24 per person", "389 zł / osoba".
_PER_PERSON = finder_of(
    lambda any_of: (
        rf"\d\W{{0,8}}(?:[^\W\d_]{{1,4}}\W{{1,4}})?(?:{any_of('amounts', 'persons')})\W{{0,3}}\Z"
    )
)
#: Words for a wage, and the characters of a line or a label with them.
_NAMES_WAGE, _MAX_WAGE, _MAX_WAGE_LABEL = any_word("amounts", "wages"), 60, 24
#: How much a quote has risen: `+1.91 %`; discounts have another sign.
_RISES = re.compile(r"[+＋]\s?\d{1,3}[.,]\d{1,2}\s?%").search
#: The caption of a link to an offer of another shop: "Get deal"; one has it, a comparison several.
_LEADS_TO_DEAL = entry_matcher("buy", "deals", 3)
_MAX_DEAL = 40
#: An advertiser's link: its `rel`, and the folder of an address that leads to another site.
_SPONSORED, _NOFOLLOW = "sponsored", "nofollow"
_LEADS_OUT = re.compile(r"/(?:go|goto|out|outgoing|redirect|redir|visit|deal|link|click|r)/").match
_MAX_OFFER_LINES = 15


def refers(walk: Lines, price_line: Line, page: Page, *, asks: bool) -> bool:
    """Whether the link or button to another shop's only offer stands near the price.

    Where a button *asks* the seller, just the words of a link to a deal count.
    """
    near_lines = walk.lines[max(price_line.index - 2, walk.heading, 0) :][:_MAX_OFFER_LINES]
    unshown, pressed = _lines.ELSEWHERE | _lines.HIDDEN, _lines.LINK | _lines.BUTTON
    shown = [line for line in near_lines if not line.flags & unshown and line.flags & pressed]
    captions = (line.text for line in shown if len(line.text) <= _MAX_DEAL)
    if sum(_LEADS_TO_DEAL(text) is not None for text in captions) == 1:
        return True
    return not asks and any(
        _is_advertised(line, page) for line in shown if line.flags & _lines.LINK
    )


def leads_below(walk: Lines, price_line: Line, page: Page) -> bool:
    """Whether the line before the price links to a page below this one, as a category's tile does."""
    before = walk.lines[price_line.index - 1] if price_line.index - 1 > walk.heading else None
    link = None if before is None else link_around(before.element, 2)
    address = None if link is None else page.resolve(link.get("href") or "")
    own_folder = page.url.partition("?")[0].rstrip("/") + "/"
    return address is not None and address.startswith(own_folder) and address != own_folder


def _is_advertised(line: Line, page: Page) -> bool:
    link = link_around(line.element, 2)
    rel = "" if link is None else (link.get("rel") or "").lower()
    if link is None or _SPONSORED in rel:
        return link is not None
    address = (link.get("href") or "").strip()
    if _NOFOLLOW not in rel:
        return False
    is_full = address.startswith("http")
    return _LEADS_OUT(address) is not None or (is_full and not same_site(address, page.url))


def no_goods(walk: Lines, signs: Visible) -> str | None:
    """Return the reason why the page's buttons buy no goods; else None."""
    if not signs.facts and _is_event(walk, signs):
        return "a day and its time stand beside its price"
    line = None if signs.price_line is None else walk.lines[signs.price_line]
    if line and is_for_persons(line):
        return "its price is that of a person"
    if signs.pictured:
        return None
    if _is_traded(walk, signs):
        return "its other button sells, or its price rises by some per cent"
    if line and not signs.price_marked and is_in_goods_table(line.element, signs):
        return "its price is one of a table's goods"
    return None


def asks_no_price(walk: Lines, signs: Visible) -> str | None:
    """Return the reason why a page without a buy button asks no price; else None."""
    if signs.price_line is None or "price" not in signs.fields:
        return None
    price_line = walk.lines[signs.price_line]
    before = walk.lines[price_line.index - 1].text if price_line.index - 1 > walk.heading else ""
    if _is_wage(price_line.text, _MAX_WAGE) or _is_wage(before, _MAX_WAGE_LABEL):
        return "its amount is a wage"
    if signs.facts or signs.fields.get("availability"):
        return None
    near_lines = walk.lines[price_line.index :][:_MAX_OFFER_LINES]
    own_button = _lines.BUTTON | _lines.ELSEWHERE | _lines.HIDDEN
    captions = [line.text for line in near_lines if line.flags & own_button == _lines.BUTTON]
    if len(captions) == 1 and len(captions[0]) <= _MAX_DEAL and NO_GOODS(captions[0]):
        return "its only button sells tickets or takes a donation"
    return None


def _is_wage(text: str, longest: int) -> bool:
    return len(text) <= longest and _NAMES_WAGE(text) is not None


def is_for_persons(line: Line) -> bool:
    """Whether the words behind the amount of a short line are "per person"."""
    return len(line.text) <= _MAX_DEAL and _PER_PERSON(line.text) is not None


def _is_event(walk: Lines, signs: Visible) -> bool:
    """Whether a line near the heading or the price is a day and its time.

    A label before the day has to be one of a day, because auctions end and shops deliver on days.
    """
    first = walk.heading + 1
    last = min(first + _MAX_LINES, (signs.price_line or 0) + _MAX_BEHIND)
    for line in walk.lines[first:last]:
        if line.flags & _lines.HEADING:
            return False  # below another heading stand the days of a writer's readings
        is_figures = line.flags & _SHOWN == _lines.DIGIT
        if is_figures and _MAY_HOLD_TIME(line.text) and _names_day(walk, line):
            return True
    return False


def is_time(text: str) -> bool:
    """Whether a text is a time of day alone: `19:30`, `20h15`."""
    return len(text) <= _MAX_TIME and _TIME_ALONE.fullmatch(text) is not None


def begins_with_day_and_time(text: str) -> bool:
    """Whether a text begins with a day and its time: `Sat 6.3. 15:00`."""
    return _MAY_HOLD_TIME(text) is not None and _DAY_AND_TIME.match(text) is not None


def _names_day(walk: Lines, line: Line) -> bool:
    text = line.text.replace("：", ": ")
    label, colon, value = text.partition(": ")
    if colon and len(label) <= _MAX_LABEL and not label[-1:].isdigit():
        return _WHEN(label) is not None and _DAY_AND_TIME.match(value) is not None
    before = walk.lines[line.index - 1] if line.index else line
    is_label = before.text[-1:] == ":" or before.flags & _lines.LABEL
    if is_label and before.index != walk.heading and not _WHEN(before.text):
        return False
    return _DAY_AND_TIME.match(text) is not None


def _is_traded(walk: Lines, signs: Visible) -> bool:
    """Whether a button near the price sells, or a line says how much the price has risen."""
    pressed, may_rise = _lines.BUTTON | _lines.LINK, not signs.buys_in_words
    first = signs.price_line or 0
    for line in walk.lines[first : first + _MAX_OFFER_LINES]:
        if line.flags & pressed:
            if len(line.text) <= _MAX_CAPTION and _SELLS(line.text):
                return True
        elif may_rise and line.flags & _SHOWN == _lines.DIGIT and _RISES(line.text):
            return True
    return False
