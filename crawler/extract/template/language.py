"""Whether a page is in another language than its site, so that a name that is known stays."""

from __future__ import annotations

from crawler.extract import lazy_patterns
from crawler.extract.default_parser import Found
from crawler.extract.template.page_doubts import Doubt
from crawler.extract.template.profile import Profile

#: Pages whose language is known, and the share of the usual one, before another one is news.
_IN_WORDS, _CALM_SHARE = 20, 0.95
#: What divides an address into words.
_BETWEEN_SIGNS = lazy_patterns.pattern(r"[^a-z]+")


def in_other_words(found: Found, profile: Profile) -> Doubt | None:
    """Whether a page is in another language than the site's: a name that is known stays.

    A copy whose address names its language is a page of its own.
    """
    lang, known = found.page.lang[:2], profile.languages
    if not lang or known.total() < _IN_WORDS or 2 * known.get(lang, 0) >= known.total():
        return None
    usual, share = profile.usual_language
    if share < _CALM_SHARE or lang in _BETWEEN_SIGNS.split(found.page.url.lower()):
        return None
    return Doubt("make", f"the page is in {lang!r}, {share:.0%} of pages are in {usual!r}")
