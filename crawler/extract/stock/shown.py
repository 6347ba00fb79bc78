"""Read the availability that a page shows: in boxes, lines and buttons."""

from __future__ import annotations

import re
from itertools import dropwhile, islice

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import looks_like_product, without_origin
from crawler.extract.money.amounts import find_prices
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import STOCK, Line, Lines
from crawler.extract.page.link_targets import leads_away, link_around
from crawler.extract.page.page import MAX_TEXT_LENGTH, Element, short_text
from crawler.extract.page.places import path
from crawler.extract.stock import of_class as _of_class
from crawler.extract.stock.availability import (
    SOON,
    UNAVAILABLE,
    WORDS,
    availability_of_text,
    buys,
    buys_in_short,
)
from crawler.extract.stock.behind_price import SOLD as _SOLD
from crawler.extract.stock.behind_price import stock_of_count
from crawler.extract.stock.inputs import is_disabled, note_inputs
from crawler.extract.stock.notices import NOTIFIES, offers_notice, stands_by_button, weightier
from crawler.extract.stock.of_tiles import Tiles, buys_linked
from crawler.extract.stock.said_sold import BESIDE, MAX_LENGTH, SOLD_BUTTON, praises, stock_if_sold
from crawler.extract.visible_signs import Visible
from crawler.extract.words import (
    CachedRule,
    entry_matcher,
    finder,
    finder_of,
    full_matcher_by_start,
)
from crawler.extract.words.listed_words import FinderGroup

_STOCK_LABEL = full_matcher_by_start(lambda any_of: rf"(?:{any_of('stock', 'label')})\s*:?")
#: Words of a general rule, which is not about this product: "if it is out of stock".
_CONDITION = finder_of(lambda any_of: rf"\b(?:{any_of('stock', 'condition')})\b")
#: Words for a local shop: a product that is missing in one may be sold online.
_IN_SHOPS = finder_of(lambda any_of: rf"\b(?:{any_of('stock', 'in_shops')})(?!\w)")
#: A choice's name, or a size, before its stock.
_CHOICE = re.compile(r"(\w[\w /.,+]{0,24}?)(?:\s+[-–—]\s+|:\s|\s*\()\w").match
_SIZE = re.compile(r"(?:\d[\d.,/]{0,5}[\"'”″]|\d?X{0,3}[SL]|M)\s").match
#: Lines after the heading in which a sentence about the stock is.
_MAX_DISTANCE = 15
#: Classes of links that look like buttons; addresses that put a product into a cart.
_BUTTON = re.compile(r"(?:^|[\s_-])(?:btn|button|knopf|bouton|boton|tlacitko)(?=$|[\s_-])").search
_CART = finder(r"cart|basket|add|order|buy|checkout|kos[iz]|korb|panier|carrito|sepet|winkelwagen")
#: Cells of a table or a list of terms, and a cell's words for no and yes.
_CELLS = frozenset({"th", "td", "dt"})
_NO = entry_matcher("stock", "denies", 3)
_YES = entry_matcher("stock", "affirms", 3)
_ZERO = re.compile(r"\W{0,3}0\W{0,3}").fullmatch
#: Flags of a badge and of a box for the stock: a badge in such a box is none.
_BADGE = _lines.BADGE | STOCK
_PRESSED = _lines.BUTTON | _lines.LINK
#: Signs between words for the stock and a number.
_OPENING = ("(", "（", ":", "：")
#: A product's page has at most so many buy buttons; a listing has more.
_MAX_BUTTONS = 3
#: A line with fewer characters may be just a word or two.
_SHORT = 40
#: What a cell behind may deny: "Discontinued | no" says nothing of the stock.
_DENIABLE = frozenset({"InStock", "Discontinued"})
#: The availability of what shops sell and the web does not.
_IN_SHOPS_ONLY = "InStoreOnly"
#: Availabilities that a badge may say.
_BADGES = UNAVAILABLE | {"InStock"}
#: Availabilities of a product that is delivered later than others.
_AHEAD = frozenset({"PreOrder", "BackOrder"})
#: Words for the stock in one box, of which the page shows one; boxes of a line with such a word.
_MAX_WORDS, _MAX_PARTS = 4, 6
#: A text with fewer characters may be one word.
_MAX_WORD = 16
#: The words before the first stop, colon or dash of a text, if they are few.
_FIRST_CLAUSE = lazy_patterns.pattern(r"([^.:;,–—(-]{2,20}?)\s?[.:;,–—(-] ")


