"""Amounts of money as people write them: `1.168,70 €`, `$1,299`, `CHF 1'234.50`, `12,-`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Context, Decimal, InvalidOperation, Overflow
from functools import lru_cache
from itertools import islice
from typing import Any

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.money import multiples, short_currency_words
from crawler.extract.money.currencies import (
    CODES,
    SPELLINGS,
    TOMAN,
    currency_of,
    is_local,
    is_narrowed_by,
)
from scrapy_seine.attrs_bases import Value

_THREE_DECIMALS = frozenset({"KWD", "BHD", "OMR", "JOD", "TND", "LYD"})
#: Currencies without cents (ISO 4217, minor unit 0), and those whose cents buy nothing.
_NO_DECIMALS = frozenset(
    "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"  # noqa: SIM905
    " COP HUF IDR IQD IRR KHR LAK LBP MMK MNT UZS".split()
)
SPACES = " \u00a0\u2007\u202f\u2009"
#: The apostrophes of Swiss shops between groups of digits, and what keyboards have in their place.
APOSTROPHES = "'’`´\u02bc\u2032"
_NUMBER = (
    rf"\d{{1,3}}(?:[.,{APOSTROPHES}{SPACES}]\d{{3}})+(?![\d])(?:[.,]\d{{1,2}}(?!\d))?"
    r"|\d{1,3}(?:,\d{2})+,\d{3}(?:\.\d{1,2})?"
    r"|\d+(?:[.,]\d{1,8})?(?![\d])"
    r"|(?<![^\W\d_])(?<!/)[.,]\d{2}(?!\d)"
)
_GROUPS = lazy_patterns.pattern(rf"[{APOSTROPHES}{SPACES}]")
#: A stroke in place of the cents, `1 799,-`, without a digit after it.
_ENDS_IN_STROKE = re.compile(r"(?<=[.,][-–—])(?!\d)").match
_PLAIN = lazy_patterns.pattern(r"\d+(?:\.\d+)?")
_GROUP = lazy_patterns.pattern(r"[1-9]\d{0,2}\.\d{3}")
#: A minus before the figures of a text, with or without a sign or a code before it: `$-5`, `EUR -5`.
_NEGATIVE = re.compile(r"(?:\W{0,4}[-−]\s?|\D{0,5}[\s$€£][-−])\d").match
#: The full stop of an abbreviation is no part of the number after it: Rs.500. The lookahead comes
#: first because it costs least, and most characters begin no number. The seconds of a time are no
#: thousands of the amount behind it: 03:12:45 244.18. The last of three numbers is a code's: 9012-36-6.
_AMOUNT = lazy_patterns.pattern(
    r"(?=[\d.,])(?<![\d,])(?<![^A-Za-z\u00aa-\u1fff/]\.)(?!(?<=\d:)\d\d\s\d{3})"
    r"(?<!\d-\d-)(?<!\d-\d\d-)(?<!\d-\d{3}-)(?<!\d-\d{4}-)"
    rf"(?:{_NUMBER})"
)
_NO_CENTS = lazy_patterns.pattern(r"[.,]\s?[-–—]{1,2}|[-–—](?=\s*[^\W\d])")
#: Figures that are certainly an amount, because they end in cents or in a group.
_CENTS_OR_GROUPS = lazy_patterns.pattern(r"\D\d{2,3}$")
#: Signs that begin codes or sentences outside the countries of their currencies: R100, KM12, and
#: in Romanian `din 1985`.
_BEGIN_CODES = {"R": "ZAR", "KM": "BAM", "din": "RSD"}
#: Signs that belong to a type's name, or to the next amount, when they follow a number: 1587R.
_ONLY_BEFORE = frozenset({"R", "DT", "R$"})
#: No amount follows this sign: `149:-189:-`.
_BEHIND_ONLY = ":-"
#: Letters for a currency that begin a code where figures follow without a blank: Р402.
_CODE_LETTERS = frozenset("Рр")
_MAX_SIGN_LENGTH = max(map(len, SPELLINGS))
#: Blanks and colons that may stand between a sign and its amount.
_MAX_GAP = 3
#: The first letter of the scripts that write words without blanks between them.
_UNSPACED_FROM = "\u0e00"
_REACH = _MAX_GAP + _MAX_SIGN_LENGTH + 1
#: Letters of a currency's code.
_CODE_LENGTH = 3
_BLANKS = frozenset(" \t\n:\u00a0\u202f\u2009")
#: A date is no amount: 15.08.2017.
_BARE = lazy_patterns.pattern(rf"(?<![\w.,])(?:{_NUMBER})(?!\s?[%٪]|[.,]\d)")
#: The word or dash between the amounts of a range that has one sign.
_TO = lazy_patterns.pattern(r"\s*(?:[-–—~～〜]|to|bis|à|a|do|до|till|til)\s*", re.I)
#: Characters or bits of a number that are read; no price or count is as long.
_MAX_NUMBER_LENGTH = 2_000
_NUMBERS = (int, float, Decimal)
#: Refuses what no price reaches: with a multiple behind it, it would have more digits than decimal
#: arithmetic keeps, and the rest of a division raises an exception then.
_read_decimal = Context(Emax=14, traps=[InvalidOperation, Overflow]).create_decimal
#: Characters of the longest number that is no result of a division.
_MAX_EXACT = 12
_MAX_APART_LENGTH = 24
_GROUP_LENGTH, _CENTS = 3, 2
#: An amount with its sign between units and cents: 119€99, 119€,99.
_CENTS_BEHIND_SIGN = lazy_patterns.pattern(rf"([€£])[.,]?(\d\d)(?![\d.,%]|[{SPACES}]?[€£])")
_SIGNS_BEFORE_CENTS = frozenset("€£")
#: Cents after a blank, `7 € 50`, that are no number of things, and cents with their own word.
_CENTS_BEHIND = re.compile(
    rf"[{SPACES}](\d\d)(?:\s?(?:gr|коп|ст|cts?|cents?|centimes|bani|h)\b|(?=$|[)\]!?]|[.,;:](?!\d)"
    r"|\s?/|\s[-–—|]|\s(?:l['’]|(?:le|la|les|par|pi[eè]ce|ttc|pour|port|chacune?|seulement|en|à|de|du|net)\b)))"
).match
_EUROS = frozenset({"€", "euros", "euro"})
_SIGNS_BETWEEN = _EUROS | {"zł", "лв", "лв.", "руб", "руб.", "Kč", "Lei", "lei"}
#: The last day of a week's hours, and no franc.
_IS_FRIDAY = re.compile(
    r"\b(?:mo|di|mi|do|(?:mon|diens|donners)tag|mittwoch)\.?\s?(?:[-–—,&/]|bis|und)\s?fr\.\s?\Z",
    re.I,
).search
#: The colon before cents in Scandinavia: 249:50 kr.
#: Not in a time before a price: `20:30 kr 450`.
_COLON_BEFORE_CENTS = re.compile(r"(?<=\d):(?=\d\d\s?(?:kr|SEK|NOK|DKK)\b(?!\.?\s?\d))", re.I).sub
#: An amount whose cents are in an element of their own, as text.
_APART = lazy_patterns.pattern(r"(\D{0,4}\d[\d.,]*[.,])\s(\d{2}(?:\s?\D{1,4})?)")


@attrs.frozen(eq=False, repr=False)
class Money(Value):
    """An amount in a text, its currency, and its place."""

    value: Decimal
    currency: str | None
    start: int = 0
    end: int = 0


def amount(text: str, currency: str | None = None) -> Decimal | None:
    """Read a number written with any separators.

    >>> [str(amount(t)) for t in ("1.168,70", "1,299", "1'234.50", "12,5", "1.299", "1 234,00")]
    ['1168.70', '1299', '1234.50', '12.5', '1299', '1234.00']
    >>> str(amount("1.299.00")), str(amount("1,00,000"))
    ('1299.00', '100000')
    >>> amount("9" * 40)
    """
    digits = _GROUPS.sub("", text)
    separator_place = max(digits.rfind("."), digits.rfind(","))
    if separator_place >= 0:
        separator = digits[separator_place]
        decimals = len(digits) - separator_place - 1
        has_three_decimals = currency in _THREE_DECIMALS and digits.count(separator) == 1
        is_group = (
            decimals == _GROUP_LENGTH
            and digits[:separator_place] not in {"", "0"}
            and not has_three_decimals
        )
        # Two figures behind it are cents, though it divides groups as well: 1.299.00.
        if is_group or (decimals != _CENTS and digits.count(separator) > 1):
            digits = digits.replace(".", "").replace(",", "")
        else:
            units = digits[:separator_place].replace(".", "").replace(",", "")
            digits = f"{units or '0'}.{digits[separator_place + 1 :]}"
    try:
        return _read_decimal(digits)
    except ArithmeticError:
        return None


#: Not "$", because a dollar's full stop divides decimals: `$1.299` a gallon.
_SIGN_BYTES = rb"\xe2\x82\xac|&euro;|EUR|R\$|kr\b|z\xc5\x82|TL\b|Ft\b|Rp|\xe2\x82\xab|\xe2\x82\xba"


def grouped(value: Decimal, raw: bytes) -> Decimal:
    """Return `1.299` as 1299 where the page writes this number with a group of thousands.

    >>> str(grouped(Decimal("1.299"), b"<b>1.299,00 &euro;</b>")), str(grouped(Decimal("1.299"), b""))
    ('1299', '1.299')
    """
    units, _, decimals = str(value).partition(".")
    if len(decimals) != _GROUP_LENGTH or not 1 <= len(units) <= _GROUP_LENGTH or units == "0":
        return value
    number = rf"(?<![\d.,]){units}[.' ]{decimals}".encode()
    pattern = rb"%s,\d\d(?!\d)|%s(?:,-)?\s?(?:%s)|(?:%s)\s?%s(?![.,]?\d)" % (
        number, number, _SIGN_BYTES, _SIGN_BYTES, number
    )  # fmt: skip
    return Decimal(units + decimals) if re.search(pattern, raw) else value


def number(value: Any, currency: str | None = None) -> Decimal | None:
    """Return a number of structured data, in which the full stop is the decimal separator.

    >>> str(number("1299.000")), str(number(12.5)), str(number("1.299,00 €")), number("call us")
    ('1299.000', '12.5', '1299.00', None)
    >>> str(number("22,902", "BHD")), str(number("22,902", "USD"))
    ('22.902', '22902')
    >>> str(number("12.990", "CLP")), str(number("12.990", "EUR")), number("-1", "EUR")
    ('12990', '12.990', None)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int) and value.bit_length() > _MAX_NUMBER_LENGTH:
        return None  # Python refuses to convert it to text
    if isinstance(value, _NUMBERS):
        return _price_value(str(value), currency)
    text = str(value).strip()[:_MAX_NUMBER_LENGTH]
    text = text if text.isascii() else _in_ascii(text)
    if _PLAIN.fullmatch(text):
        has_groups = currency in _NO_DECIMALS and _GROUP.fullmatch(text)
        return _price_value(text.replace(".", "") if has_groups else text, currency)
    if _NEGATIVE(text):
        return None  # a shop's sign for no price
    if currency in _THREE_DECIMALS and (match := _AMOUNT.search(text)):
        return amount(match[0], currency)
    money = parse_price(text)
    return money.value if money else None


