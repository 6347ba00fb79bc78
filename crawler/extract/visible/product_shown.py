"""Read a product from the visible page: heading, price near it, stock, tables of facts."""

from __future__ import annotations

from functools import partial
from itertools import chain
from operator import attrgetter

from crawler.extract.fields import Fields
from crawler.extract.page import lines as _lines
from crawler.extract.page.currency_icons import draw_signs
from crawler.extract.page.joints import SIGNS
from crawler.extract.page.lines import Lines
from crawler.extract.page.page import Element, Page, holds_digit
from crawler.extract.price.choice import find_price
from crawler.extract.price.free import take_free
from crawler.extract.price.on_request import (
    asks_for_price,
    asks_in_price_box,
    has_button_for_price,
)
from crawler.extract.price.tiles import CARDS
from crawler.extract.shop_name_in_title import without_site_name
from crawler.extract.stock.above import stock_above
from crawler.extract.stock.availability import (
    UNAVAILABLE,
    availability_of_text,
    buys_in_short,
)
from crawler.extract.stock.cart_form import puts_in_cart
from crawler.extract.stock.drawn_buttons import take_picture_buttons
from crawler.extract.stock.inputs import is_disabled
from crawler.extract.stock.shown import (
    STOCK_BEHIND_LABEL,
    read_stock,
    says_unavailable,
)
from crawler.extract.visible.ask_buttons import asks_for_quote, asks_seller
from crawler.extract.visible.beside_heading import (
    brand_before,
    number_beside,
    number_in_heading,
    old_price_above,
)
from crawler.extract.visible.buttons_before import take_button_by_price, take_buttons_before
from crawler.extract.visible.fact_labels import label_of, name_in_label
from crawler.extract.visible.fact_values import as_number
from crawler.extract.visible.facts import find_facts, take_addressed, take_confirmed
from crawler.extract.visible.maker_names import is_firm
from crawler.extract.visible.makers import maker_beside, prefer_brand
from crawler.extract.visible.makers_elsewhere import maker_elsewhere
from crawler.extract.visible.no_goods import asks_no_price, is_for_persons, no_goods
from crawler.extract.visible.number_of_row import is_number_of_row
from crawler.extract.visible.page_currency import local_currency_of
from crawler.extract.visible.pictures import named_pictures, picture_beside, pictures_called
from crawler.extract.visible.plain_offers import (
    is_of_period,
    is_price_of_service,
    orders_service,
    weigh_offer,
)
from crawler.extract.visible.price_in_attributes import take_attribute
from crawler.extract.visible.price_in_options import take_option
from crawler.extract.visible.price_on_button import take_button_price
from crawler.extract.visible.priced_above import priced_above
from crawler.extract.visible.priced_heading import says_host
from crawler.extract.visible.product_heading import heading_of, name_in_heading, says_sold
from crawler.extract.visible.ratings import take_rating
from crawler.extract.visible.service_signs import weigh_service
from crawler.extract.visible.sold_each import sold_in_boxes
from crawler.extract.visible.variant_rows import take_variants
from crawler.extract.visible.without_heading import (
    heading_below,
    labelled_name,
    line_beside,
    name_before,
    take_headed_number,
    take_labelled,
)
from crawler.extract.visible_signs import Visible
from scrapy_seine.urls import host_of

_MAX_DISTANCE = 60
_LINES_AROUND = 40
#: Characters of a number after which a picture is named, and of a shop's own label before it.
_MIN_PICTURED, _MAX_OWN_LABEL = 4, 24
#: Tags of headings.
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_TEXT = attrgetter("text")
#: Signs of a struck amount, in tags, classes and styles.
_STRIKES = (b"line-through", b"strike", b"<del", b"<s>")


