"""What a page holds: pure functions over one parsed tree, no network, no stores."""

from crawler.extract.default import Found, extract
from crawler.extract.links.choice import Link, find_links
from crawler.extract.page.page import Page, parse

__all__ = ["Found", "Link", "Page", "extract", "find_links", "parse"]
