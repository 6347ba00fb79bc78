"""`scrapy logs`: the library's command as a verb of this project."""

from scrapy_seine.commands import logs


class Command(logs.Command):
    """The same as `scrapy seine logs`."""

    usual_spider = "catalog"