def visible(page: Page, structured: Fields | None = None) -> Visible:
    """Read a product from the page's visible text; *structured* are the other sources' fields."""
    structured = structured or {}
    heading = heading_of(page, structured.get("name"))
    local = local_currency_of(page)
    priced = bool(structured.get("price"))
    walk, price = _read_from(heading, page, local, structured)
    own_walk, boxes, behind = walk, walk.description_boxes, walk.lines[max(walk.heading, 0) :]
    signs = _read_signs(price, walk, priced, page)
    is_far = (
        signs.price_distance is None
        or signs.price_distance > _MAX_DISTANCE
        or signs.price_after_link
    )
    in_sentence = signs.price_is_loose and not signs.price_marked
    is_far = is_far or in_sentence or "price" not in signs.fields
    is_own = signs.cards < CARDS or 1 <= signs.buy_buttons < CARDS or says_unavailable(signs)
    is_above = not signs.price_marked and priced_above(heading)
    if is_above or (heading is not None and is_far and is_own):
        # Some designs put the price before the name.
        walk = _lines.read_all(page, heading)
        whole_page = _read_price(walk, local, structured)
        if _is_nearer(whole_page, signs) and _is_nearer(
            _read_signs(whole_page, walk, priced, page), signs
        ):
            signs, own_walk = whole_page, walk
    _weigh_buttons(own_walk, signs, page)
    fields, signs.described, signs.lines = signs.fields, boxes, behind
    take_confirmed(signs, structured, page.url)
    if own_walk.inputs and "price" not in fields:
        take_button_price(own_walk, signs, local)
    if (signs.price_is_loose and not signs.price_marked and take_labelled(walk, signs, local)) or (
        "price" not in fields
        and not signs.cards
        and not signs.lone_cards
        and _take_price_elsewhere(page, walk, signs, local)
    ):
        own_walk = walk
    beside = heading = heading_below(heading, own_walk, signs.price_line, page)
    if heading is None:
        heading, beside = _named_without_heading(page, walk, signs, structured)
        signs.beside = beside
    if heading is not None:
        _take_heading(heading, page, signs, structured)
        take_button_by_price(own_walk, signs)
        _take_labelled_name(walk, heading, fields, page.title)
    _take_pictures(page, signs, beside)
    _take_pictured_number(walk, fields)
    signs.no_goods = (no_goods if signs.buy_buttons else asks_no_price)(own_walk, signs)
    if signs.buy_buttons and not priced:
        signs.no_goods = signs.no_goods or sold_in_boxes(own_walk, signs, page, heading)
    is_offered = signs.sells or (signs.asks and "price" in fields)
    if is_offered and (not signs.facts or page.is_at_service):
        signs.no_goods = signs.no_goods or weigh_service(own_walk, signs, page, structured)
    if signs.price_line is not None and not (
        signs.buy_buttons or signs.cards or structured.get("price")
    ):
        signs.weigh_offer = partial(weigh_offer, own_walk, signs, local, beside, page)
    return _without_empty(signs)


def _read_from(
    heading: Element | None, page: Page, local: str | None, structured: Fields
) -> tuple[Lines, Visible]:
    """Walk the lines from the heading on and read the price; with signs that icons draw if needed."""
    walk = _lines.read(page, heading)
    signs = _read_price(walk, local, structured)
    if not structured.get("price") and _is_unsigned(walk, signs) and draw_signs(page):
        walk = _lines.read(page, heading)
        signs = _read_price(walk, local, structured)
    return walk, signs


def _is_unsigned(walk: Lines, signs: Visible) -> bool:
    """Whether no price was found, or one in whose line nothing tells the currency."""
    if signs.price_line is None:
        return True
    text = walk.lines[signs.price_line].text
    return SIGNS.isdisjoint(text) and not any(map(str.isalpha, text))


def _take_pictures(page: Page, signs: Visible, beside: Element | None) -> None:
    """Set the pictures called as the product, without a link first; else the one beside its name."""
    pictures, linked = named_pictures(page, signs.fields.get("name"))
    signs.pictured = bool(pictures or linked)
    called = [*dict.fromkeys(pictures + linked)]
    signs.fields["images"] = called if pictures else picture_beside(beside) or linked


def _take_pictured_number(walk: Lines, fields: Fields) -> None:
    """Take the number after which the picture is named, if it stands behind an unknown label.

    `Wine code C506` and `/pictures/C506.jpg`: shops call their numbers by words of their own.
    """
    if "sku" in fields or "price" not in fields or not fields["images"]:
        return
    number = fields["images"][0].rpartition("/")[2].partition(".")[0]
    if len(number) < _MIN_PICTURED or not holds_digit(number):
        return
    for line in walk.product_lines:
        label = line.text.removesuffix(number)
        if label == line.text or not 2 < len(label) <= _MAX_OWN_LABEL or holds_digit(label):
            continue
        if label[-1] in " :" and label_of(label) is None:
            fields["sku"] = number
            return


