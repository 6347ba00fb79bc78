"""Extraction of products and links from a page: pure functions, no network, no stores.

`page` makes the tree and the lines that a visitor reads. Three packages are sources of a product:
`structured` (schema.org, OpenGraph), `scripts` (the state of scripts) and `visible` (text), which
reads price and stock by `price` and `stock`. All of them parse amounts by `money` and find words by
`words`. `default_parser` reads the sources, `merge` decides between them, and `template` compares
the product with other pages of its site. `links` chooses the links to follow, and `listing` reads
how many pages a listing has. A site's own rules are in `site`.
"""

from crawler.extract.default_parser import Found, extract
from crawler.extract.links.choice import Link, find_links
from crawler.extract.page.page import Page, parse

__all__ = ["Found", "Link", "Page", "extract", "find_links", "parse"]
