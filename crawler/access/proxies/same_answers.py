"""Finds answers with status 200 that are a proxy's own and no page of the site.

A captive portal, an ended account or a filter answers each page with the same bytes. Sites repeat
themselves, too, as at the end of a listing. So a page with the bytes of another one is fetched once
more, as a rule through another proxy: other bytes there speak against the first ones, the same for.

The look goes with the request, because any worker may send it. Pages that were taken for the site's
are kept, because a later look may speak against their answer: then they are fetched again. Of an
answer that is new to it a worker asks the fleet for its first page, because each of many workers
would believe a proxy once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Literal

import attrs

from scrapy_seine.attrs_bases import Record, Value

#: Answers that are remembered; the oldest are dropped first.
_MOST = 20_000
#: Pages that settle whether an answer is the site's.
_ENOUGH = 3
#: How often one page is looked at again for one answer.
_MOST_LOOKS = 3
#: Of the pages with an answer that is settled as the site's, one of so many is looked at again.
_SAMPLED = 10
#: An answer is doubted until so many looks for each that got another one get it again.
_FALSE_SHARE = 4
#: Pages that are remembered with their answer, and those that go with a look.
_MOST_PAGES, _MOST_TAKEN = 200, 20
Verdict = Literal["page", "again", "no page"]
_Key = tuple[str, str]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Asked(Value):
    """A request that was answered."""

    site: str
    url: str
    source: str
    """Who stands behind its proxy: another source is an independent witness."""
    look: Sequence[Any] | None = None
    """What `Judged.look` was when it was sent."""
    page: str = ""
    """How it is named if it has to be fetched again; '' if it is no page that the spider reads."""


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Judged(Value):
    """What an answer is taken for."""

    verdict: Verdict
    first: str
    """The first page that had it, too."""
    look: list[Any] | None = None
    """What goes with the request that is sent again: the answer, its source, the number of looks,
    and pages with that answer."""
    doubtful: Sequence[str] = ()
    """Pages whose answer turned out not to be the site's."""


def digest_of(body: bytes) -> str:
    """Return what stands for an answer."""
    return hashlib.blake2b(body, digest_size=12).hexdigest()


@attrs.define(eq=False, repr=False)
class _Answer(Record):
    url: str
    """The first page that had it."""
    pages: list[str] = attrs.Factory(list)
    """Pages for which it was taken."""
    same: int = 0
    """Looks that got it from another source, too."""
    other: int = 0
    """Looks that got another one."""
    settled: int = 0
    """Pages for which it was taken after a look."""
    unseen: int = 0
    """Pages for which it was taken without a look since it counted as settled."""

    @property
    def is_doubted(self) -> bool:
        return self.other * _FALSE_SHARE > self.same

    @property
    def is_false(self) -> bool:
        return self.other >= _ENOUGH and self.is_doubted

    def needs_look(self, asked: Asked, looks: int, source: str) -> bool:
        """Whether to fetch a page with this answer again; *source*: of its last look."""
        if self.is_doubted:
            return looks < _MOST_LOOKS
        if self.url == asked.url:
            return False
        if not looks and self.settled >= _ENOUGH:
            self.unseen += 1
            return self.unseen % _SAMPLED == 0
        if not looks or (source == asked.source and looks < _MOST_LOOKS):
            return True
        self.settled += 1
        return False


@attrs.define(eq=False, repr=False)
class SameAnswers(Record):
    """The answers that this worker got through proxies."""

    _answers: dict[_Key, _Answer] = attrs.Factory(dict)

    def knows(self, site: str, digest: str) -> bool:
        """Whether this worker got an answer before."""
        return (site, digest) in self._answers

    def learn(self, asked: Asked, digest: str, first: str) -> None:
        """Note the fleet's first page with an answer: its name, or its address if it has none."""
        times, _, url = first.rpartition(" ")
        if url not in {asked.url, asked.page.rpartition(" ")[2]}:
            self._answer(asked.site, digest, url).pages += [first] if times else []

    def judge(self, asked: Asked, digest: str) -> Judged:
        """Judge the answer to a request."""
        known = self._answers.get((asked.site, digest))
        is_own = known is None or known.url == asked.url
        doubtful = self.weigh(asked, digest, is_own=is_own)
        answer = known or self._answer(asked.site, digest, asked.url)
        if answer.is_false:
            return Judged(verdict="no page", first=answer.url, doubtful=doubtful)
        before, source, looks, *_ = asked.look or ("", "", 0)
        if answer.needs_look(asked, looks, source if before == digest else asked.source):
            pages, kept = answer.pages[:_MOST_TAKEN], answer.pages[_MOST_TAKEN:]
            answer.pages = [*kept, *pages]  # the next look takes others
            look = [digest, asked.source, looks + 1, answer.url, *pages]
            return Judged(verdict="again", first=answer.url, look=look, doubtful=doubtful)
        if asked.page and len(answer.pages) < _MOST_PAGES:
            answer.pages.append(asked.page)
        return Judged(verdict="page", first=answer.url, doubtful=doubtful)

    def weigh(self, asked: Asked, digest: str = "", *, is_own: bool = True) -> list[str]:
        """Count what a look got; return pages whose answer it speaks against.

        *digest* is '' for no page. Only an answer of the page's own speaks against another one: a
        site that repeats itself may do so in several forms.
        """
        if not asked.look:
            return []
        before, source, _, first, *pages = asked.look
        answer = self._answer(asked.site, before, first)
        if before == digest:
            answer.same += source != asked.source
        if before == digest or not is_own:
            return []
        answer.other += 1
        if not asked.page:  # this request cannot take them to the spider
            return []
        pages, answer.pages = [*pages, *answer.pages], []
        return list(dict.fromkeys(pages))

    def _answer(self, site: str, digest: str, url: str) -> _Answer:
        key = site, digest
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = _Answer(url)
            if len(self._answers) > _MOST:
                del self._answers[next(iter(self._answers))]
        return answer
