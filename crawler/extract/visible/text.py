"""A product from what a visitor sees: heading, price near it, stock, tables of facts."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from itertools import islice, pairwise

from crawler.extract import lazy_patterns
from crawler.extract.fields import Fields
from crawler.extract.money.currencies import (
    currency_of_country,
    language_of_script,
    local_currency,
)
from crawler.extract.page import lines as _lines
from crawler.extract.page.lines import Lines
from crawler.extract.page.page import LONGEST, Element, Page, is_hidden, short_text
from crawler.extract.price.choice import find_price
from crawler.extract.price.free import take_free
from crawler.extract.price.on_request import asks_for_price
from crawler.extract.price.tiles import CARDS
from crawler.extract.stock.drawn_buttons import take_drawn
from crawler.extract.stock.shown import asks_seller, is_gone, read_stock, told_above
from crawler.extract.visible.facts import (
    brand_before,
    find_facts,
    number_beside,
    number_in_heading,
    take_addressed,
    take_confirmed,
)
from crawler.extract.visible.makers import maker_beside
from crawler.extract.visible.pictures import named_pictures, picture_beside
from crawler.extract.visible.plain_offers import weigh_offer
from crawler.extract.visible.price_in_attributes import take_attribute
from crawler.extract.visible.price_in_options import take_option
from crawler.extract.visible.priced_heading import (
    beside_price,
    is_general,
    is_logo,
    is_of_frame,
    says_host,
)
from crawler.extract.visible.ratings import take_rating
from crawler.extract.visible.titles import (
    BOXES,
    MOST_BOXES,
    begins_with_shop,
    host_of,
    named_by_title,
    title_parts,
)
from crawler.extract.visible.without_heading import labelled_name, name_before, take_labelled
from crawler.extract.visible_signs import Visible
from crawler.extract.words import Marks

_LONGEST_CLASS = 1_000
_WORDS = lazy_patterns.pattern(r"\w+")
#: Classes and ids of boxes with a product's name, where no heading and no title tells one; and letters of a heading's size.
_NAMES_PRODUCT = re.compile(
    r"(?:product|prod|item|goods|artikel|produkt|produs|tovar|urun|lbl)[-_]{0,2}"
    r"(?:name|title|naam|nazwa|nazev|naziv|titel|adi)(?![-_\w])"
    r"|(?<![a-z])(?:page|main|content)[-_]?(?:heading|title)(?![-_\w])",
    re.I,
).search
_LARGE = frozenset({"4", "5", "6", "7", "+1", "+2", "+3", "+4"})
#: The score of a heading that no title speaks of.
_UNSPOKEN = 3.0
#: The least score of a product's heading: a second heading says a part of the title.
_ENOUGH = 2.4
_HEADINGS, _MOST_HEADINGS = ("h1", "h2", "h3"), 80
_SHORTEST_CALLED = 3
#: Elements in a box that may be a name.
_MOST_STEPS = 60
_LONGEST_WORDS = 200
_NEAR = 60
_GLANCE = 40


def heading_of(page: Page, expected: str | None = None) -> Element | None:
    """The element with the product's name: of all headings the one the title speaks of."""
    wanted = expected or ""
    if wanted not in page.named:
        page.named[wanted] = _heading_of(page, wanted)
    return page.named[wanted]


def _heading_of(page: Page, expected: str) -> Element | None:
    best, best_score, framed = None, 0.0, None
    title, site = page.title[:LONGEST].casefold(), page.meta("og:site_name").casefold()
    known = (expected or page.meta("og:title"))[:LONGEST].casefold()
    headings = [h for h in page.headings[:_MOST_HEADINGS] if not is_hidden(h)]
    for element in [h for tag in _HEADINGS for h in headings if h.tag == tag]:
        text = short_text(element).casefold()
        # A shop that names itself by each page's title names nothing.
        shops = site and text == site != known
        if not text or shops or is_general(text) or is_logo(page, element):
            continue
        score = _score(element, text, title, known, page.url)
        if score > best_score and is_of_frame(element):
            framed = framed if framed is not None else element
        elif score > best_score:
            best, best_score = element, score
        if best_score >= 5.5:
            break
    if best_score <= _UNSPOKEN:
        named = named_by_title(page, (known, title))
        if named is not None and not is_of_frame(named) and not is_general(short_text(named)):
            return named if named.getnext() is not best or best_score < _ENOUGH else best
    if best is None and not any(map(short_text, headings)):
        return beside_price(page) or _large(page)
    if best is not None and best.tag == "h1":
        best = _second_of_two(best, title)
    near = best if best_score >= _ENOUGH else beside_price(page)
    return _not_the_titles(framed, title) if near is None else near


