"""The project's reactor: a worker needs asyncio's, because it calls Redis on that loop."""

from __future__ import annotations

from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name
from scrapy.utils.reactor import is_asyncio_reactor_installed, is_reactor_installed

from scrapy_seine.errors import ConfigError

REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"


def check_reactor(settings: BaseSettings) -> None:
    """Accept only asyncio's reactor, or none.

    Raises:
        ConfigError: naming another reactor.
    """
    path = settings["TWISTED_REACTOR"]
    if not path:
        return
    name = path if isinstance(path, str) else global_object_name(path)
    try:
        reactor = load_object(path)
    except (ImportError, NameError, ValueError) as error:
        text = f"TWISTED_REACTOR names {name}, which cannot be imported: {error}"
        raise ConfigError(text) from None
    if not (isinstance(reactor, type) and issubclass(reactor, load_object(REACTOR))):
        raise ConfigError(f"TWISTED_REACTOR={name} must be {REACTOR}, or not be set")


def check_loop(settings: BaseSettings) -> None:
    """Accept only a start on asyncio's loop.

    Raises:
        ConfigError: naming the setting of another reactor, or of none.
    """
    if not settings.getbool("TWISTED_REACTOR_ENABLED", True):
        raise ConfigError("TWISTED_REACTOR_ENABLED must be on, because a worker needs the reactor")
    check_reactor(settings)
    if not settings["TWISTED_REACTOR"] and not (
        is_reactor_installed() and is_asyncio_reactor_installed()
    ):
        raise ConfigError(f"TWISTED_REACTOR is empty, but must be {REACTOR}, or not be set")
