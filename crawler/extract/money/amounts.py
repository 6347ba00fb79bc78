"""Amounts of money as people write them: `1.168,70 €`, `$1,299`, `CHF 1'234.50`, `12,-`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from math import isfinite
from typing import Any

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.money import multiples, short_currency_words
from crawler.extract.money.currencies import CODES, SPELLINGS, TOMAN, currency_of, is_one_of
from scrapy_seine.records import Value

_THREE_DECIMALS = frozenset({"KWD", "BHD", "OMR", "JOD", "TND"})
_SPACES = " \u00a0\u202f\u2009"
_NUMBER = (
    rf"\d{{1,3}}(?:[.,'’{_SPACES}]\d{{3}})+(?![\d])(?:[.,]\d{{1,2}}(?!\d))?"
    r"|\d{1,3}(?:,\d{2})+,\d{3}(?:\.\d{1,2})?"
    r"|\d+(?:[.,]\d{1,8})?(?![\d])"
    r"|(?<![^\W\d_])(?<!/)[.,]\d{2}(?!\d)"
)
_GROUPS = lazy_patterns.pattern(rf"['’{_SPACES}]")
#: A stroke for the cents, `1 799,-`, behind which nothing goes on.
_IS_WHOLE = re.compile(r"(?<=[.,][-–—])(?!\d)").match
_PLAIN = lazy_patterns.pattern(r"\d+(?:\.\d+)?")
#: The stop of a shortened word is no part of the number behind it: Rs.500. To look ahead first costs
#: least, because most characters begin no number.
_AMOUNT = lazy_patterns.pattern(rf"(?=[\d.,])(?<![\d,])(?<![^A-Za-z\u00aa-\u1fff/]\.)(?:{_NUMBER})")
_NO_CENTS = lazy_patterns.pattern(r"[.,]\s?[-–—]{1,2}|[-–—](?=\s*[^\W\d])")
#: Figures that are surely an amount: cents or groups.
_CENTS_OR_GROUPS = lazy_patterns.pattern(r"\D\d{2,3}$")
#: Behind a number these are a part of its name: 1587R.
_ONLY_BEFORE = frozenset({"R", "DT"})
_LONGEST_SIGN = max(map(len, SPELLINGS))
#: How far a sign may stand from its amount, in blanks and colons.
_GAP = 3
#: Letters from here on are of scripts that write words without blanks between them.
_EAST = "\u0e00"
_REACH = _GAP + _LONGEST_SIGN + 1
_BLANKS = frozenset(" \t\n:\u00a0\u202f\u2009")
_BARE = lazy_patterns.pattern(rf"(?<![\w.,])(?:{_NUMBER})(?!\s?[%٪])")
#: Between the ends of a range whose sign is written once.
_TO = lazy_patterns.pattern(r"\s*(?:[-–—~～〜]|to|bis|à|a|do|до|till|til)\s*", re.I)
_COUNTED = lazy_patterns.pattern(rf"\d[\d.,'{_SPACES}]{{0,40}}")
_NO_DIGIT = lazy_patterns.pattern(r"\D")
#: What is longer is no number that anybody pays or counts.
_LONGEST_NUMBER = 2_000
_SHORT = 24
_THOUSAND = 3
#: An amount with its sign between units and cents: 119€99, 119€,99.
_SPLIT = lazy_patterns.pattern(rf"([€£])[.,]?(\d\d)(?![\d.,%]|[{_SPACES}]?[€£])")
_MIDST = frozenset("€£")
#: The same with blanks, `7 € 50`, where nothing is counted behind; and cents that are called so.
_CENTS_BEHIND = re.compile(
    rf"[{_SPACES}](\d\d)(?:\s?(?:gr|коп|ст|cts?|cents?|centimes|bani|h)\b|(?=$|[)\]!?]|[.,;:](?!\d)"
    r"|\s?/|\s[-–—|]|\s(?:l['’]|(?:le|la|les|par|pi[eè]ce|ttc|pour|port|chacune?|seulement|en|à|de|du|net)\b)))"
).match
_EUROS = frozenset({"€", "euros", "euro"})
_SPLIT_BY = _EUROS | {"zł", "лв", "лв.", "руб", "руб.", "Kč", "Lei", "lei"}
#: What markup leaves of an amount whose cents stand apart.
_APART = lazy_patterns.pattern(r"(\D{0,4}\d[\d.,]*[.,])\s(\d{2}(?:\s?\D{1,4})?)")


@attrs.frozen(eq=False, repr=False)
class Money(Value):
    """An amount in a text."""

    value: Decimal
    currency: str | None
    start: int = 0
    end: int = 0


def amount(text: str, currency: str | None = None) -> Decimal | None:
    """Read a number written with any separators.

    >>> [str(amount(t)) for t in ("1.168,70", "1,299", "1'234.50", "12,5", "1.299", "1 234,00")]
    ['1168.70', '1299', '1234.50', '12.5', '1299', '1234.00']
    """
    digits = _GROUPS.sub("", text)
    last = max(digits.rfind("."), digits.rfind(","))
    if last >= 0:
        sign = digits[last]
        behind = len(digits) - last - 1
        three = currency in _THREE_DECIMALS and digits.count(sign) == 1
        grouping = behind == 3 and last > 0 and digits[:last] != "0" and not three
        if digits.count(sign) > 1 or (grouping and _single_kind(digits, sign)):
            digits = digits.replace(".", "").replace(",", "")
        else:
            whole = digits[:last].replace(".", "").replace(",", "")
            digits = f"{whole or '0'}.{digits[last + 1 :]}"
    try:
        return Decimal(digits)
    except InvalidOperation:
        return None


def _single_kind(digits: str, sign: str) -> bool:
    other = "," if sign == "." else "."
    return other not in digits or digits.count(other) >= 1


_BESIDE = (
    rb"\xe2\x82\xac|&euro;|EUR|R\\$|\\$|kr\\b|z\xc5\x82|TL\\b|Ft\\b|Rp|\xe2\x82\xab|\xe2\x82\xba"
)


def grouped(value: Decimal, shown: bytes) -> Decimal:
    """Take `1.299` for a thousand where the page's text does so, whatever its data says.

    >>> str(grouped(Decimal("1.299"), b"<b>1.299,00 &euro;</b>")), str(grouped(Decimal("1.299"), b""))
    ('1299', '1.299')
    """
    whole, _, part = str(value).partition(".")
    if len(part) != _THOUSAND or not 1 <= len(whole) <= _THOUSAND or whole == "0":
        return value
    number = rf"(?<![\d.,]){whole}[.' ]{part}".encode()
    rule = rb"%s,\d\d(?!\d)|%s(?:,-)?\s?(?:%s)|(?:%s)\s?%s(?![.,]?\d)" % (
        number, number, _BESIDE, _BESIDE, number
    )  # fmt: skip
    return Decimal(whole + part) if re.search(rule, shown) else value


def number(value: Any, currency: str | None = None) -> Decimal | None:
    """Read a number from structured data, where the full stop is the decimal separator.

    >>> str(number("1299.000")), str(number(12.5)), str(number("1.299,00 €")), number("call us")
    ('1299.000', '12.5', '1299.00', None)
    >>> str(number("22,902", "BHD")), str(number("22,902", "USD"))
    ('22.902', '22902')
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        return None  # Python does not write it down
    if isinstance(value, int | float | Decimal):
        return _finite(str(value))
    text = str(value).strip()[:_LONGEST_NUMBER]
    if _PLAIN.fullmatch(text):
        return _finite(text)
    if currency in _THREE_DECIMALS and (match := _AMOUNT.search(text)):
        return amount(match[0], currency)
    found = parse_price(text)
    return found.value if found else None


