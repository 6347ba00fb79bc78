"""`nofollow`: which pages and links ask crawlers not to follow, by a robots meta element, X-Robots-Tag or `rel`."""

from __future__ import annotations

_PAGE = frozenset({"nofollow", "none"})
_LINK = ("nofollow", "sponsored")


def of_page(directives: str) -> bool:
    """Whether a page's robots directives, of its meta element or of X-Robots-Tag, keep its links from being followed.

    >>> of_page("index, NoFollow"), of_page("none"), of_page("noindex,")
    (True, True, False)
    """
    return any(word.strip() in _PAGE for word in directives.lower().split(","))


def of_link(rel: str) -> bool:
    """Whether a link's `rel` keeps it from being followed.

    >>> of_link("noopener NOFOLLOW"), of_link("sponsored"), of_link("next")
    (True, True, False)
    """
    low = rel.lower()
    return any(word in low for word in _LINK)
