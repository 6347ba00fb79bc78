"""Which links of a page lead to products, and which into traps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import Literal
from urllib.parse import quote, unquote_plus
from zlib import crc32

import attrs

from crawler.extract import lazy_patterns
from crawler.extract.address_kinds import looks_like_listing, looks_like_product
from crawler.extract.links import nofollow
from crawler.extract.links.other_languages import (
    is_translation,
    leads_to_another,
    others_of,
    speaks,
    tongue,
)
from crawler.extract.links.pagination import (
    Address,
    dresses,
    is_page,
    page_number,
    turned,
    turns_page,
)
from crawler.extract.links.scripted import SCRIPTED, scripted
from crawler.extract.links.unlinked import continued, unlinked
from crawler.extract.page.page import Element, Page, tidied
from crawler.extract.words import Marks, any_of, finder, whole
from scrapy_seine.records import Value
from scrapy_seine.urls import MAX_LENGTH

LinkKind = Literal["product", "pagination", "listing", "other"]

#: Fetched in this order. A product page ends a path; a listing's next page opens many.
PRIORITY: dict[LinkKind, int] = {"product": 40, "pagination": 30, "listing": 20, "other": 0}

_SCHEME = lazy_patterns.pattern(r"\s*([a-zA-Z][a-zA-Z0-9+.-]*):")
_FILE = finder(
    r"\.(?:jpe?g|png|gif|webp|svg|avif|bmp|ico|tiff?|pdf|zip|rar|gz|7z|tar|mp[34]|avi|mov|webm|wav"
    r"|docx?|xlsx?|pptx?|csv|xml|rss|atom|json|js|css|exe|dmg|apk|ics|txt|epub|woff2?)$",
)
_USELESS = finder(
    rf"/(?:{any_of('paths', 'useless')})(?:[/?#.]|$)"
    r"|[?&](?:add[-_]?to[-_]?cart|add[-_]?cart|add_to_wishlist|add-to-wishlist|action=add|remove_item"
    r"|replytocom|share|print|wishlist|compare|currency|setcurrency|setlang|___store|feed)(?:=|&|$)"
    rf"|[?&](?:route|rt)=(?:account|checkout|information)|[?&](?:action|do|act|op|cmd)=(?:add|buy|login|print|cart|{any_of('paths', 'acts')})",
)
#: What may say as well which kind of page a script shows, and what says which one of these.
_ROUTE = whole(r"mode|view|show|display|act|action|do|m")
_SCRIPTED = whole(r"mod|modul|act|do|op|cmd|go")
_NUMBERED = whole(
    r"(?!sess|user|customer|lang|curr|ref|aff|filter|colou?r|size|attr)[a-z]{0,8}_?id"
)
#: Parameters that say which listing or product it is.
_IDENTITY = whole(
    r"c|cat|cid|category|category_?id|categoryid|cpath|path|route|id|id_\w+|tag|collection|dept"
    r"|product_?id|products_id|pid|sku|item|item_?id|module|controller|option|task|mpath|group"
    r"|manufacturer_?id|manufacturers_id"
    r"|(?:product|prod|prd|goods|item|article|artikel|art|cate|category)_?(?:no|nr|num|code|cd|uid)"
    r"|_escaped_fragment_|goods_?id|article_?id|artikel|branduid|xcode|mcode|asin|isbn|ean",
)
_CALENDAR = finder(
    r"[?&](?:date|day|month|year|week|cal|calendar|from_?date|to_?date|start_?date|end_?date|tribe"
    r"[-_]\w+|eventdate|ical)=|/(?:calendar|kalender|calendrier|calendario|events?|archives?)/"
    r"(?:\D{0,80}/)?(?:19|20)\d\d|/(?:19|20)\d\d/(?:0?[1-9]|1[0-2])(?:/|$)|/(?:19|20)\d\d-\d\d(?:-\d\d)?(?:/|$)",
)
#: One script serves all pages; its parameters are the address.
_SCRIPT = finder(r"\.(?:php|aspx?|jsp|cgi|cfm|do|pl)$")
#: Shopify shows a product under each collection that it is in.
_COLLECTED = lazy_patterns.pattern(
    r"^(https?://[^/?#]+(?:/[a-z]{2}(?:-[a-z]{2})?)?)/collections/[^/?#]+(/products/[^/?#]+)", re.I
)
#: osCommerce and its kin, and OpenCart, tell in a product's address through which category it was
#: reached.
_REACHED = (
    (
        lazy_patterns.pattern(r"[?&](?:products_id|info)=", re.I),
        lazy_patterns.pattern(r"(?<=[?&])cPath=[\w.]*&?"),
    ),
    (
        lazy_patterns.pattern(r"[?&]route=product/product&"),
        lazy_patterns.pattern(r"(?<=[?&])path=[\d_]*&?"),
    ),
)
_PRODUCT, _PAGER, _NAV, _FACET, _CRUMBS, _FOOT = (1 << bit for bit in range(6))
_CONTEXTS = (
    (_FACET, r"facet|filter|refine|layered|narrow|swatch|sorter|sort-?by|toolbar-sorter|\btags?cloud"),
    (_PAGER, r"pagination|pager|paging|page-numbers|pages\b|paginate"),
    (_CRUMBS, r"breadcrumb|crumbs"),
    (_PRODUCT, r"product|prod[-_]|\bitem\b|item[-_]|card|tile|\bpod|artikel|thumbnail|teaser|goods"),
    (_FOOT, r"footer|copyright|social|legal"),
    (_NAV, r"\bnav|menu|categor|sidebar|departments|collection"),
)  # fmt: skip
_CONTEXT_RULES = [(flag, re.compile(words)) for flag, words in _CONTEXTS]
_CONTEXT_TAGS = {"nav": _NAV, "header": _NAV, "footer": _FOOT}
_HEADINGS = frozenset({"h2", "h3", "h4", "h5"})
_CLIMB = 5
_LONGEST = 1000
_DEEPEST = 12
_REPEATS = 3
_LAST_PAGE = 5000
_MOST_INSIDE = 100
_MOST_ANCHORS = 3000
_MOST_PARAMETERS = 50
#: Characters of a link whose address is remembered.
_SHORT = 300


@attrs.frozen(eq=False, repr=False)
class Link(Value):
    """A link worth following."""

    url: str
    """Absolute, in the form to request."""
    kind: LinkKind
    reason: str

    @property
    def priority(self) -> int:
        """Higher is fetched earlier."""
        return PRIORITY[self.kind]


def find_links(
    page: Page, *, allowed: Callable[[str], bool] | None = None, robots: str = ""
) -> list[Link]:
    """The page's links that are worth following, each once, in the page's order.

    *allowed* decides about absolute URLs (site, allow and deny filters); *robots* is the
    response's X-Robots-Tag.
    """
    if nofollow.of_page(f"{page.meta('robots')},{robots}"):
        return []
    finder = _Finder(page, allowed)
    for element in page.links[:_MOST_ANCHORS]:
        if (element.get("rel") or "").lower() == "next":
            finder.add(element, "pagination")
    for element in page.anchors[:_MOST_ANCHORS]:
        finder.add(element, None)
    for element, reference in unlinked(page):
        finder.add(element, None, reference)
    for element, reference in continued(page):
        finder.add(element, "pagination", reference)
    if not any(link.kind == "product" for link in finder.made.values()):
        for element, reference in scripted(page):
            finder.add(element, None, reference)
    return finder.result()


def shelf_of(links: list[Link]) -> int | None:
    """A number for all that a page leads to but its listing's other pages; None for nothing.

    Two pages of one listing with the same number show the same things.
    """
    shown = sorted(link.url for link in links if link.kind != "pagination")
    if not shown:
        return None
    digest = blake2b("\n".join(shown).encode("utf-8", "replace"), digest_size=7)
    return int.from_bytes(digest.digest(), "big")


def mark_of(url: str) -> int:
    """A small number for an address, by which links are compared."""
    return crc32(url.encode("utf-8", "replace"))


def listed_links(
    urls: Iterable[str], origin: str, follows: Callable[[str, str], bool]
) -> Iterator[Link]:
    """The links of a shop's sitemap that are worth following."""
    folder = tongue(_parts(origin)[1])
    for listed in urls:
        url = tidied(listed)
        if url is None or (folder and leads_to_another(_parts(url)[1], folder)):
            continue
        if _is_useless(url) or not follows(url, origin):
            continue
        path = url[url.find("/", 8) :] if url.find("/", 8) > 0 else "/"
        kind: LinkKind = "product" if _reads_product(path) else "listing"
        yield Link(url, kind, "a sitemap lists it")