def _not_the_titles(framed: Element | None, title: str) -> Element | None:
    """A heading of the page's head, unless it is all that the title says: the shop's own name."""
    told = framed is not None and short_text(framed).casefold() == title
    return None if told else framed


def _second_of_two(heading: Element, title: str) -> Element:
    """The heading right behind a first one, where the title says both: maker and name."""
    following = heading.getnext()
    if following is None or following.tag != heading.tag:
        return heading
    both = f"{short_text(heading)} {short_text(following)}".casefold()
    return following if both in title else heading


def _score(element: Element, text: str, title: str, known: str, url: str) -> float:
    """How much speaks for a heading: its tag, its mark, and that the page is called so."""
    # Few headings begin like the host, which costs least to ask.
    if text[:4] in url[: url.find("/", 8)] and begins_with_shop(title, text, url):
        return 0.0
    score = 3.0 if element.tag == "h1" and not _is_shops(text, title, url) else 0.0
    if element.get("itemprop") == "name":
        score += 3
    return score + 3 * likeness(text, known) + 2.5 * likeness(text, title)


def _is_shops(text: str, title: str, url: str) -> bool:
    """Whether a heading is the end of the title, and says the host's name: it is the shop's.

    >>> _is_shops("red house", "oak lamp - red house", "https://www.redhouse.example/12")
    True
    >>> _is_shops("oak lamp", "red house - oak lamp", "https://www.redhouse.example/12")
    False
    """
    return title.endswith(text) and not title.startswith(text) and says_host(text, host_of(url))


def _large(page: Page) -> Element | None:
    """What stands for the heading of a page that has none, and whose title says no text of it.

    A box that is called a product's name, else the first text in large letters.
    """
    large = None
    for element in islice(page.root.iter(*BOXES, "big"), MOST_BOXES):
        called = _CALLED_PRODUCT[f"{element.get('class')} {element.get('id')}"]
        if not called and (large is not None or not _is_large(element)):
            continue
        text = short_text(element, _LONGEST_WORDS, _MOST_STEPS)
        linked = next(element.iter("a"), None) is not None or element.getparent().tag == "a"
        if not _SHORTEST_CALLED <= len(text) < _LONGEST_WORDS or linked or text.endswith(":"):
            continue
        if called:
            return element
        large = element
    return large


_CALLED_PRODUCT = Marks(lambda words: _NAMES_PRODUCT(words) is not None)


def _is_large(element: Element) -> bool:
    size = element.get("size") if element.tag == "font" else None
    return element.tag == "big" or (size or "").strip() in _LARGE


@lru_cache(maxsize=512)
def likeness(text: str, whole: str) -> float:
    """How much of a title a heading says, from 0 to 1; letters' cases tell.

    >>> likeness("red lamp", "red lamp"), likeness("red lamp", "red lamp | shop")
    (1.0, 1.0)
    >>> round(likeness("red lamp (12)", "shade 12 for a lamp"), 3), likeness("about us", "red lamp")
    (0.533, 0.0)
    """
    if not whole:
        return 0.0
    if whole.startswith(text):
        return 1.0
    if text in whole:
        return 0.97 if text in title_parts(whole) else 0.6
    if len(whole) > 3 and whole in text:
        return 0.8
    mine, others = set(_WORDS.findall(text)), set(_WORDS.findall(whole))
    shared = len(mine & others) / max(len(mine), 1)
    return 0.8 * shared if shared >= 0.5 else 0.0


