"""Write the sign of a currency where an icon draws it: `<i class="fa fa-inr"></i> 499`."""

from __future__ import annotations

from itertools import islice

from crawler.extract import lazy_patterns
from crawler.extract.page.page import Element, Page

#: Names of currencies in the classes of icons, by the sign that they draw.
_NAMES = {
    "€": "eur|euro", "£": "gbp|pound|sterling|british-pound", "$": "usd|dollar",
    "₹": "inr|rupee|indian-rupee", "₽": "rub|ruble|rouble", "₺": "lira|turkish-lira",
    "₩": "krw|won", "¥": "jpy|yen|cny|rmb", "₪": "ils|shekel|sheqel", "₴": "hryvnia",
    "₸": "tenge", "₦": "naira", "₱": "peso|philippine-peso", "฿": "baht", "₫": "dong",
    "৳": "taka|bangladeshi-taka", "₵": "cedi", "₼": "manat", "₾": "lari",
}  # fmt: skip
_SIGN_OF = {name: sign for sign, names in _NAMES.items() for name in names.split("|")}
#: Sets of icons: Font Awesome, Bootstrap, Material Design, Tabler, Boxicons.
_SETS = "fa|bi-currency|mdi-currency|ti-currency|bx"
_ICON = lazy_patterns.pattern(
    rf"(?<!\S)(?:{_SETS})-(?:({'|'.join(sorted(_SIGN_OF, key=len, reverse=True))})(?:-sign)?"
    r"|(try))(?!\S)"
)
#: What all names of icons hold, of which one search decides for nearly all pages.
_PREFIXES = (b" fa-", b"currency-", b" bx-")
_MAX_ICONS, _MAX_AMOUNT = 2_000, 24
_AMOUNT = lazy_patterns.pattern(r"\d[\d\s.,'’]*(?:/?[-–])?")


def draw_signs(page: Page) -> bool:
    """Write the signs that empty icons beside an amount draw; return whether there are any.

    An icon before words is an ornament: `<i class="fa fa-dollar"></i> 30 days money back`.
    """
    if not any(map(page.holds, _PREFIXES)):
        return False
    drawn = False
    for icon in islice(page.root.iter("i", "span", "em"), _MAX_ICONS):
        classes = icon.get("class")
        if not classes or len(icon) or (icon.text and not icon.text.isspace()):
            continue
        match = _ICON.search(classes)
        if match is not None and _is_beside_amount(icon):
            icon.text, drawn = "₺" if match[2] else _SIGN_OF[match[1]], True
    return drawn


def _is_beside_amount(icon: Element) -> bool:
    following = icon.getnext()
    behind = (icon.tail or "").strip()
    if not behind and following is not None:
        behind = f"{following.text or ''}{following.tail or ''}".strip()
    if behind[:1].isdigit():
        return _is_amount(behind)
    previous, parent = icon.getprevious(), icon.getparent()
    if previous is not None:
        before = (previous.tail or "").strip() or (previous.text or "").strip()
    else:
        before = "" if parent is None else (parent.text or "").strip()
    return _is_amount(before.rpartition(":")[2].strip())


def _is_amount(text: str) -> bool:
    """Whether a text is an amount alone: of `4.5 / 5`, `24/7 support` and `14 days` none is."""
    return len(text) < _MAX_AMOUNT and _AMOUNT.fullmatch(text) is not None
