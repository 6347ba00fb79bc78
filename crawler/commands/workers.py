"""`scrapy workers`: the library's command as a verb of this project."""

from scrapy_seine.commands import workers


class Command(workers.Command):
    """The same as `scrapy seine workers`."""

    usual_spider = "catalog"