def _price_value(text: str, currency: str | None) -> Decimal | None:
    """Return a number, without the decimals that a division or the error of a float leaves.

    >>> str(_price_value("129.98999999999998", "EUR")), str(_price_value("0.0051", "EUR"))
    ('129.99', '0.0051')
    >>> str(_price_value("12.344999999999999", "KWD"))
    '12.345'
    """
    try:
        value = _read_decimal(text)
        if len(text) > _MAX_EXACT and "." in text:
            decimals = 3 if currency in _THREE_DECIMALS else 2
            value = round(value, decimals if value >= 1 else 6)
    except ArithmeticError:
        return None
    return value if value.is_finite() and value >= 0 else None


def _joins_figures(letter: str) -> bool:
    """Return whether figures after a letter belong to its word, as in scripts with blanks.

    >>> [letter for letter in "Mé込격 (" if _joins_figures(letter)]
    ['M', 'é']
    """
    is_east = "\u3005" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7af"
    return letter.isalpha() and not is_east


def find_prices(text: str, local: str | None = None) -> Iterator[Money]:
    """Yield each amount beside a currency's sign, word or code.

    >>> [(str(m.value), m.currency) for m in find_prices("was 1.168,70 €, now from $5")]
    [('1168.70', 'EUR'), ('5', 'USD')]
    """
    text = text if text.isascii() else _in_ascii(text)
    text = _COLON_BEFORE_CENTS(",", text) if ":" in text else text
    if (
        len(text) < _MAX_APART_LENGTH
        and (". " in text or ", " in text)
        and (parts := _APART.fullmatch(text))
    ):
        text = parts[1] + parts[2]
    range_start: re.Match[str] | None = None
    yielded_to = signs_taken_to = 0
    for match in _AMOUNT.finditer(text):
        start, end = match.span()
        sign_before = _sign_before(text[max(0, start - _REACH) : start])
        if start < yielded_to or _is_code(sign_before, match[0]):
            continue  # these are the cents of the previous amount, or a number
        in_word = sign_before is None and start and _joins_figures(text[start - 1])
        if in_word and short_currency_words.word_beside(text, start, end, local) is None:
            yield from _behind_word(text, match, local)
            continue  # these figures end a word: M12
        if text[end : end + 1] in _SIGNS_BEFORE_CENTS and (
            money := _around_sign(text, match, local)
        ):
            yielded_to = money.end
            yield money
            continue
        cents = _NO_CENTS.match(text, end)
        factor, place, word_currency = multiples.factor_behind(text, cents.end() if cents else end)
        sign_after, length = _own_sign_after(text, place, local)
        has_stroke = cents and _ENDS_IN_STROKE(text, place)
        end = place + length if sign_after else place if factor > 1 or has_stroke else end
        taken_to = signs_taken_to if sign_after else 0
        sign_before = sign_before and _unless_taken(sign_before, text, start, taken_to)
        sign = (sign_before or sign_after) and _own_sign(sign_before, sign_after, match[0], local)
        if sign is None:
            range_start = match
            short_word = short_currency_words.word_beside(text, start, end, local)
            needs_no_sign = word_currency == local if word_currency else has_stroke
            unsigned = (local, start, place) if needs_no_sign else None
            currency, start, end = short_word or unsigned or (None, start, end)
        else:
            currency = currency_of(sign, local)
            if range_start and sign_after and _TO.fullmatch(text, range_start.end(), start):
                low = amount(range_start[0], currency)
                if low is not None:
                    yield _in_rials(Money(low, currency, *range_start.span()))
            start = text.rfind(sign_before, 0, start) if sign_before else start
        value = amount(match[0], currency) if sign or currency else None
        if value is not None:
            value, end = _with_cents(text, end, value, sign_after)
            yielded_to = signs_taken_to = end
            value, start = multiples.with_higher_part(text, match.start(), value * factor, start)
            yield _in_rials(Money(value, currency, start, end))


