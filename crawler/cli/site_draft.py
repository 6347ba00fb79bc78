"""Choose the pages that `scrapy newsite` reads, and write the text of its draft. Pure.

The draft is based on up to ten products, of different listings if there are any. It names the
fields that the default parser reads on all, some or none of these pages, and an element that may
hold a missing field.
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
from scrapy_seine.attrs_bases import Record, Value

#: Fields that an item should have.
WANTED = ("name", "price", "currency", "availability", "sku", "gtin", "brand", "images")
#: Largest numbers of products and of pages to read.
PRODUCTS, PAGES = 10, 40
#: Largest number of values shown for a field, and of characters shown for a value.
_MAX_VALUES, _MAX_CHARACTERS = 3, 40
#: Largest number of characters of a field's value; a longer text is not a value.
_MAX_LENGTH = 120
#: Parts of the classes, ids and itemprops of elements that hold a field.
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
    """The queue of pages to read: three products of each listing first, all others last."""

    queue: list[Link]
    queued_urls: set[str] = attrs.Factory(set)
    other_products: list[Link] = attrs.Factory(list)
    """Read where the listings have no further page, so that a shop of one listing yields ten."""

    def add(self, links: Iterable[Link]) -> None:
        """Queue the links of a page, with three product links before its other links."""
        fresh = [link for link in links if link.url not in self.queued_urls]
        products = [link for link in fresh if link.kind == "product"]
        step = max(1, len(products) // 3)
        self.queue += [*products[::step][:3], *(link for link in fresh if link.kind != "product")]
        self.other_products += products
        rank = {"product": 0, "listing": 1, "pagination": 3}
        self.queue.sort(key=lambda link: rank.get(link.kind, 2))

    def next(self) -> Link | None:
        """Return the link of the next page; None: the queue is empty, or PAGES were read."""
        while (queue := self.queue or self.other_products) and len(self.queued_urls) < PAGES:
            link = queue.pop(0)
            if link.url not in self.queued_urls:
                self.queued_urls.add(link.url)
                return link
        return None


@attrs.frozen(eq=False, repr=False)
class Guess(Value):
    """An element that may hold a field."""

    selector: str
    values: tuple[str, ...]
    """Texts of the element, one for each page."""


def guess(field: str, pages: Sequence[Any]) -> Guess | None:
    """Find the selector that yields one short text on most pages; None: on less than half of them.

    Args:
        field: of a Product.
        pages: the roots of several product pages.
    """
    hint = re.compile(_HINTS.get(field, field), re.IGNORECASE)
    counts = Counter(selector for root in pages for selector in set(_selectors(root, hint, field)))
    guesses = [
        _evaluate(selector, pages) for selector, n in counts.most_common(20) if 2 * n >= len(pages)
    ]
    frequent = [candidate for candidate in guesses if 2 * len(candidate.values) >= len(pages)]
    return max(frequent, key=_rank, default=None)


def _evaluate(selector: str, pages: Sequence[Any]) -> Guess:
    texts_by_page = [select(root, selector) for root in pages]
    first_texts = [texts[0] for texts in texts_by_page if 1 <= len(texts) <= _MAX_VALUES]
    return Guess(selector, tuple(text for text in first_texts if len(text) <= _MAX_LENGTH))


def _rank(candidate: Guess) -> tuple[int, int, int, str]:
    """Rank by pages with a value, then by different values, then by the selector's shortness."""
    return (
        len(candidate.values),
        len(set(candidate.values)),
        -len(candidate.selector),
        candidate.selector,
    )


def _selectors(root: Any, hint: re.Pattern[str], field: str) -> Iterator[str]:
    suffix = "::attr(src)" if field == "images" else "::text"
    for element in root.iter():
        if not isinstance(element.tag, str) or (field == "images" and element.tag != "img"):
            continue
        for token in _TOKEN.findall(element.get("class") or ""):
            if hint.search(token):
                yield f".{token}{suffix}"
        name = element.get("itemprop") or ""
        if _TOKEN.fullmatch(name) and hint.search(name):
            content = "::attr(content)" if element.get("content") else suffix
            yield f'[itemprop="{name}"]{content}'
        token = element.get("id") or ""
        if _TOKEN.fullmatch(token) and hint.search(token):
            yield f"#{token}{suffix}"


