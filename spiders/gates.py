"""Passes a gate before a shop, and sends the cookie of the answer with the shop's requests.

Cookies are off in the catalogue crawler, because a shop's pages are the same without them. A site
that shows nothing without a cookie is the exception: a worker presses the gate's button, or a
redirect that leads back to its own page sets the cookie. From then on the requests of the host
have the cookie as a header, which travels with them to other workers. Each page that was a gate
before the worker had the cookie presses its own button, because no link leads to some seeds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any
from urllib.parse import urljoin

from scrapy import Request
from scrapy.http import Response

from crawler.extract import Found, Link
from crawler.extract.limited_dict import Newest
from crawler.extract.links.gate import answer_of
from crawler.extract.links.registered_domain import same_site
from crawler.items import Missing, Product
from scrapy_seine import meta as m
from scrapy_seine.engine.headers import has_header
from scrapy_seine.printable import printable
from scrapy_seine.set_cookies import cookie_header
from spiders import which_site
from spiders.page_reading import LONGEST_SCOPE, OK, PageReading, job_of

#: Statuses of an answer to a gate's button.
_REDIRECTS = [301, 302, 303, 307, 308]
#: Buttons that a worker presses on a job's host before it has the cookie: one for each page that
#: came meanwhile.
MOST_PRESSED = 20


class Gates(PageReading):
    """Callbacks for the answer to a gate."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: By job and host: buttons of gates that were pressed.
        self._pressed: Newest[int] = Newest(int, self.MOST_HOSTS)

    @cached_property
    def _has_jars(self) -> bool:
        """Whether a middleware keeps all cookies, so that requests need no header of the spider."""
        return bool(self.settings.getbool("COOKIES_ENABLED"))

    def _note_cookies(self, response: Response) -> None:
        """Keep the cookies with which a page was requested: those of a gate, or of a redirect."""
        request = response.request
        if request is None or self._has_jars or not has_header(request, "Cookie"):
            return
        is_own = request.meta.get(m.DEPTH) or "redirect_urls" in request.meta  # not a seed's
        if is_own and len(self.cookies) < self.MOST_HOSTS:
            host = response.url.split("/", 3)[2]
            self.cookies[host] = (request.headers.get("Cookie") or b"").decode("latin-1")

    def _pass_gate(self, response: Response, result: Found, links: list[Link]) -> Iterator[Request]:
        """Press the button of a gate; ask again for a page that was one."""
        if result.kind != "other":
            return
        host, job = response.url.split("/", 3)[2], job_of(response)
        if self._has_jars or response.request is None or has_header(response.request, "Cookie"):
            return
        page = result.page
        answer = answer_of(page, links, sets_cookie=has_header(response, "Set-Cookie"))
        if answer is None:
            return
        if host in self.cookies:
            yield self._behind_gate(response.url, job)
        elif self._pressed[f"{job} {host}"] < MOST_PRESSED:
            self._pressed[f"{job} {host}"] += 1
            self._count("gates")
            cookies = cookie_header(response.headers.getlist("Set-Cookie"))
            site, link = which_site.find(answer.url), Link(answer.url, "listing", "it is a gate's")
            if answer.url == page.url and not answer.is_post:
                yield from self._keep_cookies(response, cookies, response.url)
                return
            request = self._request(link, site, None)
            headers = {"Cookie": cookies} if cookies else {}
            if answer.is_post:
                headers["Content-Type"] = "application/x-www-form-urlencoded"
                request = request.replace(method="POST", body=answer.body)
            request.headers.update(headers)
            request.meta["handle_httpstatus_list"] = _REDIRECTS
            request.meta[m.SCOPE] = f"{job} gate {response.url}"[:LONGEST_SCOPE]
            yield request.replace(callback=self.parse_gate, cb_kwargs={"gate": response.url})

    def parse_gate(self, response: Response, gate: str) -> Iterator[Product | Missing | Request]:
        """Keep the cookie that the button's answer sets, and ask for the gate's page with it."""
        sent = response.request.headers.get("Cookie") if response.request is not None else None
        cookies = cookie_header(response.headers.getlist("Set-Cookie"), (sent or b"").decode())
        if not cookies:  # the button of another kind of page
            self._pressed[f"{job_of(response)} {gate.split('/', 3)[2]}"] = MOST_PRESSED
        yield from self._keep_cookies(response, cookies, gate)
        location = response.headers.get("Location")
        if location is not None and response.status != OK:
            url = urljoin(response.url, location.decode("latin-1"))
            if url != gate and same_site(url, gate):
                yield self._behind_gate(url, job_of(response))
        elif response.status == OK:
            yield from self.parse(response)

    def _keep_cookies(self, response: Response, cookies: str, gate: str) -> Iterator[Request]:
        """Send these cookies with the host's requests from now on, and ask for the page again."""
        if not cookies:
            return
        self.cookies[response.url.split("/", 3)[2]] = cookies
        self.logger.info(
            "%s: it is a gate; its button was pressed, and its cookie is sent from now on",
            printable(gate),
        )
        yield self._behind_gate(gate, job_of(response))

    def _behind_gate(self, url: str, job: str) -> Request:
        site, link = which_site.find(url), Link(url, "listing", "it is behind a gate")
        request = self._request(link, site, None)
        request.meta[m.SCOPE] = f"{job} behind a gate {url}"[:LONGEST_SCOPE]
        return request