def _take_labelled_name(walk: Lines, heading: Element, fields: Fields, title: str) -> None:
    """Take the value behind a label for the name, if no heading says it.

    Old templates write the shop's name, which is the page's title, or the author and the name.
    """
    name = fields["name"]
    if heading.tag in _HEADINGS or not (": " in name or name == title) or "price" not in fields:
        return
    labelled = labelled_name(walk)
    if labelled is not None and (labelled[0] in name or name == title):
        fields["name"] = labelled[0]


def _take_price_elsewhere(page: Page, walk: Lines, signs: Visible, local: str | None) -> bool:
    """Take a price that no line shows with its currency: by a label, an attribute, a choice.

    Returns whether a line of *walk* shows it.
    """
    if take_labelled(walk, signs, local):
        return True
    if "price" not in signs.fields:
        take_attribute(page, walk, signs, local)
    if "price" not in signs.fields and signs.buy_buttons:
        take_option(page, signs, local)
    if "price" not in signs.fields and signs.buy_buttons == 1 and walk.heading >= 0:
        place = _place_to_buy(walk, signs)
        return place is not None and take_headed_number(walk, place, signs, local)
    return False


def _named_without_heading(
    page: Page, walk: Lines, signs: Visible, structured: Fields
) -> tuple[Element | None, Element | None]:
    """Return the name's element on a page without a heading, and the element beside its picture."""
    place = _place_to_buy(walk, signs) if signs.price_line is None else signs.price_line
    if place is not None:
        heading = name_before(walk, place)
        if heading is None:
            heading = line_beside(walk, place, page)
        if heading is not None:
            page.headings_by_name[structured.get("name") or ""] = heading
            return heading, heading
    is_listed = signs.cards and signs.price_line is None
    labelled = None if is_listed else labelled_name(walk)
    if labelled is None:
        return None, None
    signs.fields["name"] = labelled[0]
    return None, labelled[1]


def _place_to_buy(walk: Lines, signs: Visible) -> int | None:
    """Return the line of the button that buys the one thing of a page without a price."""
    if not signs.sells or signs.cards:
        return None
    lines = (line for line in walk.lines if buys_in_short(line.text))
    return next((line.index for line in lines), None)


def _take_heading(heading: Element, page: Page, signs: Visible, structured: Fields) -> None:
    """Take name, brand and number from the heading and the boxes beside it."""
    fields = signs.fields
    if not (signs.buy_buttons or fields.get("availability")):
        is_sold = any(map(says_sold, heading))
        fields["availability"] = "OutOfStock" if is_sold else stock_above(heading)
        if signs.price_may_be_anothers and says_unavailable(signs):
            forget_price(signs)
        if "price" in fields and not fields["availability"]:
            take_picture_buttons(page, signs)
        if "price" in fields and not fields["availability"]:
            take_buttons_before(page, heading, signs)
    if fields.get("price") and not fields.get("regular_price"):
        fields["regular_price"] = old_price_above(heading, fields["price"], fields.get("currency"))
    fields["name"] = name_in_heading(heading, page)
    _take_brand(heading, page, fields, structured)
    if number := number_in_heading(heading, page.url, fields):
        fields["name"] = fields["name"].removesuffix(f" ({number})")
        fields["sku"] = number
    elif "sku" not in fields and (number := number_beside(heading)):
        fields["name"] = fields["name"].removesuffix(f"[{number}]").rstrip()
        fields["sku"] = number


