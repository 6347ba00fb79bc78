"""Recognise a link to the front page, because shops call their own name a brand, too."""

from __future__ import annotations

import re

from crawler.extract.address_kinds import is_front
from crawler.extract.page.link_targets import link_around
from crawler.extract.page.page import Element

#: A place of the page itself; behind a slash it is the address of a page: `#/`.
_IS_PLACE = re.compile(r"#(?![/!])").match
#: Boxes around an element that are searched for a link.
_MAX_AROUND = 2


def leads_home(element: Element) -> bool:
    """Whether an element is in a link to the shop's front page.

    A link that opens in a new window leads to another site's, as a maker's logo does, and one to a
    place of its own page leads nowhere: `#`.
    """
    link = link_around(element, _MAX_AROUND)
    address = None if link is None else link.get("href")
    if (
        address is None
        or _IS_PLACE(address)
        or not is_front(address.partition("#")[0].removeprefix("."))
    ):
        return False
    return link is not None and str(link.get("target")) != "_blank"
