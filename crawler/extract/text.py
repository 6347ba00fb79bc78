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
    r"|\bcashback\b|per week|rassrochk|рассроч|доставк",
    re.I,
)
_OLD_WORDS = re.compile(
    r"\b(?:was|rrp|r\.r\.p|msrp|list price|regular price|regular|original price|originally|old"
    r" price|before|retail|compare at|uvp|statt|vorher|bisher|alter preis|ursprünglich|unverb|avant"
    r"|prix (?:conseillé|barré|d'origine)|au lieu de|antes|precio (?:anterior|habitual|normal)"
    r"|prezzo (?:precedente|di listino)|anziché|invece di|de por|van|adviesprijs|ord\.? pris"
    r"|tidigare|före|før|førpris|najniższa cena|стара|старая цена)\b",
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
     r"(?:nr|nummer|code)|réf(?:érence)?|ref(?:erence|erencia|\.)?|reference (?:no|number)"
     r"|código(?: del producto| de producto)?|cod(?:ice)?\.?(?: prodotto| articolo)?|catalog(?:ue)?"
     r" (?:no|number)|model (?:no|number)?\s*/?\s*sku|artnr|varenr|varenummer|tuotenumero|artikl"
     r"|артикул|код(?: товара)?|kod produktu|symbol|cikkszám|商品番号|商品コード|品番|货号|型号"
     r"|stock (?:code|no|number|id)|style (?:no|number|code|#)|part code|kód(?: produktu)?"),
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
_LONGEST_STOCK = 70
_LONGEST_VALUE = 120
_CARDS = 3
_NEAR = 60


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


def heading_of(page: Page, expected: str | None = None) -> Element | None:
    """The element with the product's name: of all headings the one the title speaks of."""
    best, best_score = None, 0.0
    title, site = page.title.casefold(), page.meta("og:site_name").casefold()
    known = (expected or page.meta("og:title")).casefold()
    for element in page.headings[:80]:
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
    return best if best_score >= 2.5 else None


def visible(page: Page, expected: str | None = None) -> Visible:
    """Read a product from the page's visible text; *expected* is a name known already."""
    heading = heading_of(page, expected)
    read = _lines.read(page, heading)
    local = local_currency(_host(page.url), page.lang)
    seen = Visible()
    fields = seen.fields
    if heading is not None:
        fields["name"] = text_of(heading)
    _price(read, seen, local)
    _facts(read, seen)
    _stock(read, seen)
    _rating(read, fields)
    fields["breadcrumbs"] = _crumbs(read, fields.get("name"))
    fields["images"] = _images(read, fields.get("name"))
    fields["description"] = _description(page)
    for name in [name for name, value in fields.items() if value in (None, "", [], {})]:
        del fields[name]
    return seen


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
        for money in monies:
            marks.append(mark)
            found.append(_judged(money, line, read.heading))
    cards = {mark for mark, count in groups.items() if count >= _CARDS}
    seen.cards = sum(groups[mark] for mark in cards)
    return [
        c
        for c, mark in zip(found, marks, strict=True)
        if mark not in cards and not c.line.flags & _lines.ELSEWHERE
    ]


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


def _judged(money: Money, line: Line, heading: int) -> _Candidate:
    text = line.text
    before = text[: money.start]
    cost = line.index - heading if line.index >= heading else (heading - line.index) * 3 + 10
    if not line.flags & _lines.PRICE:
        cost += 15
    if money.currency is None:
        cost += 8
    cost += min(60, max(0, len(text) - 40) // 2)
    if _OTHER_AMOUNT.search(text):
        cost += 60
    if _PER_UNIT.match(text[money.end :]):
        cost += 60
    if line.flags & _lines.LINK:
        cost += 40
    if _RANGE.match(before.rpartition(" ")[2] or before):
        cost += 5
    if not money.value:
        cost += 100
    old = bool(line.flags & _lines.OLD) or _OLD_WORDS.search(before[-40:]) is not None
    return _Candidate(money, line, cost, old)


def _price(read: Lines, seen: Visible, local: str | None) -> None:
    candidates = _candidates(read, seen, local)
    new = [c for c in candidates if not c.old]
    if not new:
        return
    best = min(new, key=lambda c: c.cost)
    if best.cost > 150:
        return
    seen.fields["price"] = best.money.value
    seen.fields["currency"] = best.money.currency
    seen.price_distance = best.cost
    seen.price_marked = bool(best.line.flags & _lines.PRICE)
    before = [
        c
        for c in candidates
        if c.old
        and abs(c.line.index - best.line.index) <= 12
        and c.money.value > best.money.value
        and c.money.currency in {best.money.currency, None}
    ]
    if before:
        nearest = min(before, key=lambda c: abs(c.line.index - best.line.index))
        seen.fields["regular_price"] = nearest.money.value


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
        field = _label(line.text)
        if field and place + 1 < len(read.lines):
            _take(seen, field, read.lines[place + 1].text)
        elif ":" in line.text or "#" in line.text or "：" in line.text:
            match = _PAIR.match(line.text)
            field = _label(match[1]) if match else None
            if match and field:
                _take(seen, field, match[2])
    if attributes:
        seen.fields["attributes"] = dict(list(attributes.items())[:60])


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
    labelled = False
    for line in read.lines[max(read.heading, 0) :]:
        if line.flags & (_lines.ELSEWHERE | _lines.HIDDEN) or len(line.text) > _LONGEST_VALUE:
            labelled = False
            continue
        is_button = bool(line.flags & _lines.BUTTON) or (len(line.text) < 40)
        if is_button and BUY.search(line.text):
            seen.buy_buttons += 1
            labelled = False
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
        if element.get("type") == "submit" and BUY.search(element.get("value") or ""):
            seen.buy_buttons += 1
    implied = "InStock" if seen.buy_buttons and "price" in seen.fields else None
    seen.fields["availability"] = marked or loose or implied


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


def _crumbs(read: Lines, name: str | None) -> list[str]:
    for element in read.crumbs:
        steps = [text_of(a) for a in element.iter("a")]
        if steps:
            return trail(steps, name)
    return []


def _images(read: Lines, name: str | None) -> list[str]:
    alike = (name or "").casefold()
    found = []
    for image in read.images[:60]:
        source = image.get("data-src") or image.get("data-large_image") or image.get("src") or ""
        alt = (image.get("alt") or image.get("title") or "").casefold().strip()
        if (
            source
            and not source.startswith("data:")
            and alike
            and alt
            and (alt in alike or alike in alt)
        ):
            found.append(source)
    return list(dict.fromkeys(found))


def _description(page: Page) -> str | None:
    return page.meta("description") or None
