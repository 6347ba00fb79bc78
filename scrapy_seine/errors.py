"""Every error that Seine raises on purpose.

* SeineError
  x ConfigError            a setting is missing, malformed or contradicts another
  x StoreError
    + StoreUnreachable     Redis or PostgreSQL does not answer
    + EmbeddedError        an embedded server of the laptop mode cannot be started or stopped
    + MigrationError       the database schema cannot be brought up to date
    + ScriptContractError  a Lua file and its declared header differ
  x FrontierError
    + EncodeError          a request cannot be stored
    + DecodeError          a stored request cannot be read back
    + BadSeed              a seed is not something that can be crawled
    + BadMeta              a key of a request's meta has a value that it may not have
  x AddressRefused         a request would lead to a private address
  x NoWay                  a request needs what nobody in the fleet has
  x PageUnreadable         an archive's copy of a page cannot be read
  x BadItem                an item cannot be kept; carries the reason

The docstring of each is its default message: it says what happened and what to do next.
"""

from __future__ import annotations


class SeineError(Exception):
    """Seine cannot go on with this."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").strip())


class ConfigError(SeineError):
    """A setting is missing, malformed or contradicts another; correct it and start again."""


class StoreError(SeineError):
    """A store failed."""


class StoreUnreachable(StoreError):
    """Redis or PostgreSQL does not answer; check REDIS_URL, DATABASE_URL and the server."""


class EmbeddedError(StoreError):
    """An embedded server cannot be started or stopped; see its log in the data folder."""


class MigrationError(StoreError):
    """The database schema cannot be brought up to date; read what `scrapy migrate` says."""


class ScriptContractError(StoreError):
    """A Lua script and its declared contract differ; correct the header or the stub."""


class FrontierError(SeineError):
    """The frontier refused an operation."""


class EncodeError(FrontierError):
    """A request cannot be stored; keep callbacks as spider methods and meta as plain data."""


class BadRequest(EncodeError):
    """Nobody can send a request: its URL is none of HTTP, or its time is no time."""


class DecodeError(FrontierError):
    """A stored request cannot be read back; it was set aside with its reason."""


class BadSeed(FrontierError):
    """A seed is not something that can be crawled; send a URL or a JSON object with a `url`."""


class AddressRefused(SeineError):
    """The request leads to a private address; allow it with SEINE_PRIVATE_ADDRESSES."""

    def __init__(self, message: str | None = None, place: str = "") -> None:
        super().__init__(message)
        self.place = place
        """Host and port that may not be reached."""


class NoWay(SeineError):
    """A request needs what nobody in the fleet has, a pool of proxies say; give it to a worker."""

    kind = "proxy"
    """Kind of failure that it is buried with (`frontier.retry_rules`)."""


class NoNetwork(NoWay):
    """This machine cannot connect to anything; its network or its limits are to blame."""

    kind = "network"


class PageUnreadable(SeineError):
    """An archive's copy of a page cannot be read; fetch the page again."""


class BadMeta(FrontierError):
    """A key of a request's meta has a value that it may not have; docs/meta.md has the table."""


class BadItem(SeineError):
    """An item cannot be kept; the reason is in the rejected table."""
