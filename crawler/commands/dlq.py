"""`scrapy dlq`: the library's command as a verb of this project."""

from scrapy_seine.commands import dlq


class Command(dlq.Command):
    """The same as `scrapy seine dlq`."""

    usual_spider = "catalog"