def _take_brand(heading: Element, page: Page, fields: Fields, structured: Fields) -> None:
    """Take the brand above the heading; from beside it only where no other source has one."""
    if "brand" not in fields:
        brand = brand_before(heading, page.title)
        if not (brand or structured.get("brand")):
            name = fields.get("name") or structured.get("name") or ""
            brand = maker_beside(heading) or maker_elsewhere(page, heading, name)
        fields["brand"] = brand
    elif " " in fields["brand"]:
        # The maker's firm is called after the brand: "Acme Lamps Ltd" in a row, `Acme` above it or
        # on a logo.
        brand = brand_before(heading, page.title)
        if brand is None and is_firm(fields["brand"]):
            brand = maker_beside(heading)
        if brand and f" {brand} " in f" {fields['brand']} ":
            fields["brand"] = brand


def glance(page: Page, structured: Fields) -> Visible:
    """Read only the lines next to the heading, on a page with structured data.

    Fields that *structured* has are not read.
    """
    heading = heading_of(page, structured.get("name"))
    if heading is None:
        return Visible()
    walk = _lines.read_next_to(heading, _LINES_AROUND)
    signs = Visible(lines=walk.lines)
    if "regular_price" not in structured:
        local = local_currency_of(page)
        find_price(walk, signs, local, tiles=False)
        if signs.fields.get("price", price := structured.get("price")) != price:
            signs = _outside_tiles(walk, local, price) or signs
        if signs.fields.get("price") == price:
            signs.priced_as_service = _is_rented(walk, signs, local)
        elif any(map(page.holds, _STRIKES)):
            signs = _reduced_above(page, heading, local, structured) or signs
    find_facts(walk, signs)
    take_confirmed(signs, structured, page.url)
    brand = structured.get("brand")
    if not brand or page.title.endswith(brand):  # the shop's name stands for the maker's
        _take_brand(heading, page, signs.fields, structured)
    # Some templates write "LimitedAvailability" for sold out products.
    stock = structured.get("availability")
    if stock in {None, "LimitedAvailability"} or _contradicts(walk, stock):
        read_stock(walk, signs, bool(structured.get("price")), page.url)
    if "rating" not in structured or "review_count" not in structured:
        take_rating(walk, signs.fields)
    if not structured.get("images"):
        signs.fields["images"] = pictures_called(page, structured.get("name"))
    return _without_empty(signs)


def _outside_tiles(walk: Lines, local: str | None, price: object) -> Visible | None:
    """Return the known price as it is shown outside of tiles, which may repeat another one."""
    signs = Visible(lines=walk.lines)
    find_price(walk, signs, local)
    return signs if signs.fields.get("price") == price else None


def _is_rented(walk: Lines, signs: Visible, local: str | None) -> bool:
    """Whether words behind the price make it a period's or a person's, and no button sells goods.

    Shops call a box for storage a product as well, in their structured data.
    """
    line = walk.lines[signs.price_line or 0]
    if not line.text[-3:].isalpha() or not (
        is_for_persons(line) or is_of_period(walk, line, signs.fields["price"], local)
    ):
        return False
    return not any(
        line.flags & _lines.BUTTON and buys_in_short(line.text) for line in walk.product_lines
    )


def _contradicts(walk: Lines, stock: str) -> bool:
    """Whether a button, a box or a label has another stock than *stock*.

    An enabled button buys what cannot be had, or none buys what is in stock.
    """
    marked = _lines.STOCK | _lines.BUTTON
    lines = [line for line in walk.product_lines if line.flags & marked]
    if stock == "InStock" or stock in UNAVAILABLE:
        sells = any(
            line.flags & _lines.BUTTON
            and buys_in_short(line.text)
            and not is_disabled(line.element)
            for line in lines
        )
        if sells == (stock in UNAVAILABLE):
            return True
    stocks = map(availability_of_text, map(_TEXT, lines))
    labelled = map(STOCK_BEHIND_LABEL.__getitem__, map(_TEXT, walk.product_lines))
    return not {None, stock}.issuperset(chain(stocks, labelled))


def _reduced_above(
    page: Page, heading: Element, local: str | None, structured: Fields
) -> Visible | None:
    """Return the known price with the price before it, which some designs have above the heading."""
    signs = _read_price(_lines.read_all(page, heading), local, structured)
    is_same = signs.fields.get("price") == structured.get("price")
    return signs if is_same and "regular_price" in signs.fields else None


def _without_empty(signs: Visible) -> Visible:
    for name in [name for name, value in signs.fields.items() if not value and value != 0]:
        del signs.fields[name]
    return signs


