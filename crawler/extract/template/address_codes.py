"""The barcodes in the addresses of a make's products, where their pages show none.

One number of ten has a valid check digit by chance, so that a single address proves nothing. That
the numbers in the addresses of several products all have one is no chance.
"""

from __future__ import annotations

from crawler.extract import lazy_patterns
from crawler.extract.default_parser import Found
from crawler.extract.gtin import gtin, has_check_digit
from crawler.extract.template.profile import KNOWN, Profile

#: A number of as many figures as a barcode or the number of an older book has.
_CODE = lazy_patterns.pattern(r"(?<![\dA-Za-z])(?:\d{13}|\d{9}[\dXx])(?![\dA-Za-z])")
#: Codes that are remembered: a wrong one forgets another one.
_MAX_CODES = 2 * KNOWN


def take_addressed(result: Found, profile: Profile) -> bool:
    """Take the barcode in a page's address, if those of other products of its make are valid.

    Return whether this page is the one that decides it, so that earlier pages lack theirs.
    """
    match = None if result.fields.get("gtin") else _CODE.search(result.page.url)
    if match is None:
        return False
    codes, code = profile.codes, gtin(match[0])
    if code is None or not has_check_digit(code):
        del codes[:1]
        return False
    is_new = code not in codes and len(codes) < _MAX_CODES
    if is_new:
        codes.append(code)
    if len(codes) < KNOWN:
        return False
    result.fields["gtin"], result.sources["gtin"] = code, "url"
    return is_new and len(codes) == KNOWN