def _own_sign_after(text: str, place: int, local: str | None) -> tuple[str | None, int]:
    """Return the sign of an amount that ends at a place, and its length with the blanks before it.

    A sign that begins codes leads to the number behind it: `4,8 din 5` is a Romanian rating.
    """
    sign, length = _sign_after(text[place : place + _REACH])
    if sign in _BEGIN_CODES and _BEGIN_CODES[sign] != local:
        behind = text[place + length :][:2].lstrip()
        return (None, 0) if behind[:1].isdecimal() else (sign, length)
    return sign, length


def _behind_word(text: str, figures: re.Match[str], local: str | None) -> Iterator[Money]:
    """Yield the amount behind figures that end a word, and that a blank divides from it.

    >>> [str(money.value) for money in find_prices("49 zł with SAVE10 549,00 zł")]
    ['49', '549.00']
    """
    blank = next((place for place, sign in enumerate(figures[0]) if sign in SPACES), None)
    if blank is not None:
        start = figures.start() + blank + 1
        # What lies further behind is searched by the caller.
        for money in islice(find_prices(text[start : figures.end() + _REACH], local), 1):
            if start + money.start < figures.end():
                yield attrs.evolve(money, start=start + money.start, end=start + money.end)


def _is_code(sign_before: str | None, figures: str) -> bool:
    """Whether letters and figures are an identifier, because no amount begins like 01.

    >>> _is_code("TL", "01"), _is_code("TL", "0,50"), _is_code("$", "05")
    (True, False, False)
    """
    is_padded = figures[0] == "0" and len(figures) > 1 and figures.isdecimal()
    return is_padded and sign_before is not None and sign_before.isalpha()