def _finite(text: str) -> Decimal | None:
    try:
        made = Decimal(text)
    except InvalidOperation:
        return None
    return made if made.is_finite() and made >= 0 else None


def count(value: Any) -> int | None:
    """Read a number of things, which has no decimals: a separator groups thousands.

    >>> count("1.204"), count("(12 reviews)"), count(3.0)
    (1204, 12, 3)
    """
    if isinstance(value, float) and not isfinite(value):
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value)
    match = _COUNTED.search(str(value)) if value is not None else None
    return int(_NO_DIGIT.sub("", match[0])[:12]) if match else None


def _joins(letter: str) -> bool:
    """Whether figures behind a letter belong to its word, as they do where words have blanks.

    >>> [letter for letter in "Mé込격 (" if _joins(letter)]
    ['M', 'é']
    """
    is_east = "\u3005" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7af"
    return letter.isalpha() and not is_east


def find_prices(text: str, local: str | None = None) -> Iterator[Money]:
    """Yield each amount that stands beside a currency.

    >>> [(str(m.value), m.currency) for m in find_prices("was 1.168,70 €, now from $5")]
    [('1168.70', 'EUR'), ('5', 'USD')]
    """
    text = text if text.isascii() else _in_ascii(text)
    if len(text) < _SHORT and (". " in text or ", " in text) and (apart := _APART.fullmatch(text)):
        text = apart[1] + apart[2]
    since: re.Match[str] | None = None
    past = taken = 0
    for match in _AMOUNT.finditer(text):
        start, end = match.span()
        before = _sign_before(text[max(0, start - _REACH) : start])
        if start < past:
            continue  # the cents of the amount before
        within = before is None and start and _joins(text[start - 1])
        if within and short_currency_words.beside(text, start, end, local) is None:
            continue  # the end of a word: M12
        if text[end : end + 1] in _MIDST and (money := _split(text, match, local)):
            past = money.end
            yield money
            continue
        cents = _NO_CENTS.match(text, end)
        times, place, meant = multiples.behind(text, cents.end() if cents else end)
        after, length = _sign_after(text[place : place + _REACH])
        end = place + length if after else place if times > 1 else end
        before = _own(before, text, start, taken if after else 0)
        sign = _sign_of(before, after, match[0], local)
        if sign is None:
            since = match
            found = short_currency_words.beside(text, start, end, local)
            named = meant == local if meant else cents and _IS_WHOLE(text, place)
            whole = (local, start, place) if named else None
            currency, start, end = found or whole or (None, start, end)
        else:
            currency = currency_of(sign, local)
            if since and after and _TO.fullmatch(text, since.end(), start):
                low = amount(since[0], currency)
                if low is not None:
                    yield _in_rials(Money(low, currency, *since.span()))
            start = text.rfind(before, 0, start) if before else start
        value = amount(match[0], currency) if sign or currency else None
        if value is not None:
            value, end = _with_cents(text, end, value, after)
            past = taken = end
            yield _in_rials(Money(value * times, currency, start, end))


