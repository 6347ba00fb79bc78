"""What a page shows of the stock: boxes, lines and buttons."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice, pairwise, takewhile

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import looks_like_product
from crawler.extract.money.amounts import find_prices
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.page import LONGEST, Element, short_text
from crawler.extract.page.places import leads_away, path
from crawler.extract.stock.availability import WORDS, availability_of_text, buys, buys_in_short
from crawler.extract.stock.by_price import SOLD as _SOLD
from crawler.extract.stock.by_price import sold_in, told_by_price
from crawler.extract.visible_signs import Visible
from crawler.extract.words import Marks, any_word, begun_of, finder, finder_of, whole_of
from crawler.extract.words.listed_words import Together

_STOCK_LABEL = begun_of(lambda any_of: rf"(?:{any_of('stock', 'label')})\s*:?")
#: Words of a rule, which says nothing of this product: "if it is out of stock".
_CONDITION = finder_of(lambda any_of: rf"\b(?:{any_of('stock', 'condition')})\b")
#: A shop to which one goes: what is not there may be had here.
_IN_SHOPS = finder_of(lambda any_of: rf"\b(?:{any_of('stock', 'in_shops')})(?!\w)")
#: The same of what is not sold yet: "Coming soon".
_SOON = whole_of(lambda any_of: rf"\W*(?:{any_of('stock', 'soon')})\W*")
#: What a button says that stands where the one that buys was.
_NOTIFIES = whole_of(lambda any_of: rf"\W*(?:{any_of('stock', 'notify')})\W*")
#: A choice's name before its stock.
_CHOICE = re.compile(r"(\w[\w /.,+]{0,24}?)(?:\s+[-–—]\s+|:\s|\s*\()\w").match
#: What a button says where a seller is asked, a bid is made or a thing is kept for someone.
_ASKS = whole_of(lambda any_of: rf"\W*(?:{any_of('buy', 'asks')})\W*")
_LONGEST_STOCK = 100
#: Lines after the heading in which a sentence is about the product.
_NEAR_STOCK = 15
#: Classes of links that look like buttons; addresses that put something into a cart.
_BUTTON = re.compile(r"(?:^|[\s_-])(?:btn|button|knopf|bouton|boton|tlacitko)(?=$|[\s_-])").search
_CARTS = finder(r"cart|basket|add|order|buy|checkout|kos[iz]|korb|panier|carrito|sepet|winkelwagen")
#: Cells of a table or a list of terms, and what says no or yes in one.
_CELLS = frozenset({"th", "td", "dt"})
_NO = whole_of(lambda any_of: rf"\W{{0,3}}(?:{any_of('stock', 'denies')})\W{{0,3}}")
_YES = whole_of(lambda any_of: rf"\W{{0,3}}(?:{any_of('stock', 'affirms')})\W{{0,3}}")
_ZERO = re.compile(r"\W{0,3}0\W{0,3}").fullmatch
#: Flags of a button with an amount.
_SOLD_BUTTON = _lines.BUTTON | _lines.DIGIT
#: Who gives to the shop buys nothing.
_GIVES = any_word("buy", "gives")
_PRESSED = frozenset({"submit", "image", "button"})
#: What stands between words for the stock and a number.
_OPENING = ("(", "（", ":", "：")
_ORIGIN = lazy_patterns.pattern(r"^https?://[^/?#]*")
#: A product's page has so many buttons that buy; more are a listing's.
_BUTTONS_OF_ONE = 3
#: Boxes above the heading that may be about the product, and classes of those that say something.
_ABOVE = 2
_MESSAGE = Marks(lambda words: re.search(r"message|warning|alert|notice", words[:300].lower()))
#: What is said of a thing that nobody can order now.
NOT_TO_BE_HAD = frozenset({"Discontinued", "OutOfStock", "SoldOut"})
#: Characters of a line that may be no more than a word or two.
_GLANCE = 40
#: Words for the stock, of which one is shown.
_MOST_WORDS = 4
#: Boxes of a line in which a word for the stock is looked for.
_MOST_PARTS = 6
#: Lines around the price of which the last sentence may say that the thing is sold.
_BESIDE = 2
#: The same of a line that may be one word.
_SHORT, _SOLD_SHORT = 16, 30


def _stock_in(line: Line) -> str | None:
    """What a line says of the stock; a box for the price, or for the stock, may just say "Sold"."""
    short = len(line.text) < _GLANCE
    boxed = short and line.flags & (_lines.PRICE | _lines.STOCK)
    label, _, value = line.text.partition(":" if short else "\n")
    if value and _SOLD(value) and _STOCK_LABEL(label):
        return "OutOfStock"
    soon = (boxed or (short and line.flags & _lines.BUTTON)) and _SOON(line.text)
    return "OutOfStock" if soon or (boxed and _SOLD(line.text)) else availability_of_text(line.text)


def _marked(line: Line) -> str | None:
    """What a line in a box for the stock says.

    Some templates write both words, of which a box's class shows one.
    """
    told = _stock_in(line) or _STOCK_CLASS[line.element.get("class") or ""]
    box = line.element.getparent()
    if told not in NOT_TO_BE_HAD or not line.flags & _lines.JOINED or box is None:
        return told
    said = {availability_of_text(short_text(part)) for part in islice(box, _MOST_WORDS)}
    if not said >= {"InStock", "OutOfStock"}:
        return told
    return _STOCK_CLASS[box.get("class") or ""]


def _counted(pieces: str) -> str | None:
    """What a number behind a label of the stock says."""
    return ("InStock" if int(pieces) else "OutOfStock") if len(pieces) < _SHORT else None


def _marked_or_counted(line: Line, labelled: bool, read: Lines) -> str | None:
    """What a box for the stock says, or the number behind a label of it."""
    if labelled and line.text.isdecimal():
        return _counted(line.text)
    if labelled and len(line.text) < _SHORT and _YES(line.text):
        return "InStock"
    if labelled and (_denies(line.text) or _is_short_of(line.text)):
        return "OutOfStock"
    return _unless_none(_marked(line), line, read)


def _is_short_of(text: str) -> bool:
    """Whether a short text says no more than that a thing is sold, or not sold yet."""
    return len(text) < _GLANCE and (_SOON(text) or _SOLD(text)) is not None


def _denies(text: str) -> bool:
    """Whether a cell says no or none, and nothing else."""
    return _ZERO(text) is not None or _NO(text) is not None


def _unless_none(told: str | None, line: Line, read: Lines) -> str | None:
    """What a line says of the stock, unless the number behind it is 0: `In stock (<b>0</b>)`.

    Or unless the cell behind a label says no: `In stock` and `None`.
    """
    if told != "InStock" or line.index + 1 >= len(read.lines):
        return told
    following = read.lines[line.index + 1]
    if line.text[-1:] in _OPENING and following.text == "0":
        return "OutOfStock"
    cells = line.element.tag in _CELLS and following.element.getparent() is line.element.getparent()
    return "OutOfStock" if cells and _denies(following.text) else told


def _stands_for_price(line: Line) -> bool:
    """Whether a box for the price says that the thing is sold."""
    return bool(line.flags & _lines.PRICE) and _stock_in(line) in NOT_TO_BE_HAD


def _of_offers(
    loose: str | None, firm: str | None, read: Lines, seen: Visible
) -> tuple[str | None, str | None]:
    """What is told of the stock; of several offers, the one with a price can be had.

    Words about the others' stock stand where its price does, in boxes of the same make.
    """
    place = seen.paths.get("price")
    if place is None or firm not in NOT_TO_BE_HAD:
        return loose, firm
    gone = (line for line in read.own if _told_by_the_way(line) in NOT_TO_BE_HAD)
    alike = [
        line
        for line in gone
        if not line.flags & _lines.DIGIT
        and path(line.element) == place
        and not _stands_by_price(read.lines, line)
    ]
    return ("InStock", "InStock") if len(alike) > 1 else (loose, firm)


def _stands_by_price(lines: list[Line], line: Line) -> bool:
    """Whether the box before a line in the same row holds an amount: its own offer's."""
    before = lines[line.index - 1] if line.index else line
    same = before.element.getparent() is line.element.getparent()
    return same and line.element.tag == "td" and bool(before.flags & _lines.DIGIT)


