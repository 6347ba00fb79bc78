"""A jar that keeps as many cookies of a site as browsers do, and the same ones.

Each request of a site is compared with all of the site's cookies. Without a limit, a site that sets
thousands with each page would make each request slower than the one before. A request whose cookie
has a control character is no request that can be stored: a retry of it would be set aside.
Source: RFC 6265, 6.1, and Chromium, which keeps 180 of a domain; RFC 6265bis, 5.7.
"""

from __future__ import annotations

import re
from http.cookiejar import Cookie

from scrapy import Request
from scrapy.http.cookies import CookieJar

from scrapy_seine.engine.fastpath import scrapy_internals

#: Cookies of one domain, and characters of one cookie's name and value.
MOST, LONGEST = 180, 4096
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class Jar(CookieJar):
    """Scrapy's jar, which drops a domain's oldest cookies and takes none that no browser takes."""

    def set_cookie_if_ok(self, cookie: Cookie, request: Request) -> None:
        """Take a cookie that the jar's policy allows."""
        text = f"{cookie.name}={cookie.value or ''}"
        if len(text) > LONGEST or _CONTROL.search(text):
            return
        super().set_cookie_if_ok(cookie, request)
        cookies = self.of(cookie.domain)
        while len(cookies) > MOST:
            oldest = cookies.pop(0)
            if any(other.path == oldest.path for other in cookies):
                self.jar.clear(oldest.domain, oldest.path, oldest.name)
            else:  # an empty path would stay
                self.jar.clear(oldest.domain, oldest.path)

    def of(self, domain: str) -> list[Cookie]:
        """Return a domain's cookies, oldest first within a path."""
        if scrapy_internals.available("cookies"):
            return scrapy_internals.cookies_of(self, domain)
        return [cookie for cookie in self if cookie.domain == domain]
