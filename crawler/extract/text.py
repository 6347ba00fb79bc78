"""A product from what a visitor sees: heading, price near it, stock, tables of facts."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

import attrs

from crawler.extract import lines as _lines
from crawler.extract.availability import BUY, availability_of_text
from crawler.extract.lines import Line, Lines
from crawler.extract.page import Element, Page, text_of
from crawler.extract.prices import HINT, Money, find_prices, local_currency, parse_price
from crawler.extract.schema import Fields, gtin, trail
from crawler.urls import host

_DIGIT = re.compile(r"\d")
_OTHER_AMOUNT = re.compile(
    r"shipping|delivery|versand|livraison|envío|spedizione|frete|porto|\bsave\b|you save|spare"
    r"|ersparnis|économ|ahorra|\boff\b|rabatt|discount|monat|month|/\s?mo\b|\bmois\b|al mes|mensual"
    r"|rate[ns]?\b|instal|klarna|paypal|afterpay|deposit|pfand|points|punkte|orders? over|über"
    r"|free |gratis|voucher|gift card|coupon|minimum|subtotal|cart|warenkorb|basket|tax(?:es)?:"
    r"|\bcashback\b|per week|rassrochk|рассроч|доставк|najniższa cena|lowest price|niedrigster|laagste"
    r"|prix le plus bas|lägsta pris|эконом|à vista no boleto|\bex\.? tax|excl\.? (?:vat|tax)|netto"
    r"|parcelas|or more|ab \d+ stück|payments? of|frakt|tax\b",
    re.I,
)
_OTHER_LABEL = re.compile(
    r"unit price|base price|grundpreis|you save|savings?|ersparnis|tax\b|shipping|versand|deposit"
    r"|lowest price|najniższa cena|niedrigster|ex\.? tax|excl|points",
    re.I,
)
_OLD_WORDS = re.compile(
    r"\b(?:was|rrp|r\.r\.p|msrp|list price|regular price|regular|original price|originally|old"
    r" price|before|retail|compare at|uvp|statt|vorher|bisher|alter preis|ursprünglich|unverb|avant"
    r"|prix (?:conseillé|barré|d'origine)|au lieu de|antes|precio (?:anterior|habitual|normal)"
    r"|prezzo (?:precedente|di listino)|anziché|invece di|de por|van|adviesprijs|ord\.? pris"
    r"|tidigare|före|før|førpris|стара|старая цена|mrp)\b|\bde:|通常価格|原价|原價",
    re.I,
)
_PER_UNIT = re.compile(
    r"^\s*\)?\s*(?:/|per|pro|je|par|por|al|za)\s*(?:\d+[.,]?\d*\s*)?(?:k?g|mg|m?l|cl|m[²2³]?|cm|lb"
    r"|oz|stk|stück|liter|litre|kilo|unit|st\b|tab|blatt)\b",
    re.I,
)
_RANGE = re.compile(r"^\s*(?:[-–—]|to|bis|à|a)\s*$", re.I)
_LABELS = (
    ("sku", r"sku|item (?:no|number|nr|code|id|#)|art(?:ikel|\.)?[\s-]*(?:no|nr|nummer|num)|article"
     r" (?:no|number|nr)|product (?:code|no|number|id|sku)|(?:artikel|bestell|produkt|best)[\s.-]*"
     r"(?:nr|nummer|code)|réf(?:érence)?|ref(?:erence|erencia|erência|\.)?|reference (?:no|number)"
     r"|código(?: del producto| de producto)?|cod(?:ice)?\.?(?: prodotto| articolo)?|catalog(?:ue)?"
     r" (?:no|number)|model (?:no|number)?\s*/?\s*sku|artnr|varenr|varenummer|tuotenumero|artikl"
     r"|артикул|код(?: товара)?|kod produktu|symbol|cikkszám|商品番号|商品コード|品番|货号|型号"
     r"|stok kodu|ürün kodu|stock (?:code|no|number|id)|style (?:no|number|code|#)|part code|kód(?: produktu)?"),
    ("gtin", r"(?:gtin|ean|upc|jan|barcode|isbn)[\s-]*(?:8|1[0-4])?(?:[\s-]*(?:code|nummer|number"
     r"|no|nr))?|barcode \(\w+\)|ean[\s-]*/[\s-]*\w+|gtin[\s/]+\w+|strichcode|code[\s-]barres|"
     r"código de barras|codice ean|kod ean|штрих-?код|vonalkód|jan ?コード|条形码|streckkod"),
    ("mpn", r"mpn|manufacturer(?:'s)? (?:part|product|item|article|no)\s*(?:no|number|nr|code)?"
     r"|(?:mfr|mfg|man|oem|hersteller|hst)[\s.-]*(?:part|art(?:ikel)?|teile)?[\s.-]*(?:no|nr|nummer"
     r"|number|code|#)|part (?:no|number|nr|#)|herstellernummer|référence fabricant|producent kod"
     r"|kod producenta|referencia del fabricante"),
    ("brand", r"brand(?: name)?|manufacturer|marke|hersteller|marque|fabricant|marca|fabricante"
     r"|produttore|merk|fabrikant|marka|producent|бренд|производитель|виробник|märke|varumärke"
     r"|tillverkare|mærke|merke|merkki|valmistaja|značka|výrobce|výrobca|gyártó|brend|producător"
     r"|ブランド|メーカー|品牌|브랜드|제조사|vendor|publisher|verlag"),
)  # fmt: skip
_STOCK_LABEL = re.compile(
    r"(?:availability|stock(?: status)?|verfügbarkeit|lieferstatus|disponibilit[éàa]|disponibilidad"
    r"|disponibilidade|beschikbaarheid|dostępność|наличие|dostupnost|lagerstatus|készlet)\s*:?",
    re.I,
)
_LABEL_RULES = [
    (field, re.compile(rf"(?:{words})\.?(?:\s*\([^)]*\))?", re.I)) for field, words in _LABELS
]
_PAIR = re.compile(r"([^:：#]{2,40}?)\s*(?:[:：#]|\bis\b)\.?\s*(\S.{0,80})")
_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "zero": 0}
_OUT_OF = re.compile(
    r"(\d(?:[.,]\d+)?)\s*(?:/|out of|of|von|sur|de|su|av|van|z|из|stars?|sterne|étoiles)\s*"
    r"(?:max\.?\s*)?(5|10)?\b", re.I
)  # fmt: skip
_COUNT = re.compile(
    r"\(?\s*(\d[\d.,]*)\s*(?:customer |user |global |verified )?(?:reviews?|ratings?|bewertungen"
    r"|rezensionen|avis|opiniones|recensioni|avaliações|opinii|отзыв\w*|beoordelingen|omdömen"
    r"|reseñas|valutazioni|votes?|hodnocení|anmeldelser)\b", re.I
)  # fmt: skip
_DIGIT = re.compile(r"\d")
_MOST_BEFORE = 3000
_LONGEST_STOCK = 70
_LONGEST_VALUE = 120
_CARDS = 3
_NEAR = 60
_GLANCE = 40


@attrs.define(kw_only=True)
class Visible:
    """What a page shows, and the signs by which its kind is told."""

    fields: Fields = attrs.Factory(dict)
    price_distance: int | None = None
    """Lines between heading and price."""
    buy_buttons: int = 0
    cards: int = 0
    """Prices in repeated structures: the tiles of a listing."""
    facts: int = 0
    """Labelled identifiers (SKU, GTIN, MPN)."""
    price_marked: bool = False


@attrs.frozen
class _Candidate:
    money: Money
    line: Line
    cost: int
    old: bool
    other: bool
    """Postage, instalments, savings: no price of the product."""
    follows_link: bool


def heading_of(page: Page, expected: str | None = None) -> Element | None:
    """The element with the product's name: of all headings the one the title speaks of."""
    best, best_score = None, 0.0
    title, site = page.title.casefold(), page.meta("og:site_name").casefold()
    known = (expected or page.meta("og:title")).casefold()
    for element in sorted(page.headings[:80], key=lambda heading: str(heading.tag)):
        text = text_of(element).casefold()
        if not text or (site and text == site):
            continue
        score = 3.0 if element.tag == "h1" else 0.0
        if element.get("itemprop") == "name":
            score += 3
        if text in known or (len(known) > 3 and known in text):
            score += 3 if text == known else 2.5
        if title.startswith(text):
            score += 2.5
        elif text in title:
            score += 1.5
        if score > best_score:
            best, best_score = element, score
        if best_score >= 5.5:
            break
    return best if best_score >= 2.5 else None