def is_gone(seen: Visible) -> bool:
    """Whether the page says that the thing cannot be had."""
    return seen.fields.get("availability") in NOT_TO_BE_HAD


def _stock_of_class(words: str) -> str | None:
    """The stock that a class names, for the words of languages that no table holds."""
    return next((name for name, rule in _STOCK_CLASSES if rule.search(words.lower())), None)


_STOCK_CLASSES = [
    (name, re.compile(rf"(?:^|[\s_-])(?:{words})(?=$|\s)"))
    for name, words in (
        ("PreOrder", "pre-?order"),
        ("BackOrder", "on-?backorder"),
        ("OutOfStock", "out-?of-?stock|outofstock|sold-?out|unavailable|not-available"),
        ("InStock", "in-?stock"),
    )
]
_STOCK_CLASS = Marks(_stock_of_class)


def _is_buy_button(line: Line) -> bool:
    text = line.text
    if line.flags & _lines.BUTTON:
        return buys_in_short(text)
    if len(text) >= _GLANCE or line.flags & (_lines.LINK | _lines.DIGIT) == _lines.DIGIT:
        return False  # a sentence: "buy a lamp from 19.90 on"
    if line.flags & _lines.LINK and buys_in_short(text) and not buys(text):
        boxes = (line.element, line.element.getparent())
        return any(_IS_BUTTON[box.get("class") or ""] for box in boxes if box is not None)
    return buys(text)