class _Finder:
    """The links of one page, collected."""

    def __init__(self, page: Page, allowed: Callable[[str], bool] | None) -> None:
        self.page = page
        self.allowed = allowed
        self.seen: set[str] = set()
        self.made: dict[str, Link] = {}
        self.here = _parts(tidied(page.url) or page.url)
        end = page.base.find("/", 8)
        self.origin = page.base if end < 0 else page.base[:end]
        self.lang = page.lang[:2].lower()
        self.folder = tongue(self.here[1])
        self.others = others_of(page, self.here[1])
        self.products: set[str] = set()
        self.turned: set[str] = set()
        self.around: list[dict[Element, int]] = [{} for _ in range(_CLIMB + 1)]

    def add(self, element: Element, kind: LinkKind | None, href: str | None = None) -> None:
        href = href or element.get("href")
        if not href or href[0] == "#" or len(href) > MAX_LENGTH:
            href = self._unbanged(href)
        if href is None:
            return
        rel = element.get("rel")
        language = element.get("hreflang")
        if (
            kind is None
            and (
                (rel and nofollow.of_link(rel))
                # The same shop in another language.
                or (language and language.lower()[:2] != self.page.lang[:2])
            )
        ):
            return
        if href in self.seen and not (rel and "next" in rel):
            return
        self.seen.add(href)
        url = self._url(href)
        if url is None:
            return
        known = self.made.get(url)
        if known is not None and known.kind in {"product", "pagination"}:
            return
        there = _parts(url)
        if there == self.here or _is_useless(url) or self._is_for_others(there, url):
            return
        kind, reason = (kind, "rel=next") if kind else self._kind(element, rel or "", there)
        if kind == "product" and self._is_variant(there):
            return
        if kind is not None and (known is None or PRIORITY[kind] > known.priority):
            self.made[url] = Link(url, kind, reason)

    def _is_for_others(self, there: Address, url: str) -> bool:
        """Whether a link leads to the page, or into a folder, in another language than the page's."""
        if is_translation(there, self.here):
            return True
        if there[0] != self.here[0] or not (self.folder or self.others):
            return False
        if not leads_to_another(there[1], self.folder, self.others, self.lang):
            return False
        self.page.other_languages.setdefault(tongue(there[1]), []).append(url)
        return True

    def _is_variant(self, there: Address) -> bool:
        """Whether a product was met before, or is the page itself, but for a chosen colour."""
        if not _reads_product(there[1]):
            return False
        if there[2] and any(_IDENTITY(name) for name, _ in there[2]):
            return False
        if len(there[2]) == 1 and _SCRIPT(there[1]) and there[2][0][1].isdigit():
            return False  # one script shows all things
        place = there[0] + there[1]
        known = place in self.products or (bool(there[2]) and there[:2] == self.here[:2])
        self.products.add(place)
        return known

    def _unbanged(self, href: str | None) -> str | None:
        """Where a server tells what a script shows under `#!/lamps`, if the page says that it does.

        None for any other reference, which is a place of the page itself, empty, or too long.

        Source: developers.google.com/search/docs/ajax-crawling/docs/specification
        """
        if not href or href[:2] != "#!" or self.page.meta("fragment") != "!":
            return None
        found = f"?_escaped_fragment_={quote(href[2:])}"
        return found if len(found) <= MAX_LENGTH else None

    def _url(self, href: str) -> str | None:
        scheme = None if href[0] == "/" else _SCHEME.match(href)
        if scheme and scheme[1].lower() not in {"http", "https"}:
            return None
        if href[0] == "/" and href[1:2] != "/" and len(href) <= _SHORT:
            url = _of_origin(self.origin, href)
        else:
            found = self.page.resolve(href)
            url = None if found is None else _requested(found)
        if url is None or (self.allowed is not None and not self.allowed(url)):
            return None
        return url

    def _kind(self, element: Element, rel: str, there: Address) -> tuple[LinkKind | None, str]:
        if element.tag == "script":
            return _plain_kind(element, 0, there)[0], SCRIPTED
        context = self._context(element)
        asked = there[2] and there[1] == self.here[1]
        unnamed = turned(element, there, self.here, is_identity=_IDENTITY) if asked else None
        if unnamed:
            self.turned.add(unnamed[0])
        if unnamed or turns_page(element, rel, there, self.here, pager=bool(context & _PAGER)):
            number = unnamed[1] if unnamed else page_number(there)
            return (None, "") if number > _LAST_PAGE else ("pagination", "it turns the page")
        if context & _FACET and (there[2] or not looks_like_product(there[1])):
            return None, ""
        kind: LinkKind | None
        kind, reason = _plain_kind(element, context, there)
        if kind != "product" and there[2] and _is_facet(there, self.here):
            kind = None
        return kind, reason

    def _context(self, element: Element, levels: int = _CLIMB) -> int:
        """What the classes of an element and those around it say, so many *levels* in all."""
        words = element.get("class")
        own = _CLASS_CONTEXT[words] if words else 0
        box = element.getparent()
        if box is None:
            return own
        # The links of a menu have their boxes in common.
        boxes = self.around[levels]
        around = boxes.get(box)
        if around is None:
            above = self._context(box, levels - 1) if levels > 1 else 0
            boxes[box] = around = above | _CONTEXT_TAGS.get(box.tag, 0)
        return own | around

    def result(self) -> list[Link]:
        links = list(self.made.values())
        empty = not any(link.kind in {"product", "other"} for link in links)
        # A page of a listing that shows nothing ends it, however many more it promises.
        if empty and page_number(self.here, self.turned) > 1:
            links = [link for link in links if link.kind != "pagination"]
        is_front = self.here[1] == "/" and not self.folder and self.lang
        return self._in_own_language(links) if is_front else links

    def _in_own_language(self, links: list[Link]) -> list[Link]:
        """A front page's links without those into folders of other languages, where one speaks its own."""
        folders = [tongue(_parts(link.url)[1]) for link in links]
        if not any(folder and speaks(folder, self.lang) for folder in folders):
            return links
        own = []
        for link, folder in zip(links, folders, strict=True):
            if not folder or speaks(folder, self.lang):
                own.append(link)
            else:
                self.page.other_languages.setdefault(folder, []).append(link.url)
        return own


