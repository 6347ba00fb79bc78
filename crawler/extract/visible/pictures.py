"""Find a product's pictures among the images of its page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from urllib.parse import parse_qsl

from crawler.extract.address_kinds import is_front, looks_like_product, without_origin
from crawler.extract.page.link_targets import link_around, maker_led_to
from crawler.extract.page.page import MAX_TEXT_LENGTH, Element, Page
from crawler.extract.visible.linked_makers import letters_of, named_in_link
from crawler.extract.words import finder

#: Images of a page that are read.
_MAX_IMAGES = 120
#: Boxes around the heading that are searched for its picture, and pixels of a picture's side.
_MAX_AROUND, _MIN_PIXELS = 4, 80
#: Characters of a part of a product's name.
_MIN_PART = 3
#: Boxes behind a heading right in the body.
_MAX_BEHIND = 10
_FRAMES = frozenset({"header", "nav", "footer", "aside"})
#: Addresses of icons, badges and buttons.
_ICON = finder(
    r"logo|icon|sprite|placeholder|pixel|spacer|blank\.|flag|badge|payment|\.svg|ribbon|sticker|banner"
    r"|(?:^|/)(?:btn|button|ico)[_-]|(?:^|[/_-])(?:sale|new|hot|sold-?out|soldout|label|btn|button|star|arrow|bg)s?[\d_-]{0,3}\.\w{3,4}(?:[?#]|$)"
)
#: Attributes with the address of the large picture for a zoom.
_ZOOM_ATTRIBUTES = (
    "data-large_image",
    "data-zoom-image",
    "data-zoom",
    "data-full-image",
    "data-full",
)
_IS_PICTURE = re.compile(r"[^\s?#]{1,500}\.(?:jpe?g|png|webp|avif|gif)(?:[?#]|$)", re.I).match


def named_pictures(page: Page, name: str | None) -> tuple[list[str], list[str]]:
    """Return the addresses of images whose description is the product's name, or a part of it.

    The second list are those in a link to another page: a zoom, or a product of the same name.
    """
    product_name = (name or "").casefold()
    if not product_name:
        return [], []
    own: list[str] = []
    linked: list[str] = []
    for image in islice(page.root.iter("img"), _MAX_IMAGES):
        alt = (image.get("alt") or image.get("title") or "").casefold().strip()
        if not alt or not (
            product_name in alt or (alt in product_name and _is_part_of(alt, product_name))
        ):
            continue
        source = _largest(image)
        if not source or source.startswith("data:"):
            continue
        if _leads_away(page, image) is None:
            own.append(source)
        elif alt == product_name or not _leads_to_other(page, image, alt):
            linked.append(source)
    return list(dict.fromkeys(own)), list(dict.fromkeys(linked))


def pictures_called(page: Page, name: str | None) -> list[str]:
    """Return the addresses of images whose description just is the product's name, without icons.

    Where the data name no picture, those with a part of the name, or in a link to another page, may
    be of a tile or the menu.
    """
    product_name = (name or "").casefold()
    images = [
        image
        for image in islice(page.root.iter("img"), _MAX_IMAGES)
        if product_name and (image.get("alt") or "").strip().casefold() == product_name
    ]
    own = [image for image in images if not _leads_away(page, image)]
    sources = (source for image in own if not _ICON(source := _largest(image)))
    return list(dict.fromkeys(s for s in sources if s and not s.startswith("data:")))


def _leads_to_other(page: Page, image: Element, alt: str) -> bool:
    """Whether an image is in a link to another product's page: `Oak lamp shade` beside `Oak lamp`.

    Or in one to the page of what its description names, the logo of the maker, or to the front page,
    the shop's own logo.
    """
    url = _leads_away(page, image)
    if url is None:
        return False
    if is_front(url):
        return True
    last_part = url.rstrip("/").rpartition("/")[2].partition("?")[0]
    return letters_of(last_part) == letters_of(alt) or looks_like_product(without_origin(url))


def _leads_away(page: Page, image: Element) -> str | None:
    """Return the address of another page, and of no picture, to which an image is a link."""
    link = link_around(image, _MAX_AROUND)
    url = None if link is None else page.resolve((link.get("href") or "")[:MAX_TEXT_LENGTH])
    own, _, query = page.url.partition("?")
    own = own.rstrip("/")
    if url is None or _IS_PICTURE(url):
        return None
    is_own = f"{url}/".startswith((f"{own}/", f"{own}?"))
    return None if is_own and not _has_other_value(url.partition("?")[2], query) else url


def _has_other_value(query: str, own_query: str) -> bool:
    """Whether a parameter of two addresses has two values: `item.php?id=1` beside `item.php?id=2`."""
    own_values = dict(parse_qsl(own_query)) if query and own_query else {}
    return any(own_values.get(name, value) != value for name, value in parse_qsl(query))


def _is_part_of(text: str, name: str) -> bool:
    """Whether a text is one or more words of a name; buttons and icons are called `x`, `i` or `in`.

    >>> _is_part_of("lamp", "oak lamp"), _is_part_of("in", "linen lamp"), _is_part_of("x", "lamp x")
    (True, False, False)
    """
    if not text.isascii():
        return text in name  # East Asian names have no blanks
    begin = name.find(text) if len(text) >= _MIN_PART else -1
    while begin >= 0:
        end = begin + len(text)
        if not (name[begin - 1 : begin].isalnum() or name[end : end + 1].isalnum()):
            return True
        begin = name.find(text, begin + 1)
    return False


def _largest(image: Element) -> str:
    """Return the address of an image's largest copy: for the zoom, or the target of its link."""
    for name in _ZOOM_ATTRIBUTES:
        if source := image.get(name):
            return str(source)
    link = link_around(image, 2)
    if link is not None and _IS_PICTURE(href := (link.get("href") or "")[:MAX_TEXT_LENGTH]):
        return str(href)
    return str(image.get("data-src") or image.get("src") or "")


def picture_beside(heading: Element | None) -> list[str]:
    """Return the first picture in the smallest box with the heading and a picture.

    Images with a small size are skipped, because they are icons; without a size they count.
    """
    if heading is None:
        return []
    inner, box = heading, heading.getparent()
    for _ in range(_MAX_AROUND):
        if box is None or box.tag in {"body", "html"}:
            break
        if sources := _first_picture(box.iter("img")):
            return sources
        inner, box = box, box.getparent()
    if box is None or box.tag != "body":
        return []
    if inner is heading:  # right in the body
        boxes = [inner, *islice(inner.itersiblings(), _MAX_BEHIND)]
    else:  # the columns of a page that has no box around them
        boxes = [box for box in (inner.getprevious(), inner.getnext()) if box is not None]
    content_boxes = (box for box in boxes if box.tag not in _FRAMES)
    return _first_picture(image for box in content_boxes for image in box.iter("img"))


def _first_picture(images: Iterable[Element]) -> list[str]:
    """Return the address of the first image that is neither an icon nor its maker's logo, in a list."""
    for image in islice(images, _MAX_IMAGES):
        source = _largest(image)
        sizes = [image.get(name) or "" for name in ("width", "height")]
        is_small = any(size.isdecimal() and int(size[:6]) < _MIN_PIXELS for size in sizes)
        is_icon = source.startswith("data:") or is_small or _ICON(source)
        if source and not is_icon and not _is_logo(image):
            return [source]
    return []


def _is_logo(image: Element) -> bool:
    """Whether an image leads to the page of the maker whom its description names."""
    link = link_around(image, _MAX_AROUND)
    maker = None if link is None else maker_led_to(link)
    return maker is not None and named_in_link(image.get("alt") or "", maker) != ""
