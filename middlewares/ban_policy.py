"""Which answers and failures ban the proxy that they came by; for how long is `_ban.lua`'s."""

from __future__ import annotations

from http import HTTPStatus

from scrapy import Request
from scrapy.exceptions import DownloadCancelledError, IgnoreRequest
from scrapy.http import Response

from crawler.access.detect import RULE, VERDICT
from scrapy_seine.errors import AddressRefused, NoWay

#: Rule of a complete page that is made by JavaScript, for which no proxy is to blame.
_SHELL = "javascript-shell"
_CONDITIONS = {b"If-None-Match", b"If-Modified-Since"}


class VerdictPolicy:
    """Ban policy for rotating_proxies: by the verdict, and by errors that only proxies cause."""

    _PROXY_RULES = frozenset({"proxy-error", "proxy-auth", "squid", "garbage", "truncated"})
    #: Nothing was requested, or the response is too large.
    _PAGES = (IgnoreRequest, NoWay, AddressRefused, DownloadCancelledError)
    _BAN_STATUSES = frozenset({403, 407, 429, 503})

    def response_is_ban(self, request: Request, response: Response) -> bool | None:
        """True: banned; False: not banned; None: unknown."""
        verdict = request.meta.get(VERDICT)
        if verdict is None:
            return response.status in self._BAN_STATUSES
        if verdict in {"blocked", "captcha", "throttled"}:
            return True
        if response.status == HTTPStatus.NOT_MODIFIED and not _CONDITIONS & request.headers.keys():
            return None  # nobody asked whether the page changed
        if verdict == "ok" or request.meta.get(RULE) == _SHELL:
            return False
        return True if request.meta.get(RULE) in self._PROXY_RULES else None

    def exception_is_ban(self, request: Request, exception: Exception) -> bool | None:
        """True (a failed download counts against the proxy), or None where the page is to blame."""
        return None if isinstance(exception, self._PAGES) else True
