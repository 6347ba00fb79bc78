"""`scrapy status`: the library's command as a verb of this project."""

from scrapy_seine.commands import status


class Command(status.Command):
    """The same as `scrapy seine status`."""

    usual_spider = "catalog"