def _stock_in(line: Line) -> str | None:
    """Return the availability in a line; a box for the price or the stock may just say "Sold"."""
    is_short = len(line.text) < _SHORT
    boxed = is_short and line.flags & (_lines.PRICE | STOCK)
    label, _, value = line.text.rpartition(":" if is_short else "\n")
    if value and label and (answered := _stock_of_answer(label, value)) is not None:
        return answered or None
    soon = (boxed or (is_short and line.flags & _lines.BUTTON)) and SOON(line.text)
    return "OutOfStock" if soon or (boxed and _SOLD(line.text)) else availability_of_text(line.text)


def _stock_of_answer(label: str, value: str) -> str | None:
    """Return the availability that yes, no or a number says behind a label: `Sold out: no`.

    '' for `Discontinued: no`, because such a product may be sold out.
    """
    label = label.rpartition(":")[2].lstrip()
    is_affirmed, is_denied = _YES(value) is not None, _denies(value)
    if _STOCK_LABEL(label):
        is_sold = is_denied or _SOLD(value)
        return "InStock" if is_affirmed else "OutOfStock" if is_sold else stock_of_count(value[1:])
    stock = availability_of_text(label) if is_affirmed or is_denied else None
    if stock != "InStock" and stock not in UNAVAILABLE:
        return None
    if stock == "Discontinued" and is_denied:
        return ""
    return "InStock" if (stock == "InStock") == is_affirmed else "OutOfStock"


def _boxed_stock(line: Line) -> str | None:
    """Return the availability in a line of a box for the stock.

    Some templates write both words, and the box's class decides which one is shown.
    """
    stock, of_class = _stock_in(line), _of_class.stock_of_box(line.element)
    stock = of_class if stock is None or of_class in _AHEAD else stock
    box = line.element.getparent()
    if stock in UNAVAILABLE and _SIZE(line.text):
        return None
    if stock not in UNAVAILABLE or not line.flags & _lines.JOINED or box is None:
        return stock
    stocks = {availability_of_text(short_text(part)) for part in islice(box, _MAX_WORDS)}
    if not stocks >= {"InStock", "OutOfStock"}:
        return stock
    return _of_class.STOCK_OF_CLASS[box.get("class") or ""]


def _labelled_stock(line: Line, labelled: bool, walk: Lines) -> str | None:
    """Return the availability in a box for the stock, or in the value behind its label."""
    if line.text[:1].isdecimal() and (stock := stock_of_count(line.text, labelled)):
        return stock
    if len(line.text) < _MAX_WORD and _YES(line.text):
        return "InStock"
    if labelled and (_denies(line.text) or _says_sold(line.text)):
        return "OutOfStock"
    return _unless_none(_boxed_stock(line), line, walk)


def _says_sold(text: str) -> bool:
    """Whether a short text just says that the product is sold, or is not sold yet."""
    return len(text) < _SHORT and (SOON(text) or _SOLD(text)) is not None


def _denies(text: str) -> bool:
    """Whether a cell just says no, none or 0."""
    return _ZERO(text) is not None or _NO(text) is not None


def _unless_none(stock: str | None, line: Line, walk: Lines) -> str | None:
    """Return *stock*, or "OutOfStock" if the number or cell behind says none: `In stock (<b>0</b>)`."""
    if stock not in _DENIABLE or line.index + 1 >= len(walk.lines):
        return stock
    following = walk.lines[line.index + 1]
    if line.text[-1:] in _OPENING and following.text == "0":
        return "OutOfStock"
    cells = line.element.tag in _CELLS and following.element.getparent() is line.element.getparent()
    if not (cells and _denies(following.text)):
        return stock
    return "OutOfStock" if stock == "InStock" else None