def _said_by(element: Element) -> str:
    """What a field that is pressed says; '' of one in which a visitor writes."""
    if element.get("type") not in _PRESSED:
        return ""
    return (element.get("value") or element.get("alt") or element.get("title") or "")[:LONGEST]


def _pressed(inputs: list[Element]) -> list[bool]:
    """Of each field that buys when it is pressed, whether it can be; none where the first is gone."""
    if _first_is_gone(inputs):
        return []
    bought = (e for e in inputs if (says := _said_by(e)) and (buys_in_short(says) or _pays(says)))
    return [element.get("disabled") is None for element in bought]


def _pays(says: str) -> bool:
    """Whether a field pays at once, by a service that many static pages use for their cart."""
    return "PayPal" in says and _GIVES(says) is None


def _first_is_gone(inputs: list[Element]) -> bool:
    """Whether the first field that buys or tells a stock cannot be pressed, and says "sold out".

    Those behind it are the tiles' of other products.
    """
    for element in inputs:
        said = _said_by(element)
        if not said or len(said) >= _GLANCE:
            continue
        if buys_in_short(said):
            return False
        if availability_of_text(said) in NOT_TO_BE_HAD:
            return element.get("disabled") is not None
    return False


def _stock_of_inputs(inputs: list[Element]) -> str | None:
    """What the field says that stands where one would buy: "Sold out", "Pre-order now"."""
    said = (text for element in inputs if (text := _said_by(element)) and len(text) < _GLANCE)
    told = ("OutOfStock" if _SOON(text) else availability_of_text(text) for text in said)
    return next((name for name in told if name not in {None, "InStock"}), None)


_IS_BUTTON = Marks(lambda words: _BUTTON(words.lower()) is not None)


def _sells_elsewhere(element: Element, own: str) -> bool:
    """Whether a link that buys leads to another product's page, as articles and tiles have it."""
    links = (e for e in (element, *islice(element.iterancestors(), 2)) if e.tag == "a")
    link = next(links, None)
    path = ((link.get("href") or "") if link is not None else "")[:LONGEST].partition("#")[0]
    return looks_like_product(path) and not _CARTS(path) and _path(path) != _path(own)


def _path(url: str) -> str:
    return _ORIGIN.sub("", url).partition("?")[0].rstrip("/")


