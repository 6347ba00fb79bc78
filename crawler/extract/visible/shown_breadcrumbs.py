"""The categories above a product as a visitor sees them: a trail of links, or a label."""

from __future__ import annotations

import re
from itertools import chain, islice, takewhile

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import is_front
from crawler.extract.page.page import Element, Page, short_text
from crawler.extract.structured.breadcrumbs import ends_in_category, is_home, trail
from crawler.extract.visible.text import heading_of
from crawler.extract.words import Marks, whole_of

#: Elements before the heading that are looked at, boxes that are called trails, the steps of one.
_MOST_BEFORE, _MOST_TRAILS, _MOST_STEPS = 3000, 40, 60
_TRAIL_TAGS = ("nav", "ol", "ul", "div", "p", "td", "section")
#: What stands between two steps of a trail; a menu's links have rules between them, or nothing.
_BETWEEN = lazy_patterns.pattern(r"\s*(?:[/>»›→≫❯▸▶]|>>|::|-->?|->|\\)\s*")
_MOST_LINKS, _LONGEST_STEP = 150, 60
#: Boxes right behind the heading, and around it.
_MOST_AFTER, _MOST_AROUND = 3, 2
#: Words by which trails are called, and other boxes as well.
_PATH = re.compile(
    r"topic-?path|you-?are-?here|path-?way|(?:^|[\s_-])(?:path|position|location|ariane)(?=$|[\s_-])"
).search
#: Boxes with a label that is followed by the category, and characters of its text.
_LABEL_TAGS = frozenset(
    {"span", "p", "div", "li", "td", "th", "dt", "b", "strong", "label", "h3", "h4"}
)
_MOST_BOXES, _LONGEST_LABEL = 4_000, 120
#: The same behind the heading: farther on are others' words, about the thing and about others.
_MOST_BEHIND = 100
_LABELLED = re.compile(r"([^:：]{3,24}?)\s?[:：]\s{0,3}(\S.{1,58})", re.S).fullmatch
_IS_LABEL = whole_of(lambda any_of: rf"(?:{any_of('trail', 'label')})\s?[:：]?")

_BEGINS_WITH_LABEL = Marks(lambda text: bool(_IS_LABEL(text.partition(":")[0].strip())))


def breadcrumbs(page: Page, name: str | None) -> list[str]:
    """The categories of the page's visible trail, which stands before the heading."""
    heading = heading_of(page, name)
    if b"rumb" in page.raw:
        found = _called(page, heading, name) or _right_behind(page, heading, name)
    else:
        found = _called_path(page, heading, name)
    return found or _uncalled(page, heading, name) or _labelled(page, heading)


def _called(page: Page, heading: Element | None, name: str | None) -> list[str]:
    """The trail in a box that is called one."""
    own_tag = str(heading.tag) if heading is not None else "h1"
    tags = page.root.iter(*_TRAIL_TAGS, own_tag)
    trails = 0
    for element in islice(tags, _MOST_BEFORE):
        if element is heading or trails >= _MOST_TRAILS:
            break
        if not (
            ((words := element.get("class")) and _IS_TRAIL[words])
            or ((words := element.get("id")) and _IS_TRAIL[words])
            or ((words := element.get("aria-label")) and _IS_TRAIL[words])
        ):
            continue
        trails += 1
        if found := _steps(page, element, name):
            return found
    return []


def _steps(page: Page, element: Element, name: str | None) -> list[str]:
    """The texts of a trail's links, but for those to the front page and the product."""
    here = {page.url, page.canonical}
    anchors = islice(element.iter("a"), _MOST_STEPS)
    links = [(page.resolve(a.get("href") or ""), a) for a in anchors]
    steps = [(url, short_text(a)) for url, a in links if url not in here and not is_front(url)]
    own = not ends_in_category([url for url, _ in steps], [url for url in here if url])
    led = any(is_front(url) for url, _ in links)
    return trail([text for _, text in steps], name if own else None, led)


