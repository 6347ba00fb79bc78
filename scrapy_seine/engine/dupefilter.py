"""Scrapy's dupefilter. Seen URLs are in the frontier, where one script filters and queues."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from itertools import islice
from time import monotonic
from typing import Any, Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter
from scrapy.settings import Settings
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy_redis.dupefilter import RFPDupeFilter

from scrapy_seine import meta as m
from scrapy_seine.engine.fastpath import scrapy_internals
from scrapy_seine.fingerprint import fingerprint, within

#: Bytes of a fingerprint that are compared.
_BYTES = 8


class DupeFilter(RFPDupeFilter):  # type: ignore[misc]  # the base class has no types
    """Remembers fingerprints that the frontier confirmed lately; Redis decides.

    A page's navigation repeats on every page of a site. Remembering confirmed fingerprints for a
    minute avoids encoding and sending the same forty links again and again. Only confirmed ones are
    remembered, so that a page that never ends hides no link (I3).
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

    def drops(self, request: Request, number: int | None, *, was_parsed: bool) -> bool:
        """Whether the project's own filter drops a link; *was_parsed*: its page was before."""
        return False

    def log(self, request: Request, spider: Any) -> None:
        """Log no duplicate, because stats count them."""

    def accepts_repeats(self, request: Request) -> bool:
        """Whether the project's own filter, which accepted a link, would accept it again."""
        return False

    def knows_url(self, url: str, job: str = "") -> bool:
        """Whether the frontier confirmed a GET of this URL, within a job, in the last minute."""
        try:
            return self.knows(within(job, fingerprint(url)))
        except ValueError:
            return False

    def identity_of(self, request: Request, page: Request | None) -> tuple[int | None, bool]:
        """Return the fingerprint that the frontier compares, and whether to enter although seen.

        *page* is the page that contained the link. A seed has none: with `dont_filter` it enters
        again, and is remembered. A link with `dont_filter` has no fingerprint.
        """
        if request.dont_filter and page is not None:
            return None, False
        try:
            number = self.request_fingerprint(request)
            if number is None and page is not None:
                return None, False
            if number is None:  # not filtered, but each worker makes the same start requests
                return fingerprint(request.url, request.method, request.body), True
            return within(_scope_of(request, page), number), request.dont_filter
        except ValueError:
            return None, False  # serializer.to_push reports what is wrong with the URL

    def confirm(self, number: int) -> None:
        """Remember a fingerprint that the frontier has."""
        confirmed, now = self._confirmed, monotonic()
        confirmed[number] = now
        confirmed.move_to_end(number)
        # Remove up to two expired entries for each added one, so that no call has to sweep all.
        for oldest in list(islice(confirmed, 2)):
            if now - confirmed[oldest] < self.LIFETIME_S and len(confirmed) <= self.CAPACITY:
                break
            del confirmed[oldest]

    def open(self) -> None:
        """Open nothing."""

    def close(self, reason: str = "") -> None:
        """Close nothing: a worker never deletes shared state (I7)."""

    def clear(self) -> None:
        """Forget confirmed fingerprints."""
        self._confirmed.clear()


class ProjectDupeFilter(DupeFilter):
    """Compares requests as the project does, by REQUEST_FINGERPRINTER_CLASS or DUPEFILTER_CLASS.

    Scrapy's fingerprints normalise less of a URL than `fingerprint` does: two URLs that a site may
    serve as two pages stay two requests.

    A filter whose `request_seen` is the project's own is called in each worker as well. Links that
    it accepted on a page's first parse are accepted when the page is parsed again, because those of
    the first parse did not enter (I3).
    """

    def __init__(
        self,
        fingerprint_of: Any,
        request_seen: Callable[[Request], bool] | None = None,
        log: Callable[[Request, Any], object] | None = None,
        *,
        are_digests: bool = False,
    ) -> None:
        super().__init__()
        self._are_digests = are_digests
        self._fingerprint_of = fingerprint_of
        self._request_seen = request_seen
        self._log = log
        self._accepted: set[int] = set()

    def drops(self, request: Request, number: int | None, *, was_parsed: bool) -> bool:
        """Call the project's own filter, except for links that it accepted before."""
        if self._request_seen is None or request.dont_filter:
            return False
        if number is None:
            number = fingerprint(request.url, request.method, request.body)
        if was_parsed and number in self._accepted:
            return False
        dropped = bool(self._request_seen(request))
        if not dropped:
            self._accepted.add(number)
        return dropped

    def log(self, request: Request, spider: Any) -> None:
        """Log a duplicate by the project's own filter."""
        if self._log is not None:
            self._log(request, spider)

    def accepts_repeats(self, request: Request) -> bool:
        """Call the filter once more: one that remembers drops now what it has just accepted."""
        return (
            self._request_seen is not None
            and not request.dont_filter
            and not self._request_seen(request)
        )

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make one with the crawler's fingerprinter."""
        fingerprint_of = crawler.request_fingerprinter.fingerprint
        return cls(fingerprint_of, are_digests=_is_scrapys(fingerprint_of))

    def request_fingerprint(self, request: Request) -> int | None:
        """Return 64 bits of the project's own fingerprint."""
        value = self._fingerprint_of(request)
        return None if value is None else _number_of(value, is_digest=self._are_digests)

    def knows_url(self, url: str, job: str = "") -> bool:
        """Return False: the project's fingerprint needs the whole request."""
        return False