def _in_ascii(text: str) -> str:
    """Return a text with the digits of all scripts as 0 to 9, and wide commas in numbers as ','."""
    text = text.translate(_DIGITS)
    return _WIDE_COMMA(",", text) if "\uff0c" in text else text


_WIDE_COMMA = re.compile(r"(?<=\d)\uff0c(?=\d{3}(?!\d))").sub


def _in_rials(money: Money) -> Money:
    """Return an amount of tomans in rials, and another amount as it is."""
    if money.currency != TOMAN:
        return money
    return Money(10 * money.value, "IRR", money.start, money.end)


def _unless_taken(sign: str, text: str, start: int, taken_to: int) -> str | None:
    """Return the sign before an amount, unless the previous amount owns it: 12,50 лв. 6,39 €.

    Nor is it one that ends the days of a week: `Mo.-Fr. 8.30-12.00`.
    """
    if sign == "Fr." and _IS_FRIDAY(text, 0, start):
        return None
    return sign if text.rfind(sign, 0, start) >= taken_to else None


def _own_sign(
    sign_before: str | None, sign_after: str | None, figures: str, local: str | None
) -> str | None:
    """Return the sign that belongs to the amount, of the one before it and the one after it."""
    sign = (
        sign_after
        if sign_after in CODES or sign_before is None or is_narrowed_by(sign_before, sign_after)
        else sign_before
    )
    is_before = sign in _BEGIN_CODES and sign != sign_after and _BEGIN_CODES[sign] != local
    if is_before and (local or not _CENTS_OR_GROUPS.search(figures)):
        return sign_after  # 986479R21, R100 and KM12 are codes, and `KM 12 đ` has another sign
    return sign


