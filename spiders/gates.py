"""Passes a gate before a shop, and sends the cookie of the answer with the shop's requests.

Cookies are off in the catalogue crawler, because a shop's pages are the same without them. A site
that shows nothing without a cookie is the exception: a worker presses the gate's button, or a
redirect that leads back to its own page sets the cookie. From then on the requests of the host
have the cookie as a header, which travels with them to other workers. Each page that was a gate
before the worker had the cookie presses its own button, because no link leads to some seeds.

A gate takes the place of any page, so the site's front page shows it, too. A button that the front
page lacks is a part of its page, as a poll's, a gift's or that of a contract's end: it is never
pressed. Where the visitor's age is asked, the page is a gate by its words.

A cookie may expire in mid-crawl. A page that is the same gate again presses the button again. If
it came through another proxy than the cookie, the site's pages wait for that one from now on; where
that one rests, the button is pressed through another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

from scrapy import Request
from scrapy.http import Response

from crawler.extract import Found, Link
from crawler.extract.limited_dict import Newest
from crawler.extract.links.gate import MAX_LINKS, Answer, answer_of
from crawler.extract.links.gate_cookies import GATE_BOUND, GATE_PRESSED, GATE_PROXY, MOST_HOSTS
from crawler.extract.links.narrowings import NARROWS
from crawler.extract.links.registered_domain import same_site
from crawler.extract.page.page import is_root
from crawler.extract.sites_without_products import HELP
from crawler.items import Missing, Product
from crawler.requested_address import requested_url
from scrapy_seine import meta as m
from scrapy_seine.engine.headers import has_header, header
from scrapy_seine.printable import printable
from scrapy_seine.set_cookies import cookie_header
from scrapy_seine.urls import domain, slot
from spiders import which_site
from spiders.page_reading import OK, SEARCH, SHELF, PageReading, job_of

#: Statuses of an answer to a gate's button: redirects, and refusals.
_ANSWERS = [301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 406, 409, 410, 415, 419, 422]
_REFUSALS = 400
#: Redirects of one answer that are followed, because one of them may set the cookie.
_MOST_HOPS = 5
#: Gates of a job's host without a page behind them: as many press their button, and others are
#: asked for again later. As many may be gates again after a button was pressed; then the host
#: counts as shut, or fewer where no page was read behind it. Gates before the first button's answer
#: say nothing: a slow site has hundreds.
MOST_PRESSED, _MOST_GATES, _MOST_UNOPENED = 20, 100, 20
#: Refused buttons of a host that counts as shut: the token of one may have been an old one.
_MOST_REFUSED = 3
#: Where a button is known to lead past the gate one is pressed at a time, unless a page was a gate
#: more often than this: its answer may be lost. The others wait for shorter, s.
_MOST_WAITS, _SOON_S = 3, 2
#: How often one page may be a gate; how long it waits where too many buttons are pressed, s, and
#: twice as long each further time.
_MOST_TIMES, _LATER_S = 6, 5
#: Priority of a button and of what its answer leads to: before seeds, which would all be gates.
_FIRST = 1000
#: Key in meta: how often this page was a gate.
_TIMES = "gates"
#: Key in meta: the page's button was refused, and none is known that was not. It tells the worker
#: that gets the page, because any worker may have got the refusal.
_IS_REFUSED = "gate_refused"
#: Key in meta: whether the site's front page shows the page's button, too; None: nobody knows,
#: because it is missing or refused, so that the page may be a gate.
_IS_ON_FRONT = "gate_on_front"
#: Keys of a page's meta that the request behind the gate keeps.
_KEPT = (m.KNOWN, SHELF, SEARCH, NARROWS)


class Gates(PageReading):
    """Callbacks for the answer to a gate."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: By job and host: gates since the last page behind one; those after a button was pressed.
        self._gates: Newest[int] = Newest(int, MOST_HOSTS)
        self._in_vain: Newest[int] = Newest(int, MOST_HOSTS)
        #: Hosts of which this worker read a page with a gate's cookie.
        self._opened: Newest[bool] = Newest(bool, MOST_HOSTS)
        #: Pages of gates to which other pages led.
        self.gate_pages: Newest[int] = Newest(int, MOST_HOSTS)
        #: By host: buttons, and whether its front page shows them, as in meta; "": any.
        self._on_front: Newest[dict[str, bool | None]] = Newest(dict, MOST_HOSTS)
        #: By host: buttons for which this worker asked for the front page.
        self._asked_front: Newest[set[str]] = Newest(set, MOST_HOSTS)
        #: By host: the buttons that set its cookie, one for each step of its gate.
        self._buttons: Newest[set[str]] = Newest(set, MOST_HOSTS)

    @cached_property
    def _has_jars(self) -> bool:
        """Whether a middleware keeps all cookies, so that requests need no header of the spider."""
        return bool(self.settings.getbool("COOKIES_ENABLED"))

    def _note_cookies(self, response: Response) -> None:
        """Keep the cookies with which a page was requested: those of a gate, or of a redirect."""
        request = response.request
        if request is None or self._has_jars or not has_header(request, "Cookie"):
            return
        if request.meta.get(m.DEPTH) or "redirect_urls" in request.meta:  # not a seed's
            proxy = str(request.meta.get(GATE_PROXY) or "")
            self.gate_cookies.note(slot(response.url), header(request, "Cookie"), proxy)

    def _may_be_gate(self, response: Response, result: Found) -> bool:
        """Whether a page has no more links than a gate, and no cookie of its seed's."""
        request = response.request
        if request is None or self._has_jars or "gate" in response.cb_kwargs:
            return False  # an answer to the button
        host, cookie = slot(response.url), header(request, "Cookie")
        if result.kind != "other" or len(result.page.anchors) > MAX_LINKS:
            if cookie and self.gate_cookies.knows(host, cookie):
                self._opened[host] = True
            if cookie and self._gates.get(place := f"{job_of(response)} {host}"):
                del self._gates[place]
                self._in_vain.pop(place, None)
            return False
        return not cookie or self.gate_cookies.knows(host, cookie)

    def _pass_gate(self, response: Response, result: Found, links: Sequence[Link]) -> list[Request]:
        """Return the requests that lead past a gate; none if the page is none, or is shut."""
        answer = answer_of(result.page, links, sets_cookie=has_header(response, "Set-Cookie"))
        if answer is None or response.request is None:
            return []
        host, job = slot(response.url), job_of(response)
        cookie = header(response.request, "Cookie")
        is_page = answer.url == result.page.url and not answer.is_post
        button = "" if is_page else _button(answer, result.page.url)
        times = int(response.meta.get(_TIMES) or 0) + 1
        known = self._buttons.get(host)
        # Another button on a page that was a gate before: it wants the cookies of both steps.
        is_next_step = bool(cookie and known and button not in known and times > 1)
        # Another worker has passed it where this one knows no button; a page that sets a cookie is
        # a gate only to a worker that knows it as one, because many pages do.
        is_passed = cookie and not is_next_step and (button not in known if known else not button)
        if is_passed or any(pair.decode() in cookie.split("; ") for pair in answer.cookies):
            return []  # or its script has set them
        asked = requested_url(response)
        kept = {key: response.meta[key] for key in _KEPT if key in response.meta}
        kept[_TIMES] = times
        gate = asked if same_site(asked, response.url) else response.url
        is_proven = is_page or bool(cookie or known) or answer.asks_age or is_root(response.url)
        is_proven = is_proven or bool(self._on_front[host].get(button))
        if not is_proven and not response.meta.get(_IS_ON_FRONT):
            return self._ask_front(response, button, gate, kept)
        place = f"{job} {host}"
        if self._is_shut(host, place, times, cookie, bool(response.meta.get(_IS_REFUSED))):
            self._log_shut(host, place)
            return []
        if "redirect_urls" in response.meta:
            self.gate_pages[response.url] += 1
        is_bound = self.gate_cookies.is_bound(host, cookie, _proxy_of(response))
        # A page that was to wait for the cookie's proxy came through another: that one rests.
        if cookie and (not is_bound or response.meta.get(GATE_BOUND)):
            self.gate_cookies.expire(host, cookie)
        if self.gate_cookies.of(host):
            return [self._behind_gate(gate, job, kept)]
        set_cookies = [*response.headers.getlist("Set-Cookie"), *answer.cookies]
        cookies = cookie_header(set_cookies, cookie if is_next_step else "")
        if is_page:  # its own cookie opens it, or nothing does, so that nothing is waited for
            self._count("gates")
            self._buttons[host].add(button)
            return [*self._keep_cookies(response, cookies, gate, kept)]
        if self._waits(host, place, times):
            later = self._behind_gate(gate, job, kept)
            later_s = _SOON_S if host in self._buttons else _LATER_S
            later.meta[m.DELAY] = later_s * 2 ** (times - 1)
            return [later]
        self._count("gates")
        press = self._press(answer, cookies, gate, {"kept": kept, "button": button})
        # A token of the gate's may be for one visitor's address.
        press.meta.update({GATE_PROXY: _proxy_of(response), GATE_BOUND: True})
        press.meta[m.SCOPE] = f"{job} gate {times} {gate}"[: m.LONGEST_SCOPE]
        return [press]

    def _ask_front(
        self, response: Response, button: str, gate: str, kept: Mapping[str, Any]
    ) -> list[Request]:
        """Return the request that shows whether a page is a gate, by the site's front page.

        While one page's front page is asked for, others that are like it wait for the answer.
        """
        place, job, scope = slot(response.url), job_of(response), f"front {kept[_TIMES]} of {gate}"
        known, asked = self._on_front[place], self._asked_front[place]
        is_on_front = response.meta.get(_IS_ON_FRONT, known.get(button, known.get("", True)))
        if not is_on_front:
            response.meta[_IS_ON_FRONT] = is_on_front
            return []
        if self.gate_cookies.of(place):
            return [self._behind_gate(gate, job, kept)]
        if kept[_TIMES] == 1 and button in asked:
            later = self._behind_gate(gate, job, kept)
            later.meta[m.DELAY] = _SOON_S
            return [later]
        if len(asked) >= _MOST_GATES and button not in asked:
            return []  # no gate has as many buttons
        asked.add(button)
        url = urljoin(response.url, "/")
        link = Link(url, "listing", "it shows whether a page is a gate")
        request = self._request(link, which_site.find(url), None)
        request.priority = _FIRST
        request.meta["handle_httpstatus_list"] = [x for x in _ANSWERS if x >= _REFUSALS]
        request.meta[m.SCOPE] = f"{job} {scope}"[: m.LONGEST_SCOPE]
        page = {"gate": gate, "button": button, "kept": dict(kept)}
        return [request.replace(callback=self.parse_front, cb_kwargs=page)]

    def parse_front(
        self, response: Response, gate: str, button: str, kept: Mapping[str, Any]
    ) -> Iterator[Request]:
        """Ask again for a page that may be a gate, with what the site's front page shows."""
        again = self._behind_gate(gate, job_of(response), kept)
        if response.request is not None and not has_header(response.request, "Cookie"):
            front = self._button_of(response)
            is_on_front = None if front is None else front == button
            again.meta[_IS_ON_FRONT] = is_on_front
            self._on_front[slot(gate)]["" if front == "" else button] = is_on_front
            if not is_on_front:
                self._count("pages_own_buttons")
                self.logger.info(
                    "%s: its button is not pressed, because the site's front page lacks it, so that"
                    " the page is no gate",
                    printable(gate),
                )
        yield again  # with a gate's cookie, if one is known by now

    @staticmethod
    def _is_doubtful(response: Response) -> bool:
        """Whether a page that is read may be a gate, so that it does not show what is behind it."""
        return response.meta.get(_IS_ON_FRONT, False) is None

    def _button_of(self, response: Response) -> str | None:
        """Return the button of a page that may be a gate; "": it is none, None: it is no page."""
        page = self._page(response) if response.status == OK else None
        if page is None or not page.is_html:
            return None
        links = which_site.find(response.url).links(page, self._robots_directives(response))
        answer = answer_of(page, links, sets_cookie=has_header(response, "Set-Cookie"))
        return _button(answer, response.url) if answer is not None else ""

    def _waits(self, host: str, place: str, times: int) -> bool:
        """Whether a gate's page waits for the answers to the buttons that other pages pressed."""
        if host in self._buttons:
            return self._gates[place] > 1 and times <= _MOST_WAITS
        return self._gates[place] > MOST_PRESSED

    def _is_shut(self, host: str, place: str, times: int, cookie: str, is_refused: bool) -> bool:
        """Count a gate; return whether no further button is to be pressed for its page."""
        most = _MOST_GATES if host in self._opened else _MOST_UNOPENED
        self._gates[place] += 1
        if is_refused or (cookie and times > 1):
            self._in_vain[place] += most // _MOST_REFUSED + 1 if is_refused else 1
        if times > _MOST_TIMES and host not in self._buttons and not self.gate_cookies.of(host):
            self._in_vain[place] = _MOST_GATES + 1  # in all that time no button had an answer
        return times > _MOST_TIMES or self._in_vain.get(place, 0) > most

    def _log_shut(self, host: str, place: str) -> None:
        """Log once that a host shows its gate, whatever is answered."""
        self._count("gates_shut")
        if not self.shut_gates.get(place):
            self.shut_gates[place] = 1
            self.logger.warning(
                "%s: its gate stays after its button was pressed, and the pages behind it are not"
                " read; %s",
                printable(host),
                HELP,
            )

    def _press(
        self, answer: Answer, cookies: str, gate: str, pressed: Mapping[str, object]
    ) -> Request:
        site, link = which_site.find(answer.url), Link(answer.url, "listing", "it is a gate's")
        request = self._request(link, site, None)
        headers = {"Cookie": cookies} if cookies else {}
        if answer.is_post:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            request = request.replace(method="POST", body=answer.body)
        request.priority = _FIRST
        request.headers.update(headers)
        request.meta["handle_httpstatus_list"] = _ANSWERS
        # Not in cb_kwargs, where an older worker refuses a new name. Fields: `kept` of the gate's
        # page, the `button`, how many redirects of its answer were followed (`hops`), and the
        # `proxy` through which one set a cookie.
        request.meta[GATE_PRESSED] = dict(pressed)
        return request.replace(callback=self.parse_gate, cb_kwargs={"gate": gate})

    def parse_gate(self, response: Response, gate: str) -> Iterator[Product | Missing | Request]:
        """Keep the cookie that the button's answer sets, and ask for the gate's page with it.

        The answer may be a chain of redirects, of which any sets the cookie.
        """
        request, pressed = response.request, response.meta.get(GATE_PRESSED) or {}
        kept, hops = pressed.get("kept") or {}, int(pressed.get("hops") or 0)
        cookies = cookie_header(
            response.headers.getlist("Set-Cookie"), header(request, "Cookie") if request else ""
        )
        url = _target_of(response) or gate
        host, job = slot(gate), job_of(response)
        if response.status >= _REFUSALS and not hops:
            again = self._behind_gate(gate, job, kept)
            again.meta[_IS_REFUSED] = host not in self._buttons
            yield again
            return
        proxy = _proxy_of(response)
        if "proxy" in pressed and not has_header(response, "Set-Cookie"):
            proxy = pressed["proxy"]
        if url != gate and hops < _MOST_HOPS and slot(url) == host:
            yield self._next_hop(response, url, cookies, {"hops": hops + 1, "proxy": proxy})
            return
        if cookies:
            self._buttons[host].add(str(pressed.get("button") or ""))
            self._gates.pop(f"{job} {host}", None)
            yield from self._keep_cookies(response, cookies, gate, kept, proxy)
        elif host in self._buttons:  # the gate's, but its server had a fault
            yield self._behind_gate(gate, job, kept)
        else:  # the button of another kind of page
            self._in_vain[f"{job} {host}"] = _MOST_GATES + 1
        if url != gate and same_site(url, gate):
            yield self._behind_gate(url, job, {})
        elif response.status == OK:
            yield from self.parse(response)

    def _next_hop(
        self, response: Response, url: str, cookies: str, pressed: Mapping[str, Any]
    ) -> Request:
        """Follow a redirect of a button's answer with the cookies that it has set so far."""
        request = self._request(
            Link(url, "listing", "a gate's answer leads to it"), which_site.find(url), None
        )
        request.priority = _FIRST
        if cookies:
            request.headers["Cookie"] = cookies
        request.meta["handle_httpstatus_list"] = _ANSWERS
        scope = str(response.meta.get(m.SCOPE) or job_of(response))
        request.meta[m.SCOPE] = f"{pressed['hops']} {scope}"[: m.LONGEST_SCOPE]
        for key in (GATE_PROXY, GATE_BOUND):
            if key in response.meta:
                request.meta[key] = response.meta[key]
        request.meta[GATE_PRESSED] = {**(response.meta.get(GATE_PRESSED) or {}), **pressed}
        return request.replace(callback=self.parse_gate, cb_kwargs=response.cb_kwargs)

    def _keep_cookies(
        self, response: Response, cookies: str, gate: str, kept: Mapping[str, Any], proxy: str = ""
    ) -> Iterator[Request]:
        """Send these cookies with the host's requests from now on, and ask for the page again."""
        if not cookies:
            return
        self.gate_cookies.keep(slot(response.url), cookies, proxy or _proxy_of(response))
        self.logger.info(
            "%s: it is a gate; its button was pressed, and its cookie is sent from now on",
            printable(gate),
        )
        yield self._behind_gate(gate, job_of(response), kept)

    def _behind_gate(self, url: str, job: str, kept: Mapping[str, Any]) -> Request:
        site, link = which_site.find(url), Link(url, "listing", "it is behind a gate")
        request = self._request(link, site, None)
        request.meta.update(kept)
        times = kept.get(_TIMES, 0)
        request.meta[m.SCOPE] = f"{job} behind a gate {times} {url}"[: m.LONGEST_SCOPE]
        return request


def _target_of(response: Response) -> str | None:
    """Return the address to which a redirect leads; None where it leads to no address."""
    location = header(response, "Location") if response.status != OK else ""
    try:
        url = urljoin(response.url, location)
        domain(url)
    except ValueError:  # http://[ is none, nor is mailto:
        return None
    return url if location else None


def _proxy_of(response: Response) -> str:
    return str(response.meta.get("proxy_id") or "")


def _button(answer: Answer, page: str) -> str:
    """What a gate's button has in common on all pages whose place the gate takes.

    Where each page's form leads to that page, it is what the form sends.
    """
    url, method = urlsplit(answer.url), "POST" if answer.is_post else "GET"
    if url.path != urlsplit(page).path:
        return f"{method} {url.path}"
    sent = parse_qsl(answer.body or url.query, keep_blank_values=True)
    return f"{method} . {' '.join(sorted(name for name, _ in sent))}"