def visible(page: Page, expected: str | None = None) -> Visible:
    """Read a product from the page's visible text; *expected* is a name known already."""
    heading = heading_of(page, expected)
    local = local_currency(_host(page.url), page.lang)
    seen = _seen(_lines.read(page, heading), local)
    lost = seen.price_distance is None or seen.price_distance > _NEAR
    if heading is not None and lost and seen.cards < _CARDS:
        # Some designs put the price before the name.
        whole = _seen(_lines.read_all(page, heading), local)
        if (whole.price_distance or 999) < (seen.price_distance or 999):
            seen = whole
    fields = seen.fields
    if heading is not None:
        fields["name"] = text_of(heading)
    fields["images"] = _images(page, fields.get("name"))
    fields["description"] = page.meta("description") or None
    return _without_nothing(seen)


def glance(page: Page, name: str | None) -> Visible:
    """Read only the lines next to the heading, on a page whose structured data tells the rest."""
    heading = heading_of(page, name)
    if heading is None:
        return Visible()
    local = local_currency(_host(page.url), page.lang)
    return _without_nothing(_seen(_lines.read(page, heading, _GLANCE), local))


def _without_nothing(seen: Visible) -> Visible:
    for name in [name for name, value in seen.fields.items() if value in (None, "", [], {})]:
        del seen.fields[name]
    return seen