def _with_cents(text: str, end: int, units: Decimal, sign: str | None) -> tuple[Decimal, int]:
    """Return an amount with the cents after its sign, if any, and their end.

    Unless the sign is one of euros, the cents need their own word: `12 zł 50 gr`.
    """
    cents = _CENTS_BEHIND(text, end) if sign in _SIGNS_BETWEEN else None
    if cents is None or units != units.to_integral_value():
        return units, end
    if sign not in _EUROS and cents.end() == cents.end(1):
        return units, end
    return units + Decimal(cents[1]).scaleb(-2), cents.end()


def _around_sign(text: str, units: re.Match[str], local: str | None) -> Money | None:
    """Return an amount with its sign between units and cents: 119€99."""
    cents, unit_amount = _CENTS_BEHIND_SIGN.match(text, units.end()), amount(units[0])
    if cents is None or unit_amount is None or unit_amount != unit_amount.to_integral_value():
        return None
    value = unit_amount + Decimal(cents[2]).scaleb(-2)
    return Money(value, currency_of(cents[1], local), units.start(), cents.end())


# Words around numbers repeat from page to page.
@lru_cache(maxsize=512)
def _sign_before(text: str) -> str | None:
    """Return the sign at the end of a text, before blanks."""
    end = len(text)
    while end > 0 and len(text) - end < _MAX_GAP and text[end - 1] in _BLANKS:
        end -= 1
    for size in range(min(_MAX_SIGN_LENGTH, end), 0, -1):
        sign = text[end - size : end]
        if sign in SPELLINGS and not (end == len(text) and sign in _CODE_LETTERS):
            previous_char = text[end - size - 1] if end > size else " "
            if not (
                sign[0].isalpha() and previous_char.isalpha() and previous_char < _UNSPACED_FROM
            ):
                return _code_before(text[: end - size], sign) or sign
    return None


