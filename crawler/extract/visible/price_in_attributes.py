"""Read a price that only attributes of elements, or the texts of pictures, hold."""

from __future__ import annotations

from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.money.amounts import find_prices, parse_price
from crawler.extract.money.currencies import currency_of
from crawler.extract.page.lines import Lines
from crawler.extract.page.page import Element, Page
from crawler.extract.visible_signs import Visible

#: Pictures that are read, and boxes around a heading.
_MAX_IMAGES, _MAX_BOXES = 120, 6
#: Distance from the heading, in lines, that a price without a line gets.
_DISTANCE = 50
_PRICE_ATTRIBUTES = (
    lazy_patterns.pattern(
        rb"data-(?:product-|item-|base-|final-|sale-|current-)?price(?:-amount|-value)?"
        rb"=[\"']([\d.,]{1,14})[\"']"
    ),
    lazy_patterns.pattern(
        rb"(?:name|id)=[\"'](?:product_?|item_)?price[\"'](?:\s[\w-]+=[\"'][^\"']{0,80}[\"']){0,2}"
        rb"\svalue=[\"']([\d.,]{1,14})[\"']"
    ),
)
#: Attributes of hand-made shops, in their languages: `data-precio="14.90"`.
_WORDS = (b"precio", b"preco", b"preis", b"prix", b"prezzo", b"prijs", b"pris", b"cena", b"fiyat")
#: What the names of these attributes begin with, of which nearly all pages hold none.
_NAMES = (b"data-pre", b"data-pri", b"data-cena", b"data-fiyat")
_WORD_ATTRIBUTE = lazy_patterns.pattern(
    rb"data-(?:" + b"|".join(_WORDS) + rb")=[\"']([\d.,]{1,14})[\"']"
)
_PICTURE = lazy_patterns.pattern(rb"alt=[\"']([^\"'<>]{0,24}\d[^\"'<>]{0,12})[\"']")
_CURRENCY_ATTRIBUTE = lazy_patterns.pattern(rb"data-currency(?:-code)?=[\"']([A-Za-z]{3})[\"']")


def take_attribute(page: Page, walk: Lines, signs: Visible, local: str | None) -> None:
    """Take the price of the page's attributes: the one around the heading, if they hold several."""
    amounts = {match[1] for rule in _PRICE_ATTRIBUTES for match in rule.finditer(page.raw)}
    if not amounts and any(map(page.holds, _NAMES)):
        amounts = {match[1] for match in _WORD_ATTRIBUTE.finditer(page.raw)}
    if len(amounts) > 1 and walk.heading >= 0:
        amounts = _amounts_around(walk.lines[walk.heading].element)
    amounts = amounts or _amounts_of_pictures(page)
    money = parse_price(amounts.pop().decode(), local) if len(amounts) == 1 else None
    if money is not None and money.value:
        code = _CURRENCY_ATTRIBUTE.search(page.raw)
        signs.fields["price"] = money.value
        signs.fields["currency"] = money.currency or (
            currency_of(code[1].decode()) if code else None
        )
        signs.price_distance = _DISTANCE
        if signs.buy_buttons and not signs.fields.get("availability"):
            signs.fields["availability"] = "InStock"


def _amounts_around(heading: Element) -> set[bytes]:
    """Return the amount in the attributes of the first box around a heading that has any."""
    for box in islice(heading.iterancestors(), _MAX_BOXES):
        texts = (f'{name}="{value}"'.encode() for name, value in box.items() if "price" in name)
        matches = [match for match in map(_PRICE_ATTRIBUTES[0].match, texts) if match]
        if matches:
            return {match[1] for match in matches}
    return set()


def _amounts_of_pictures(page: Page) -> set[bytes]:
    """Return the texts of pictures with an amount, because some shops draw their prices."""
    texts = islice((match[1] for match in _PICTURE.finditer(page.raw)), _MAX_IMAGES)
    return {text for text in texts if any(find_prices(text.decode("utf-8", "replace")))}