# The menu of a site is the same on all of its pages.
@lru_cache(maxsize=1024)
def _of_origin(origin: str, href: str) -> str | None:
    """The address to request for a link that begins with a slash."""
    url = origin + href.strip()
    return _requested(url) if url[:4].lower() == "http" else None


def _requested(url: str) -> str | None:
    """An address in the form to request, without the category through which it was reached."""
    return tidied(_COLLECTED.sub(r"\1\2", url) if "/collections/" in url else _reached(url))


def _reached(url: str) -> str:
    """A product's address without the category through which it was reached.

    >>> _reached("https://a.example/product_info.php?info=p5_Lamp.html&cPath=3_4")
    'https://a.example/product_info.php?info=p5_Lamp.html'
    >>> _reached("https://a.example/index.php?cPath=3_4")
    'https://a.example/index.php?cPath=3_4'
    """
    if "ath=" in url:
        for product, category in _REACHED:
            if product.search(url):
                return category.sub("", url).rstrip("?&")
    return url


@lru_cache(maxsize=1024)
def _parts(url: str) -> Address:
    """Origin, path and parameters."""
    rest, _, query = url.partition("?")
    end = rest.find("/", 8)
    origin, path = (rest, "/") if end < 0 else (rest[:end], rest[end:])
    pairs = []
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if part:
            pairs.append((unquote_plus(name), value))
    return origin, path, tuple(pairs)