def visible(page: Page, known: Fields | None = None) -> Visible:
    """Read a product from the page's visible text; *known* is what other sources tell."""
    known = known or {}
    heading = heading_of(page, known.get("name"))
    local = currency_of_place(page)
    priced = bool(known.get("price"))
    read = _lines.read(page, heading)
    boxes, behind = read.described, read.lines[max(read.heading, 0) :]
    seen = _rest_seen(_price_seen(read, local, known), read, priced, page.url)
    lost = seen.price_distance is None or seen.price_distance > _NEAR or seen.price_after_link
    lost = lost or "price" not in seen.fields
    if heading is not None and lost and (seen.cards < CARDS or 1 <= seen.buy_buttons < CARDS):
        # Some designs put the price before the name.
        read = _lines.read_all(page, heading)
        whole = _price_seen(read, local, known)
        if _is_nearer(whole, seen) and _is_nearer(_rest_seen(whole, read, priced, page.url), seen):
            seen = whole
    fields, seen.described, seen.lines = seen.fields, boxes, behind
    take_confirmed(seen, known)
    if seen.price_is_loose and not seen.price_marked:
        take_labelled(read, seen)
    if "price" not in fields and not seen.cards and not seen.lone_cards:
        _take_price_elsewhere(page, read, seen, local)
    beside = heading
    if heading is None:
        heading, beside = _unheaded(page, read, seen, known)
        seen.beside = beside
    if heading is not None:
        _take_beside(heading, page, seen, known)
    pictures = named_pictures(page, fields.get("name"))
    seen.pictured = bool(pictures)
    fields["images"] = pictures or picture_beside(beside)
    if seen.price_line is not None and not (seen.buy_buttons or seen.cards or known.get("price")):
        seen.weigh_offer = partial(weigh_offer, read, seen, local, beside, page.raw)
    return _without_nothing(seen)


def _take_price_elsewhere(page: Page, read: Lines, seen: Visible, local: str | None) -> None:
    """A price that no amount of the page tells: behind a label, in an attribute, in a choice."""
    take_labelled(read, seen)
    if "price" not in seen.fields:
        take_attribute(page, seen, local)
    if "price" not in seen.fields and seen.buy_buttons:
        take_option(page, seen, local)


def _unheaded(
    page: Page, read: Lines, seen: Visible, known: Fields
) -> tuple[Element | None, Element | None]:
    """What stands for the heading of a page without one, and by what its picture stands."""
    if seen.price_line is not None:
        found = name_before(read, seen.price_line)
        if found is not None:
            page.named[known.get("name") or ""] = found
            return found, found
    labelled = None if seen.cards else labelled_name(read)
    if labelled is None:
        return None, None
    seen.fields["name"] = labelled[0]
    return None, labelled[1]


def _take_beside(heading: Element, page: Page, seen: Visible, known: Fields) -> None:
    """Take what a heading says, and what stands in the boxes beside it."""
    fields = seen.fields
    if not (seen.buy_buttons or fields.get("availability")):
        fields["availability"] = told_above(heading)
        if seen.price_may_be_anothers and is_gone(seen):
            _forget_price(seen)
        if "price" in fields and not fields["availability"]:
            take_drawn(page, seen)
    fields["name"] = _part_in_title(heading, page) or _spaced(_name_in(heading), heading, page)
    if "brand" not in fields:
        told = brand_before(heading, page.title)
        fields["brand"] = told if told or known.get("brand") else maker_beside(heading)
    if number := number_in_heading(heading, page.url):
        fields["name"] = fields["name"].removesuffix(f" ({number})")
        fields["sku"] = number
    elif "sku" not in fields and (number := number_beside(heading)):
        fields["name"] = fields["name"].removesuffix(f"[{number}]").rstrip()
        fields["sku"] = number


def _part_in_title(heading: Element, page: Page) -> str | None:
    """The box of a heading of several that is a whole part of the title: a slogan stands beside it."""
    if len(heading) < 2 or (heading.text or "").strip():
        return None
    told = title_parts(page.title)[:1]
    parts = (short_text(inner) for inner in islice(heading, _MOST_STEPS))
    return next((part for part in parts if part in told), None)


def _name_in(heading: Element) -> str:
    """A heading's text, up to a box in it that holds the product's number, or that number's label."""
    parts = [heading.text or ""]
    for inner in heading:
        if inner.tag == "br" and heading.tag not in _HEADINGS and parts[0].strip():
            return " ".join(parts[0].split())[:LONGEST]  # the number is below it
        if inner.tag == "small" and parts[0].strip() and _BY(short_text(inner)):
            return " ".join("".join(parts).split())[:LONGEST]
        called = f"{inner.get('class') or ''} {inner.get('id') or ''}".strip()
        if called and _ENDS_NAME[called] and "".join(parts).strip():
            return " ".join("".join(parts).split())[:LONGEST].rstrip(" -–—|(:#,")
        parts += [short_text(inner), inner.tail or ""]
    return short_text(heading)