def draft(name: str, seeds: Sequence[str], results: Sequence[Found]) -> str:
    """Return the text of a site file, with the values of each field as comments."""
    products = [result for result in results if result.kind == "product"]
    class_name = "".join(part.capitalize() for part in name.split("_"))
    hosts = dict.fromkeys((urlsplit(url).hostname or "").removeprefix("www.") for url in seeds)
    lines = [
        f'"""{next(iter(hosts))}: a draft; keep what the default parser cannot know."""',
        "",
        "from crawler.extract.site import Site",
        "",
        "",
        f"class {class_name}(Site):",
        f'    """{_summary(results, products)}"""',
        "",
        f'    name = "{name}"',
        f"    domains = {_tuple(hosts)}",
        f"    seeds = {_tuple(seeds)}",
    ]
    pattern = product_pattern([result.page.url for result in products])
    lines.append(f"    product_pages = {_text(pattern, 'r')}" if pattern else _NO_PATTERN)
    return "\n".join([*lines, *_fields(products)]) + "\n"


_NO_PATTERN = '    # product_pages = r"/p/"  # where only some addresses are products'


def _fields(products: Sequence[Found]) -> Iterator[str]:
    """Yield the values of each field, and a candidate selector where pages lack the field."""
    if not products:
        return
    yield f"    # What {len(products)} product pages say; a selector comes before the value here."
    incomplete_fields = []
    for field in WANTED:
        field_values = [
            (result.fields[field], result.sources.get(field, ""))
            for result in products
            if result.fields.get(field)
        ]
        if len(field_values) < len(products):
            incomplete_fields.append(field)
        if field_values:
            sources = ", ".join(sorted({source for _, source in field_values}))
            values = _values(value for value, _ in field_values)
            yield f"    # {field:<13}{len(field_values):>2} of {len(products)}  {sources}"
            yield f"    #     {values}"
    if incomplete_fields:
        yield "    fields = {"
        for field in incomplete_fields:
            roots = [result.page.root for result in products if not result.fields.get(field)]
            candidate = guess(field, roots)
            selector = candidate.selector if candidate else "css selector::text"
            comment = f"  # {_values(candidate.values)}" if candidate else "  # not found"
            yield f"        # {_text(field)}: {_text(selector)},{comment}"
        yield "    }"


def _values(values: Iterable[Any]) -> str:
    texts = [str(value[0] if isinstance(value, list) else value) for value in values]
    literals = [_text(_shortened(text)) for text in dict.fromkeys(texts)][:_MAX_VALUES]
    return ", ".join(literals)


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"


def _text(text: str, prefix: str = "") -> str:
    """Return a text as a Python literal, in double quotes where possible."""
    if '"' in text or "\\" in text or not text.isprintable():
        return prefix + f'"{text}"' if prefix and '"' not in text else repr(text)
    return f'{prefix}"{text}"'


def _tuple(texts: Collection[str]) -> str:
    return f"({', '.join(map(_text, texts))}{',' if len(texts) == 1 else ''})"


def _summary(results: Sequence[Found], products: Sequence[Found]) -> str:
    if not products:
        return f"No product was seen on {len(results)} pages."
    sources = sorted({source for result in products for source in result.sources.values()})
    return f"Its products are read from {', '.join(sources)}."


def product_pattern(urls: Sequence[str]) -> str:
    """Return the common pattern of product pages' paths, as a regular expression.

    >>> product_pattern(["http://a.example/p/1/red", "http://a.example/p/2/blue"])
    '/p/[^/]+/[^/]+$'
    """
    paths = [urlsplit(url).path.split("/")[1:] for url in urls]
    if not paths or len({len(path) for path in paths}) != 1:
        return ""
    parts = []
    for position, words in enumerate(zip(*paths, strict=True)):
        fixed = len(set(words)) == 1 and (len(paths) > 1 or position == 0 < len(words[0]))
        parts.append(re.escape(words[0]) if fixed and len(paths[0]) > 1 else "[^/]+")
    return "/" + "/".join(parts) + "$" if any(part != "[^/]+" for part in parts) else ""