def _seen(read: Lines, local: str | None) -> Visible:
    seen = Visible()
    _price(read, seen, local)
    _facts(read, seen)
    _stock(read, seen)
    _rating(read, seen.fields)
    return seen


def breadcrumbs(page: Page, name: str | None) -> list[str]:
    """The categories of the page's visible trail, which stands before the heading."""
    if b"rumb" not in page.raw:
        return []
    heading = heading_of(page, name)
    here = {page.url, page.canonical}
    tags = page.root.iter(
        "nav",
        "ol",
        "ul",
        "div",
        "p",
        "td",
        "section",
        str(heading.tag) if heading is not None else "h1",
    )
    for element, _ in zip(tags, range(_MOST_BEFORE), strict=False):
        if element is heading:
            break
        if not _is_trail(element.get("class") or "", element.get("id") or "") and not _is_trail(
            element.get("aria-label") or "", ""
        ):
            continue
        links = (a for a in element.iter("a") if page.resolve(a.get("href") or "") not in here)
        found = trail([text_of(a) for a in links], name)
        if found:
            return found
    return []


@lru_cache(maxsize=4096)
def _is_trail(words: str, name: str) -> bool:
    return "crumb" in words.lower() or "crumb" in name.lower()


def _host(url: str) -> str:
    try:
        return host(url)
    except ValueError:
        return ""


def _signature(element: Element) -> str:
    parts = []
    here = element
    for _ in range(4):
        if here is None:
            break
        parts.append(f"{here.tag}.{here.get('class') or ''}")
        here = here.getparent()
    return " ".join(parts)


def _candidates(read: Lines, seen: Visible, local: str | None) -> list[_Candidate]:
    found: list[_Candidate] = []
    groups: Counter[str] = Counter()
    marks: list[str] = []
    for line in read.lines:
        if line.flags & _lines.HIDDEN or not _DIGIT.search(line.text):
            continue
        monies = _monies(line, local)
        if not monies:
            continue
        mark = _signature(line.element)
        groups[mark] += not line.flags & _lines.OLD
        place = _Place(
            line, line.index - read.heading, _label_before(read, line), _follows_link(read, line)
        )
        since = 0
        for money in monies:
            marks.append(mark)
            found.append(_judged(money, place, since))
            since = money.end
    cards = {mark for mark, count in groups.items() if count >= _CARDS}
    seen.cards = sum(groups[mark] for mark in cards)
    return [
        c
        for c, mark in zip(found, marks, strict=True)
        if mark not in cards and not c.line.flags & _lines.ELSEWHERE
    ]


def _label_before(read: Lines, line: Line) -> str:
    """The text of the line before, where it may say what an amount is."""
    place = line.index - 1
    while place > 0 and read.lines[place].flags & _lines.HIDDEN:
        place -= 1
    text = read.lines[place].text if place >= 0 else ""
    return text if len(text) < 40 and not _DIGIT.search(text) else ""


def _follows_link(read: Lines, line: Line) -> bool:
    """Whether the line comes right after a link, as the price in a listing's tile does."""
    place = line.index - 1
    while place > 0 and read.lines[place].flags & (_lines.OLD | _lines.HIDDEN):
        place -= 1
    return place > read.heading and bool(read.lines[place].flags & _lines.LINK)


def _monies(line: Line, local: str | None) -> list[Money]:
    text = line.text
    if HINT.search(text):
        monies = list(find_prices(text, local))
        if monies:
            return monies
    if line.flags & _lines.PRICE and len(text) < 20:
        money = parse_price(text, local)
        if money and money.end - money.start >= len(text) - 6:
            return [money]
    return []


@attrs.frozen
class _Place:
    """What stands around an amount."""

    line: Line
    distance: int
    """Lines after the heading; negative before it."""
    label: str
    """The line before, where it may say what an amount is."""
    follows_link: bool


