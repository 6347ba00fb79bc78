"""Finds answers with status 200 that are a proxy's own and no page of the site.

A captive portal, an ended account or a filter answers each page with the same bytes. Sites repeat
themselves, too, as at the end of a listing. So a page with the bytes of another one is fetched once
more, as a rule through another proxy: other bytes there speak against the first ones, the same for.
They speak against them until another page has them, too, because a site's page for gone products
may show a time or one of many banners.

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

from crawler.access.proxies.doubtful_pages import remember, take_along
from crawler.extract.limited_dict import Newest
from scrapy_seine.attrs_bases import Record, Value

#: Answers that are remembered; the oldest are dropped first.
_MOST = 20_000
#: Pages that settle whether an answer is the site's.
_ENOUGH = 3
#: How often one page is looked at again for one answer.
_MOST_LOOKS = 3
#: Of the pages with an answer that is settled as the site's, one of so many is looked at again.
#: After so many looks at a site the same holds for each answer's first so many further pages,
#: because all pages of a site may have two addresses, or others than in a crawl of an hour ago.
_SAMPLED, _FEW_LOOKS, _FEW_PAGES = 10, 10, 2
#: An answer is doubted until so many looks for each that got another one get it again.
_FALSE_SHARE = 4
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


def _is_sampled(url: str) -> bool:
    """Whether a page is one of the few that are looked at: no order of pages makes it another's."""
    return int(digest_of(url.encode()), 16) % _SAMPLED == 0


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
    """Further pages for which it was taken without a look."""
    seen: str = ""
    """The first page of this worker's that had it."""
    against: str = ""
    """The answer that it speaks against."""

    @property
    def is_doubted(self) -> bool:
        return self.other * _FALSE_SHARE > self.same

    @property
    def is_false(self) -> bool:
        return self.other >= _ENOUGH and self.is_doubted

    def needs_look(self, asked: Asked, looks: int, source: str, *, is_new: bool) -> bool:
        """Whether to fetch a page with this answer again; *source*: of its last look.

        *is_new*: the site was hardly looked at.
        """
        if self.is_doubted:
            return looks < _MOST_LOOKS
        if self.url == asked.url:
            return False
        few = self.settled >= _ENOUGH or (self.unseen < _FEW_PAGES and not is_new)
        if not looks:
            is_taken = few and not _is_sampled(asked.url)
            self.unseen += is_taken
            return not is_taken
        if source == asked.source and looks < _MOST_LOOKS and self.settled < _ENOUGH:
            return True
        self.settled += 1
        return False


@attrs.define(eq=False, repr=False)
class SameAnswers(Record):
    """The answers that this worker got through proxies."""

    _answers: dict[_Key, _Answer] = attrs.Factory(dict)
    _looks: Newest[int] = attrs.Factory(lambda: Newest(int, _MOST))
    """By site."""

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
        # That another worker's page had it says little: it may be this page by another address.
        is_own = known is None or known.seen in {"", asked.url}
        if known is not None and not is_own:
            self._withdraw(asked.site, known)
        doubtful = self.weigh(asked, digest, is_own=is_own)
        answer = known or self._answer(asked.site, digest, asked.url)
        answer.seen = answer.seen or asked.url
        if answer.is_false:
            return Judged(verdict="no page", first=answer.url, doubtful=doubtful)
        before, source, looks, *_ = asked.look or ("", "", 0)
        source = source if before == digest else asked.source
        is_new = self._looks.get(asked.site, 0) < _FEW_LOOKS
        if answer.needs_look(asked, looks, source, is_new=is_new):
            self._looks[asked.site] += 1
            look = [digest, asked.source, looks + 1, answer.url, *take_along(answer.pages)]
            return Judged(verdict="again", first=answer.url, look=look, doubtful=doubtful)
        remember(answer.pages, asked.page)
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
        if digest:
            self._answer(asked.site, digest, asked.url).against = before
        if not asked.page:  # this request cannot take them to the spider
            return []
        pages, answer.pages = [*pages, *answer.pages], []
        return list(dict.fromkeys(pages))

    def _withdraw(self, site: str, answer: _Answer) -> None:
        """Let an answer that several pages have speak against none."""
        other = self._answers.get((site, answer.against))
        if other is not None and other.other:
            other.other -= 1
        answer.against = ""

    def _answer(self, site: str, digest: str, url: str) -> _Answer:
        key = site, digest
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = _Answer(url)
            if len(self._answers) > _MOST:
                del self._answers[next(iter(self._answers))]
        return answer
