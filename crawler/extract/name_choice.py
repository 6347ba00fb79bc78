"""Choose a product's name: the heading's, where the title or OpenGraph adds to it."""

from __future__ import annotations

from crawler.extract import lazy_patterns, shop_name_in_title
from crawler.extract.page.page import Page, text_of
from crawler.extract.visible.product_heading import heading_of, likeness

#: A sign between the steps of breadcrumbs.
_STEP_DIVIDER = lazy_patterns.pattern(r"\s[>»›]\s")
#: Steps of breadcrumbs in a name, at most: each is searched in the whole page.
_MAX_STEPS = 12
#: The word before a book's author.
_AUTHOR = lazy_patterns.pattern(r"\s(?:by|von|par|door)\s")


def bare_name(name: str, page: Page) -> str:
    """Return a name without the host's name or slogan that templates append for search engines."""
    name = shop_name_in_title.without_host(name, page.url)
    if not page.title.startswith(name):
        name = _without_lead(name, page)
    if " > " in name or " » " in name or " › " in name:
        name = _without_trail(name, page)
    if name[-1:] == ")":
        name = _without_choice(name, page)
    if _AUTHOR.search(name) and page.title.startswith(name):
        return _without_author(name, page)
    if not shop_name_in_title.is_divided(name):
        return name
    heading = heading_of(page, name)
    heading_text = "" if heading is None else text_of(heading)
    is_bare = heading_text and (
        shop_name_in_title.is_first_part(heading_text, name)
        or _goes_on_as_title(name, heading_text, page)
    )
    return heading_text if is_bare else name


def _without_lead(name: str, page: Page) -> str:
    """Return a name without words before it that are for screen readers: `Details about Lamp`.

    OpenGraph and the title begin behind these words, the last of which has no capital letter.
    """
    title = page.meta("og:title")
    if not title or len(title) >= len(name) or not name.endswith(f" {title}"):
        return name
    lead = name[: -len(title)].split()
    return title if lead[-1].islower() and page.title.startswith(title) else name


def _goes_on_as_title(name: str, heading: str, page: Page) -> bool:
    """Whether a name is the heading and what the shop's titles go on with.

    It is the title's end, begins with the host's name, or is the text of a link and a part of the
    title: a book's author. A choice, "Lamp - red", is none of them.
    """
    ending = shop_name_in_title.ending_behind(heading, name)
    if not ending or ending not in page.title:
        return False
    is_shops = page.title.endswith(ending) or shop_name_in_title.begins_with_host(ending, page.url)
    return is_shops or _is_linked_part(ending, page)


def _is_linked_part(text: str, page: Page) -> bool:
    """Whether a text is the whole of a link, and a part of the page's title."""
    return text in shop_name_in_title.parts(page.title) and f">{text}</a".encode() in page.raw


def _without_trail(name: str, page: Page) -> str:
    """Return a name without categories, each of which is the text of a link on the page.

    Some systems write breadcrumbs as the heading: `red lamp > lamps`.
    """
    parts = _STEP_DIVIDER.split(name, _MAX_STEPS)
    own_parts = [part for part in parts if f">{part}</a".encode() not in page.raw]
    return own_parts[0] if len(parts) > 1 and len(own_parts) == 1 else name


def _without_choice(name: str, page: Page) -> str:
    """Return the heading where the name is the heading and one choice in brackets: `Lamp (Red)`.

    OpenGraph says the heading as well, so that only the structured data add the choice.
    """
    bare = name.rpartition(" (")[0]
    if not bare or page.meta("og:title") != bare:
        return name
    heading = heading_of(page, bare)
    return bare if heading is not None and text_of(heading) == bare else name


def _without_author(name: str, page: Page) -> str:
    """Return the heading where the name is the heading with the author after it."""
    heading = heading_of(page, name)
    heading_text = "" if heading is None else text_of(heading)
    begins = heading_text and name.casefold().startswith(heading_text.casefold())
    return heading_text if begins and _AUTHOR.match(name, len(heading_text)) else name


def adds_to_heading(title: str, heading_name: str) -> bool:
    """Whether og:title is the heading and more, as shops add their own name and a slogan to it."""
    return likeness(heading_name, title) > 0