def _spaced(name: str, heading: Element, page: Page) -> str:
    """A name with a blank where two of its boxes meet, if the page's titles have both words apart."""
    if not len(heading):
        return name
    parts = [heading.text or ""]
    for inner in heading:
        parts += [short_text(inner), inner.tail or ""]
    told = f"{page.title} {page.meta('og:title')}".casefold()
    words = None
    for one, two in pairwise(part for part in parts if part):
        if one[-1:].isalnum() and two[:1].isalnum():
            words = words or set(_WORDS.findall(told))
            last, first = _WORDS.findall(one)[-1], _WORDS.findall(two)[0]
            apart = {last.casefold(), first.casefold()} <= words
            if apart and f"{last}{first}".casefold() not in words:
                name = name.replace(f"{last}{first}", f"{last} {first}", 1)
    return name


#: Who made a thing, behind its name.
_BY = re.compile(r"\W{0,2}(?:by|von|par|от|door)\s+\S").match
#: Classes and ids of a product's number, and of what a design writes below its name.
_ENDS_NAME = Marks(
    lambda words: (
        re.search(
            r"(?:^|[\s_-])(?:sku|(?:product|item|article|artikel)[-_]?(?:code|no|nr|number|id)|model-?no)"
            r"(?:[-_]?(?:value|label|title))?(?=\s|$)|sub[-_]?(?:title|heading|headline)\b",
            words[:_LONGEST_CLASS].lower(),
        )
        is not None
    )
)


def glance(page: Page, known: Fields) -> Visible:
    """Read only the lines next to the heading, on a page whose structured data tells the rest.

    What is *known* from there is not looked for.
    """
    heading = heading_of(page, known.get("name"))
    if heading is None:
        return Visible()
    read, seen = _lines.read_next_to(heading, _GLANCE), Visible()
    if "regular_price" not in known:
        find_price(read, seen, currency_of_place(page), tiles=False)
    find_facts(read, seen)
    take_confirmed(seen, known)
    if known.get("availability") in {None, "LimitedAvailability"}:  # of none, in some templates
        read_stock(read, seen, bool(known.get("price")), page.url)
    if "rating" not in known or "review_count" not in known:
        take_rating(read, seen.fields)
    return _without_nothing(seen)


def _without_nothing(seen: Visible) -> Visible:
    for name in [name for name, value in seen.fields.items() if not value and value != 0]:
        del seen.fields[name]
    return seen


def _is_nearer(one: Visible, other: Visible) -> bool:
    """Whether a price stands nearer to the heading than another; it may be lost with the stock."""
    told = other.price_distance if "price" in other.fields else None
    return (one.price_distance or 999) < (told or 999)


def _price_seen(read: Lines, local: str | None, known: Fields) -> Visible:
    seen = Visible()
    find_price(read, seen, local, own=known.get("currency"))
    if seen.price_distance is None and not known.get("price"):
        take_free(read, seen)
    return seen


def _rest_seen(seen: Visible, read: Lines, priced: bool, own: str) -> Visible:
    find_facts(read, seen)
    take_addressed(read, seen, own)
    read_stock(read, seen, priced or "price" in seen.fields, own)
    if seen.price_may_be_anothers and not seen.buy_buttons and is_gone(seen):
        _forget_price(seen)
    take_rating(read, seen.fields)
    if "price" in seen.fields and not seen.buy_buttons and not seen.cards:
        seen.asks = asks_seller(read)
    if seen.price_distance is None:
        seen.on_request = asks_for_price(read, len(read.lines))
    return seen


def _forget_price(seen: Visible) -> None:
    """Leave out an amount that may be another thing's: what cannot be had often has no price."""
    for name in ("price", "currency", "regular_price"):
        seen.fields.pop(name, None)
    seen.paths.pop("price", None)
    seen.price_distance, seen.price_in_prose = None, False


def currency_of_place(page: Page) -> str | None:
    """The money of the country that the page's address and language speak of."""
    tongue, host_ = page.lang or language_of_script(page.title), host_of(page.url)
    if "-" not in tongue and local_currency(host_, "", page.url) is None:
        # The end of a title, behind the product's name: "Buy online in South Africa".
        site = page.meta("og:site_name")
        # What divides a title is asked only where the title names a country, because it costs more.
        whole = currency_of_country(f"{site} {page.title}")
        told = whole and currency_of_country(" ".join((site, *title_parts(page.title)[1:])))
        if told:
            return told
    return local_currency(host_, tongue, page.url)
