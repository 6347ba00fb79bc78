"""Read a product's categories as a visitor sees them: from breadcrumbs, or behind a label."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice, takewhile
from operator import is_not

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import is_errand, is_front
from crawler.extract.page.page import MAX_TEXT_LENGTH, Element, Page, short_text
from crawler.extract.structured.breadcrumbs import ends_in_category, is_home, trail
from crawler.extract.visible.fact_values import NO_VALUES, may_stand_behind
from crawler.extract.visible.product_heading import heading_of
from crawler.extract.words import CachedRule, full_matcher_of

#: Elements before the heading, boxes with breadcrumbs, and links of one.
_MAX_BEFORE, _MAX_TRAILS, _MAX_STEPS = 3000, 40, 60
_TRAIL_TAGS = ("nav", "ol", "ul", "dl", "div", "p", "td", "section")
#: A sign between two breadcrumbs; a menu's links have rules between them, or nothing.
_SEPARATOR = lazy_patterns.pattern(r"\s*(?:[/>＞»›→≫❯▸▶]|>>|::|-->?|->|\\)\s*")
#: Elements that draw such a sign.
_DRAWN = frozenset({"svg", "i", "img"})
_MAX_LINKS, _LONGEST_STEP = 150, 60
_HEADINGS = frozenset({"h1", "h2", "h3"})
#: Boxes right behind the heading, and around it.
_MAX_AFTER, _MAX_AROUND = 3, 2
#: Items of a list of breadcrumbs: the front page, a category, the product.
_MIN_ITEMS = 3
#: Classes of breadcrumbs, which other boxes have as well.
_PATH = re.compile(
    r"topic-?path|you-?are-?here|path-?way|(?:^|[\s_-])(?:path|position|location|ariane)(?=$|[\s_-])"
).search
#: Boxes that may hold a label before the category, and characters of one.
_LABEL_TAGS = frozenset(
    {"span", "p", "div", "li", "td", "th", "dt", "b", "strong", "label", "h3", "h4"}
)
_MAX_BOXES, _LONGEST_LABEL = 4_000, 120
#: Boxes behind the heading; farther on are reviews and other products.
_MAX_BEHIND = 100
_LABELLED = re.compile(r"([^:：]{3,24}?)\s?[:：]\s{0,3}(\S.{1,58})", re.S).fullmatch
_IS_LABEL = full_matcher_of(lambda any_of: rf"(?:{any_of('trail', 'label')})\s?[:：]?")

_BEGINS_WITH_LABEL = CachedRule(lambda text: bool(_IS_LABEL(text.partition(":")[0].strip())))


def breadcrumbs(page: Page, name: str | None) -> list[str]:
    """Return the categories of the page's visible breadcrumbs, which stand before the heading."""
    if name not in page.trails_by_name:
        page.trails_by_name[name] = _breadcrumbs(page, name)
    return page.trails_by_name[name]


def _breadcrumbs(page: Page, name: str | None) -> list[str]:
    heading = heading_of(page, name)
    trail_boxes, path_boxes = _named_boxes(page, heading)
    if trail_boxes and (categories := _in_trail_box(page, trail_boxes, name)):
        return categories
    if categories := _right_behind(page, heading, name):
        return categories
    if not trail_boxes:
        items = _marked_items(page)
        categories = items and _in_trail_box(page, items, name)
        categories = categories or (path_boxes and _in_path_box(page, path_boxes, name))
    return (
        categories
        or _by_signs(page, heading, name)
        or _in_list(page, name)
        or _labelled(page, heading)
    )


def _named_boxes(page: Page, heading: Element | None) -> tuple[list[Element], list[Element]]:
    """Return the boxes before the heading that are named breadcrumbs, and those named a path."""
    own_tag = str(heading.tag) if heading is not None else "h1"
    trail_boxes: list[Element] = []
    path_boxes: list[Element] = []
    for element in islice(page.root.iter(*_TRAIL_TAGS, own_tag), _MAX_BEFORE):
        if element is heading or len(trail_boxes) >= _MAX_TRAILS:
            break
        kind = _kind_of(element)
        if kind == "trail":
            trail_boxes.append(element)
        elif kind:
            path_boxes.append(element)
    return trail_boxes, path_boxes


def _kind_of(box: Element) -> str:
    """Return what the attributes of a box name it: "trail", "path" or ""."""
    kind = ""
    for attribute, words in box.items():
        if attribute in _NAMING and (named := _KINDS[words]):
            if named == "trail":
                return named
            kind = kind if attribute in _NAMING_TRAILS else named
    return kind


def _marked_items(page: Page) -> list[Element]:
    """Return the elements within lines and lists that are named breadcrumbs, each of them one."""
    if not (page.holds(b"rumb") and _MARKED_ITEM(page.raw)):
        return []
    items = islice(page.root.iter(*_ITEM_TAGS), _MAX_BEFORE)
    return list(islice((item for item in items if _kind_of(item) == "trail"), _MAX_STEPS))