def _judged(money: Money, place: _Place, since: int) -> _Candidate:
    """Weigh an amount; *since* is where the amount before it ends in the same line."""
    line, label = place.line, "" if since else place.label
    text = line.text
    before = text[since : money.start]
    cost = place.distance if place.distance >= 0 else 10 - place.distance * 3
    if not line.flags & _lines.PRICE:
        cost += 10
    if place.follows_link:
        cost += 12
    if money.currency is None:
        cost += 8
    cost += min(60, max(0, len(text) - 40) // 2)
    other = _OTHER_AMOUNT.search(text) is not None or _OTHER_LABEL.search(label) is not None
    if _PER_UNIT.match(text[money.end :]):
        other = True
    if other:
        cost += 60
    if line.flags & _lines.LINK:
        cost += 40
    if since and _RANGE.match(before):
        cost += 5
    if not money.value:
        cost += 100
    old = bool(line.flags & _lines.OLD) or _OLD_WORDS.search(before[-40:]) is not None
    old = old or (not before.strip() and _OLD_WORDS.search(label) is not None)
    return _Candidate(money, line, cost, old, other, place.follows_link)


def _price(read: Lines, seen: Visible, local: str | None) -> None:
    candidates = _candidates(read, seen, local)
    new = [c for c in candidates if not c.old]
    best = min(new, key=lambda c: c.cost, default=None)
    first = min(candidates, key=lambda c: c.cost, default=None)
    if first is None:
        return
    if best is None or (first.cost < best.cost - 20 and not _beside(first, best)):
        best = first  # a class says "regular price", and there is no other
    if best.cost > 150:
        return
    seen.fields["price"] = best.money.value
    seen.fields["currency"] = best.money.currency
    seen.price_distance = best.cost
    seen.price_marked = bool(best.line.flags & _lines.PRICE)
    before = [c for c in candidates if c.old and not c.other and _is_before(c, best)]
    if before:
        nearest = min(before, key=lambda c: abs(c.line.index - best.line.index))
        seen.fields["regular_price"] = nearest.money.value


def _beside(one: _Candidate, other: _Candidate) -> bool:
    return abs(one.line.index - other.line.index) <= 12


def _is_before(old: _Candidate, new: _Candidate) -> bool:
    """Whether an amount is what the price was before."""
    return (
        _beside(old, new)
        and (new.follows_link or not old.follows_link or bool(old.line.flags & _lines.PRICE))
        and old.money.value > new.money.value
        and old.money.currency in {new.money.currency, None}
    )


@lru_cache(maxsize=4096)
def _label(text: str) -> str | None:
    """The field that a label names."""
    text = text.strip().strip(":：.#*").strip()
    if not text or len(text) > 40:
        return None
    for field, rule in _LABEL_RULES:
        if rule.fullmatch(text):
            return field
    return None


def _facts(read: Lines, seen: Visible) -> None:
    attributes: dict[str, str] = {}
    for row in read.rows[:200]:
        pair = _row(row)
        if pair is None:
            continue
        field = _label(pair[0])
        if field:
            _take(seen, field, pair[1])
        elif len(pair[0]) < 60:
            attributes.setdefault(pair[0].rstrip(" :"), pair[1])
    start = max(read.heading, 0)
    for place, line in enumerate(read.lines[start:], start):
        if line.flags & (_lines.ELSEWHERE | _lines.HIDDEN) or len(line.text) > _LONGEST_VALUE:
            continue
        if line.flags & _lines.FACT and not line.flags & _lines.LABEL:
            _take_marked(seen, line)
        field = _label(line.text)
        if field and place + 1 < len(read.lines):
            _take(seen, field, read.lines[place + 1].text)
        elif ":" in line.text or "#" in line.text or "：" in line.text:
            match = _PAIR.match(line.text)
            field = _label(match[1]) if match else None
            if match and field:
                _take(seen, field, match[2])
        elif len(line.text) < 40 and _DIGIT.search(line.text):
            _take_unseparated(seen, line.text)
    if attributes:
        seen.fields["attributes"] = dict(list(attributes.items())[:60])


def _take_marked(seen: Visible, line: Line) -> None:
    """A value whose class names it: `<span class="sku">X-1</span>`."""
    words = (line.element.get("class") or "").lower()
    field = next((f for f in ("gtin", "mpn") if f in words), "sku")
    field = "gtin" if "ean" in words or "upc" in words else field
    if " " not in line.text and not line.text.endswith(":"):
        _take(seen, field, line.text)


def _take_unseparated(seen: Visible, text: str) -> None:
    """`Item no. 88-12`: the label ends where a word with a digit begins."""
    words = text.split(" ")
    for count in range(1, min(4, len(words))):
        if _DIGIT.search(words[count]):
            field = _label(" ".join(words[:count])) if len(words) == count + 1 else None
            if field and field != "brand":
                _take(seen, field, words[count])
            break


def _take(seen: Visible, field: str, value: str) -> None:
    value = value.strip(" :：").strip()
    if field == "gtin":
        value = gtin(value) or ""
    elif field in {"sku", "mpn"}:
        # An identifier holds a digit and is one word or two; else the line was a sentence.
        value = value if len(value) <= 40 and value.count(" ") <= 2 else ""
        value = "" if value.lower() in {"n/a", "-", "none"} or _label(value) else value
    elif len(value) > 60 or _label(value):
        value = ""
    if value and field not in seen.fields:
        seen.fields[field] = value
        seen.facts += field != "brand"


def _row(row: Element) -> tuple[str, str] | None:
    if row.tag == "dt":
        value = row.getnext()
        if value is None or value.tag != "dd":
            return None
        pair = text_of(row), text_of(value)
    else:
        cells = [cell for cell in row if cell.tag in {"th", "td"}]
        if len(cells) != 2:
            return None
        pair = text_of(cells[0]), text_of(cells[1])
    return pair if pair[0] and pair[1] else None


def _stock(read: Lines, seen: Visible) -> None:
    marked = loose = None
    labelled = usable = False
    for line in read.lines[max(read.heading, 0) :]:
        if line.flags & (_lines.ELSEWHERE | _lines.HIDDEN) or len(line.text) > _LONGEST_VALUE:
            labelled = False
            continue
        is_button = bool(line.flags & _lines.BUTTON) or len(line.text) < 40
        if is_button and BUY.search(line.text):
            seen.buy_buttons += 1
            usable = usable or not _disabled(line.element)
            labelled = False
            continue
        if line.flags & _lines.BADGE:
            continue
        is_mark = bool(line.flags & _lines.STOCK) or labelled
        labelled = _STOCK_LABEL.fullmatch(line.text) is not None
        if marked is None and is_mark:
            marked = availability_of_text(line.text)
        elif loose is None and len(line.text) <= _LONGEST_STOCK and not line.flags & _lines.LINK:
            found = availability_of_text(line.text)
            if found and (found != "InStock" or len(line.text) < 40):
                loose = found
    for element in read.inputs:
        says = element.get("value") or element.get("alt") or element.get("title") or ""
        if element.get("type") in {"submit", "image", "button"} and BUY.search(says):
            seen.buy_buttons += 1
            usable = usable or element.get("disabled") is None
    implied = "InStock" if usable and "price" in seen.fields else None
    seen.fields["availability"] = marked or loose or implied


def _disabled(element: Element) -> bool:
    here = element
    for _ in range(4):
        if here is None:
            break
        if here.tag == "button":
            return here.get("disabled") is not None
        here = here.getparent()
    return False


def _rating(read: Lines, fields: Fields) -> None:
    for element in read.ratings[:20]:
        words = (element.get("class") or "").lower().split()
        value = next((float(_NUMBERS[w]) for w in words if w in _NUMBERS), None)
        text = element.get("aria-label") or element.get("title") or text_of(element)[:200]
        match = _OUT_OF.search(text)
        if value is None and match:
            value = float(match[1].replace(",", "."))
            value = value / 2 if match[2] == "10" else value
        if value is not None and value <= 5 and "rating" not in fields:
            fields["rating"] = value
        count = _COUNT.search(text)
        if count and "review_count" not in fields:
            fields["review_count"] = int(re.sub(r"\D", "", count[1]))
    if "review_count" not in fields and read.heading >= 0:
        for line in read.lines[read.heading : read.heading + _NEAR]:
            count = _COUNT.search(line.text) if len(line.text) < 60 else None
            if count and not line.flags & _lines.ELSEWHERE:
                fields["review_count"] = int(re.sub(r"\D", "", count[1]))
                break


def _images(page: Page, name: str | None) -> list[str]:
    """Pictures whose description is the product's name."""
    alike = (name or "").casefold()
    found = []
    for image in list(page.root.iter("img"))[:120]:
        alt = (image.get("alt") or image.get("title") or "").casefold().strip()
        if not alt or not alike or not (alt in alike or alike in alt):
            continue
        source = image.get("data-src") or image.get("data-large_image") or image.get("src") or ""
        if source and not source.startswith("data:"):
            found.append(source)
    return list(dict.fromkeys(found))