@lru_cache(maxsize=1024)
def _is_useless(url: str) -> bool:
    """Whether an address leads to nothing for us, or around in circles."""
    rest = url[url.find("/", 8) :] if url.find("/", 8) > 0 else "/"
    path = rest.partition("?")[0]
    if len(url) > _LONGEST or url.count("&") > _MOST_PARAMETERS or _USELESS(rest) or _FILE(path):
        return True
    segments = [segment for segment in path.split("/") if segment]
    if len(segments) > _DEEPEST:
        return True
    if max(map(segments.count, segments), default=0) >= _REPEATS:
        return True
    dated = "=" in rest or "19" in rest or "20" in rest
    return dated and _CALENDAR(rest) is not None and not looks_like_product(path)


def _class_context(words: str) -> int:
    words = words.lower()
    context = 0
    for flag, rule in _CONTEXT_RULES:
        if rule.search(words):
            context |= flag
    return context


_CLASS_CONTEXT = Marks(_class_context)


def _is_facet(
    there: Address,
    here: Address,
) -> bool:
    """Whether a link only orders, dresses or narrows a listing that is reached anyway."""
    if not there[2]:
        return False
    free = [name for name, _ in there[2] if not _IDENTITY(name)]
    free = [name for name in free if not is_page(name)]
    known = {name for name, _ in here[2]}
    if _is_route(there, here):
        return False
    if any(dresses(name) and name not in known for name in free):
        return True
    if there[1] == here[1] and there[1] != "/" and not _SCRIPT(there[1]):
        if _shows_other(there, known):
            return False
        return any(name not in known for name in free) or bool(
            set(there[2]) - set(here[2]) and free
        )
    if _SCRIPT(there[1]):
        return len([name for name in free if not _SCRIPTED(name)]) > 2
    return len(free) > 1


