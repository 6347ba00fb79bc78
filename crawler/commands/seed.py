"""`scrapy seed`: the library's command as a verb of this project."""

from scrapy_seine.commands import seed


class Command(seed.Command):
    """The same as `scrapy seine seed`."""

    usual_spider = "catalog"
