"""Weigh whether a page with a button sells work instead of goods, by independent signs of both.

Shop software sells services, lessons, entrances and dishes on the same page as goods. No single sign
tells them apart, so each sign has points, and only a page without a maker is weighed, and one
with a number only where its address is that of services.
"""

from __future__ import annotations

from itertools import islice

from crawler.extract.address_kinds import is_service
from crawler.extract.fields import Fields
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Line, Lines
from crawler.extract.page.page import Element, Page, short_text
from crawler.extract.stock.availability import availability_of_text
from crawler.extract.visible.no_goods import begins_with_day_and_time
from crawler.extract.visible.plain_offers import describes_goods
from crawler.extract.visible.shop_marks import MARKED, points_of_marks
from crawler.extract.visible.shown_breadcrumbs import breadcrumbs
from crawler.extract.visible_signs import Visible
from crawler.extract.words import CachedRule, any_word, finder_of, prefix_matcher_of
from scrapy_seine.urls import host_of

#: The heading of a service: "Lamp installation", "Montaža lustera".
_NAMES_SERVICE = finder_of(
    lambda any_of: (
        rf"^\W{{0,3}}(?:{any_of('headings', 'service_begins')})(?!\w)"
        rf"|(?<!\w)(?:{any_of('headings', 'service_ends')})\W{{0,3}}$"
    )
)
#: The heading of a ticket, a tour, a lesson, a rental, a draw or a purchase: "Win a lamp".
NAMES_TICKET = prefix_matcher_of(lambda any_of: rf"(?:{any_of('headings', 'tickets')})(?!\w)")
#: The heading of a house, a flat or land for sale or for rent.
NAMES_HOME = any_word("headings", "homes")
#: Words before a service of which goods are: "Brush for window cleaning", "Camera, ex rental".
_IS_FOR = frozenset(
    ("for", "zur", "zum", "für", "pour", "para", "per", "voor", "för", "til", "do", "na", "dla", "для",
     "ex")
)  # fmt: skip
#: A voucher, which is goods: "Gutschein für einen Kochkurs".
_NAMES_VOUCHER = any_word("headings", "vouchers")
#: Fields that structured data has of goods alone; shop software numbers services, too.
_OWN_FIELDS = frozenset({"gtin", "mpn"})
#: Points by which the signs of a service have to outweigh those of goods.
_MIN_LEAD = 2
#: Words of a text about work for the visitor: "our technician", "at your home", "bring your".
_TELLS_OF_WORK = any_word("amounts", "work")
#: Lines behind the heading with signs of goods, and those of them with signs of a service.
_MAX_LINES, _MAX_READ = 40, 12
#: Characters of a line about the stock.
_MAX_STOCK = 40
_OUTSIDE = _lines.ELSEWHERE | _lines.HIDDEN | _lines.BEYOND | _lines.CARD
#: Words of a category's name: "Servizi fotografici", "Cooking courses".
_MAX_WORDS = 6
#: Types of fields that ask for a day, and parts of the names of those for a delivery's day.
_DAYS = frozenset({"date", "time", "datetime-local"})
_SENT = ("deliver", "collect", "pickup", "ship")
_MAX_FIELDS, _MAX_CHOICES = 60, 3


def names_service(name: str) -> bool:
    """Whether a name is that of a service, and not of goods for one.

    >>> names_service("Lamp installation"), names_service("Brush for window cleaning")
    (True, False)
    """
    match = _NAMES_SERVICE(name)
    if match is None:
        return NAMES_TICKET(name) is not None
    before = match.string[: match.start()].replace("-", " ").replace("(", " ")
    return _IS_FOR.isdisjoint(before.split())


def may_be_service(structured: Fields, page: Page) -> bool:
    """Whether name, category or mark of a product without a field of goods is of a service or home."""
    if _describes_goods(structured, page):
        return False
    name = structured["name"]
    is_marked = page.holds(MARKED) and points_of_marks(page, name) > 0
    if is_marked or names_service(name) or NAMES_HOME(name) is not None:
        return True
    return _is_in_services(structured, page, name)