def _price_box_says_sold(line: Line) -> bool:
    """Whether a box for the price says that the product is sold."""
    return bool(line.flags & _lines.PRICE) and _stock_in(line) in UNAVAILABLE


def _weigh_offers(
    loose: str | None, firm: str | None, walk: Lines, signs: Visible
) -> tuple[str | None, str | None]:
    """Return (*loose*, *firm*), or "InStock" for both if other offers than the priced one are sold.

    Their lines stand at the path of the priced offer's price; two in a row are about one offer.
    """
    place = signs.paths.get("price")
    if place is None or firm not in UNAVAILABLE:
        return loose, firm
    sold_lines = (line for line in walk.product_lines if _unmarked_stock(line) in UNAVAILABLE)
    places = {
        line.index
        for line in sold_lines
        if not line.flags & _lines.DIGIT
        and path(line.element) == place
        and not _stands_by_price(walk.lines, line)
    }
    others = sum(number - 1 not in places for number in places)
    return ("InStock", "InStock") if others > 1 else (loose, firm)


def _stands_by_price(lines: list[Line], line: Line) -> bool:
    """Whether the cell before a line in the same row holds an amount: the price of that offer."""
    line_before = lines[line.index - 1] if line.index else line
    in_row = line_before.element.getparent() is line.element.getparent()
    return in_row and line.element.tag == "td" and bool(line_before.flags & _lines.DIGIT)


def says_unavailable(signs: Visible) -> bool:
    """Whether the page says that the product cannot be ordered now."""
    return signs.fields.get("availability") in UNAVAILABLE


def _is_buy_button(line: Line) -> bool:
    text = line.text
    if line.flags & _lines.BUTTON:  # the tabs "Buy" and "Rent" choose what is shown
        return line.element.get("role") != "tab" and (buys_in_short(text) or _orders_ahead(text))
    if line.flags & (_lines.HEADING | _lines.LINK) == _lines.HEADING:
        return False  # the title of a page about ordering
    if len(text) >= _SHORT or line.flags & (_lines.LINK | _lines.DIGIT) == _lines.DIGIT:
        return False  # a sentence: "buy a lamp from 19.90 on"
    if line.flags & _lines.LINK and buys_in_short(text) and not buys(text):
        boxes = (line.element, line.element.getparent())
        return any(_IS_BUTTON[box.get("class") or ""] for box in boxes if box is not None)
    if buys(text):
        if line.flags & _lines.LINK:
            return not _COUNTS(text)  # the link to the cart
        return text[-1] != "." or text.count(" ") < 4  # else it is a sentence about shopping
    boxes = (line.element, line.element.getparent())
    is_button = any(box is not None and box.get("role") == "button" for box in boxes)
    return is_button and (buys_in_short(text) or _orders_ahead(text))


def _orders_ahead(caption: str) -> bool:
    """Whether a button's caption is that of an order before the product is sold."""
    return len(caption) < _SHORT and availability_of_text(caption) == "PreOrder"


_IS_BUTTON = CachedRule(lambda words: _BUTTON(words.lower()) is not None)
#: The number of things in the cart behind the caption of the link to the cart.
_COUNTS = re.compile(r"(?:[(\[（]\s?\d{1,3}\s?[)\]）]|\s0)\s*$").search


def _sells_elsewhere(element: Element, page_url: str) -> bool:
    """Whether a buy link is an advertiser's, or leads to another product's page, as in tiles."""
    link = element if element.tag == "a" else link_around(element, 2)
    if link is None:
        return False
    target = (link.get("href") or "")[:MAX_TEXT_LENGTH].partition("#")[0]
    if not looks_like_product(target):
        return "sponsored" in (link.get("rel") or "").lower()
    return not _CART(target) and _path(target) != _path(page_url)


def _path(url: str) -> str:
    return without_origin(url).partition("?")[0].rstrip("/")


