"""The cookies without which a host shows no page, as one worker knows them. Pure."""

from __future__ import annotations

from crawler.extract.limited_dict import Newest

#: Hosts, and cookies of a host that its gate accepts no more, at most.
MOST_HOSTS, _MOST_EXPIRED = 10_000, 100
#: Keys of `request.meta`: the proxy through which its cookie was set, and whether it is accepted
#: through that one only. They travel with the cookie.
GATE_PROXY, GATE_BOUND = "gate_proxy", "gate_bound"
#: Key of the meta of a pressed button.
GATE_PRESSED = "gate_pressed"


class GateCookies:
    """By host: the `Cookie` header in use, and those that have expired.

    Requests carry the cookie to other workers, so that old ones come back long after a new one.

    >>> cookies = GateCookies()
    >>> cookies.keep("shop.example", "age=18")
    >>> cookies.expire("shop.example", "age=18")
    >>> cookies.note("shop.example", "age=18")
    >>> cookies.of("shop.example")
    ''
    >>> cookies.keep("shop.example", "age=19")
    >>> cookies.to_send("shop.example", "age=18"), cookies.to_send("shop.example", "login=7")
    ('age=19', 'login=7')

    A site may accept a cookie only from the address to which it gave it, thus through one proxy.

    >>> cookies.keep("shop.example", "age=20", "proxy-1")
    >>> cookies.is_bound("shop.example", "age=20", "proxy-1"), cookies.proxy_of("shop.example")
    (False, ('proxy-1', False))
    >>> cookies.is_bound("shop.example", "age=20", "proxy-2"), cookies.proxy_of("shop.example")
    (True, ('proxy-1', True))

    Another host may have the same cookie.

    >>> cookies.keep("books.example", "age=20", "proxy-2")
    >>> cookies.proxy_of("shop.example"), cookies.proxy_of("books.example")
    (('proxy-1', True), ('proxy-2', False))
    """

    def __init__(self) -> None:
        self._in_use: dict[str, str] = {}
        self._expired: Newest[dict[str, None]] = Newest(dict, MOST_HOSTS)
        #: By host and cookie: the proxy that it was set through; hosts that accept no other proxy.
        self._proxies: Newest[str] = Newest(str, MOST_HOSTS)
        self._bound: Newest[bool] = Newest(bool, MOST_HOSTS)

    def __bool__(self) -> bool:
        return bool(self._in_use)

    def of(self, host: str) -> str:
        """Return the host's cookie; "": none is known."""
        return self._in_use.get(host, "")

    def to_send(self, host: str, sent: str) -> str:
        """Return the cookie for a request that has *sent*: another one only if that expired."""
        in_use = self._in_use.get(host, "")
        return in_use if in_use and (not sent or self.is_expired(host, sent)) else sent

    def keep(self, host: str, cookie: str, proxy: str = "") -> None:
        """Use a cookie that a gate's answer has set; *proxy*: through which."""
        if proxy:
            self._proxies.pop(f"{host} {cookie}", None)  # it becomes the newest
            self._proxies[f"{host} {cookie}"] = proxy
        if host in self._in_use or len(self._in_use) < MOST_HOSTS:
            self._in_use[host] = cookie
            self._expired.get(host, {}).pop(cookie, None)

    def note(self, host: str, cookie: str, proxy: str = "") -> None:
        """Use the cookie with which another worker requested a page, unless it has expired."""
        if not self.is_expired(host, cookie):
            self.keep(host, cookie, "" if f"{host} {cookie}" in self._proxies else proxy)

    def is_bound(self, host: str, cookie: str, proxy: str) -> bool:
        """Whether the gate that a page with this cookie was is another proxy's, and not passed."""
        its_proxy = self._proxies.get(f"{host} {cookie}", "")
        is_other = bool(proxy and its_proxy) and its_proxy != proxy
        if is_other:
            self._bound[host] = True
        return is_other

    def proxy_of(self, host: str) -> tuple[str, bool]:
        """Return the proxy of the cookie in use, and whether it is accepted through no other."""
        return self._proxies.get(f"{host} {self.of(host)}", ""), host in self._bound

    def knows(self, host: str, cookie: str) -> bool:
        """Whether a cookie is, or was, the host's."""
        return self._in_use.get(host) == cookie or self.is_expired(host, cookie)

    def is_expired(self, host: str, cookie: str) -> bool:
        """Whether a page that was requested with this cookie was the gate."""
        return cookie in self._expired.get(host, {})

    def expire(self, host: str, cookie: str) -> None:
        """Send a cookie no more: with it, a page was the gate."""
        expired = self._expired[host]
        expired[cookie] = None
        if len(expired) > _MOST_EXPIRED:
            del expired[next(iter(expired))]
        if self._in_use.get(host) == cookie:
            del self._in_use[host]