def _in_ascii(text: str) -> str:
    """A text with the figures of all scripts as 0 to 9, and with the commas between them."""
    text = text.translate(_DIGITS)
    return _WIDE_COMMA(",", text) if "\uff0c" in text else text


_WIDE_COMMA = re.compile(r"(?<=\d)\uff0c(?=\d{3}(?!\d))").sub


def _in_rials(money: Money) -> Money:
    """An amount of tomans as the rials that these are; any other as it is."""
    if money.currency != TOMAN:
        return money
    return Money(10 * money.value, "IRR", money.start, money.end)


def _own(sign: str | None, text: str, start: int, taken: int) -> str | None:
    """The sign before an amount, unless it is the one behind the amount before: 12,50 лв. 6,39 €."""
    return sign if sign and text.rfind(sign, 0, start) >= taken else None


def _sign_of(before: str | None, after: str | None, figures: str, local: str | None) -> str | None:
    """Which of the signs around an amount is its own."""
    sign = after if after in CODES or before is None or is_one_of(before, after) else before
    if sign == "R" and local != "ZAR" and (local or not _CENTS_OR_GROUPS.search(figures)):
        return None  # a type, as in 986479R21 and R100, is no 21 rand
    return sign


def _with_cents(text: str, end: int, units: Decimal, sign: str | None) -> tuple[Decimal, int]:
    """An amount with the cents behind its sign, if any, and where they end.

    All but those of euros have to be called so: `12 zł 50 gr`.
    """
    cents = _CENTS_BEHIND(text, end) if sign in _SPLIT_BY else None
    if cents is None or units != units.to_integral_value():
        return units, end
    if sign not in _EUROS and cents.end() == cents.end(1):
        return units, end
    return units + Decimal(cents[1]).scaleb(-2), cents.end()


def _split(text: str, units: re.Match[str], local: str | None) -> Money | None:
    """An amount with its sign between units and cents: 119€99."""
    cents, whole = _SPLIT.match(text, units.end()), amount(units[0])
    if cents is None or whole is None or whole != whole.to_integral_value():
        return None
    value = whole + Decimal(cents[2]).scaleb(-2)
    return Money(value, currency_of(cents[1], local), units.start(), cents.end())


# Words around numbers repeat from page to page.
@lru_cache(maxsize=512)
def _sign_before(text: str) -> str | None:
    """The sign in which a text ends, blanks apart."""
    end = len(text)
    while end > 0 and len(text) - end < _GAP and text[end - 1] in _BLANKS:
        end -= 1
    for size in range(min(_LONGEST_SIGN, end), 0, -1):
        sign = text[end - size : end]
        if sign in SPELLINGS:
            ahead = text[end - size - 1] if end > size else " "
            if not (sign[0].isalpha() and ahead.isalpha() and ahead < _EAST):
                return sign
    return None


@lru_cache(maxsize=512)
def _sign_after(text: str) -> tuple[str | None, int]:
    """The sign with which a text begins, blanks apart, and where it ends."""
    place, size = 0, len(text)
    while place < size and place < _GAP and text[place] in _BLANKS and text[place] != ":":
        place += 1
    for length in range(min(_LONGEST_SIGN, size - place), 0, -1):
        sign = text[place : place + length]
        if sign in SPELLINGS:
            behind = text[place + length] if place + length < size else " "
            if (sign[-1].isalpha() and behind.isalpha()) or (
                sign in _ONLY_BEFORE and not (sign == "DT" and place)
            ):
                continue
            if behind.isdigit() and not sign[-1].isalpha():
                return None, 0  # it belongs to the next amount
            return sign, place + length
    return None, 0


def parse_price(text: str, local: str | None = None) -> Money | None:
    """Read the first amount of a text that is known to be a price.

    >>> parse_price("from 12,99")
    Money(value=Decimal('12.99'), currency=None, start=5, end=10)
    """
    text = text.translate(_DIGITS) if not text.isascii() else text
    for money in find_prices(text, local):
        return money
    match = _BARE.search(text)
    if match is None:
        return None
    value = amount(match[0])
    return None if value is None else Money(value, None, match.start(), match.end())


_DIGITS = {base + n: str(n) for base in (0x0660, 0x06F0, 0x0966, 0xFF10) for n in range(10)} | {
    0x066B: ".",
    0x066C: ",",
}