def _right_behind(page: Page, heading: Element | None, name: str | None) -> list[str]:
    """The trail in a box that is called one, right behind the heading or a box that holds it."""
    around = () if heading is None else (heading, *islice(heading.iterancestors(), _MOST_AROUND))
    for box in (after for inner in around for after in islice(inner.itersiblings(), _MOST_AFTER)):
        named = (box.get("class"), box.get("id"), box.get("aria-label"))
        if any(words and _IS_TRAIL[words] for words in named) and (
            found := _steps(page, box, name)
        ):
            return found
    return []


def _called_path(page: Page, heading: Element | None, name: str | None) -> list[str]:
    """The trail in a box that is called a path or a position, whose first link leads home."""
    own_tag = str(heading.tag) if heading is not None else "h1"
    for element in islice(page.root.iter(*_TRAIL_TAGS, own_tag), _MOST_BEFORE):
        if element is heading:
            break
        if not (
            ((words := element.get("class")) and _IS_PATH[words])
            or ((words := element.get("id")) and _IS_PATH[words])
        ):
            continue
        first = next(element.iter("a"), None)
        if first is None:
            continue
        home = is_front(page.resolve(first.get("href") or "")) or is_home(short_text(first))
        of_trail = words is not None and "ariane" in words  # French for one
        if (home or of_trail) and (found := _steps(page, element, name)):
            return found
    return []


_IS_TRAIL = Marks(lambda words: "crumb" in words.lower())
_IS_PATH = Marks(lambda words: _PATH(words[:300].lower()) is not None)


def _uncalled(page: Page, heading: Element | None, name: str | None) -> list[str]:
    """The trail whose first link is to the front page, and which has signs between its links."""
    for link in islice(page.root.iter("a"), _MOST_LINKS):
        behind = link.tail or (link.getparent().tail if len(link.getparent()) == 1 else None)
        if not behind or _BETWEEN.fullmatch(behind) is None:
            continue
        text = short_text(link, _LONGEST_STEP)
        if not (is_home(text) or is_front(page.resolve(link.get("href") or ""))):
            continue
        box = link.getparent() if link.tail == behind else link.getparent().getparent()
        if box is None or (heading is not None and heading in box.iter(str(heading.tag))):
            continue
        links = [(page.resolve(a.get("href") or ""), a) for a in islice(box.iter("a"), _MOST_STEPS)]
        told = [
            short_text(a, _LONGEST_STEP)
            for url, a in links
            if not is_front(url) and not _is_own(url, page)
        ]
        if found := trail(told, name):
            return found
    return []


def _is_own(url: str | None, page: Page) -> bool:
    """Whether a link leads to the page itself, by its address with other parameters, too."""
    if url is None or url in {page.url, page.canonical}:
        return True
    path, _, query = url.partition("?")
    own, _, asked = page.url.partition("?")
    return path == own and asked != "" and set(asked.split("&")) <= set(query.split("&"))


def _labelled(page: Page, heading: Element | None) -> list[str]:
    """The one category behind a label: `Category: lamps`."""
    own_tag = () if heading is None else (str(heading.tag),)
    boxes = islice(page.root.iter(*_LABEL_TAGS, *own_tag), _MOST_BOXES)
    before = takewhile(lambda box: box is not heading, boxes)
    for box in chain(before, islice(boxes, _MOST_BEHIND)):
        text = box.text
        if text is None or len(text) > _LONGEST_LABEL or not _BEGINS_WITH_LABEL[text]:
            continue
        if box.tag not in _LABEL_TAGS:
            continue
        whole, holder = short_text(box, _LONGEST_LABEL), box
        if _IS_LABEL(whole):  # the value stands behind it, or in a box of its own
            told = (box.tail or "").strip(" :：\n\t")
            following = None if told else _behind(box)
            holder = box if following is None else following
            told = told if following is None else short_text(following, _LONGEST_LABEL)
            whole = f"{whole.rstrip(': ')}: {told}"
        found = _LABELLED(whole.strip())
        if found and _IS_LABEL(found[1]):
            links = [short_text(a, _LONGEST_STEP) for a in islice(holder.iter("a"), _MOST_STEPS)]
            return [links[-1]] if links and links[-1] else [found[2].strip(" .,")]
    return []


def _behind(label: Element) -> Element | None:
    """The box behind a label, or behind the box that holds nothing else."""
    following, parent = label.getnext(), label.getparent()
    alone = following is None and parent is not None and len(parent) == 1
    return parent.getnext() if alone else following
