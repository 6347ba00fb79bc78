"""The dupefilter's slot. Seen URLs live in the frontier, where one script filters and queues."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable
from itertools import islice
from time import monotonic
from typing import Any, Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy_redis.dupefilter import RFPDupeFilter

from scrapy_seine import meta as m
from scrapy_seine.fingerprint import fingerprint, within

#: Bytes of a fingerprint that are compared, and of those that Scrapy makes.
_BYTES, _SHA1_BYTES = 8, 20
_SHA1_TEXT = re.compile(rb"[0-9a-fA-F]{40}")


class DupeFilter(RFPDupeFilter):  # type: ignore[misc]  # the base class has no types
    """Knows fingerprints that this worker saw pushed lately; Redis has the last word.

    A page's navigation repeats on every page of a site. Remembering for a minute what the frontier
    has confirmed spares encoding and sending the same forty links again and again. Only confirmed
    fingerprints are remembered, so that a page that never ends hides nothing (I3).
    """

    CAPACITY = 50_000
    LIFETIME_S = 60.0

    def __init__(self) -> None:
        self._confirmed: OrderedDict[int, float] = OrderedDict()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make one; it needs no settings and no connection."""
        return cls()

    @classmethod
    def from_settings(cls, settings: Any) -> Self:
        """Make one; scrapy-redis calls this."""
        return cls()

    @classmethod
    def from_spider(cls, spider: Any) -> Self:
        """Make one; scrapy-redis calls this."""
        return cls()

    def request_fingerprint(self, request: Request) -> int | None:
        """64-bit fingerprint of method, normalised URL and body; None: it is not filtered."""
        return fingerprint(request.url, request.method, request.body)

    def request_seen(self, request: Request) -> bool:
        """Whether the frontier confirmed this fingerprint within the last minute."""
        number = self.request_fingerprint(request)
        return number is not None and self.knows(number)

    def knows(self, number: int) -> bool:
        """Whether the frontier confirmed a fingerprint within the last minute."""
        since = self._confirmed.get(number)
        return since is not None and monotonic() - since < self.LIFETIME_S

    def drops(self, request: Request, number: int | None, *, again: bool) -> bool:
        """Whether the project's own filter drops a link; *again*: its page was read before."""
        return False

    def log(self, request: Request, spider: Any) -> None:
        """Say nothing of a duplicate: stats count them."""

    def lets_all_pass(self, request: Request) -> bool:
        """Whether the project's own filter, which let a link pass, would let it pass again."""
        return False

    def knows_url(self, url: str, job: str = "") -> bool:
        """Whether the frontier confirmed a GET of this URL, within a job, in the last minute."""
        try:
            return self.knows(within(job, fingerprint(url)))
        except ValueError:
            return False

    def identity_of(self, request: Request, page: Request | None) -> tuple[int | None, bool]:
        """Return the fingerprint that the frontier compares, and whether to enter although seen.

        *page* is the page that the request was found on. A seed has none: it enters again where
        it says so (`dont_filter`), and is remembered. A link that says so has no fingerprint.
        """
        if request.dont_filter and page is not None:
            return None, False
        try:
            number = self.request_fingerprint(request)
            if number is None and page is not None:
                return None, False
            if number is None:  # the project has no filter, but each worker has the same start
                return fingerprint(request.url, request.method, request.body), True
            return within(_scope_of(request, page), number), request.dont_filter
        except ValueError:
            return None, False  # serializer.to_push says what is wrong with the URL

    def confirm(self, number: int) -> None:
        """The frontier has this fingerprint now."""
        confirmed, now = self._confirmed, monotonic()
        confirmed[number] = now
        confirmed.move_to_end(number)
        # Two for each that comes: what has outlived its use goes, and none waits for a long sweep.
        for oldest in list(islice(confirmed, 2)):
            if now - confirmed[oldest] < self.LIFETIME_S and len(confirmed) <= self.CAPACITY:
                break
            del confirmed[oldest]

    def open(self) -> None:
        """Nothing to open."""

    def close(self, reason: str = "") -> None:
        """Nothing to close: shared state is never deleted by a worker (I7)."""

    def clear(self) -> None:
        """Forget what was confirmed here."""
        self._confirmed.clear()