def read_stock(walk: Lines, signs: Visible, priced: bool, page_url: str) -> None:
    """Set the availability and the signs of buy buttons in *signs*.

    If the product is *priced*, a buy button alone means "InStock".
    """
    marked = loose = firm = badge = last = None
    in_stock, ahead, can_press, value_at, away = False, False, False, -1, 0
    tiles = Tiles(signs)
    for line in walk.product_lines:
        if line.index != value_at and not line.flags & STOCK and _NAMES_NO_STOCK[line.text]:
            continue  # nearly all lines
        labelled = line.index == value_at
        if _is_buy_button(line) and not _of_class.SELLS_NOTHING[line.element.get("class") or ""]:
            if line.flags & _lines.LINK and _sells_elsewhere(line.element, page_url):
                away += 1
                continue
            # The next buttons may be those of tiles.
            ahead = ahead if signs.buy_buttons else availability_of_text(line.text) == "PreOrder"
            signs.count_buttons(1, in_words=buys(line.text))
            can_press = can_press or (_can_press(walk, line, firm, signs) and not tiles.hold(line))
            continue
        if ((marked or firm) is None and tiles.hold(line)) or praises(line, walk):
            continue  # another product's stock, or a name
        signs.notifies = signs.notifies or offers_notice(line)
        loose = loose or ("OutOfStock" if signs.notifies else None)
        if line.flags & _BADGE == _lines.BADGE or (firm == "InStock" and _is_sold_button(line)):
            value_at += labelled  # the badge stands between a label and its value
            badge, firm = _note_badge(line, badge, firm, signs)
            continue
        signs.sold_for = signs.sold_for or _price_box_says_sold(line)
        is_label, has_value = _labels_stock(line.text)
        is_mark = labelled or bool(line.flags & STOCK) or (is_label and ":" in line.text)
        value_at = line.index + 1 if is_label and not has_value else value_at
        if marked is None and is_mark and not _is_of_shops(line):
            marked = _labelled_stock(line, labelled, walk)
        elif firm in {None, "OutOfStock"} and (
            stock := _unless_none(_unmarked_stock(line), line, walk)
        ):
            loose = stock if stock == _IN_SHOPS_ONLY else loose or stock
            is_title = stock == "InStock" and firm is not None and line.flags & _lines.HEADING
            is_other = _is_of_shops(line) or (can_press and _is_of_other_price(line, stock, signs))
            if not (is_title or is_other or _is_of_other_stock(line, walk.heading, can_press)):
                firm = stock if stock == _IN_SHOPS_ONLY else firm or stock
                in_stock, last = in_stock or stock == "InStock", weightier(last, line, walk)
    loose, firm = _weigh_offers(loose, firm, walk, signs)
    by_input, is_pressed, is_ahead = note_inputs(walk.inputs, signs)
    loose, ahead, can_press = by_input or loose, ahead or is_ahead, can_press or is_pressed
    signs.buy_buttons += away if signs.buy_buttons + away > _MAX_BUTTONS else 0
    signs.sells = can_press and signs.buy_buttons <= _MAX_BUTTONS
    firm = None if can_press and last is not None and stands_by_button(last, walk) else firm
    sells = can_press and priced
    # It can be collected, though it is not delivered.
    firm = "InStock" if sells and (in_stock or firm == _IN_SHOPS_ONLY) else firm
    marked = _unless_sold_out(marked, firm, signs.buy_buttons)
    loose = _or_badge(loose, badge, signs)
    availability = marked or (firm or signs.in_stock_by_button() if sells else loose)
    # A button's word for an order in advance counts more than a line's word for the stock.
    by_button = "PreOrder" if ahead and availability in {"InStock", "PreOrder"} else None
    signs.stock_boxed = bool(marked or by_button) or _shows_sold(last, firm, can_press, signs)
    signs.fields["availability"] = by_button or availability or stock_if_sold(walk, signs)


