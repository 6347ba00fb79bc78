"""`scrapy frontier`: the library's command as a verb of this project."""

from scrapy_seine.commands import frontier


class Command(frontier.Command):
    """The same as `scrapy seine frontier`."""

    usual_spider = "catalog"
