"""`scrapy down`: the library's command as a verb of this project, which has PostgreSQL as well."""

import crawler.stores.embedded  # noqa: F401  # PostgreSQL joins the servers by this import
from scrapy_seine.commands import down


class Command(down.Command):
    """The same as `scrapy seine down`, for both servers."""

    summary = "Stop the embedded Redis and PostgreSQL; their data stays"
    example = "scrapy down"
    used = "a worker, a demo or a dashboard uses the servers"
