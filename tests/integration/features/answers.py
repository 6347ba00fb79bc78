"""What a request sends, and what becomes of the site's answer."""

from __future__ import annotations

from typing import Any

from scrapy import signals
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.robotstxt import RobotParser

from tests.integration.features.base import Base, Yields
from tests.integration.features.catalogue import feature

SECTION = "Requests and answers"
CAPPED = (
    "the frontier retries, with pauses that double: in any worker. RETRY_TIMES caps the number of "
    "each kind of failure (connection and 5xx 4, timeout 3, 429 8); the last answer, or the error, "
    "reaches the spider as in Scrapy"
)


@feature(
    SECTION,
    "RETRY_ENABLED, RETRY_TIMES, RETRY_HTTP_CODES, RETRY_EXCEPTIONS",
    CAPPED,
    stats=("retry/count", "retry/max_reached", "retry/reason_count/503 Service Unavailable"),
    RETRY_TIMES=1,
)
class Retried(Base):
    paths = ("/flaky/1", "/status/503")
    handle_httpstatus_list = (503,)

    def parse(self, response: Response, **kwargs: Any) -> Yields:
        yield self.page(response, tries=response.meta.get("retry_times", 0))


@feature(SECTION, '`meta["max_retry_times"]`, `meta["dont_retry"]`', RETRY_TIMES=3)
class NotRetried(Base):
    async def start(self) -> Any:
        yield self.ask("/flaky/1", meta={"max_retry_times": 0})
        yield self.ask("/flaky/2", meta={"dont_retry": True})
        yield self.ask("/flaky/3", meta={"max_retry_times": 0, "handle_httpstatus_list": [503]})
        yield self.ask("/flaky/1?listed", meta={"handle_httpstatus_list": [503]})


@feature(
    SECTION,
    "`get_retry_request` in a callback",
    "as in Scrapy; its tries and the frontier's are counted together in `retry_times`",
    stats=("retry/count", "retry/max_reached", "retry/reason_count/empty"),
    RETRY_TIMES=2,
)
class RetriedByCallback(Base):
    def parse(self, response: Response, **kwargs: Any) -> Yields:
        assert response.request is not None
        again = get_retry_request(response.request, spider=self, reason="empty")
        yield self.page(response, tries=response.meta.get("retry_times", 0))
        if again is not None:
            yield again


@feature(
    SECTION,
    "a callback that counts its own tries in `meta`, as `retry_count` for instance",
    "as in Scrapy",
)
class CountsTries(Base):
    def parse(self, response: Response, **kwargs: Any) -> Yields:
        tries, request = response.meta.get("retry_count", 0), response.request
        yield self.page(response, tries=tries, made=response.meta.get("created_at") == "then")
        if tries < 3 and request is not None:
            meta = {**response.meta, "retry_count": tries + 1, "created_at": "then"}
            yield request.replace(meta=meta, dont_filter=True)


@feature(
    SECTION,
    "HTTPERROR_ALLOWED_CODES, HTTPERROR_ALLOW_ALL, `handle_httpstatus_list`",
    stats=("httperror/response_ignored_count",),
    HTTPERROR_ALLOWED_CODES=[404],
)
class Errors(Base):
    paths = ("/status/404", "/status/410")


@feature(
    SECTION,
    "`errback`: HttpError, timeouts, refused connections, unknown hosts",
    "as in Scrapy, after the last try; a refused connection may have another class of error",
    RETRY_ENABLED=False,
    DOWNLOAD_TIMEOUT=20,
)
class Failing(Base):
    async def start(self) -> Any:
        yield self.ask("/status/500")
        yield self.ask("/silent/1", meta={"download_timeout": 0.03})

    def failed(self, failure: Any) -> Yields:
        kind = "timeout" if "Time" in failure.type.__name__ else failure.type.__name__
        yield {"path": self.path_of(failure.request.url), "failed": kind}


@feature(
    SECTION,
    "REDIRECT_ENABLED, REDIRECT_MAX_TIMES, `dont_redirect`, `redirect_urls`",
    REDIRECT_MAX_TIMES=2,
)
class Redirected(Base):
    async def start(self) -> Any:
        yield self.ask("/moved/1")
        yield self.ask("/moved/5")
        asked = {"dont_redirect": True, "handle_httpstatus_list": [302]}
        yield self.ask("/moved/0", meta=asked)

    def parse(self, response: Response, **kwargs: Any) -> Yields:
        way = [self.path_of(url) for url in response.meta.get("redirect_urls", ())]
        yield self.page(response, way=way, times=response.meta.get("redirect_times", 0))


@feature(SECTION, "METAREFRESH_ENABLED, METAREFRESH_MAXDELAY")
class Refreshed(Base):
    paths = ("/meta/1",)


@feature(
    SECTION,
    "USER_AGENT, DEFAULT_REQUEST_HEADERS, `headers`",
    USER_AGENT="mine/1.0",
    DEFAULT_REQUEST_HEADERS={"Accept": "text/html", "X-Mine": "yes"},
)
class Headers(Base):
    async def start(self) -> Any:
        yield self.ask("/echo/1", headers={"X-Own": "a"})

    def parse(self, response: Any, **kwargs: Any) -> Yields:
        told = response.json()
        yield {name: told.get(name) for name in ("user-agent", "accept", "x-mine", "x-own")}


