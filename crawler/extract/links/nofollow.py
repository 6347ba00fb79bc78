"""Links not to be followed: by `nofollow` on the page or in `rel`, or because they send something."""

from __future__ import annotations

from crawler.extract.page.page import Element, Page

_PAGE = frozenset({"nofollow", "none"})
_LINK = ("nofollow", "sponsored")
#: Attributes by which the scripts of Rails and Laravel send a link, as a form would.
_METHODS = ("data-turbo-method", "data-method")
_SENDS = frozenset({"post", "put", "patch", "delete"})


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


def requested_by_get(page: Page) -> list[Element]:
    """Return a page's links without those that a script sends by another method: `Delete`."""
    if not page.holds(b"-method="):
        return page.anchors
    return [link for link in page.anchors if not any(map(_sends, map(link.get, _METHODS)))]


def _sends(method: str | None) -> bool:
    return method is not None and method.strip().lower() in _SENDS
