"""Where a template has its products' names, told by comparing pages: nothing known is needed.

A heading that is the same on all pages is the shop's, and so is a title. The name is what differs from page to page and
is a part of the page's title or what the address says; of several such texts, the one in a heading of a
lower rank, else the longest that is no other one in the shop's frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from crawler.extract import lazy_patterns
from crawler.extract.template.values_by_place import Text, values
from crawler.extract.visible.titles import title_parts

#: Pages that are compared at least, and the share of them that must agree.
ENOUGH, _SHARE = 5, 0.8
#: The share of words that an address and a name have in common.
_ALIKE = 0.6
_WORDS = lazy_patterns.pattern(r"[^\W_]+")
#: A place in a heading comes before others: titles go on with author and shop.
_HEADING = lazy_patterns.pattern(r"\d+ \w+ h[1-6]\b")

#: A place in a link is another product's, or a category's.
_LINKED = lazy_patterns.pattern(r"(?:[ <])a(?:[.<]|$)")
_LETTERS = lazy_patterns.pattern(r"[^\W\d_]+")
_LONGEST_NAME = 120

#: A page's address and texts; the first text is its title.
Shown = tuple[str, Sequence[Text]]


def name_place(pages: Sequence[Shown]) -> str | None:
    """Return the place that has another name on each page; None where none has."""
    if len(pages) < ENOUGH:
        return None
    silent = _are_silent(pages)
    told = [{place: str(v) for place, v, _ in values("name", texts)} for _, texts in pages]
    found = {
        place: column
        for place in told[0]
        if None not in (read := [page.get(place) for page in told])
        and _are_names(column := [value for value in read if value is not None], pages, silent)
        and not (silent and _LINKED.search(place))
    }
    first = next(iter(found), None) if silent else None  # descriptions are longer, and come later
    bare = [
        (_HEADING.match(place) is not None, place == first, sum(map(len, column)), place)
        for place, column in found.items()
        if not any(_frames(column, other) for other in found.values())
    ]
    return max(bare, default=(False, False, 0, None))[3]


def _are_silent(pages: Sequence[Shown]) -> bool:
    """Whether one title stands on most pages, and one script shows them all: neither names anything."""
    titles = {texts[0].text if texts else "" for _, texts in pages}
    paths = {urlsplit(url).path for url, _ in pages}
    return 2 * len(titles) <= len(pages) and len(paths) == 1


def _frames(column: Sequence[str], other: Sequence[str]) -> bool:
    """Whether texts are those of another place, each within the same few words: the shop's name."""
    if any(
        len(text) <= len(name) or name not in text for text, name in zip(column, other, strict=True)
    ):
        return False
    left = {text.replace(name, "", 1) for text, name in zip(column, other, strict=True)}
    return 2 * len(left) <= len(column)


def _are_names(column: Sequence[str], pages: Sequence[Shown], silent: bool) -> bool:
    """Whether texts of one place differ from page to page, and each names its page.

    Where titles and addresses are *silent*, they differ in more than figures, as no stock does.
    """
    least = _SHARE * len(column)
    if len({value.casefold() for value in column}) < least:
        return False
    if silent:
        worded = {" ".join(_LETTERS.findall(value.casefold())) for value in column}
        return len(worded - {""}) >= least and max(map(len, column)) <= _LONGEST_NAME
    named = sum(
        _names(value, url, texts) for value, (url, texts) in zip(column, pages, strict=True)
    )
    return named >= least and not _have_a_frame(column)


def _names(value: str, url: str, texts: Sequence[Text]) -> bool:
    if 2 * sum(map(str.isalpha, value)) < len(value):
        return False  # a number
    mine, slug = _words(value), _words(unquote(urlsplit(url).path).rpartition("/")[2])
    if texts and value.casefold() in texts[0].text.casefold():
        return True
    shared = len(mine & slug)
    return bool(shared) and shared >= _ALIKE * max(len(mine), len(slug))


def _have_a_frame(column: Sequence[str]) -> bool:
    """Whether titles of several parts begin or end alike: with the shop's name."""
    parts = [title_parts(value) for value in column]
    several = [one for one in parts if len(one) > 1]
    return len(several) > len(parts) / 2 and any(
        len({one[at].casefold() for one in several}) <= len(several) / 2 for at in (0, -1)
    )


def _words(text: str) -> set[str]:
    return set(_WORDS.findall(text.casefold()))