def read_stock(read: Lines, seen: Visible, priced: bool, own: str) -> None:
    """Read the stock; of a thing that is *priced*, a button that buys it says enough.

    *own* is the page's address.
    """
    marked = loose = firm = badge = None
    somewhere, asked, usable, label, away = False, False, False, -2, 0
    for line in read.own:
        labelled = label == line.index - 1
        if not labelled and not line.flags & _lines.STOCK and _SILENT[line.text]:
            continue  # nearly all lines
        if _is_buy_button(line):
            if line.flags & _lines.LINK and _sells_elsewhere(line.element, own):
                away += 1
                continue
            seen.buy_buttons += 1
            usable = usable or not _disabled(line.element)
            asked = asked or availability_of_text(line.text) == "PreOrder"
            continue
        notifies = _offers_to_tell(line)
        seen.notifies = seen.notifies or notifies
        loose = loose or ("OutOfStock" if notifies else None)
        if line.flags & _lines.BADGE and not line.flags & _lines.STOCK:
            label += labelled  # it stands between a label and its value
            badge = badge or (_stock_in(line) if len(line.text) < _GLANCE else None)
            continue
        seen.sold_for = seen.sold_for or _stands_for_price(line)
        names = len(line.text) < _GLANCE and _STOCK_LABEL(line.text) is not None
        is_mark = bool(line.flags & _lines.STOCK) or labelled or (names and ":" in line.text)
        if names and len(line.text) < 30:
            label = line.index
        if marked is None and is_mark and not _lacks_in_shops(line):
            marked = _marked_or_counted(line, labelled, read)
        elif firm in {None, "OutOfStock"} and (
            found := _unless_none(_told_by_the_way(line), line, read)
        ):
            loose = loose or found
            titles = found == "InStock" and firm is not None and line.flags & _lines.HEADING
            elsewhere = _lacks_in_shops(line) or (usable and _is_of_another(line, found, seen))
            if not (titles or elsewhere or _is_of_something_else(line, read.heading, usable)):
                firm = firm or found
                somewhere = somewhere or found == "InStock"
    loose, firm = _of_offers(loose, firm, read, seen)
    pressed = _pressed(read.inputs) if read.inputs else []
    pressing = None if pressed else _stock_of_inputs(read.inputs)
    loose, asked = loose or pressing, asked or pressing == "PreOrder"
    seen.buy_buttons += len(pressed)
    usable = usable or any(pressed)
    seen.buy_buttons += away if seen.buy_buttons + away > _BUTTONS_OF_ONE else 0
    seen.sells = usable and seen.buy_buttons <= _BUTTONS_OF_ONE
    sold = usable and priced
    firm = "InStock" if sold and somewhere else firm  # to collect, where it is not delivered
    marked = _outvoted(marked, firm, seen.buy_buttons)
    loose = _or_badge(loose, badge, seen)
    told = marked or (firm or "InStock" if sold else loose)
    told = "PreOrder" if asked and told == "InStock" else told  # the button knows best
    seen.fields["availability"] = told or _told_alone(read, seen)


def _or_badge(loose: str | None, badge: str | None, seen: Visible) -> str | None:
    """What a badge says in the place of a button that buys, beside a price: other ones are for show."""
    stands_there = badge in NOT_TO_BE_HAD and not seen.buy_buttons and seen.price_line is not None
    return badge if stands_there else loose


def _is_silent(text: str) -> bool:
    """Whether a text holds no words about a stock, and none of a button beside it."""
    label = text.partition(":")[0] if len(text) < _GLANCE else text
    if _STOCK_LABEL(label):
        return False
    may_match = _TELLS(text)
    return not any(rule(text) for rule in may_match if rule is not _SOON or len(text) < _GLANCE)


_TELLS = Together(_SOLD, _NOTIFIES, _SOON, *WORDS.rules)
#: Labels and menus are the same on all of a shop's pages.
_SILENT = Marks(_is_silent)


def _told_alone(read: Lines, seen: Visible) -> str | None:
    """What follows from a line that says no more than "Sold", and not how many, where none buys.

    Or from a remark behind the price in its line.
    """
    if seen.price_line is not None and not seen.buy_buttons:
        text, price = read.lines[seen.price_line].text, seen.fields.get("price")
        ends = (m.end for m in find_prices(text[:_LONGEST_STOCK]) if m.value == price)
        told = None if (end := next(ends, None)) is None else told_by_price(text, end)
        if told is not None:
            seen.stock_by_price = True
            return told
        around = read.lines[max(read.heading, seen.price_line - _BESIDE, 0) :][: 2 * _BESIDE + 1]
        if any(_SOON(n.text) or (". " in n.text and sold_in(n.text)) for n in around):
            return "OutOfStock"
    for line, following in pairwise([*read.own, None] if not seen.buy_buttons else ()):
        if line is None or len(line.text) >= _SOLD_SHORT:
            continue
        if _SOLD(line.text):
            counts = following is not None and following.text[:1].isdigit()
            return None if counts else "OutOfStock"
        if line.flags & _SOLD_BUTTON == _SOLD_BUTTON and _disabled(line.element):
            word = line.text.partition(" ")[0]  # "Sold – € 38.16", where one would buy
            if _SOLD(word):
                return "OutOfStock"
    return None


def told_above(heading: Element) -> str | None:
    """What a word right above the heading says of a thing that nobody sells now: "Sold out"."""
    around = (heading, *takewhile(_holds_more, heading.iterancestors()))
    for box in around[: _ABOVE + 2]:
        for above in islice(box.itersiblings(preceding=True), _ABOVE):
            longest = _LONGEST_STOCK if _MESSAGE[above.get("class") or ""] else _SHORT
            text = short_text(above, longest + 1)
            told = "OutOfStock" if text and _SOLD(text) else availability_of_text(text)
            if len(text) <= longest and told in NOT_TO_BE_HAD:
                return told
    return None