def _in_trail_box(page: Page, boxes: list[Element], name: str | None) -> list[str]:
    """Return the categories in the first box named breadcrumbs that has some.

    If each breadcrumb has a box of its own, it is the box around them.
    """
    if len(boxes) > 1 and all(len(list(islice(box.iter("a"), 2))) < 2 for box in boxes[:2]):
        around = _common_box(*boxes[:2])
        boxes = boxes if around is None else [around]
    return next(filter(None, (_categories_of(page, box, name) for box in boxes)), [])


def _common_box(element: Element, other: Element) -> Element | None:
    """Return the innermost box around two elements, if it is near to the first one."""
    around_other = {*islice(other.iterancestors(), _MAX_AROUND)}
    return next(
        (box for box in islice(element.iterancestors(), _MAX_AROUND) if box in around_other), None
    )


def _categories_of(page: Page, element: Element, name: str | None) -> list[str]:
    """Return the texts of the links in breadcrumbs, without the front page and the product."""
    page_urls = {page.url, page.canonical}
    links = [(page.resolve(a.get("href") or ""), a) for a in _steps_of(element)]
    fronts = {url for url, _ in links if is_front(url)}
    for place, (url, _) in enumerate(links[:_MAX_AFTER]):
        if url in fronts:
            links = links[place:]  # before it, a link leads back to the listing
            break
    steps = [(url, short_text(a)) for url, a in links if url not in page_urls and url not in fronts]
    ends_in_product = not ends_in_category(
        [url for url, _ in steps], [url for url in page_urls if url]
    )
    return trail([text for _, text in steps], name if ends_in_product else None, bool(fronts))


def _steps_of(box: Element) -> list[Element]:
    """Return the links of breadcrumbs, without those of lists within one breadcrumb: a menu."""
    anchors = list(islice(box.iter("a"), _MAX_STEPS))
    if next(box.iterdescendants("ul", "ol"), None) is None:
        return anchors
    lists = (inner for step in box.iter("li") for inner in step.iterdescendants("ul", "ol"))
    menus = (inner for inner in islice(lists, _MAX_TRAILS) if len(inner) > 1)
    in_menus = {anchor for menu in menus for anchor in islice(menu.iter("a"), _MAX_STEPS)}
    return [anchor for anchor in anchors if anchor not in in_menus]


def _right_behind(page: Page, heading: Element | None, name: str | None) -> list[str]:
    """Return the categories in a box for breadcrumbs right behind the heading."""
    around = () if heading is None else (heading, *islice(heading.iterancestors(), _MAX_AROUND))
    for box in (after for inner in around for after in islice(inner.itersiblings(), _MAX_AFTER)):
        if _kind_of(box) == "trail" and (categories := _categories_of(page, box, name)):
            return categories
    return []


def _in_path_box(page: Page, boxes: list[Element], name: str | None) -> list[str]:
    """Return the categories in a box named a path; the first link leads home or precedes a sign."""
    for element in boxes:
        first_link = next(element.iter("a"), None)
        if first_link is None:
            continue
        home = _leads_home(page, first_link)
        # "Fil d'Ariane" is French for breadcrumbs.
        of_trail = "ariane" in f"{element.get('class')} {element.get('id')}"
        is_trail = home or of_trail or next(_links_before_signs(element), None) is first_link
        if is_trail and (categories := _categories_of(page, element, name)):
            return categories
    return []


def _kind_by_words(words: str) -> str:
    if "crumb" in words.lower():
        return "trail"
    return "path" if _PATH(words[:300].lower()) else ""


_KINDS = CachedRule(_kind_by_words)
#: Attributes that name breadcrumbs, and those of them that do not name a path.
_NAMING_TRAILS = frozenset({"aria-label", "itemtype", "typeof", "itemprop"})
_NAMING = _NAMING_TRAILS | {"class", "id"}
#: Elements that may be named one breadcrumb of several.
_ITEM_TAGS = ("span", "li")
_MARKED_ITEM = re.compile(rb"<(?:span|li)\s[^>]{0,120}rumb").search


def _by_signs(page: Page, heading: Element | None, name: str | None) -> list[str]:
    """Return the categories of links with signs between them, of which the first leads home."""
    for link in _links_before_signs(page.root, heading):
        if not _leads_home(page, link):
            continue
        box = _box_of_several(link.getparent())
        if box is None:
            continue
        if heading is not None and heading in box.iter(str(heading.tag)):
            steps = [short_text(a, _LONGEST_STEP) for a in _in_line_with(link)]
            if categories := trail(steps, name):
                return categories
        elif categories := _categories_between_signs(page, box, name):
            return categories
    return []


