"""Judge a page's values by the template of its site, which is learned from the site's other pages.

A crawl reads thousands of pages of one template. `make_signature` clusters pages into makes.
`profile` learns, for each make, which sources agree on a field, where its text stands and how its
values vary. `confidence` and `page_doubts` compare a page with that: each field gets a confidence,
and a value that contradicts the template is doubtful, with a reason. `all_sites` keeps the profiles
of all sites in bounded memory, notices a changed template, and learns it anew. `visitor_currency`
notices a site that answers in another currency than before. `products_without_price` recognises
products without a price by their make and by the `addresses` of the site's products.

Everything works on the parser's result, because parsing a page again would cost too much.
"""

from crawler.extract.template.all_sites import Book
from crawler.extract.template.drift import Drift
from crawler.extract.template.page_doubts import Doubt, Judgement
from crawler.extract.template.products_without_price import know_unpriced, shown_by
from crawler.extract.template.visitor_currency import Look

__all__ = ["Book", "Doubt", "Drift", "Judgement", "Look", "know_unpriced", "shown_by"]
