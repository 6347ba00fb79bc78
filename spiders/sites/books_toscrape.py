"""books.toscrape.com: the practice bookshop."""

from crawler.extract.site import Site


class BooksToScrape(Site):
    """The default parser reads it; only its UPC, which is no barcode, needs a word."""

    name = "books"
    domains = ("books.toscrape.com",)
    seeds = ("https://books.toscrape.com/",)
    product_pages = r"/catalogue/[^/]+_\d+/index\.html$"
    fields = {"sku": "//th[normalize-space()='UPC']/following-sibling::td/text()"}
