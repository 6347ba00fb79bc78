"""A jar that keeps as many cookies of a site as browsers do.

Each request of a site is compared with all of the site's cookies. A site that sets thousands with
each page would make each of its requests dearer than the one before, without end.
Source: RFC 6265, 6.1, and Chromium, which keeps 180 of a domain.
"""

from __future__ import annotations

from http.cookiejar import Cookie

from scrapy import Request
from scrapy.http.cookies import CookieJar

#: Cookies of one domain, and characters of one cookie's name and value.
MOST, LONGEST = 180, 4096


class Jar(CookieJar):
    """Scrapy's jar, which forgets a domain's oldest cookies and takes none that is too long."""

    def set_cookie_if_ok(self, cookie: Cookie, request: Request) -> None:
        """Take a cookie that the jar's policy allows."""
        if len(cookie.name) + len(cookie.value or "") > LONGEST:
            return
        super().set_cookie_if_ok(cookie, request)
        paths = self._cookies.get(cookie.domain, {})
        while sum(map(len, paths.values())) > MOST:
            path = next(iter(paths))
            del paths[path][next(iter(paths[path]))]
            if not paths[path]:
                del paths[path]
