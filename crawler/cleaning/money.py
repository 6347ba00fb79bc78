"""Converts prices in common formats to decimals, and currencies to ISO 4217 codes."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from crawler.cleaning.text import line
from crawler.extract.money.amounts import number, parse_price
from crawler.extract.money.currencies import ISO_4217, currency_of

_PLAIN = re.compile(r"\d{1,12}(?:\.\d{1,4})?", re.ASCII)
_SCIENCE = re.compile(r"[+-]?\d+(?:\.\d+)?[eE][+-]?\d{1,4}", re.ASCII)
_MINUS = re.compile(r"^\D{0,6}[-\u2212\u2013]\s*[^\w\s]{0,3}\s*\d")
_CENT = Decimal("0.01")
_FREE = "free"
_DIGITS = 15


def money(value: Any, code: str | None = None) -> tuple[Decimal | None, str | None]:
    """Parse an amount, and the currency written beside it; *code* is the item's own currency.

    A text without a number is no price; a negative price stays negative, so that it is rejected.

    >>> money("1.168,70 €"), money("from $5"), money("Call us")
    ((Decimal('1168.70'), 'EUR'), (Decimal('5.00'), 'USD'), (None, None))
    >>> money(12.5), money("-3"), money(float("nan"))
    ((Decimal('12.50'), None), (Decimal('-3.00'), None), (None, None))
    >>> money("12,500", "KWD"), money("12.990", "CLP"), money("3 for £10")
    ((Decimal('12.50'), None), (Decimal('12990.00'), None), (Decimal('10.00'), 'GBP'))
    """
    if value is None or isinstance(value, bool):
        return None, None
    if isinstance(value, str):
        return _read(value[:200], code)
    return _even(str(value)), None


@lru_cache(maxsize=1024)
def _read(text: str, code: str | None) -> tuple[Decimal | None, str | None]:
    text = text.strip()
    if _PLAIN.fullmatch(text):
        return _even(str(number(text, code))), None
    if _SCIENCE.fullmatch(text):
        return _even(text), None
    found = parse_price(text, code)
    if found is None:
        return (_even("0") if text.casefold() == _FREE else None), None
    amount = _even(str(found.value))
    if amount is not None and _MINUS.search(text):
        amount = -amount
    return amount, found.currency


def _even(text: str) -> Decimal | None:
    """A decimal with two places, or more where they are not zero: 5 and 5.00 are equal."""
    try:
        amount = Decimal(text)
    except InvalidOperation:
        return None
    if not amount.is_finite():
        return None
    if amount.adjusted() > _DIGITS:
        return amount
    rounded = amount.quantize(_CENT)
    if rounded == amount:
        return rounded
    return amount.normalize() if amount.adjusted() > -_DIGITS else rounded


@lru_cache(maxsize=1024)
def currency(value: Any) -> str | None:
    """Parse a code, a sign or a word; any other text is returned in upper case.

    >>> currency(" eur "), currency("US$"), currency("doubloons"), currency(None)
    ('EUR', 'USD', 'DOUBLOONS', None)
    """
    text = line(value, 40) or ""
    code = text.upper()
    return code if code in ISO_4217 else currency_of(text) or code or None
