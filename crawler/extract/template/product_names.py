"""Find the place of the product names of a template by comparing its pages, without stored values.

A heading or title that is the same on all pages is the shop's. The name differs from page to page,
and is a part of the page's title or shares words with its address. Of several such texts, one in a
heading is preferred, then one outside of links that all titles have, else the longest that is not
another one with the shop's name or `by` and the author added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from urllib.parse import unquote, urlsplit

from crawler.extract import lazy_patterns
from crawler.extract.template.values_by_place import Text, value_at, values
from crawler.extract.visible.fact_labels import label_of
from crawler.extract.visible.titles import title_parts
from crawler.extract.words import entry_matcher

#: Pages that are needed for a comparison, and the share of them that must agree.
MIN_PAGES, _MIN_SHARE = 5, 0.8
#: Pages that are needed where titles and addresses have no name, unless a label names its place: a
#: bookshop's authors differ on most of five pages.
MIN_UNTITLED_PAGES = 12
#: Pages for each of the few words that shops add to names; a series has more different titles.
_PAGES_OF_FRAME = 4
#: The share of words that an address and a name must have in common.
_MIN_COMMON_WORDS = 0.6
_WORDS = lazy_patterns.pattern(r"[^\W_]+")
#: A place in a heading, which is preferred, because titles go on with author and shop.
_HEADING = lazy_patterns.pattern(r"\d+ \w+ h[1-6]\b")
_WHOLE_HEADING = lazy_patterns.pattern(r"\d+ whole h[1-6]\b")

#: A place in a link, whose text is another product's or a category's.
_LINKED = lazy_patterns.pattern(r"(?:[ <])a(?:[.<]|$)")
_LABELS_NAME = entry_matcher("headings", "name_label", 3)
_FIGURES = lazy_patterns.pattern(r"\d+")
_LETTERS = lazy_patterns.pattern(r"[^\W\d_]+")
_MAX_NAME_LENGTH = 120
#: The share of pages on which texts of a place may be names, and letters of names on average.
_MAYBE_SHARE, _MIN_LETTERS = 0.5, 8

#: A page's address and texts, the title first.
PageTexts = tuple[str, Sequence[Text]]


def name_place(pages: Sequence[PageTexts]) -> str | None:
    """Return the place that has another name on each page; None if there is none."""
    if len(pages) < MIN_PAGES:
        return None
    is_untitled = _have_one_title(pages)
    values_by_place = [
        {place: str(v) for place, v, _ in values("name", texts)} for _, texts in pages
    ]
    facts = _places_of_facts(pages[0][1])
    texts_by_place = {
        place: column
        for place in values_by_place[0]
        if not (place in facts or (is_untitled and _LINKED.search(place)))
        and len(column := [page[place] for page in values_by_place if place in page]) == len(pages)
    }
    columns = {
        place: column
        for place, column in texts_by_place.items()
        if _are_names(column, pages, is_untitled, is_title=_is_title(place))
    }
    if is_untitled and (place := _labelled_place(pages[0][1])) in columns:
        return place
    if is_untitled and (
        len(pages) < MIN_UNTITLED_PAGES or _may_be_earlier(texts_by_place, next(iter(columns), ""))
    ):
        return None
    # Without titles the first place is preferred, because descriptions are longer and come later.
    first_place = next(iter(columns), None) if is_untitled else None
    candidates = [
        (
            _HEADING.match(place) is not None,
            place == first_place,
            not (_is_title(place) or _LINKED.search(place)) and _are_in_titles(column, pages),
            sum(map(len, column)),
            place,
        )
        for place, column in columns.items()
        if not any(_is_framed_name(column, other_column) for other_column in columns.values())
    ]
    return max(candidates, default=(None,))[-1]


def _labelled_place(texts: Sequence[Text]) -> str | None:
    """Return the place of the text behind a label of names: `<td>Title:</td><td>Salt</td>`."""
    named = [text for label, text in pairwise(texts) if _LABELS_NAME(label.text)]
    return next((place for place, _, text in values("name", texts) if text in named[:1]), None)


def _places_of_facts(texts: Sequence[Text]) -> set[str]:
    """Return the places of texts behind labels of makers and numbers: `<th>Brand</th><td>Acme</td>`."""
    facts = {id(text) for label, text in pairwise(texts) if label_of(label.text) is not None}
    return {place for place, _, text in values("name", texts) if id(text) in facts}


def own_names_place(pages: Sequence[PageTexts]) -> str | None:
    """Return the place of a text that has another name on each page; None if there is none.

    Outside of headings, short texts and texts of figures may be models of products with one name.
    """
    place = name_place(pages)
    if place is None or _is_title(place):
        return None
    texts = (value_at("name", place, texts) or "" for _, texts in pages)
    letters = sum(len("".join(_LETTERS.findall(text))) for text in texts)
    is_worded = letters >= _MIN_LETTERS * len(pages)
    return place if is_worded or is_heading(place) else None


def is_heading(place: str) -> bool:
    """Whether a place is a whole heading."""
    return _WHOLE_HEADING.match(place) is not None


def _may_be_earlier(texts_by_place: Mapping[str, Sequence[str]], first_place: str) -> bool:
    """Whether texts before the first place of names differ on so many pages that they may be names.

    Other products' names, in tiles, differ as the page's own do, but stand below them.
    """
    for place, column in texts_by_place.items():
        if place == first_place:
            break
        if len(_worded(column)) >= _MAYBE_SHARE * len(column):
            return max(map(len, column)) <= _MAX_NAME_LENGTH
    return False


def _worded(column: Sequence[str]) -> set[str]:
    """Return the different texts of a place by their letters, because figures may be counts."""
    return {" ".join(_LETTERS.findall(value.casefold())) for value in column} - {""}


def _is_title(place: str) -> bool:
    return place.endswith(" title")


def _are_in_titles(column: Sequence[str], pages: Sequence[PageTexts]) -> bool:
    """Whether each page's title has the page's text."""
    return all(
        bool(texts) and text.casefold() in texts[0].text.casefold()
        for text, (_, texts) in zip(column, pages, strict=True)
    )


def _have_one_title(pages: Sequence[PageTexts]) -> bool:
    """Whether most pages share their title, and paths but for figures, so that neither has a name."""
    titles = {texts[0].text if texts else "" for _, texts in pages}
    paths = {_FIGURES.sub("", urlsplit(url).path) for url, _ in pages}
    return 2 * len(titles) <= len(pages) and len(paths) == 1


def _is_framed_name(column: Sequence[str], names: Sequence[str]) -> bool:
    """Whether texts are the names of another place with words added.

    The words are the same few on all pages (the shop's name), or begin alike: `by` and an author.
    """
    if any(
        len(text) <= len(name) or name not in text for text, name in zip(column, names, strict=True)
    ):
        return False
    frames = {text.replace(name, "", 1) for text, name in zip(column, names, strict=True)}
    first_words = {(*frame.split(), "")[0] for frame in frames}
    is_begun_alike = len(first_words) == 1 and any(map(str.isalpha, *first_words))
    return _PAGES_OF_FRAME * len(frames) <= max(len(column), _PAGES_OF_FRAME) or is_begun_alike


def _are_names(
    column: Sequence[str], pages: Sequence[PageTexts], is_untitled: bool, *, is_title: bool
) -> bool:
    """Whether texts of one place differ from page to page and match their pages' title or address.

    If titles and addresses have no name (*is_untitled*), the texts must differ in letters, because
    stock counts differ in digits alone.
    """
    minimum = _MIN_SHARE * len(column)
    if len({value.casefold() for value in column}) < minimum:
        return False
    if is_untitled:
        return len(_worded(column)) >= minimum and max(map(len, column)) <= _MAX_NAME_LENGTH
    naming_pages = sum(
        _names_page(value, url, texts) for value, (url, texts) in zip(column, pages, strict=True)
    )
    most = len(column) // 2 if is_title else 1  # a shop has volumes 1 and 2 of most books
    return naming_pages >= minimum and not _share_a_part(column, most)


def _names_page(value: str, url: str, texts: Sequence[Text]) -> bool:
    if 2 * sum(map(str.isalpha, value)) <= sum(map(str.isdigit, value)):
        return False  # a number
    value_words, slug_words = _words(value), _words(unquote(urlsplit(url).path).rpartition("/")[2])
    if texts and value.casefold() in texts[0].text.casefold():
        return True
    shared = len(value_words & slug_words)
    return bool(shared) and shared >= _MIN_COMMON_WORDS * max(len(value_words), len(slug_words))


def _share_a_part(column: Sequence[str], most: int) -> bool:
    """Whether most titles have several parts and share the first or last one: the shop's name.

    They share it if it has at most so many values.
    """
    parts = [title_parts(value) for value in column]
    several = [title for title in parts if len(title) > 1]
    return len(several) > len(parts) / 2 and any(
        len({title[position].casefold() for title in several}) <= min(most, len(several) / 2)
        for position in (0, -1)
    )


def _words(text: str) -> set[str]:
    return set(_WORDS.findall(text.casefold()))
