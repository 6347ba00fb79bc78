"""`nofollow` in a robots meta element, in X-Robots-Tag or in `rel`: links not to be followed."""

from __future__ import annotations

_PAGE = frozenset({"nofollow", "none"})
_LINK = ("nofollow", "sponsored")


def of_page(directives: str) -> bool:
    """Whether a page's robots directives (meta element or X-Robots-Tag) forbid following its links.

    >>> of_page("index, NoFollow"), of_page("none"), of_page("noindex,")
    (True, True, False)
    """
    return any(word.strip() in _PAGE for word in directives.lower().split(","))


def of_link(rel: str) -> bool:
    """Whether a link's `rel` forbids following it.

    >>> of_link("noopener NOFOLLOW"), of_link("sponsored"), of_link("next")
    (True, True, False)
    """
    low = rel.lower()
    return any(word in low for word in _LINK)
