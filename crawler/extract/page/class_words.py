"""The words by which templates name boxes in a class or id: patterns, and which a value has.

Python's `re` passes over positions by a first letter only where all alternatives begin with letters,
so that what may stand before a word is asked behind its letters, and a blank stands for the value's
begin.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from crawler.extract.words import CachedRule

_Result = TypeVar("_Result")

#: A mark of a price before, between words: `price--old`.
OLD_MARK = r"[\s_-](?:msrp|rrp|uvp|was|before|old|strike|striked|struck|crossed(?:-out)?|tachad[oa]|riscado|s?barrat[oa]|barr[eé]|prije|antes|avant|vorher|statt|eski|vechi|puvodn[ie]|coret|taiat|(?:durch)?gestrichen|list-?price|before-?price|strike-?through|_previous|prev|deleted)(?=$|\s)"
#: A price before, by two words of which one is the price's.
OLD_PRICE = (
    r"(?<!with-)(?<!has-)(?<!no-)(?:old|was|regular|(?<![a-z])list(?!__)|origin(?:al)?|before|strike|crossed|compare|rrp|uvp|msrp|prev(?:ious)?"
    r"|standard|instead|retail|secondary|stara|vecchi[oa]|ancien|barr[eé]|antes|anterior|oud[ea]?|ord|eski|vech[ie]|regi|puvodni)[-_]{0,2}(?:at[-_]?)?(?:product[-_]?)?(?:price|preis|prix|precio"
    r"|amount|cena|prezzo|pris\b|prijs|fiyat)|(?:price|preis|prix|precio|money|cena|prezzo|prijs|pret|preco)[-_]{0,2}(?:item[-_]{1,2})?(?:old|was|regular"
    r"|list|origin(?:al)?|before|compare|strike\w*|rrp|uvp|crossed|previous|retail|discounted-from|stara"
    r"|basis|vecchio|barre|standard|vechi|regi)\b|pseudo-?price|streichpreis"
)
OLD_STRUCK = r"line-?through|strikethrough|was-now__was"
#: The price of a unit beside the one of the product; alone it is the product's.
UNIT_PRICE = r"unit(?<![a-z]unit)[-_]price|price[-_]per[-_]unit"
ELSEWHERE = (
    r"re(?:lated|commend|view(?<!description-review)(?:(?<=\breview)s?\b|s?[-_](?:list|item|wrap|body))"
    r"|cent(?:ly)?[-_]?(?:view|prod))|up-?sell|cross(?:-?sell|_?sell|ell)|also[-_]?(?:like|bought|view)"
    r"|similar|mini[-_]?(?:cart|basket)|cart(?:[-_](?:drawer|popup|summary|total)|-?navi)"
    r"|sidebar(?<!product[-_]sidebar)(?<!price[-_]sidebar)(?<!buy[-_]sidebar)|site-header|navbar|mega-?menu"
    r"|newsletter|footer|accessor|bundle(?![-_](?:product[-_])?price)|frequently|complementary"
    r"|comment|testimonial|cookie|shipping(?<!stock[-_]shipping)(?![-_]?(?:time|status|info))|delivery-cost"
    rf"|versandkosten|{UNIT_PRICE}"
    r"|base(?<![a-z]base)-?price(?![a-z])|grundpreis|instal+ment(?<!has-installment)(?<!has-instalment)|financ|voucher|coupon(?:(?=\s|$)|-block|-code)|loyalty"
    r"|tier-?price|graduated|staffel|bulk-?pric|cheaper|savings?\b|you-?save|discount-(?:badge|amount)"
)
#: ELSEWHERE and boxes of other products: none of them contains the page's own description.
OF_OTHERS = rf"{ELSEWHERE}|also|review(?<!description-review)|(?:^|[\s_-])(?:card|tile|carousel|slider)(?=$|[\s_-])"
CARD = (
    r"product[-_]?(?:card|tile|item|pod|thumb|miniature|box\b|grid|teaser|list)(?![-_]*(?:detail"
    r"|info|page|main|view|full|single))|card(?:-?product|(?<=\bcard)\b)"
)
OFF = (
    r"[\s_-](?:comment-?list|reviews?[-_](?:list|items?|content|body|comments?)"
    r"|commentlist|mega-?menu|product-reviews?|customer-reviews)(?=\s|$)"
)
HIDDEN = (
    r"\s(?:hidden|hide|d-none|visually-hidden|sr-only|is-hidden|invisible|none"
    r"|screen-reader-text|visuallyhidden|u-hidden|js-hidden|display-?none|a-offscreen|hidden-xs-up|ng-hide"
    r"|is--hidden|(?:uk|el)-hidden|(?:am|layui|wa)-hide|no-?display|element-invisible)(?=\s|$)"
)
PRICE = (
    r"pr(?:ice|eis|ix|ec(?:io|o)|ezzo|ezzi|eço|is\b|ijs|ijzen|et(?<=\bpret)\b)|cena|cijena"
    r"|amount(?<=\bamount)\b|kaina|hin(?:ta|na(?<=\bhinna)t?\b)|money|fiyat|timi(?<=\btimi)\b"
    r"|tsena(?<=\btsena)|harga(?<=\bharga)|gia(?<=\bgia)\b"
)
NOW = (
    r"(?<!non[-_])(?:promo|sale|special|now|new|final|current|offer|deal|discounted|reduced|aktions?)[-_]{0,2}"
    r"(?:price|preis|prix|precio|cena|preco|prijs)|(?:price|preis|prix|precio|money|cena|preco|prijs)"
    r"[-_]{1,2}(?:item[-_]{1,2})?(?:promo|sale|special|now|new|final|current|offer|deal|reduced)"
)
STOCK = r"stock|avail(?:ab|(?<=\bavail)\b)|disponib|lager|inventory|verfueg|delivery--?(?:info|status|time)"
BUTTON = (
    r"add-?(?:to-?)?(?:cart|bag|basket)|buy-?(?:now|button|btn)(?![-_]?(?:area|container|row|wrap))"
    r"|btn-?buy|btn-cart|add_(?:to_)?cart"
)
LABEL = r"[\s_-]label(?!-(?:hidden|inline|above))"
#: Words before the word for a maker in a class; behind a theme's own it means a colour or the shop.
BEFORE_MAKER = (
    r"(?:^|[\s_-]|product|div|urun)"
    r"(?<!navbar-)(?<!site-)(?<!bg-)(?<!btn-)(?<!text-)(?<!color-)"
)
#: Words for a maker in a class. In the north, one behind another word is a label's: `energi-maerke`.
MAKERS = (
    r"brand|manufacturers(?=[-_]name)|manufacturer|vendor|hersteller|fabricante?|producent|mar[ck]a|marke|marque|merk"
    r"|(?<![-_])maerke|varum[aä]rke|(?<![-_])merkki|vyrobca|gamintojas|vyrobce|znacka|gyarto|producator|producer"
    r"|brend|proizvodjac|(?<![-_])maker|(?<=__)maker"
)
FACT = (
    r"(?:^|\s|[-_]{2})(?:js[-_])?(?:(?:product|prod|single|item|variant|article|pdp|detail|info|meta|form|block"
    r"|selected|current)(?:s|view|meta)?[-_]{1,2}){0,3}(?:sku|ean|gtin|mpn|upc|(?:product)?reference|ordernumber"
    r"|(?:product|article)[-_]{0,2}(?:code|number))(?:[-_]{0,2}(?:value|code|number|text))?(?=\s|$)|"
    + BEFORE_MAKER
    + rf"(?:{MAKERS})(?:[-_]?(?:name|link|title|value|text))?(?=\s|$)"
)
BADGE = r"badge|sticker|ribbon|flag\b|flags\b"
RATING = r"rating|stars?\b|star-"
#: Boxes named as the heading of a part of a page.
TITLE = r"(?:panel|section|sec|block|box|module|widget)[-_]{0,2}(?:heading|title|header|head|hd)\b"
#: Boxes named as a description: behind a word or its beginning, at a word's end.
DESCRIPTION = (
    r"(?:^|[\s_-]|product|item|goods|prod|tab|long|short|full)"
    r"(?<!status[_-])(?<!stock[_-])(?<!category[_-])(?<!shipping[_-])(?<!delivery[_-])(?<!price[_-])(?:excerpt|descr?(?:iption|ipcion|icao|izione|iptif)?"
    r"|beschreibung|omschrijving|beskrivelse|beskrivning|popis|opis|kuvaus|leiras|aciklama|mo-?ta)"
    r"(?:[-_]?(?:text|content|body|inner|tab|box|wrapper|wrap|panel|pane|html|long|short|full|product))?(?=$|\s)"
)
#: Letters without which none of a group's patterns is found; they are searched in a tenth of the time.
_GROUPS = (
    ("", (OLD_MARK, OLD_STRUCK, ELSEWHERE, CARD, OFF, HIDDEN, STOCK, BUTTON, LABEL, BADGE, RATING, TITLE)),
    (
        r"pr(?:ice|ei|ix|ec|ez|eç|is|ij|et)|cena|cijena|amount|kaina|hin[tn]a|money|fiyat|timi|tsena|harga|gia",
        (PRICE, NOW, OLD_PRICE),
    ),
    (
        r"sku|ean|gtin|mpn|upc|reference|ordernumber|article|brand|manufact|vendor|herst|fabric|produc|mar[ckq]"
        r"|maker|merk|maerk|varum|vyrob|znack|gyarto|gamint|brend|proiz",
        (FACT,),
    ),
    (r"desc|excerpt|besch|omsch|besk|opis|kuvaus|leiras|acikl|mo-?ta", (DESCRIPTION,)),
)  # fmt: skip
_SEARCHES = [
    (re.compile(letters).search, [(pattern, re.compile(pattern).search) for pattern in patterns])
    for letters, patterns in _GROUPS
]
#: Words by which two widespread style sheets show a box again on wide screens.
_SHOWN_WIDE = re.compile(
    r"\s(?:d-(?:sm|md|lg|x{1,2}l)-|(?:sm|md|lg|\d?xl):)(?:block|flex|inline|grid|table|contents)"
).search
#: What these show again; a box of another hidden class stays hidden.
_NARROW = re.compile(r"\s(?:d-none|hidden|hide)(?=\s|$)").sub
_IS_HIDDEN = re.compile(HIDDEN).search
_FIGURES = re.compile(r"\d+").sub
#: A column or foot that is a part of the product's block: `product-page__sidebar`, `details-footer`.
_OWN_PART = re.compile(
    r"product-?[\w-]{0,20}__sidebar"
    r"|(?:product|details?|card|panel|price)(?:-(?:info|details?|box))?(?:-|__)footer(?=$|\s)"
).sub


def kinds(value: str) -> Iterator[str]:
    """Yield those of the patterns above that a value in lower case has.

    >>> list(kinds("price--old")) == [OLD_MARK, PRICE, OLD_PRICE]
    True
    >>> list(kinds("d-none")) == [HIDDEN], list(kinds("d-none d-lg-block"))
    (True, [])
    """
    value = f" {value}"
    if "footer" in value or "__sidebar" in value:
        value = _OWN_PART("", value)
    for has_letters, searches in _SEARCHES:
        if has_letters(value):
            for pattern, search in searches:
                if search(value) and not (pattern is HIDDEN and _is_shown_wide(value)):
                    yield pattern


def _is_shown_wide(value: str) -> bool:
    """Whether only a class that hides on narrow screens makes a value say hidden."""
    return _SHOWN_WIDE(value) is not None and _IS_HIDDEN(_NARROW("", value)) is None


def by_shape(rule: Callable[[str], _Result]) -> CachedRule[_Result]:
    """Return a rule for values in lower case in which each number is 0, cached by the raw value.

    Shops number their boxes (`post-1234 type-product`), so that each page has values of its own.

    >>> by_shape(str)["Post-1234 h2"]
    'post-0 h0'
    """
    cached = CachedRule(rule)
    return CachedRule(lambda value: cached[_FIGURES("0", value.lower())])
