"""Detect a page in another language than its site's, whose name must not replace a stored one."""

from __future__ import annotations

from crawler.extract import lazy_patterns
from crawler.extract.default_parser import Found
from crawler.extract.template.page_doubts import Doubt
from crawler.extract.template.profile import Profile

#: Pages with a known language, and the share of the usual one, before another language is a doubt.
_MIN_PAGES, _MIN_USUAL_SHARE = 20, 0.95
#: Separators of an address' words.
_SEPARATORS = lazy_patterns.pattern(r"[^a-z]+")


def foreign_language(result: Found, profile: Profile) -> Doubt | None:
    """Return a doubt for a page in another language than its site's, so that a stored name stays.

    A page whose address names its language is a page of its own, and not doubtful.
    """
    lang, languages = result.page.lang[:2], profile.languages
    if (
        not lang
        or languages.total() < _MIN_PAGES
        or 2 * languages.get(lang, 0) >= languages.total()
    ):
        return None
    usual, share = profile.usual_language
    if share < _MIN_USUAL_SHARE or lang in _SEPARATORS.split(result.page.url.lower()):
        return None
    return Doubt("make", f"the page is in {lang!r}, {share:.0%} of pages are in {usual!r}")