def _can_press(walk: Lines, button: Line, firm: str | None, signs: Visible) -> bool:
    """Whether a buy button can be pressed, and is the page's product's.

    Behind the line that says "sold out", a further heading, a link and another amount, it buys what
    can be had instead; right behind a link and another amount without a heading, too.
    """
    if is_disabled(button.element):
        return False
    before = walk.lines[max(walk.heading, 0) : button.index] if firm == "OutOfStock" else []
    from_sold = dropwhile(lambda line: _unmarked_stock(line) not in UNAVAILABLE, before)
    behind = dropwhile(lambda line: not line.flags & _lines.HEADING, islice(from_sold, 1, None))
    linked = dropwhile(
        lambda line: not (line.flags & _lines.LINK and leads_away(line.element)), behind
    )
    amounts = (money.value for line in linked for money in find_prices(line.text[:MAX_LENGTH]))
    is_own = all(amount == signs.fields.get("price") for amount in amounts)
    return is_own and not buys_linked(before[-2:], signs)


def _shows_sold(last: Line | None, stock: str | None, can_press: bool, signs: Visible) -> bool:
    """Whether a button says "sold", or words do beside the price, an idle button, "tell me" or in a message."""
    if last is None:
        return False
    is_sold = stock in UNAVAILABLE and not can_press
    if not is_sold or signs.notifies or signs.buy_buttons:
        return is_sold or _is_sold_button(last)
    by_price = abs(last.index - (signs.price_line or -BESIDE)) <= BESIDE
    return by_price or _is_sold_button(last) or _of_class.is_message(last)


def _is_sold_button(line: Line) -> bool:
    """Whether a line is a button that nobody can press and that just says "Sold out"."""
    is_button = line.flags & SOLD_BUTTON == _lines.BUTTON and is_disabled(line.element)
    return is_button and len(line.text) < _SHORT and _stock_in(line) in UNAVAILABLE


def _labels_stock(text: str) -> tuple[bool, bool]:
    """Whether a text begins with a label of the stock, and whether the value follows it."""
    label, _, value = text.partition(":")
    return len(text) < MAX_LENGTH and _STOCK_LABEL(label) is not None, value != ""


def _stock_behind_label(text: str) -> str | None:
    is_label, has_value = _labels_stock(text) if ":" in text else (False, False)
    return availability_of_text(text) if is_label and has_value else None


#: The availability behind a label of the stock in the same line: `Availability: 2 weeks`.
STOCK_BEHIND_LABEL = CachedRule(_stock_behind_label)


def _note_badge(
    line: Line, badge: str | None, firm: str | None, signs: Visible
) -> tuple[str | None, str | None]:
    """Return (*badge*, *firm*) with a badge's word; before the buy button "Pre-order" is firm."""
    stock = _stock_in(line) if len(line.text) < _SHORT else None
    is_firm = stock in _AHEAD and not signs.buy_buttons
    return badge or stock, firm or (stock if is_firm else None)


def _or_badge(loose: str | None, badge: str | None, signs: Visible) -> str | None:
    """Return the badge's availability beside a price without a buy button that can be pressed.

    The buy buttons of many shops can be pressed only when a size is chosen.
    """
    is_shown = signs.price_line is not None and signs.buy_buttons <= _MAX_BUTTONS
    counts = is_shown and not signs.sells and badge in _BADGES
    return badge if counts and (badge in UNAVAILABLE or loose is None) else loose


def _names_no_stock(text: str) -> bool:
    """Whether a text has no word for the stock, nor of a button in place of the buy button."""
    label = text.partition(":")[0] if len(text) < _SHORT else text
    if _STOCK_LABEL(label):
        return False
    may_match = _MAY_MATCH(text)
    return not any(rule(text) for rule in may_match if rule is not SOON or len(text) < _SHORT)


_MAY_MATCH = FinderGroup(_SOLD, NOTIFIES, SOON, *WORDS.rules)
#: Labels and menus are the same on all of a shop's pages.
_NAMES_NO_STOCK = CachedRule(_names_no_stock)


