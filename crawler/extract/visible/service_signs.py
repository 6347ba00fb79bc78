"""Weigh whether a page with a button sells work instead of goods, by independent signs of both.

Shop software sells services, lessons, entrances and dishes on the same page as goods. No single sign
tells them apart, so each sign has points, and only a page without a number or a maker is weighed.
"""

from __future__ import annotations

from itertools import islice

from crawler.extract.address_kinds import is_service
from crawler.extract.fields import Fields
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.page import Page
from crawler.extract.price.other_amounts import POSTAGE, WITH_TAX
from crawler.extract.stock.availability import availability_of_text
from crawler.extract.visible.plain_offers import MEASURE
from crawler.extract.visible.shown_breadcrumbs import breadcrumbs
from crawler.extract.visible_signs import Visible
from crawler.extract.words import CachedRule, any_word, finder_of

#: The heading of a service: "Lamp installation", "Montaža lustera".
_NAMES_SERVICE = finder_of(
    lambda any_of: (
        rf"^\W{{0,3}}(?:{any_of('headings', 'service_begins')})(?!\w)"
        rf"|(?<!\w)(?:{any_of('headings', 'service_ends')})\W{{0,3}}$"
    )
)
#: Words right before a service for which goods are made: "Brush for cleaning".
_IS_FOR = frozenset(
    ("for", "zur", "für", "pour", "para", "per", "voor", "för", "til", "do", "na", "dla", "для")
)
#: A voucher, which is goods: "Gutschein für einen Kochkurs".
_NAMES_VOUCHER = any_word("headings", "vouchers")
#: Fields that structured data has of goods alone; shop software numbers services, too.
_OWN_FIELDS = frozenset({"brand", "gtin", "mpn"})
#: Points by which the signs of a service have to outweigh those of goods.
_MIN_LEAD = 2
#: Lines behind the heading that are read.
_MAX_LINES = 40
_OUTSIDE = _lines.ELSEWHERE | _lines.HIDDEN | _lines.BEYOND | _lines.CARD
#: Fields that ask for a day, and the day of what fields with these names is one of goods.
_DAYS, _SENT = (
    frozenset({"date", "time", "datetime-local"}),
    ("deliver", "collect", "pickup", "ship"),
)
_MAX_FIELDS = 60


def names_service(name: str) -> bool:
    """Whether a name is that of a service, and not of goods for one.

    >>> names_service("Lamp installation"), names_service("Brush for lamp installation")
    (True, True)
    """
    match = _NAMES_SERVICE(name)
    if match is None:
        return False
    before = match.string[: match.start()].split()
    return not before or before[-1] not in _IS_FOR


def may_be_service(structured: Fields) -> bool:
    """Whether structured data without a field of goods alone names a service."""
    return _OWN_FIELDS.isdisjoint(structured) and names_service(structured["name"])


def weigh_service(walk: Lines, signs: Visible, page: Page, structured: Fields) -> str | None:
    """Return the reason why a page's button sells a service, where its signs outweigh goods'."""
    name = signs.fields.get("name")
    if not name or signs.fields.get("brand") or not _OWN_FIELDS.isdisjoint(structured):
        return None
    categories = structured.get("breadcrumbs") or breadcrumbs(page, structured.get("name") or name)
    points = 2 * names_service(name) + 2 * any(map(_IS_OF_SERVICES.__getitem__, categories[-2:]))
    if not points:
        return None
    lead = points + _asks_for_day(page) - _points_of_goods(walk, signs, name)
    return "its signs of a service outweigh those of goods" if lead >= _MIN_LEAD else None


def _is_of_services(category: str) -> bool:
    """Whether a category's name is that of services, or of a folder of them: "Our services"."""
    return names_service(category) or is_service(f"/{category.lower().replace(' ', '-')}/")


_IS_OF_SERVICES = CachedRule(_is_of_services)


def _asks_for_day(page: Page) -> bool:
    """Whether a field asks for a day that is not the day of a delivery."""
    fields = islice(page.root.iter("input"), _MAX_FIELDS)
    names = (field.get("name") or "" for field in fields if field.get("type") in _DAYS)
    return any(not any(map(name.lower().__contains__, _SENT)) for name in names)


def _points_of_goods(walk: Lines, signs: Visible, name: str) -> int:
    lines = [line for line in walk.lines[max(walk.heading, 0) :] if not line.flags & _OUTSIDE]
    lines = lines[1:_MAX_LINES]
    points = 2 * (_NAMES_VOUCHER(name) is not None)
    points += MEASURE(name) is not None or any(
        MEASURE(line.text) is not None for line in lines if line.flags & _lines.DIGIT
    )
    points += any((POSTAGE(line.text) or WITH_TAX(line.text)) is not None for line in lines)
    return points + (signs.stock_boxed or any(map(_says_stock, lines)))


def _says_stock(line: Line) -> bool:
    is_caption = line.flags & (_lines.BUTTON | _lines.LONG)
    return not is_caption and availability_of_text(line.text) is not None
