"""Asking for a page only if it changed: what to keep of an answer, what to say, what to believe.

After RFC 9110, sections 8.8 and 13: an entity tag is repeated as it came; a date is only kept where
the page cannot have changed twice within it; both are sent, and a server that knows tags ignores
the date. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache

import attrs

from scrapy_seine.records import Value

#: Key of `request.meta`: the state of the page that is known, as `Validators.plain` lays it out.
KEY = "validators"
_TAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]{0,256}"')
#: A page younger than this when it was sent may change again within its second.
_SETTLED = timedelta(seconds=60)


@attrs.frozen(eq=False, repr=False)
class Validators(Value):
    """What names one state of a page."""

    etag: str | None = None
    last_modified: str | None = None

    def headers(self) -> dict[str, str]:
        """Headers that ask for the page unless it is in this state."""
        made = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in made.items() if value}

    def plain(self, parser: str) -> dict[str, str]:
        """Lay this out for meta, with the version of the parser that read that state."""
        made = {"etag": self.etag, "modified": self.last_modified, "parser": parser}
        return {name: value for name, value in made.items() if value}

    def fits(self, etag: str) -> bool:
        """Whether a 304 with that entity tag (empty: none) can be about this state.

        >>> known = Validators('W/"a"')
        >>> known.fits('"a"'), known.fits('"b"'), known.fits("")
        (True, False, True)
        """
        return not (etag and self.etag) or _weak(etag) == _weak(self.etag)


def validators_in(headers: Mapping[str, str], now: datetime) -> Validators | None:
    """What an answer says about its page's state, None where nothing can be relied on.

    *headers* are `etag`, `last-modified` and `date`, in lower case.

    >>> validators_in({"etag": '"a1"'}, datetime(2026, 1, 1, tzinfo=UTC))
    Validators(etag='"a1"', last_modified=None)
    """
    tag: str | None = headers.get("etag", "").strip()
    tag = tag if tag and _TAG.fullmatch(tag) else None
    modified = headers.get("last-modified", "").strip()
    settled = False
    if modified and (changed := _time(modified)) is not None:
        sent = _time(headers.get("date", "")) or now
        settled = changed <= min(sent, now) - _SETTLED
    if tag is None and not settled:
        return None
    return Validators(tag, modified if settled else None)


def from_meta(value: object) -> tuple[Validators, str] | None:
    """Read what `Validators.plain` laid out: the validators and the parser's version."""
    if not isinstance(value, Mapping):
        return None
    found = Validators(value.get("etag"), value.get("modified"))
    return (found, str(value.get("parser", ""))) if found.headers() else None


def _weak(tag: str) -> str:
    return tag.strip().removeprefix("W/")


# A site's answers of one second bear the same date.
@lru_cache(maxsize=256)
def _time(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
