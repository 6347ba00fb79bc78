"""How `scrapy newsite` gets to know a shop: which pages it looks at, and what its draft says. Pure.

Ten products of different shelves show which fields the default parser reads on all of them, on
some, or on none; and which element of the pages may hold a field that it does not read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import attrs

from crawler.extract import Found, Link
from crawler.extract.site import select
from scrapy_seine.records import Record, Value

#: What an item should have.
WANTED = ("name", "price", "currency", "availability", "sku", "gtin", "brand", "images")
#: Products and pages that are looked at, at most.
PRODUCTS, PAGES = 10, 40
#: Values that are shown of a field, and characters of each.
_VALUES, _CHARACTERS = 3, 40
#: Characters of a text that can be a field's value, at most.
_LONGEST = 120
#: Parts of classes, ids and item properties of the elements that shops keep a field in.
_HINTS = {
    "name": "title|name|heading",
    "price": "price|prix|preis|precio|amount",
    "currency": "currency",
    "availability": "avail|stock|lager|dispo",
    "sku": "sku|article|artikel|item-?n|product-?(id|code|number)|ref",
    "gtin": "gtin|ean|isbn|upc|barcode",
    "brand": "brand|manufacturer|marke|vendor|author|maker",
    "images": "gallery|image|photo|picture",
}
_TOKEN = re.compile(r"[A-Za-z][\w-]*")


@attrs.define(eq=False, repr=False)
class Round(Record):
    """The pages that are still to be looked at: products first, of one shelf after the other."""

    queue: list[Link]
    asked: set[str] = attrs.Factory(set)

    def add(self, links: Iterable[Link]) -> None:
        """Take the links of a page; a product of each page comes before its second one."""
        fresh = [link for link in links if link.url not in self.asked]
        products = [link for link in fresh if link.kind == "product"]
        step = max(1, len(products) // 3)
        self.queue += [*products[::step][:3], *(link for link in fresh if link.kind != "product")]
        rank = {"product": 0, "listing": 1, "pagination": 3}
        self.queue.sort(key=lambda link: rank.get(link.kind, 2))

    def next(self) -> Link | None:
        """The page to look at next; None: there is none, or enough were looked at."""
        while self.queue and len(self.asked) < PAGES:
            link = self.queue.pop(0)
            if link.url not in self.asked:
                self.asked.add(link.url)
                return link
        return None


@attrs.frozen(eq=False, repr=False)
class Guess(Value):
    """An element that may hold a field."""

    selector: str
    values: tuple[str, ...]
    """What it says, a page each."""


def guess(field: str, pages: Sequence[Any]) -> Guess | None:
    """Find the selector that most pages answer with one short text; None: none says half of them.

    Args:
        field: of a Product.
        pages: the roots of several product pages.
    """
    hint = re.compile(_HINTS.get(field, field), re.IGNORECASE)
    found = Counter(selector for root in pages for selector in set(_selectors(root, hint, field)))
    tried = [
        _tried(selector, pages) for selector, n in found.most_common(20) if 2 * n >= len(pages)
    ]
    good = [one for one in tried if 2 * len(one.values) >= len(pages)]
    return max(good, key=_worth, default=None)


def _tried(selector: str, pages: Sequence[Any]) -> Guess:
    answers = [select(root, selector) for root in pages]
    few = [found[0] for found in answers if 1 <= len(found) <= _VALUES]
    return Guess(selector, tuple(text for text in few if len(text) <= _LONGEST))


def _worth(one: Guess) -> tuple[int, int, int, str]:
    """Pages that it answers on, then how much it tells them apart, then how short it is."""
    return len(one.values), len(set(one.values)), -len(one.selector), one.selector


def _selectors(root: Any, hint: re.Pattern[str], field: str) -> Iterator[str]:
    what = "::attr(src)" if field == "images" else "::text"
    for element in root.iter():
        if not isinstance(element.tag, str) or (field == "images" and element.tag != "img"):
            continue
        for token in _TOKEN.findall(element.get("class") or ""):
            if hint.search(token):
                yield f".{token}{what}"
        name = element.get("itemprop") or ""
        if _TOKEN.fullmatch(name) and hint.search(name):
            content = "::attr(content)" if element.get("content") else what
            yield f'[itemprop="{name}"]{content}'
        token = element.get("id") or ""
        if _TOKEN.fullmatch(token) and hint.search(token):
            yield f"#{token}{what}"


def draft(name: str, seeds: Sequence[str], seen: Sequence[Found]) -> str:
    """The text of a site file, with the values that were found beside each field."""
    products = [found for found in seen if found.kind == "product"]
    class_name = "".join(part.capitalize() for part in name.split("_"))
    hosts = dict.fromkeys((urlsplit(url).hostname or "").removeprefix("www.") for url in seeds)
    lines = [
        f'"""{next(iter(hosts))}: a draft; keep what the default parser cannot know."""',
        "",
        "from crawler.extract.site import Site",
        "",
        "",
        f"class {class_name}(Site):",
        f'    """{_summary(seen, products)}"""',
        "",
        f'    name = "{name}"',
        f"    domains = {_tuple(hosts)}",
        f"    seeds = {_tuple(seeds)}",
    ]
    pattern = product_pattern([found.page.url for found in products])
    lines.append(f"    product_pages = {_text(pattern, 'r')}" if pattern else _NO_PATTERN)
    return "\n".join([*lines, *_fields(products)]) + "\n"


_NO_PATTERN = '    # product_pages = r"/p/"  # where only some addresses are products'


def _fields(products: Sequence[Found]) -> Iterator[str]:
    """What was read of each field, and a selector to try where pages lack it."""
    if not products:
        return
    yield f"    # What {len(products)} product pages say; a selector comes before the value here."
    missing = []
    for field in WANTED:
        found = [
            (p.fields[field], p.sources.get(field, "")) for p in products if p.fields.get(field)
        ]
        if len(found) < len(products):
            missing.append(field)
        if found:
            sources = ", ".join(sorted({source for _, source in found}))
            values = _values(value for value, _ in found)
            yield f"    # {field:<13}{len(found):>2} of {len(products)}  {sources}"
            yield f"    #     {values}"
    if missing:
        yield "    fields = {"
        for field in missing:
            roots = [p.page.root for p in products if not p.fields.get(field)]
            tried = guess(field, roots)
            selector = tried.selector if tried else "css selector::text"
            says = f"  # {_values(tried.values)}" if tried else "  # not found"
            yield f"        # {_text(field)}: {_text(selector)},{says}"
        yield "    }"


def _values(values: Iterable[Any]) -> str:
    texts = [str(value[0] if isinstance(value, list) else value) for value in values]
    shown = [_text(_short(text)) for text in dict.fromkeys(texts)][:_VALUES]
    return ", ".join(shown)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _CHARACTERS else f"{text[: _CHARACTERS - 1]}…"


def _text(text: str, prefix: str = "") -> str:
    """A text as Python writes it, in double quotes where it can be."""
    if '"' in text or "\\" in text or not text.isprintable():
        return prefix + f'"{text}"' if prefix and '"' not in text else repr(text)
    return f'{prefix}"{text}"'


def _tuple(texts: Collection[str]) -> str:
    return f"({', '.join(map(_text, texts))}{',' if len(texts) == 1 else ''})"


def _summary(seen: Sequence[Found], products: Sequence[Found]) -> str:
    if not products:
        return f"No product was seen on {len(seen)} pages."
    sources = sorted({source for found in products for source in found.sources.values()})
    return f"Its products are read from {', '.join(sources)}."


def product_pattern(urls: Sequence[str]) -> str:
    """What the paths of several product pages have in common, as a regular expression.

    >>> product_pattern(["http://a.example/p/1/red", "http://a.example/p/2/blue"])
    '/p/[^/]+/[^/]+$'
    """
    paths = [urlsplit(url).path.split("/")[1:] for url in urls]
    if not paths or len({len(path) for path in paths}) != 1:
        return ""
    parts = []
    for place, words in enumerate(zip(*paths, strict=True)):
        fixed = len(set(words)) == 1 and (len(paths) > 1 or place == 0 < len(words[0]))
        parts.append(re.escape(words[0]) if fixed and len(paths[0]) > 1 else "[^/]+")
    return "/" + "/".join(parts) + "$" if any(part != "[^/]+" for part in parts) else ""