@feature(SECTION, "REFERER_ENABLED, REFERRER_POLICY, `http_user` and `http_pass`")
class Referring(Base):
    http_user, http_pass, http_auth_domain = "me", "secret", "127.0.0.1"

    def parse(self, response: Response, **kwargs: Any) -> Yields:
        yield response.follow(f"{self.base}/echo/1", self.told)
        yield response.follow(f"{self.base}/onward/2", self.told)

    def told(self, response: Any) -> Yields:
        told = response.json()
        yield {"from": self.path_of(told["referer"]), "login": told.get("authorization")}


@feature(
    SECTION,
    "COOKIES_ENABLED, COOKIES_DEBUG, `cookiejar`, `dont_merge_cookies`",
    "as in Scrapy; the jars are the fleet's, so a login by one worker serves all",
)
class Cookies(Base):
    async def start(self) -> Any:
        for jar in (1, 2):
            yield self.ask("/cookie/1", meta={"cookiejar": jar}, dont_filter=True)

    def parse(self, response: Response, **kwargs: Any) -> Yields:
        for meta in ({"cookiejar": response.meta["cookiejar"]}, {"dont_merge_cookies": True}):
            yield self.ask("/echo/1", callback=self.told, meta=meta, dont_filter=True)

    def told(self, response: Any) -> Yields:
        yield {"cookie": "visit=" in (response.json().get("cookie") or "")}


@feature(SECTION, "COMPRESSION_ENABLED", stats=("httpcompression/response_count",))
class Zipped(Base):
    paths = ("/zipped/1",)

    def parse(self, response: Response, **kwargs: Any) -> Yields:
        yield self.page(response, title=response.css("title").get() is not None)


@feature(
    SECTION,
    "DOWNLOAD_MAXSIZE, DOWNLOAD_WARNSIZE, DOWNLOAD_TIMEOUT, DOWNLOAD_FAIL_ON_DATALOSS",
    DOWNLOAD_MAXSIZE=10_000,
    RETRY_ENABLED=False,
)
class TooBig(Base):
    paths = ("/big/1", "/page/1")

    def failed(self, failure: Any) -> Yields:
        yield {"failed": True}


@feature(SECTION, "`cb_kwargs`, `flags`, `Request.replace`, `meta` of one's own")
class Passed(Base):
    def parse(self, response: Response, **kwargs: Any) -> Yields:
        first = self.ask("/page/1", callback=self.parse_page, cb_kwargs={"n": [1, {"a": 2}]})
        first = first.replace(flags=["mine"], meta={"own": ("a", 1)})
        yield first
        yield first.replace(url=f"{self.base}/page/2", method="POST", body=b"x=1")

    def parse_page(self, response: Response, n: Any) -> Yields:
        assert response.request is not None
        yield self.page(
            response,
            n=n,
            flags=response.request.flags,
            own=list(response.meta["own"]),
            method=response.request.method,
        )


@feature(
    SECTION,
    "ROBOTSTXT_OBEY, ROBOTSTXT_USER_AGENT, `dont_obey_robotstxt`",
    "read once for the fleet; Crawl-delay is kept. A robots.txt that cannot be read forbids the "
    "site for now (RFC 9309), also where its host does not answer; its pages are tried again with "
    "pauses that double up to ten minutes, a new run goes on with them and says so in a line, and "
    "after the last try an errback gets IgnoreRequest",
    ROBOTSTXT_OBEY=True,
)
class Obedient(Base):
    paths = ("/page/1",)


class Rules(RobotParser):
    """A project's own reading of a robots.txt, whatever the file says."""

    @classmethod
    def from_crawler(cls, crawler: Any, robotstxt_body: bytes) -> Rules:
        return cls()

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        agent = user_agent.decode() if isinstance(user_agent, bytes) else user_agent
        return not str(url).endswith("/page/2") and agent != "unwelcome/1"


@feature(
    SECTION,
    "ROBOTSTXT_PARSER, the signal `robots_parsed`, a `User-Agent` of a request's own",
    "as in Scrapy: the project's parser judges the fleet's copy of the file, for the name that the "
    "request is sent by; Crawl-delay is kept all the same",
    ROBOTSTXT_OBEY=True,
    ROBOTSTXT_PARSER=f"{__name__}.Rules",
)
class OwnRules(Base):
    paths = ("/page/1",)
    parsers: list[str]

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Any:
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.parsers = []
        crawler.signals.connect(spider.parsed, signals.robots_parsed)
        return spider

    def parsed(self, robotparser: Any) -> None:
        self.parsers.append(type(robotparser).__name__)

    def parse(self, response: Response, **kwargs: Any) -> Yields:
        yield self.page(response, parsers=self.parsers)
        if response.url.endswith("/page/1"):  # Scrapy lets a third one that waits for the file pass
            yield self.ask("/page/2")
            yield self.ask("/page/3", headers={"User-Agent": "unwelcome/1"})
            yield self.ask("/page/4", headers={"User-Agent": "welcome/1"})

    def failed(self, failure: Any) -> Yields:
        is_forbidden = bool(failure.check(IgnoreRequest))
        yield {"path": self.path_of(failure.request.url), "forbidden": is_forbidden}
