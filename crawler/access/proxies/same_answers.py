"""Finds answers with status 200 that are a proxy's own and no page of the site.

A captive portal, an ended account or a filter answers each page with the same bytes. Sites repeat
themselves, too, as at the end of a listing. So a page with the bytes of another one is fetched once
more, as a rule through another proxy: other bytes there speak against the first ones, the same for.
"""

from __future__ import annotations

import hashlib
from typing import Any, Literal

import attrs

from scrapy_seine.attrs_bases import Record

#: Answers that are remembered; the oldest are dropped first.
_MOST = 20_000
#: Pages that settle whether an answer is the site's.
_ENOUGH = 3
Verdict = Literal["page", "again", "no page"]
_Key = tuple[str, bytes]


@attrs.define(eq=False, repr=False)
class _Answer(Record):
    url: str
    """The first page that had it."""
    same: int = 0
    """Pages that had it twice."""
    other: int = 0
    """Pages that had another one the second time."""


@attrs.define(eq=False, repr=False)
class SameAnswers(Record):
    """The answers that this worker got through proxies."""

    _answers: dict[_Key, _Answer] = attrs.Factory(dict)
    _asked_again: dict[str, _Key] = attrs.Factory(dict)
    """The first answer to pages that are fetched once more, by URL."""

    def judge(self, site: str, url: str, body: bytes) -> tuple[Verdict, str]:
        """Judge the answer to a request; returns the first page that had it, too."""
        key = site, hashlib.blake2b(body, digest_size=12).digest()
        before = self._asked_again.pop(url, None)
        judged = self._answers.get(before) if before is not None else None
        if judged is not None:
            judged.same += before == key
            judged.other += before != key
        answer = self._answers.get(key)
        if answer is None:
            answer = _keep(self._answers, key, _Answer(url))
        if before == key or answer.url == url or answer.same >= _ENOUGH:
            return "page", answer.url
        _keep(self._asked_again, url, key)
        is_false = answer.other >= _ENOUGH and not answer.same
        return ("no page" if is_false else "again"), answer.url


def _keep(kept: dict[Any, Any], key: object, value: Any) -> Any:
    kept[key] = value
    if len(kept) > _MOST:
        del kept[next(iter(kept))]
    return value