class ProjectDupeFilter(DupeFilter):
    """Tells requests apart as the project does, by REQUEST_FINGERPRINTER_CLASS or DUPEFILTER_CLASS.

    Scrapy's own normalise less of a URL than `fingerprint` does: two addresses of which a site
    may make two pages stay two requests.

    A filter whose `request_seen` is the project's own is asked in each worker as well. What it let
    pass on a page's first reading passes when the page is read again, because the links of the
    first reading did not enter (I3).
    """

    def __init__(
        self,
        own: Any,
        seen: Callable[[Request], bool] | None = None,
        log: Callable[[Request, Any], object] | None = None,
    ) -> None:
        super().__init__()
        self._own = own
        self._seen = seen
        self._log = log
        self._passed: set[int] = set()

    def drops(self, request: Request, number: int | None, *, again: bool) -> bool:
        """Ask the project's own filter, but for what it let pass before."""
        if self._seen is None or request.dont_filter:
            return False
        if number is None:
            number = fingerprint(request.url, request.method, request.body)
        if again and number in self._passed:
            return False
        dropped = bool(self._seen(request))
        if not dropped:
            self._passed.add(number)
        return dropped

    def log(self, request: Request, spider: Any) -> None:
        """Have the project's own filter log a duplicate that this worker knows."""
        if self._log is not None:
            self._log(request, spider)

    def lets_all_pass(self, request: Request) -> bool:
        """Ask once more: a filter that remembers drops now what it let pass a moment ago."""
        return self._seen is not None and not request.dont_filter and not self._seen(request)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make one that asks the crawler's fingerprinter."""
        return cls(crawler.request_fingerprinter.fingerprint)

    def request_fingerprint(self, request: Request) -> int | None:
        """64 bits that stand for the project's own fingerprint."""
        made = self._own(request)
        return None if made is None else _number_of(made)

    def knows_url(self, url: str, job: str = "") -> bool:
        """Unknown: the project's fingerprint needs the whole request."""
        return False


def dupefilter_of(crawler: Crawler) -> DupeFilter:
    """Make the filter that DUPEFILTER_CLASS names.

    Of a project's own class the fingerprints count; what was seen is in the frontier. Its own
    `request_seen` is asked in each worker. Scrapy's BaseDupeFilter, and a class that lets the same
    request pass twice, filters nothing.
    """
    kind = load_object(crawler.settings["DUPEFILTER_CLASS"])
    made = build_from_crawler(kind, crawler)
    if isinstance(made, DupeFilter):
        return made
    seen, log = _own_method(made, "request_seen"), _own_method(made, "log")
    if type(made) is BaseDupeFilter or (seen is not None and not _filters(seen)):
        return ProjectDupeFilter(lambda request: None, seen, log)
    fingerprints = getattr(made, "request_fingerprint", crawler.request_fingerprinter.fingerprint)
    return ProjectDupeFilter(fingerprints, seen, log)


def _number_of(made: object) -> int:
    """Return 64 bits that stand for a project's fingerprint.

    Scrapy's own are SHA-1 digests, as bytes or as hexadecimal text, whose beginning tells them
    apart. Of a project's text, such as an address without its query, only the whole does.
    """
    own = made if isinstance(made, bytes) else str(made).encode("utf-8", "surrogatepass")
    if isinstance(made, bytes) and len(own) == _SHA1_BYTES:
        return int.from_bytes(own[:_BYTES])
    if _SHA1_TEXT.fullmatch(own):
        return int(own[: 2 * _BYTES], 16)
    return int.from_bytes(hashlib.blake2b(own, digest_size=_BYTES).digest())


def _own_method(made: Any, name: str) -> Callable[..., Any] | None:
    """Return a method of a filter; None where it is Scrapy's or scrapy-redis' own."""
    method: Callable[..., Any] | None = getattr(made, name, None)
    module = str(getattr(method, "__module__", "scrapy"))
    return None if module.partition(".")[0] in {"scrapy", "scrapy_redis"} else method


def _filters(seen: Callable[[Request], bool]) -> bool:
    """Whether a filter drops the second of two equal requests; one that cannot say does."""
    probe = Request("http://probe.invalid/")
    try:
        seen(probe)
        return bool(seen(probe))
    except Exception:  # it wants to be opened first, or another request
        return True


def _scope_of(request: Request, page: Request | None) -> str:
    """Return within what the URL is remembered: its own scope, its job, its run, or the crawl."""
    meta, inherited = request.meta, page.meta if page is not None else {}
    job = meta.get(m.JOB_ID) or inherited.get(m.JOB_ID)
    return str(meta.get(m.SCOPE) or job or m.run_of(meta) or m.run_of(inherited))
