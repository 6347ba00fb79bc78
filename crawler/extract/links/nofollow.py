"""Links not to be followed: by `nofollow` on the page or in `rel`, or because they send something."""

from __future__ import annotations

import re
from collections.abc import Iterable

from crawler.extract.page.page import Element, Page
from scrapy_seine.politeness.robots_rules import concerns

_PAGE = frozenset({"nofollow", "none"})
_LINK = ("nofollow", "sponsored")
#: Whose directives follow, before a colon; a time of `unavailable_after` has one as well.
_NAME = re.compile(r"\*|[a-z][\w-]{0,60}")
_WITH_VALUE = frozenset(
    {"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"}
)
#: Attributes by which the scripts of Rails and Laravel send a link, as a form would.
_METHODS = ("data-turbo-method", "data-method")
_SENDS = frozenset({"post", "put", "patch", "delete"})


def of_page(directives: str) -> bool:
    """Whether a page's robots directives (meta element or X-Robots-Tag) forbid following its links.

    >>> of_page("index, NoFollow"), of_page("none"), of_page("noindex,")
    (True, True, False)
    """
    return any(word.strip() in _PAGE for word in directives.lower().split(","))


def directives_for(headers: Iterable[str], agent: str) -> str:
    """Return the directives for *agent* of a response's X-Robots-Tag headers, by commas.

    A name before directives says whose they are, up to the next name or the header's end.
    Source: Google's page on the robots meta element and X-Robots-Tag.

    >>> directives_for(["noindex", "otherbot: noarchive, nofollow", "seine: none"], "Seine")
    'noindex,none'
    """
    directives = []
    for header in headers:
        is_meant = True
        for part in header.lower().split(","):
            name, colon, directive = (word.strip() for word in part.partition(":"))
            if colon and name not in _WITH_VALUE and _NAME.fullmatch(name):
                is_meant = concerns(name, agent)
            else:
                directive = name
            if is_meant:
                directives.append(directive)
    return ",".join(directives)


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