def _shows_other(there: Address, known: set[str]) -> bool:
    """Whether a script's address tells nothing of what the page was asked for, and a number: `?item=7`."""
    return (
        bool(known)
        and len(there[2]) == 1
        and there[2][0][0] not in known
        and there[2][0][1].isdigit()
    )


def _is_route(there: Address, here: Address) -> bool:
    """Whether the one script of a shop is told what to show: `/?mode=cate&cbid=7&csid=0`.

    A parameter that would dress a listing says what kind of page is meant, and others which one.
    """
    if there[1] != "/" and not _SCRIPT(there[1]):
        return False
    new = dict(set(there[2]) - set(here[2]))
    routes = [name for name in new if _ROUTE(name) and new[name].isalpha()]
    return len(routes) == 1 and any(
        _NUMBERED(name) and value.isdigit() for name, value in new.items()
    )


def _plain_kind(element: Element, context: int, there: Address) -> tuple[LinkKind, str]:
    path = there[1]
    if there[2]:
        path += "?" + "&".join(f"{name}={value}" for name, value in there[2])
    if _reads_product(path):
        return "product", "its address reads like a product's"
    if context & _PRODUCT and not context & (_NAV | _CRUMBS | _FOOT):
        tags = {child.tag for child in element[:_MOST_INSIDE]}
        parent = element.getparent()
        if tags & {"img", "picture", *_HEADINGS} or (
            parent is not None and parent.tag in _HEADINGS
        ):
            return "product", "it is a product's tile"
    if _reads_listing(path):
        return "listing", "its address reads like a listing's"
    if context & (_NAV | _CRUMBS) and not context & _FOOT:
        return "listing", "it stands in a menu"
    return "other", "it is on the site"


_reads_product = lru_cache(maxsize=1024)(looks_like_product)
_reads_listing = lru_cache(maxsize=1024)(looks_like_listing)
