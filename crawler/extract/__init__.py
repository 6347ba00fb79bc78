"""What a page holds: pure functions over one parsed tree, no network, no stores.

`page` makes the tree and the lines that a visitor reads. Three rooms are sources of a product:
`structured` (schema.org, OpenGraph), `scripts` (data that scripts start from) and `visible` (text);
the last one asks `price` and `stock` what the page shows, and all of them read amounts by `money`
and words by `words`. `default` asks the sources, `merge` decides between them, and `template` holds
the product against its site's other pages. `links` says where to go on, `listing` how many pages a
list has. A site's own rules are in `site`.
"""

from crawler.extract.default_parser import Found, extract
from crawler.extract.links.choice import Link, find_links
from crawler.extract.page.page import Page, parse

__all__ = ["Found", "Link", "Page", "extract", "find_links", "parse"]
