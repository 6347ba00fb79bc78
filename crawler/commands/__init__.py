"""What `scrapy <verb>` can do, one module a verb."""

import gc

from scrapy.settings import Settings

from scrapy_seine.commands.base import SeineCommand

# Scrapy imports all of these modules to run one. Freezing them keeps them out of every collection.
# A command collects seldom (the threshold is set in `settings`); a worker collects every few dozen
# pages, once all its parts are loaded (`scrapy crawl`).
gc.freeze()


def _check_names(settings: Settings) -> None:
    """Refuse unknown names of -s, and warn of such variables, which this project's settings read.

    Raises:
        ConfigError: -s, or with SEINE_STRICT a variable, names no setting.
    """
    # Imported here, because its tables take 10 ms, and Scrapy imports all commands to run one.
    from crawler.cli.start_warnings import check_names

    check_names(settings)


SeineCommand.check_names = staticmethod(_check_names)
