"""Whether a page is in another language than its site, so that a name that is known stays."""

from __future__ import annotations

from crawler.extract import lazy_patterns
from crawler.extract.default_parser import Found
from crawler.extract.template.page_doubts import Doubt
from crawler.extract.template.profile import Profile

#: Pages whose language is known, and the share of the usual one, before another one is news.
_MIN_PAGES, _MIN_USUAL_SHARE = 20, 0.95
#: What divides an address into words.
_SEPARATORS = lazy_patterns.pattern(r"[^a-z]+")


def foreign_language(result: Found, profile: Profile) -> Doubt | None:
    """Whether a page is in another language than the site's: a name that is known stays.

    A copy whose address names its language is a page of its own.
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
