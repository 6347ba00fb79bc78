"""Follows where a page in the browser leads by itself: a script, a refresh, a form that it sends.

The first document's status says nothing of the page that is read in the end. What an address that a
page leads to answers decides, and one without an answer is a failure, not the browser's error page.
"""

from __future__ import annotations

import contextlib

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Response
from playwright.async_api import Request as PageRequest
from scrapy.http import Headers
from scrapy.http import Response as ScrapyResponse

from crawler.access.proxies.odd_pages import is_open_ended

#: Documents that a page leads to after its own, at most; one that reloads itself has no end.
MOST = 5
#: Statuses after which a browser keeps the page that it shows.
_KEEP_PAGE = frozenset({204, 205})
#: Headers that say how long a document is (RFC 9112, 6.3).
_LENGTHS = {"content-length", "transfer-encoding"}
#: Part of a browser's reason for a document that the page itself gave up, or that is a file.
_GIVEN_UP = "ABORT"


class Navigations:
    """The documents that one page asks for."""

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
        self._answer: Response | None = None
        self._failure = ""

    def is_main(self, sent: PageRequest) -> bool:
        """Whether a request is for the page's document, and not for a frame's or a picture."""
        return sent.is_navigation_request() and (
            self.count == 0 or sent.frame == self.page.main_frame
        )

    def may_begin(self) -> bool:
        """Whether the page may ask for one more document, which counts from now on."""
        if self.is_read or self.count > MOST:
            return False
        self.count += 1
        self.pending = True
        return True

    def record_answer(self, response: Response) -> bool:
        """Record an answer; returns whether it is that of a document, and no redirect."""
        is_redirect = 300 <= response.status < 400  # noqa: PLR2004
        if is_redirect or not self.is_main(response.request):
            return False
        self.pending = False
        if response.status not in _KEEP_PAGE:
            self._answer, self._failure = response, ""
        return True

    def record_failure(self, sent: PageRequest) -> None:
        """Record that a document did not arrive, or not to its end."""
        if self.is_main(sent):
            self.pending = False
            reason = str(sent.failure or "no answer")
            if _GIVEN_UP not in reason.upper():
                self._failure = f"{sent.url}: {reason}"

    async def check_end(self) -> None:
        """Look at what arrived of the document, because the browser adds what it lacks."""
        answer = self._answer
        if answer is None or _LENGTHS & answer.headers.keys():
            return
        with contextlib.suppress(PlaywrightError):  # the browser kept none of it
            if (await answer.http_version()).startswith("HTTP/1"):
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
        if self.count == 1 or self._answer is None:
            return response
        headers = Headers(self._answer.headers)
        headers.pop("Content-Encoding", None)
        return response.replace(status=self._answer.status, headers=headers)