def _holds_more(box: Element) -> bool:
    """Whether a box may be one of several about a product: not the page's whole content."""
    return box.tag in {"div", "section", "article"}


def asks_seller(read: Lines) -> bool:
    """Whether a button or a link asks the seller, bids or reserves, as where nothing is in a cart."""
    pressed = _lines.BUTTON | _lines.LINK
    return any(
        line.flags & pressed
        and len(line.text) < _GLANCE
        and (_ASKS(line.text) or _writes_of_it(line.element))
        for line in read.own
    )


def _writes_of_it(element: Element) -> bool:
    """Whether a link begins a letter about the thing: its address tells the subject."""
    address = element.get("href") or "" if element.tag == "a" else ""
    return address.startswith("mailto:") and "subject=" in address


def _offers_to_tell(line: Line) -> bool:
    """Whether a button offers to tell when the thing is there again."""
    pressed = line.flags & (_lines.BUTTON | _lines.LINK)
    return bool(pressed) and _notifies(line.text)


@lru_cache(maxsize=512)
def _notifies(text: str) -> bool:
    return len(text) < _GLANCE and _NOTIFIES(text) is not None


def _told_by_the_way(line: Line) -> str | None:
    """What a short line outside of the boxes for it says of the stock."""
    if len(line.text) > _LONGEST_STOCK:
        return None
    if line.flags & _lines.LINK and not _stands_for_button(line):
        return None
    found = _stock_in(line)
    if found == "InStock" and len(line.text) >= _GLANCE:
        return found if line.flags & _lines.JOINED and _in_a_part(line.element) else None
    return found


def _stands_for_button(line: Line) -> bool:
    """Whether a link that leads nowhere has the text of a button that nobody can press."""
    boxes = (line.element, *islice(line.element.iterancestors(), 2))
    link = next((box for box in boxes if box.tag == "a"), None)
    return link is not None and len(line.text) < _GLANCE and not leads_away(link)


def _in_a_part(element: Element) -> bool:
    """Whether one of the boxes of a line says no more than that the thing can be had."""
    box = element.getparent()
    parts = [] if box is None else [short_text(part) for part in islice(box, _MOST_PARTS)]
    return any(len(text) < _SHORT and availability_of_text(text) == "InStock" for text in parts)


def _outvoted(marked: str | None, firm: str | None, buttons: int) -> str | None:
    """What a box for the stock says, unless a sentence says that nothing is left, and none buys.

    "Usually ships in a day" is said of what is sold out, too.
    """
    return firm if (marked, firm, buttons) == ("InStock", "OutOfStock", 0) else marked


def _is_of_something_else(line: Line, heading: int, sold: bool) -> bool:
    """Whether a word about a stock may be a variant's button's, or a rule's for what may be.

    A page's own button says no more than that it is sold out, and stands before any that buys.
    """
    if line.flags & _lines.BUTTON:
        return sold or bool(line.flags & _lines.DIGIT)
    if "?" in line.text:
        return True  # a question asks, and tells nothing
    far = len(line.text) >= _GLANCE and line.index - heading > _NEAR_STOCK
    return far or _CONDITION(line.text) is not None or _is_of_variant(line.text)


def _lacks_in_shops(line: Line) -> bool:
    """Whether a line says no more than that a thing is not in the shops to which one goes."""
    if _IN_SHOPS(line.text) is None or "online" in line.text.casefold():
        return False
    return _stock_in(line) in NOT_TO_BE_HAD


def _is_of_another(line: Line, told: str, seen: Visible) -> bool:
    """Whether a line behind the button that buys says that a thing of another price is gone."""
    if told not in NOT_TO_BE_HAD or not line.flags & _lines.DIGIT:
        return False
    amounts = [money.value for money in find_prices(line.text)]
    return bool(amounts) and seen.fields.get("price") not in amounts


def _is_of_variant(text: str) -> bool:
    """Whether a stock is said of one choice of several: "L - sold out"."""
    found = _CHOICE(text)
    if found is None or _STOCK_LABEL(found[1]) is not None:
        return False
    return availability_of_text(found[1]) is None


def _disabled(element: Element) -> bool:
    here = element
    for _ in range(4):
        if here is None:
            break
        if here.tag == "button":
            return here.get("disabled") is not None
        here = here.getparent()
    return False
