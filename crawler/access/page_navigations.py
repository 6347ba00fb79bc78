"""Follows where a page in the browser leads by itself: a script, a refresh, a form that it sends.

The first document's status says nothing of the page that is read in the end. What an address that a
page leads to answers decides, and one without an answer is a failure, not the browser's error page.

Browsers do not say of each page that it is loaded: not where it tried to lead elsewhere and stayed,
nor where its connection ended, or a frame has no answer. So this is decided here.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from time import monotonic

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page, Response
from playwright.async_api import Request as PageRequest
from scrapy.http import Headers
from scrapy.http import Response as ScrapyResponse

from crawler.access.proxies.odd_pages import is_open_ended
from crawler.extract.links.registered_domain import same_site

#: Documents that a page leads to after its own, at most; one that reloads itself has no end.
MOST = 5
#: Statuses after which a browser keeps the page that it shows, and after which it asks elsewhere.
_KEEP_PAGE = frozenset({204, 205})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: Headers that say how long a document is (RFC 9112, 6.3).
_LENGTHS = {"content-length", "transfer-encoding"}
#: Part of a browser's reason for a document that the page itself gave up, or that is a file.
_GIVEN_UP = "ABORT"
#: Statuses of pages that check their reader, and how long such a check takes, s.
_REFUSALS, _CHALLENGE_S = frozenset({403, 429, 503}), 6.0
#: How often a page that loads is looked at, s.
_LOOK_S = 0.05
#: How long the rest of a page may load that tried to lead elsewhere and stayed, s. Browsers may
#: never say that such a page is loaded.
_STAYED_S = 1.0
#: The same for a page whose text and scripts are there: what is left is a frame, or another site's.
_LOAD_S = 10.0
#: How long a page is waited for that asks its own site for data, after all else is there, s.
_DATA_S = 15.0
#: What brings data into a page, and how long its script may take to show it, s.
_DATA, _SHOWN_S = frozenset({"fetch", "xhr", "script"}), 0.5


class Navigations:
    """The documents that one page asks for, and how far it is loaded."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0
        """Documents that were asked for, including the first one."""
        self.pending = False
        """Whether one is asked for and not answered."""
        self.is_read = False
        """Whether the page is read now, so that it may lead nowhere any more."""
        self.is_cut = False
        """Whether the document lacks its end, and only the connection's end says where that is."""
        self.has_length = True
        """Whether the document says how long it is."""
        self.leads_to = ""
        """Address of another site to which the page leads, and which it did not ask."""
        self._asked: PageRequest | None = None
        self._answer: Response | None = None
        self._failure = ""
        self._in_frames: Counter[Frame] = Counter()
        self._is_shown = self._is_parsed = self._is_loaded = self._has_stayed = False
        self._since = monotonic()
        """When the document was shown, or the page tried last to lead elsewhere and stayed."""
        self._data: set[PageRequest] = set()
        """Requests for data of the page's own site that have no end yet."""

    def begin(self) -> None:
        """Notice what the page does."""
        self.page.on("framenavigated", self._record_shown)
        self.page.on("domcontentloaded", self._record_parsed)
        self.page.on("load", self._record_loaded)
        self.page.on("download", self._record_file)
        self.page.on("request", self._record_data)
        self.page.on("requestfinished", self._record_end)
        self.page.on("requestfailed", self.record_failure)

    def is_main(self, sent: PageRequest) -> bool:
        """Whether a request is for the page's document, and not for a frame's or a picture."""
        return sent.is_navigation_request() and (
            self.count == 0 or sent.frame == self.page.main_frame
        )

    def lead_out(self, url: str) -> None:
        """Record that the page leads to another site."""
        if not self.is_read:
            self.leads_to = url

    def may_begin(self, sent: PageRequest) -> bool:
        """Whether the page may ask for one more document, which counts from now on."""
        if self.is_read or self.count > MOST:
            return False
        self.count += 1
        self.pending = True
        self._asked = sent
        return True

    def may_load(self, sent: PageRequest) -> bool:
        """Whether a page may load this; a frame that loads itself again has no end, either."""
        if not sent.is_navigation_request():
            return True
        self._in_frames[sent.frame] += 1
        return self._in_frames[sent.frame] <= MOST + 1

    def record_answer(self, response: Response) -> bool:
        """Record an answer; returns whether it is that of a document, and no redirect."""
        is_redirect = response.status in _REDIRECTS
        if is_redirect or not self.is_main(response.request):
            return False
        self.pending = False
        if response.status in _KEEP_PAGE:
            self._stay()
        else:
            self._answer, self._failure = response, ""
            self._data.clear()
            self._is_shown = self._is_parsed = self._is_loaded = self._has_stayed = False
        return True

    def record_failure(self, sent: PageRequest) -> None:
        """Record that a document did not arrive, or not to its end."""
        self._data.discard(sent)
        is_last = _first_of(sent) == self._asked
        if not self.is_main(sent) or (self.pending and not is_last):
            return  # the page gave that one up for a later one
        reason = str(sent.failure or "no answer")
        if _GIVEN_UP in reason.upper():
            self._stay()  # also where it leads to a program: mailto:
        elif is_last:
            self.pending, self._failure = False, f"{sent.url}: {reason}"

    def _record_shown(self, frame: Frame) -> None:
        if frame == self.page.main_frame and not (self.pending or self._is_shown):
            self._is_shown, self._since = True, monotonic()

    def _record_parsed(self, _: Page) -> None:
        self._is_parsed = self._is_shown

    def _record_loaded(self, _: Page) -> None:
        self._is_loaded = self._is_shown

    def _record_file(self, _: object) -> None:
        self._stay()

    def _stay(self) -> None:
        self.pending, self._has_stayed, self._since = False, True, monotonic()

    def _record_data(self, sent: PageRequest) -> None:
        if sent.resource_type in _DATA and same_site(sent.url, self.page.url):
            self._data.add(sent)

    def _record_end(self, sent: PageRequest) -> None:
        self._data.discard(sent)

    async def wait_until_loaded(self) -> bool:
        """Wait for the page and those that it leads to; returns whether there is one to act on."""
        while True:
            if not self.pending and self._is_complete(monotonic() - self._since):
                return not (self._failure or self.leads_to)
            await asyncio.sleep(_LOOK_S)

    def _is_complete(self, waited_s: float) -> bool:
        if self._failure or self.leads_to or self._is_loaded:
            return True
        if self._has_stayed:
            return waited_s > _STAYED_S or not self._is_shown
        return waited_s > _LOAD_S and self._is_parsed and not self._data

    async def wait_for_way_on(self) -> None:
        """Wait for what a page that refuses its reader leads to, because it may be a challenge."""
        for _ in range(round(_CHALLENGE_S / _LOOK_S)):
            if self._answer is None or self._answer.status not in _REFUSALS or self.pending:
                return
            await asyncio.sleep(_LOOK_S)

    async def wait_for_data(self) -> bool:
        """Wait for what the page has asked its site for; returns whether all of it came.

        What it asks for meanwhile does not count, because some pages ask again and again.
        """
        if not (missing := set(self._data)):
            return True
        for _ in range(round(_DATA_S / _LOOK_S)):
            if not missing & self._data:
                break
            await asyncio.sleep(_LOOK_S)
        await asyncio.sleep(_SHOWN_S)
        return not missing & self._data

    async def check_end(self) -> None:
        """Look at what arrived of the document, because the browser adds what it lacks."""
        answer = self._answer
        if answer is None or _LENGTHS & answer.headers.keys():
            return
        with contextlib.suppress(PlaywrightError):  # the browser kept none of it
            if (await answer.http_version()).upper().startswith("HTTP/1"):
                self.has_length = False
                self.is_cut = is_open_ended(await answer.body())

    def result(self, response: ScrapyResponse) -> ScrapyResponse:
        """Return the page's response, with what its last document was answered with.

        Raises:
            PlaywrightError: that did not arrive.
        """
        if self._failure:
            raise PlaywrightError(self._failure)
        if not response.url.startswith(("http:", "https:")):
            raise PlaywrightError(f"the page leads to {response.url[:100]}, which is no page")
        if self.is_cut:
            response.flags.append("dataloss")
        if not self.has_length:
            response.flags.append("partial")
        if self.count == 1 or self._answer is None:
            return response
        headers = Headers(self._answer.headers)
        headers.pop("Content-Encoding", None)
        return response.replace(status=self._answer.status, headers=headers)


def _first_of(sent: PageRequest) -> PageRequest:
    """Return the request that redirects led from."""
    while sent.redirected_from is not None:
        sent = sent.redirected_from
    return sent
