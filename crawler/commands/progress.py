"""`scrapy progress`: the library's command as a verb of this project."""

from scrapy_seine.commands import progress


class Command(progress.Command):
    """The same as `scrapy seine progress`."""

    usual_spider = "catalog"