def _unmarked_stock(line: Line) -> str | None:
    """Return the availability in a short line outside of the boxes for the stock."""
    if len(line.text) > MAX_LENGTH:
        return None
    if line.flags & _lines.LINK and not _stands_for_button(line):
        return None
    stock = _stock_in(line)
    if stock == "InStock" and len(line.text) >= _SHORT:
        is_said = _begins_with_stock(line.text) or (
            line.flags & _lines.JOINED and _has_stock_part(line.element)
        )
        return stock if is_said else None
    return stock


def _begins_with_stock(text: str) -> bool:
    """Whether a text says that the product is in stock, and then how it is sent.

    >>> _begins_with_stock("In Stock. Usually ships within 24 hours from our own warehouse.")
    True
    >>> _begins_with_stock("In stock items are sent within 24 hours, others later.")
    False
    """
    first = _FIRST_CLAUSE.match(text)
    return first is not None and availability_of_text(first[1]) == "InStock"


def _stands_for_button(line: Line) -> bool:
    """Whether a link without a target stands for a button that nobody can press."""
    link = link_around(line.element, 2)
    return link is not None and len(line.text) < _SHORT and not leads_away(link)


def _has_stock_part(element: Element) -> bool:
    """Whether one of the boxes of a line just says that the product is in stock."""
    box = element.getparent()
    texts = [] if box is None else [short_text(part) for part in islice(box, _MAX_PARTS)]
    return any(len(text) < _MAX_WORD and availability_of_text(text) == "InStock" for text in texts)


#: What a box says of products that nobody can order, by what a sentence says of them.
_OUTWEIGHED = {"OutOfStock": {"InStock", "BackOrder"}, _IN_SHOPS_ONLY: {"OutOfStock"}}


def _unless_sold_out(marked: str | None, firm: str | None, buttons: int) -> str | None:
    """Return the box's availability, unless a sentence says "sold out" and there is no buy button.

    Boxes say "Usually ships in a day" of sold out products, too, and lines that shops have them.
    """
    return firm if marked in _OUTWEIGHED.get(firm or "", ()) and not buttons else marked


def _is_of_other_stock(line: Line, heading: int, can_press: bool) -> bool:
    """Whether a word for the stock may belong to a variant's button, a question or a general rule.

    The product's own button just says that it is sold out, and stands before any buy button.
    """
    if line.flags & _lines.BUTTON:
        return can_press or bool(line.flags & _lines.DIGIT)
    if "?" in line.text or _labels_choice(line):
        return True  # a question states nothing
    is_far = len(line.text) >= _SHORT and line.index - heading > _MAX_DISTANCE
    return is_far or _CONDITION(line.text) is not None or _is_of_variant(line.text)


def _is_of_shops(line: Line) -> bool:
    """Whether a line just says that the product is missing in local shops."""
    if _IN_SHOPS(line.text) is None or "online" in line.text.casefold():
        return False
    return _stock_in(line) in UNAVAILABLE


def _is_of_other_price(line: Line, stock: str, signs: Visible) -> bool:
    """Whether an unavailable *stock* is of a product with another price than the page's."""
    if stock not in UNAVAILABLE or not line.flags & _lines.DIGIT:
        return False
    amounts = [money.value for money in find_prices(line.text)]
    return bool(amounts) and signs.fields.get("price") not in amounts


def _labels_choice(line: Line) -> bool:
    """Whether a line labels a choice with its stock: `<label>36 <small>Sold out</small></label>`."""
    if line.flags & (_lines.LABEL | _lines.JOINED) != _lines.LABEL | _lines.JOINED:
        return False
    choice = (line.element.text or "").strip()
    return choice != "" and not (_STOCK_LABEL(choice) or availability_of_text(choice))


def _is_of_variant(text: str) -> bool:
    """Whether the availability is of one choice of several: "L - sold out"."""
    if (choice := _CHOICE(text)) is None:
        return _SIZE(text) is not None
    return _STOCK_LABEL(choice[1]) is None and availability_of_text(choice[1]) is None