def _describes_goods(fields: Fields, page: Page) -> bool:
    """Whether fields hold a number or a maker of goods; a service's maker is the shop."""
    if not _OWN_FIELDS.isdisjoint(fields):
        return True
    brand: str = fields.get("brand") or ""
    return brand != "" and brand.lower().replace(" ", "") not in host_of(page.url)


def weigh_service(walk: Lines, signs: Visible, page: Page, structured: Fields) -> str | None:
    """Return the reason why a page's button sells a service, where its signs outweigh goods'."""
    name = signs.fields.get("name")
    if not name or _describes_goods(signs.fields, page) or _describes_goods(structured, page):
        return None
    points = 2 * names_service(name) + 2 * _is_in_services(structured, page, name)
    points += points_of_marks(page, name) if page.holds(MARKED) else 0
    points += page.is_at_service if points else 0
    points += _points_of_lines(walk)
    points += 2 * _asks_for_day(page) if points else 0
    if points < _MIN_LEAD:
        return None
    # Goods without a picture are frequent as well, so that it counts beside other signs alone.
    points += not signs.fields.get("images")
    lead = points - _points_of_goods(walk, signs, name)
    return "its signs of a service outweigh those of goods" if lead >= _MIN_LEAD else None


def _is_in_services(structured: Fields, page: Page, name: str) -> bool:
    """Whether the last categories of a product are those of services."""
    trail = structured.get("breadcrumbs") or breadcrumbs(page, structured.get("name") or name)
    return any(map(_IS_OF_SERVICES.__getitem__, trail[-2:]))


def _is_of_services(category: str) -> bool:
    """Whether a category's name is that of services, or of a folder of them: "Our services"."""
    words = category.lower().split(maxsplit=_MAX_WORDS)
    folders = {"-".join(words), *words[:1], *words[-1:]}
    return any(is_service(f"/{folder}/") for folder in folders)


_IS_OF_SERVICES = CachedRule(_is_of_services)


def _points_of_lines(walk: Lines) -> int:
    """Return the number of sentences in the first lines that tell of a service, at most two."""
    first = walk.heading + 1
    texts = [line.text for line in walk.lines[first : first + _MAX_READ]]
    sentences = ". ".join(filter(_TELLS_OF_WORK, texts)).split(". ")
    return min(sum(map(bool, map(_TELLS_OF_WORK, sentences))), _MIN_LEAD)


def _asks_for_day(page: Page) -> bool:
    """Whether a field asks for a day, or a choice for a day and its time, but not of a delivery."""
    fields = islice(page.root.iter("input"), _MAX_FIELDS)
    dated = [field for field in fields if field.get("type") in _DAYS]
    dated += (choice for choice in page.selects if any(map(_is_day, islice(choice, _MAX_CHOICES))))
    names = ((field.get("name") or "").lower() for field in dated)
    return any(not any(map(name.__contains__, _SENT)) for name in names)


def _is_day(choice: Element) -> bool:
    return begins_with_day_and_time(short_text(choice))


def _points_of_goods(walk: Lines, signs: Visible, name: str) -> int:
    first = walk.heading + 1
    lines = [line for line in walk.lines[first : first + _MAX_LINES] if not line.flags & _OUTSIDE]
    points = 2 * (_NAMES_VOUCHER(name) is not None) + describes_goods(name)
    points += bool(signs.facts)
    points += any(describes_goods(line.text) for line in lines)
    return points + (signs.stock_boxed or any(map(_says_stock, lines)))


def _says_stock(line: Line) -> bool:
    is_short = len(line.text) <= _MAX_STOCK and not line.flags & _lines.BUTTON
    return is_short and availability_of_text(line.text) is not None
