"""Conditional requests: what to keep of a response, what to send, and whether a 304 fits. Pure.

After RFC 9110, sections 8.8 and 13: an entity tag is sent back unchanged; a date is kept only where
the page cannot have changed twice within its second. Both are sent; a server that supports tags
ignores the date.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache

import attrs

from scrapy_seine.attrs_bases import Value

#: Key of `request.meta`: the page's stored state, as `Validators.plain` returns it.
KEY = "validators"
_TAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]{0,256}"')
#: A date's letters: a header may have others, which Python's parser of dates passes over.
_DATE = re.compile(r"[\x20-\x7e]{1,64}")
#: A page modified less than this before its response may change again within the same second.
_SETTLED = timedelta(seconds=60)


@attrs.frozen(eq=False, repr=False)
class Validators(Value):
    """The validators of one state of a page."""

    etag: str | None = None
    last_modified: str | None = None

    def headers(self) -> dict[str, str]:
        """Headers that request the page unless it is in this state."""
        conditions = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in conditions.items() if value}

    def plain(self, parser: str) -> dict[str, str]:
        """Return plain data for meta, with the version of the parser that read that state."""
        fields = {"etag": self.etag, "modified": self.last_modified, "parser": parser}
        return {name: value for name, value in fields.items() if value}

    def fits(self, etag: str) -> bool:
        """Whether a 304 with that entity tag (empty: none) can refer to this state.

        >>> known = Validators('W/"a"')
        >>> known.fits('"a"'), known.fits('"b"'), known.fits("")
        (True, False, True)
        """
        return not (etag and self.etag) or _weak(etag) == _weak(self.etag)


def validators_in(headers: Mapping[str, str], now: datetime) -> Validators | None:
    """The validators of a response; None where none is reliable.

    *headers* are `etag`, `last-modified` and `date`, in lower case.

    >>> validators_in({"etag": '"a1"'}, datetime(2026, 1, 1, tzinfo=UTC))
    Validators(etag='"a1"', last_modified=None)
    """
    tag: str | None = headers.get("etag", "").strip()
    tag = tag if tag and _TAG.fullmatch(tag) else None
    modified = headers.get("last-modified", "").strip()
    settled = False
    if _DATE.fullmatch(modified) and (changed := _time(modified)) is not None:
        sent = _time(headers.get("date", "")) or now
        settled = changed <= min(sent, now) - _SETTLED
    if tag is None and not settled:
        return None
    return Validators(tag, modified if settled else None)


def from_meta(value: object) -> tuple[Validators, str] | None:
    """Read the result of `Validators.plain`: the validators and the parser's version."""
    if not isinstance(value, Mapping):
        return None
    validators = Validators(value.get("etag"), value.get("modified"))
    return (validators, str(value.get("parser", ""))) if validators.headers() else None


def _weak(tag: str) -> str:
    return tag.strip().removeprefix("W/")


# Cached, because a site's responses of one second have the same date.
@lru_cache(maxsize=256)
def _time(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