def _is_nearer(signs: Visible, other: Visible) -> bool:
    """Whether a price is nearer to the heading; a sold out product may have lost its price."""
    if signs.price_distance is None:
        return False
    distance = other.price_distance if "price" in other.fields else None
    return distance is None or signs.price_distance < distance


def _read_price(walk: Lines, local: str | None, structured: Fields) -> Visible:
    signs = Visible()
    find_price(walk, signs, local, shop_currency=structured.get("currency"))
    if signs.price_distance is None and not structured.get("price"):
        take_free(walk, signs)
    return signs


def _number_of_shop(signs: Visible, page: Page) -> str | None:
    """Return the value of an attribute whose label is the shop's name and a number's label.

    `Acme part number` is the maker's where Acme is no shop; in Romance languages the name is last.
    In a line the name alone may stand before the number's sign: `Acme # 1234`.
    """
    site = host_of(page.url)
    for label, value in (*signs.fields.get("attributes", {}).items(), *signs.further_facts):
        if " " not in label:
            continue
        name, _, tail = label.partition(" ")
        if tail == "#" and says_host(name.casefold(), site):
            return as_number(value)
        name = name_in_label(label)
        if not name:
            continue
        if says_host(name.casefold(), site) or without_site_name(page.title, name) != page.title:
            return str(value)
    return None


def _read_signs(signs: Visible, walk: Lines, priced: bool, page: Page) -> Visible:
    find_facts(walk, signs)
    if "sku" not in signs.fields:
        if number := _number_of_shop(signs, page):
            signs.fields["sku"] = number
        else:
            take_addressed(walk, signs, page.url)
    prefer_brand(walk, signs)
    read_stock(walk, signs, priced or "price" in signs.fields, page.url)
    if signs.buy_buttons > 1 and not priced:
        take_variants(walk, signs, local_currency_of(page))
    if says_unavailable(signs):
        signs.numbers_row = not priced and is_number_of_row(walk, signs, page.url)
        in_brackets = signs.words_before.strip() == "("  # a remark: ($4 a serving)
        if (signs.price_may_be_anothers or in_brackets) and not signs.buy_buttons:
            forget_price(signs)
    take_rating(walk, signs.fields)
    if signs.price_distance is None:
        asks = asks_for_price(walk, _first_tile(walk) if signs.cards else len(walk.lines))
        signs.on_request = asks or has_button_for_price(walk)
        if signs.on_request:
            signs.price_marked = asks_in_price_box(walk)
            signs.asks = not signs.buy_buttons and asks_for_quote(walk)
    return signs


def _first_tile(walk: Lines) -> int:
    """Return the place of the first line that is a tile's title, behind the page's heading."""
    title = _lines.HEADING | _lines.LINK | _lines.CARD
    titles = (n.index for n in walk.lines[walk.heading + 1 :] if n.flags & title == title)
    return next(titles, len(walk.lines))


def _weigh_buttons(walk: Lines, signs: Visible, page: Page) -> None:
    """Drop the buttons that order a service, and look for one that asks the seller instead.

    Without a caption that buys, a button's form may say that it puts the product into the cart.
    """
    is_offered = "price" in signs.fields and not signs.cards
    if signs.buy_buttons and orders_service(walk, signs):
        signs.buy_buttons, signs.sells = 0, False
        if signs.fields.get("availability") == "InStock":
            del signs.fields["availability"]
    elif is_offered and not (signs.buy_buttons or says_unavailable(signs)) and puts_in_cart(page):
        signs.count_buttons(1, in_words=False)
        signs.sells, signs.fields["availability"] = True, signs.fields["availability"] or "InStock"
    if is_offered and not signs.buy_buttons:
        signs.asks = asks_seller(walk, signs.price_line or 0) and not is_price_of_service(
            walk, signs
        )


def forget_price(signs: Visible) -> None:
    """Remove a price that may be another product's, because sold out products often have none."""
    for name in ("price", "currency", "regular_price"):
        signs.fields.pop(name, None)
    signs.paths.pop("price", None)
    signs.price_distance, signs.price_in_prose = None, False