def _code_before(text: str, sign: str) -> str | None:
    """Return the code at the end of a text that says which currency's the sign behind it is.

    >>> _code_before("NZD ", "$"), _code_before("EUR ", "$"), _code_before("", "$")
    ('NZD', None, None)
    """
    code = text.rstrip()[-_CODE_LENGTH:]
    return code if code in CODES and is_narrowed_by(sign, code) else None


#: A reduction right behind an amount's sign: `15,93€10%`.
_IS_PERCENT = re.compile(r"\d{1,2}\s?%").match


@lru_cache(maxsize=512)
def _sign_after(text: str) -> tuple[str | None, int]:
    """Return the sign at the beginning of a text, after blanks, and its end."""
    place, size = 0, len(text)
    while place < size and place < _MAX_GAP and text[place] in _BLANKS and text[place] != ":":
        place += 1
    for length in range(min(_MAX_SIGN_LENGTH, size - place), 0, -1):
        sign = text[place : place + length]
        if sign in SPELLINGS:
            next_char = text[place + length] if place + length < size else " "
            if (sign[-1].isalpha() and next_char.isalpha()) or (
                sign in _ONLY_BEFORE and not (sign == "DT" and place)
            ):
                continue
            if (
                next_char.isdigit()
                and not sign[-1].isalpha()
                and sign != _BEHIND_ONLY
                and _IS_PERCENT(text, place + length) is None
            ):
                return None, 0  # the sign belongs to the next amount
            return sign, place + length
    return None, 0


def parse_price(text: str, local: str | None = None) -> Money | None:
    """Return the first amount of a text that is known to be a price, with or without a currency.

    >>> parse_price("from 12,99")
    Money(value=Decimal('12.99'), currency=None, start=5, end=10)
    """
    text = text if text.isascii() else _in_ascii(text)
    for money in find_prices(text, local):
        return money
    match = _BARE.search(text)
    if match is None:
        return None
    value = amount(match[0], local)
    return None if value is None else Money(value, None, match.start(), match.end())


def sure_currency(text: str) -> str | None:
    """Return the currency beside an amount in data, if its sign is that of one country.

    >>> sure_currency("12,99 €"), sure_currency("$12.99"), sure_currency("USD 12.99")
    ('EUR', None, 'USD')
    """
    if text[:1].isdigit() and text[-1:].isdigit():
        return None  # nearly all amounts
    money = parse_price(text)
    code = money.currency if money else None
    return None if code is None or (is_local(code) and code not in text) else code


_DIGITS = {base + n: str(n) for base in (0x0660, 0x06F0, 0x0966, 0xFF10) for n in range(10)} | {
    0x066B: ".",
    0x066C: ",",
}
