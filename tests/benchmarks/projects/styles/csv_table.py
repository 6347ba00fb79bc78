"""CSVFeedSpider: one item for each row of a table."""

from scrapy.spiders import CSVFeedSpider


class TableSpider(CSVFeedSpider):
    name = "csvfeed"
    delimiter = ";"

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [f"{site}/table.csv"]

    def parse_row(self, response, row):
        return {"id": int(row["id"]), "name": row["name"], "price": float(row["price"])}