def _links_before_signs(box: Element, heading: Element | None = None) -> Iterator[Element]:
    """Yield links before a sign, which may be in the element behind a link or behind its parent.

    The links behind a *heading* are those of the product and of the page's foot.
    """
    is_sign = _SEPARATOR.fullmatch
    own_tag = heading.tag if heading is not None and heading.tag in _HEADINGS else "a"
    before = takewhile(partial(is_not, heading), box.iter("a", own_tag))
    for link in islice(before, _MAX_LINKS):
        sign = link.tail
        if not sign or sign.isspace():
            following = link.getnext()
            if following is not None and following.tag in _DRAWN and _is_link(following.getnext()):
                yield link
                continue
            sign = link.getparent().tail if following is None else following.text
            if not sign or sign.isspace():
                continue
        if is_sign(sign):
            yield link


def _in_line_with(link: Element) -> Iterator[Element]:
    """Yield the links behind a link with nothing but a sign between two of them."""
    while _SEPARATOR.fullmatch(link.tail or "") and _is_link(following := link.getnext()):
        link = following
        yield link


def _is_link(element: Element | None) -> bool:
    return element is not None and element.tag == "a"


def _in_list(page: Page, name: str | None) -> list[str]:
    """Return the categories of a list whose first item leads home and whose last one is the name."""
    for box in islice(page.root.iter("ul", "ol") if name else (), _MAX_TRAILS):
        if len(box) < _MIN_ITEMS or not _is_named(box[-1], name):
            continue
        first_link = next(box[0].iter("a"), None)
        if first_link is not None and _leads_home(page, first_link):
            return _categories_between_signs(page, box, name)
    return []


def _is_named(item: Element, name: str | None) -> bool:
    """Whether an item without a link has a name as its text."""
    if not name or next(item.iter("a"), None) is not None:
        return False
    return short_text(item, len(name) + 1).casefold() == name.casefold()


def _leads_home(page: Page, link: Element) -> bool:
    text = short_text(link, _LONGEST_STEP)
    return is_home(text) or is_front(page.resolve(link.get("href") or ""))


def _categories_between_signs(page: Page, box: Element, name: str | None) -> list[str]:
    links = [(page.resolve(a.get("href") or ""), a) for a in islice(box.iter("a"), _MAX_STEPS)]
    steps = [
        short_text(a, _LONGEST_STEP)
        for url, a in links
        if not is_front(url) and not _leads_to_page(url, page)
    ]
    return trail(steps, name)


def _box_of_several(element: Element) -> Element | None:
    """Return the innermost box around an element that has several links, near to the element."""
    around = (element, *islice(element.iterancestors(), _MAX_AROUND))
    return next((box for box in around if len(list(islice(box.iter("a"), 2))) > 1), None)


def _leads_to_page(url: str | None, page: Page) -> bool:
    """Whether a link leads to the page itself, also by its address with further parameters."""
    if url is None or url in {page.url, page.canonical}:
        return True
    path, _, query = url.partition("?")
    page_path, _, page_query = page.url.partition("?")
    return (
        path == page_path
        and page_query != ""
        and set(page_query.split("&")) <= set(query.split("&"))
    )


def _labelled(page: Page, heading: Element | None) -> list[str]:
    """Return the one category behind a label: `Category: lamps`."""
    own_tag = () if heading is None else (str(heading.tag),)
    boxes = islice(page.root.iter(*_LABEL_TAGS, *own_tag), _MAX_BOXES)
    before = takewhile(partial(is_not, heading), boxes)
    for box in chain(before, islice(boxes, _MAX_BEHIND)):
        text = box.text
        if text is None or len(text) > _LONGEST_LABEL or not _BEGINS_WITH_LABEL[text]:
            continue
        if box.tag not in _LABEL_TAGS:
            continue
        labelled, holder = short_text(box, _LONGEST_LABEL), box
        if _IS_LABEL(labelled):  # the value stands behind the label, or in a box of its own
            category = (box.tail or "").strip(" :：\n\t")
            following = None if category else _value_box(box)
            holder = box if following is None else following
            category = category if following is None else short_text(following, _LONGEST_LABEL)
            if following is not None and not _may_be_category(category, following):
                continue  # a label without a value
            labelled = f"{labelled.rstrip(': ')}: {category}"
        match = _LABELLED(labelled.strip())
        if match and _IS_LABEL(match[1]):
            links = [short_text(a, _LONGEST_STEP) for a in islice(holder.iter("a"), _MAX_STEPS)]
            return [links[-1]] if links and links[-1] else [match[2].strip(" .,")]
    return []


def _may_be_category(text: str, box: Element) -> bool:
    """Whether the text of the box behind a label may be a category."""
    if box.tag in NO_VALUES or is_errand((box.get("href") or "")[:MAX_TEXT_LENGTH]):
        return False
    return may_stand_behind(text)


def _value_box(label: Element) -> Element | None:
    """Return the box behind a label, or behind the box that holds nothing else."""
    following, parent = label.getnext(), label.getparent()
    is_alone = following is None and parent is not None and len(parent) == 1
    return parent.getnext() if is_alone else following
