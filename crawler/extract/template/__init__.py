"""What a site's own pages say about one of them: its template, and whether a value fits it.

A crawl sees thousands of pages of one template. `cluster` tells which pages are of one make,
`profile` learns of each make which sources agree on a field, where its text stands and how its
values differ, and `confidence` holds a page against that: each field gets a confidence, and a value
that contradicts what the site did so far is doubtful, with the reason. `book` keeps the profiles of
all sites in bounded room, notices when a template changed, and learns it anew. `visitor_currency`
notices that a site answers in another currency than before. `unpriced` tells which pages without a
price are products' all the same, by the make and the `addresses` that the site's products have.

All of it works from what the parser has read anyway, because a page may cost no second walk.
"""

from crawler.extract.template.all_sites import Book
from crawler.extract.template.drift import Drift
from crawler.extract.template.page_doubts import Doubt, Judgement
from crawler.extract.template.products_without_price import know_unpriced
from crawler.extract.template.visitor_currency import Look

__all__ = ["Book", "Doubt", "Drift", "Judgement", "Look", "know_unpriced"]
