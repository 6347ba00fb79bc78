"""`scrapy newsite`: the draft of a site file, from what the default parser sees."""

from __future__ import annotations

import argparse
import asyncio
import keyword
import re
from pathlib import Path
from urllib.parse import urlsplit

import attrs

from crawler.cli_page import Got, PageCommand, fetch
from crawler.extract import Found, Link
from crawler.extract.sites import site_of
from scrapy_seine.engine.reach import policy_from
from scrapy_seine.errors import ConfigError, SeineError
from scrapy_seine.urls import domain

#: What an item should have; for what is missing the draft holds a line to fill in.
WANTED = ("name", "price", "currency", "availability", "sku", "gtin", "brand", "images")
_LOOKED_AT = 3


class Command(PageCommand):
    """Looks at a page and at a few products it leads to, and writes spiders/sites/NAME.py."""

    summary = "Write the draft of a site file from what the default parser sees of a shop"
    example = "scrapy newsite https://books.toscrape.com/ --name bookshop"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the file."""
        super().add_options(parser)
        parser.add_argument("--name", default="", help="short name (default: its domain)")
        parser.add_argument("--into", default="spiders/sites", help="where the file is written")
        parser.add_argument("--force", action="store_true", help="replace what is there")

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Look, write the file.

        Raises:
            ConfigError: the name is no name, or the file exists already.
        """
        got = self.got(args, opts)
        name = opts.name or re.sub(r"\W+", "_", site_of(got.url).partition(".")[0])
        if not name.isidentifier() or keyword.iskeyword(name):
            raise ConfigError(f"{name!r} cannot name a site; give --name letters and digits")
        path = Path(opts.into) / f"{name}.py"
        if path.exists() and not opts.force:
            raise ConfigError(f"{path} exists; --force replaces it, --name takes another")
        seen = self._look(got, opts)
        text = draft(name, got.url, seen)
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"{path} cannot be written: {error.strerror}") from None
        products = sum(found.kind == "product" for found in seen)
        self.show(
            f"{path}: from {len(seen)} pages, {products} of them products",
            path=str(path),
            pages=len(seen),
            products=products,
        )
        return 0

    def _look(self, got: Got, opts: argparse.Namespace) -> list[Found]:
        """Read the page, and products it leads to where it is none itself."""
        site, page, found = self.read(got, opts)
        seen = [found]
        if found.kind == "product" or "://" not in got.url:
            return seen
        links = [link for link in site.links(page, got.robots) if link.kind == "product"]
        for link in _spread(links):
            policy = policy_from(self.project)
            if policy.mode == "seeds" and domain(link.url) != domain(got.url):
                policy = attrs.evolve(policy, mode="deny")  # the page names it, not the user
            try:
                answer = asyncio.run(fetch(link.url, str(self.project.get("USER_AGENT")), policy))
            except SeineError:
                continue
            seen.append(self.read(answer, opts)[2])
        return seen


def _spread(links: list[Link]) -> list[Link]:
    step = max(1, len(links) // _LOOKED_AT)
    return links[::step][:_LOOKED_AT]


def draft(name: str, url: str, seen: list[Found]) -> str:
    """The text of a site file."""
    products = [found for found in seen if found.kind == "product"]
    class_name = "".join(part.capitalize() for part in name.split("_"))
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    lines = [
        f'"""{host}: a draft; keep what the default parser cannot know, delete the rest."""',
        "",
        "from crawler.extract.site import Site",
        "",
        "",
        f"class {class_name}(Site):",
        f'    """{_summary(products)}"""',
        "",
        f'    name = "{name}"',
        f'    domains = ("{host}",)',
        f'    seeds = ("{url}",)',
    ]
    pattern = product_pattern([found.page.url for found in products])
    lines.append(f'    product_pages = r"{pattern}"' if pattern else '    # product_pages = r"/p/"')
    found_all = set.intersection(*(set(f.fields) for f in products)) if products else set()
    missing = [field for field in WANTED if field not in found_all]
    if missing:
        lines.append("    fields = {")
        lines += [f'        # "{field}": "css selector::text",' for field in missing]
        lines.append("    }")
    return "\n".join(lines) + "\n"


def _summary(products: list[Found]) -> str:
    if not products:
        return "No product was seen yet."
    sources = sorted({source for found in products for source in found.sources.values()})
    return f"Its products are read from {', '.join(sources)}."


def product_pattern(urls: list[str]) -> str:
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