def dupefilter_of(crawler: Crawler) -> DupeFilter:
    """Make the filter that DUPEFILTER_CLASS names.

    Of a project's own class the fingerprints are used; seen requests are in the frontier. Its own
    `request_seen` is called in each worker. Scrapy's BaseDupeFilter, and a class that accepts the
    same request twice, filter nothing.
    """
    kind = load_object(crawler.settings["DUPEFILTER_CLASS"])
    project_filter = build_from_crawler(kind, crawler)
    if isinstance(project_filter, DupeFilter):
        return project_filter
    request_seen, log = (
        _own_method(project_filter, "request_seen"),
        _own_method(project_filter, "log"),
    )
    if type(project_filter) is BaseDupeFilter or (
        request_seen is not None and not _filters(request_seen)
    ):
        return ProjectDupeFilter(lambda request: None, request_seen, log)
    fingerprinter = getattr(project_filter, "fingerprinter", crawler.request_fingerprinter)
    fingerprints = getattr(project_filter, "request_fingerprint", fingerprinter.fingerprint)
    are_digests = _is_scrapys(fingerprints) and _is_scrapys(fingerprinter.fingerprint)
    return ProjectDupeFilter(fingerprints, request_seen, log, are_digests=are_digests)


def dupefilter_beside(kind: type[Spider], settings: Settings) -> DupeFilter:
    """Make the filter that a worker of this spider would have, without a crawl.

    Raises:
        ConfigError: the add-on refuses a setting.
    """
    crawler = Crawler(kind, settings)
    scrapy_internals.pretend_begun(crawler)  # the add-on changes no settings of other crawlers
    crawler.addons.load_settings(crawler.settings)
    fingerprinter: Any = load_object(crawler.settings["REQUEST_FINGERPRINTER_CLASS"])
    crawler.request_fingerprinter = build_from_crawler(fingerprinter, crawler)
    return dupefilter_of(crawler)


def _number_of(value: object, *, is_digest: bool) -> int:
    """Return 64 bits of a fingerprint.

    Scrapy's are SHA-1 digests, as bytes or hexadecimal text, whose first bytes are unique enough.
    A project's own, such as a URL without its query, is hashed as a whole, whatever its length.
    """
    if is_digest:
        digest = value if isinstance(value, bytes) else bytes.fromhex(str(value))
        return int.from_bytes(digest[:_BYTES])
    data = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=_BYTES).digest())


def _is_scrapys(method: object) -> bool:
    """Whether a method is of a class of Scrapy or scrapy-redis."""
    return str(getattr(method, "__module__", "scrapy")).partition(".")[0] in {
        "scrapy",
        "scrapy_redis",
    }


def _own_method(project_filter: Any, name: str) -> Callable[..., Any] | None:
    """Return a method of a filter; None if it is Scrapy's or scrapy-redis' own."""
    method: Callable[..., Any] | None = getattr(project_filter, name, None)
    return None if _is_scrapys(method) else method


def _filters(request_seen: Callable[[Request], bool]) -> bool:
    """Whether a filter drops the second of two equal requests; assumed of one that fails."""
    probe = Request("http://probe.invalid/")
    try:
        request_seen(probe)
        return bool(request_seen(probe))
    except Exception:  # it has to be opened first, or needs another request
        return True


def _scope_of(request: Request, page: Request | None) -> str:
    """Return the scope within which the URL is remembered: its own, its job, its run, or ''."""
    meta, inherited = request.meta, page.meta if page is not None else {}
    job = meta.get(m.JOB_ID) or inherited.get(m.JOB_ID)
    return str(meta.get(m.SCOPE) or job or m.run_of(meta) or m.run_of(inherited))
