"""Every key of `request.meta`: its values, who may set it, whether it is stored (M4, I9).

Anybody who can write to Redis can write a seed or a stored request. So a seed may set only the keys
that the table allows, and a stored request's values must be valid: later code does not check them
again. Keys that are not in the table are the user's own, and are not checked.
docs/meta.md is generated from this table.
"""

from __future__ import annotations

import os
import random
import re
import reprlib
import time
from collections.abc import Callable, Mapping, MutableMapping
from ipaddress import ip_address
from typing import Any, Final, Literal

import attrs

from scrapy_seine.attrs_bases import Value
from scrapy_seine.errors import BadMeta

#: Unique name of the task; survives retries.
TASK_ID = "task_id"
#: Job the task counts for.
JOB_ID = "job_id"
#: What a request's URL is remembered within, instead of its job: another scope fetches it again.
SCOPE = "scope"
#: Characters of a scope, at most.
LONGEST_SCOPE = 500
#: `full`, `recrawl`, `news`, `seed`; `check` for a product that a full crawl did not see.
JOB_TYPE = "job_type"
#: Short name of the site.
SITE_ID = "site_id"
#: Links between the seed and this page (Scrapy's own key).
DEPTH = "depth"
#: Attempts that failed so far.
RETRY_COUNT = "retry_count"
#: The same under Scrapy's name, which also counts the tries that a callback asks for
#: (`scrapy.downloadermiddlewares.retry.get_retry_request`).
RETRY_TIMES = "retry_times"
#: Attempts after the first, at most.
MAX_RETRIES = "max_retries"
#: Proxy pool to take a proxy from.
PROXY_POOL = "proxy_pool"
#: Country the proxy should be in, ISO 3166 alpha-2.
PROXY_COUNTRY = "proxy_country"
#: Unix time at which the task was made, in seconds.
CREATED_AT = "created_at"
#: Earliest time at which the request may be sent, Unix seconds on Redis' clock.
NOT_BEFORE = "not_before"
#: Seconds to wait, from the push, before the request may be sent.
DELAY = "delay"
#: Of a request for the page of a known product: its `id` and `name`, {} where it has several.
KNOWN = "known"
#: Names of headers that a middleware put on the request for one download.
BORROWED = "borrowed_headers"
#: Lane that a request asks for: `plain`, `tls` or `browser`.
LANE = "lane"
#: As whom the site is asked, as in SEINE_IDENTITY.
IDENTITY = "identity"
#: Lane that this try uses, as the ladder decided.
LANE_NOW = "lane_now"
#: URL of the gateway that is asked for this try, with its key; `{url}` stands for the page's.
GATEWAY = "proxy_gateway"

#: What the answer really was, by the application's own rules (`ok`, `blocked` …), and the rule.
VERDICT, RULE = "page_verdict", "verdict_rule"

#: The page in whose place a request is sent (robots.txt): it goes on the page's lease, and is never
#: stored.
INSTEAD_OF = "instead_of"
#: How far away the time to send may be that a request waits for, ms.
PATIENCE_MS = "patience_ms"
#: A request for robots.txt may be answered with the one that the fleet has.
KNOWN_ROBOTS = "known_robots"
#: How many bytes of the body are read: the rest is cut off, and missing for no reader.
FIRST_BYTES = "first_bytes"

#: Host and port of the seed that a request comes from, where their address is private: the only
#: private ones that it may reach; '' where the seed's were public. Only the engine sets it.
HOME = "seine_home"
#: Scheme, host and port that a request's Authorization is for, where it came from its URL: what the
#: page leads to there is asked for with it, as browsers do. Only the engine sets it.
LOGIN = "login_for"
#: Jar of cookies that a page was fetched with, and the jar's version: what the page leads to waits
#: for it in other workers. Only the engine sets it.
JAR = "jar"
#: Run of the crawl that a request belongs to (scrapy_seine.frontier.runs). Only the engine sets it.
RUN = "seine_run"
#: The request was a dead letter and was sent back: its page's links may be there (I3).
REPLAYED = "seine_replayed"
#: Names of ours under which a request holds values of the project's own. Only the engine sets it.
OWN = "seine_own"
#: Which ones that may be: the engine does without its own value of these.
MAY_BE_OWN = (CREATED_AT, RETRY_COUNT)
#: Handlers of a browser page's events, by event (scrapy-playwright's own key).
EVENT_HANDLERS = "playwright_page_event_handlers"

#: Keys that a child takes over from the page that yielded it.
INHERITED = (JOB_ID, JOB_TYPE, SITE_ID, PROXY_POOL, PROXY_COUNTRY, RUN)


SEED: Final = "seed"
SPIDER: Final = "spider"
ENGINE: Final = "engine"
Setter = Literal["seed", "spider", "engine"]
#: What a seed may set, a spider may set too, and so on.
RANK: dict[Setter, int] = {SEED: 0, SPIDER: 1, ENGINE: 2}
#: Lanes of the download handler (scrapy_seine.engine.download.lanes).
LANES = ("plain", "tls", "browser", "replay")
_DAY_S = 86_400
_YEAR_S = 366 * _DAY_S
_NUMBERS = (int, float)
#: The year 3000: a later Unix time is a mistake, in milliseconds for instance.
_LATEST_S = 32_503_680_000
_SHOWN = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = _SHOWN.maxlong = 80


@attrs.frozen(eq=False, repr=False)
class Range(Value):
    """The allowed values of a key: their description, and a test."""

    text: str
    allows: Callable[[Any], bool]


def number(low: float, high: float) -> Range:
    """Numbers, without NaN and infinity."""

    def allows(value: Any) -> bool:
        return isinstance(value, _NUMBERS) and not isinstance(value, bool) and low <= value <= high

    return Range(f"a number from {low:g} to {high:.15g}", allows)


def whole(low: int, high: int) -> Range:
    """Whole numbers."""

    def allows(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

    return Range(f"a whole number from {low} to {high}", allows)


def words(limit: int) -> Range:
    """Texts of one line."""

    def allows(value: Any) -> bool:
        return isinstance(value, str) and len(value) <= limit and value.isprintable()

    return Range(f"a text of one line, {limit} characters at most", allows)


def label(limit: int) -> Range:
    """Names that may be numbers."""
    most = 10**limit

    def allows(value: Any) -> bool:
        if isinstance(value, str):
            return len(value) <= limit and value.isprintable()
        return type(value) is int and abs(value) < most

    return Range(f"a text of one line ({limit} characters at most) or a whole number", allows)


def pattern(text: str, expression: str) -> Range:
    """Texts that match an expression."""
    match = re.compile(expression).fullmatch
    return Range(text, lambda value: isinstance(value, str) and match(value) is not None)


def of(kind: Any, text: str) -> Range:
    """Values of a type."""
    return Range(text, lambda value: isinstance(value, kind))


def list_of(text: str, part: Range) -> Range:
    """Lists of values."""

    def allows(value: Any) -> bool:
        return isinstance(value, list | tuple | set) and all(map(part.allows, value))

    return Range(text, allows)


def optional(range_: Range) -> Range:
    """The same, or None, which counts as not set."""
    return Range(range_.text, lambda value: value is None or range_.allows(value))


def _is_plan(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    wait_s, wait_for = value.get("wait_s"), value.get("wait_for")
    return (wait_s is None or number(0, 600).allows(wait_s)) and (
        wait_for is None or isinstance(wait_for, str)
    )


def _is_source(value: Any) -> bool:
    host, port = value if isinstance(value, list | tuple) and len(value) == 2 else (value, 0)  # noqa: PLR2004
    try:
        return whole(0, 65_535).allows(port) and ip_address(host) is not None
    except ValueError:
        return False


_YES_NO = of(bool, "true or false")
_TEXTS = list_of("a list of texts", of(str, "a text"))
_ANY = Range("anything", lambda value: True)
_URL = r"(?i:https?|socks4a?|socks5h?)://\S{1,2000}"


@attrs.frozen(eq=False, repr=False)
class Key(Value):
    """One key of `request.meta`: what it means, its values, who may set it."""

    name: str
    set_by: Setter
    """Who may set it; setters closer to the engine may as well."""
    range: Range
    text: str
    travels: bool = True
    """Whether it is stored with a request, for another worker and another try."""
    secret: bool = False
    """Whether its value may hold credentials, and must not be shown."""

    def format(self, value: Any) -> str:
        """Format a value, of any size, for a message."""
        return "***" if self.secret else _SHOWN.repr(value)


_KEYS = (
    # The task (M4)
    Key(TASK_ID, SEED, words(200), "unique name of the task; survives retries"),
    Key(JOB_ID, SEED, optional(label(120)), "job that the request counts for"),
    Key(JOB_TYPE, SEED, optional(words(120)), "`full`, `recrawl`, `news`, `seed`"),
    Key(SITE_ID, SEED, optional(words(300)), "short name of the site"),
    Key(SCOPE, SEED, optional(words(LONGEST_SCOPE)), "group for deduplication, instead of the job"),
    Key(DEPTH, SEED, whole(0, 1_000_000), "links between the seed and this page"),
    Key(RETRY_COUNT, SEED, optional(whole(0, 100_000)), "attempts that failed so far"),
    Key(MAX_RETRIES, SEED, optional(whole(0, 100_000)), "attempts after the first, at most"),
    Key(CREATED_AT, SEED, optional(number(0, _LATEST_S)), "when the task was made, Unix seconds"),
    Key(NOT_BEFORE, SEED, optional(number(0, _LATEST_S)), "earliest time to send, Unix seconds"),
    Key(DELAY, SEED, optional(number(0, _YEAR_S)), "seconds from the push until it may be sent"),
    # How it is fetched
    Key(LANE, SEED, pattern("one of " + ", ".join(LANES), "|".join(LANES)), "lane to fetch it by"),
    Key(IDENTITY, SEED, optional(words(60)), "identity of the request, as in SEINE_IDENTITY"),
    Key(PROXY_POOL, SEED, optional(words(100)), "pool to take a proxy from; `none` is none"),
    Key(
        PROXY_COUNTRY,
        SEED,
        optional(pattern("two letters of ISO 3166", "[A-Za-z]{2}|")),
        "country that the proxy should be in",
    ),
    Key("proxy", SEED, optional(pattern("the URL of a proxy", _URL)), "proxy to use", secret=True),
    Key("expect", SEED, optional(_TEXTS), "pieces of HTML, one of which a good page holds"),
    Key(
        "render",
        SEED,
        optional(Range("an object: wait_for (text), wait_s (0 to 600), scroll, mouse", _is_plan)),
        "how the browser treats the page, on top of SEINE_RENDER",
    ),
    # Scrapy's own
    Key("download_timeout", SEED, optional(number(0.001, _DAY_S)), "seconds for the download"),
    Key("download_maxsize", SEED, whole(0, 2**40), "bytes of an answer, at most; 0 is no limit"),
    Key("download_warnsize", SEED, whole(0, 2**40), "bytes of an answer that are worth a warning"),
    Key("download_fail_on_dataloss", SEED, _YES_NO, "whether a truncated page has failed"),
    Key(
        "cookiejar",
        SEED,
        of(str | int | float | bytes | tuple | None, "a text or a number"),
        "jar of cookies, for sites with several sessions",
    ),
    Key("dont_merge_cookies", SEED, _YES_NO, "send and keep no cookies"),
    Key("dont_redirect", SEED, _YES_NO, "do not follow redirects"),
    Key("dont_retry", SEED, _YES_NO, "do not retry a failed request"),
    Key("dont_obey_robotstxt", SEED, _YES_NO, "ignore robots.txt"),
    Key(KNOWN_ROBOTS, SEED, _YES_NO, "whether the fleet's own copy of robots.txt is enough"),
    Key("dont_cache", SEED, _YES_NO, "keep the answer out of Scrapy's cache"),
    Key(
        "handle_httpstatus_list",
        SEED,
        list_of("a list of statuses, 100 to 999", whole(100, 999)),
        "statuses that the callback reads itself",
    ),
    Key("handle_httpstatus_all", SEED, _YES_NO, "let the callback read every status"),
    Key("max_retry_times", SEED, optional(whole(0, 100_000)), "as max_retries; Scrapy's name"),
    Key("priority_adjust", SEED, whole(-1_000_000, 1_000_000), "change of priority with a retry"),
    Key("allow_offsite", SEED, _YES_NO, "let the request leave the allowed domains"),
    Key("verbatim_url", SEED, _YES_NO, "send the URL as it is written"),
    Key(
        "bindaddress",
        SPIDER,
        optional(Range("an IP address, or a pair of it and a port from 0 to 65535", _is_source)),
        "address to send from",
    ),
    Key("referrer_policy", SPIDER, words(500), "policy for the Referer header"),
    Key("is_start_request", SPIDER, _YES_NO, "set by Scrapy for what `start` yields"),
    Key("max_proxies_to_try", SPIDER, whole(0, 100_000), "proxies to try (rotating_proxies)"),
    Key("playwright*", SPIDER, _ANY, "other keys of scrapy-playwright"),
    Key(
        "playwright_page_init_callback",
        SPIDER,
        Range("a function: a name would be imported", lambda value: not isinstance(value, str)),
        "called with each new page; cannot be stored",
    ),
    Key(
        EVENT_HANDLERS,
        SPIDER,
        of(dict, "an object"),
        "handlers of a page's events; once stored, names of the spider's own methods",
    ),
    Key("curl_cffi_impersonate", SPIDER, _ANY, "browser for Scrapy's curl handler"),
    Key(LOGIN, ENGINE, words(400), "site that the Authorization header is for"),
    Key(JAR, ENGINE, words(60), "jar of cookies that the page came with, and its version"),
    Key(RUN, ENGINE, whole(0, 2**53), "run of the crawl that the request belongs to"),
    Key(REPLAYED, ENGINE, _YES_NO, "the request was a dead letter and was sent back"),
    Key(OWN, ENGINE, _TEXTS, "names in this table that hold values of the project's own"),
    Key(RETRY_TIMES, ENGINE, whole(0, 100_000), "retry_count, and the retries of callbacks"),
    Key("redirect_times", ENGINE, whole(0, 100_000), "redirects so far"),
    Key("redirect_ttl", ENGINE, whole(-1, 100_000), "redirects left"),
    Key("redirect_urls", ENGINE, _TEXTS, "URLs that redirected to this one"),
    Key("redirect_reasons", ENGINE, list_of("a list", _ANY), "reasons of the redirects"),
    Key("download_slot", SPIDER, _ANY, "requests of the same slot share its pace, in the fleet"),
    Key("download_latency", ENGINE, _ANY, "seconds until the answer began", travels=False),
    Key("download_timeout_at", ENGINE, _ANY, "when the download is given up", travels=False),
    # What the engine notes
    Key("shelf", SPIDER, whole(-(2**63), 2**64 - 1), "fingerprint of the listing before"),
    Key(KNOWN, ENGINE, of(dict, "an object"), "stored product whose page is requested"),
    Key("validators", ENGINE, of(dict, "an object"), "the state of the page that is known"),
    Key(
        "refused",
        ENGINE,
        list_of("a step and a count", label(60)),
        "step that refused it, and how often",
    ),
    Key(HOME, ENGINE, words(300), "private host of the seed that the request comes from"),
    Key("proxy_retry_times", ENGINE, optional(whole(0, 100_000)), "proxies that failed so far"),
    Key("visitor", ENGINE, words(2000), "cookie jar that the identity chose"),
    Key("proxy_provider", ENGINE, _ANY, "who provides the proxy"),
    Key(
        GATEWAY,
        ENGINE,
        words(8000),
        "URL of the gateway that this try goes through",
        secret=True,
        travels=False,
    ),
    *(
        Key(name, ENGINE, _ANY, text, travels=False)
        for name, text in (
            (BORROWED, "headers that a middleware put on the request for one download"),
            (LANE_NOW, "lane that this try uses"),
            (INSTEAD_OF, "page whose time slot the request uses"),
            (PATIENCE_MS, "how long the request waits for its time to send, ms"),
            (FIRST_BYTES, "how many bytes of the body are read, of robots.txt"),
            ("ladder_step", "step of the ladder"),
            ("identity_now", "identity of this try"),
            ("pool_now", "pool that this try uses"),
            ("header_profile", "browser profile of this try"),
            ("wreq_emulation", "browser that the TLS lane imitates"),
            (VERDICT, "verdict on the response"),
            ("verdict_rule", "rule of the verdict"),
            ("proxy_id", "name of the proxy, without credentials"),
            ("proxy_lease", "token of the proxy's use"),
            ("proxy_at", "when the proxy may be used for the domain"),
            ("proxy_probe", "whether the request probes a proxy"),
            ("proxy_until", "until when the request waits for a proxy"),
            ("proxy_told", "step on which the pool's failure was reported"),
            ("exit_country", "country of the proxy"),
            ("browser_visitor", "browser context of this try"),
            ("_auth_proxy", "proxy that the login is for"),
            ("_rotating_proxy", "whether a middleware chose the proxy"),
            ("_ban", "whether the answer was a ban"),
        )
    ),
)
#: Every key that the engine reads, by name.
TABLE: dict[str, Key] = {key.name: key for key in _KEYS}
_PLAYWRIGHT = TABLE["playwright*"]
#: Keys that belong to one download, and are not stored.
LOCAL = frozenset(key.name for key in _KEYS if not key.travels)
#: By key: whether a value may be stored under it.
_ALLOWS = {key.name: key.range.allows for key in _KEYS if key.travels}


def key_of(name: object) -> Key | None:
    """Return the table's row for a key; None: the key is a user's own."""
    key = TABLE.get(name) if isinstance(name, str) else None
    if key is None and isinstance(name, str) and name.startswith("playwright"):
        return _PLAYWRIGHT
    return key


def check(meta: Mapping[Any, Any], setter: Setter) -> None:
    """Check that *setter* may set these values; any plain data is allowed under a user's own keys.

    Raises:
        BadMeta: naming the first wrong key, its value, and the allowed values.
    """
    for name, value in meta.items():
        key = key_of(name)
        if key is None:
            if setter == SEED and isinstance(name, str) and name.startswith("_"):
                raise BadMeta(f"meta.{name[:60]} is a middleware's own key, no seed may set it")
        elif RANK[setter] < RANK[key.set_by]:
            roles = "the engine" if key.set_by == ENGINE else "the engine and spiders"
            raise BadMeta(f"meta.{name[:60]} is {key.format(value)}, but only {roles} may set it")
        elif not key.range.allows(value):
            raise BadMeta(f"meta.{name[:60]} is {key.format(value)}, not {key.range.text}")


def storable(meta: dict[Any, Any]) -> dict[Any, Any]:
    """Return the meta of a stored request, without keys that are not stored.

    Raises:
        BadMeta: a key has an invalid value; names both.
    """
    for name, value in meta.items():
        allows = _ALLOWS.get(name)
        if allows is not None and not allows(value) and not is_own(meta, name):
            key = TABLE[name]
            raise BadMeta(f"meta.{name} is {key.format(value)}, not {key.range.text}")
    if LOCAL.isdisjoint(meta):
        return meta
    return {name: value for name, value in meta.items() if name not in LOCAL}


#: Names of tasks must differ between all workers, but need not be unguessable. So a process seeds
#: its generator once: asking the system for each name would cost a system call.
_names = random.Random()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_names.seed)


def is_own(meta: Mapping[Any, Any], name: str) -> bool:
    """Whether a request has a project's own value under a name of ours."""
    own_names = meta.get(OWN)
    return name in MAY_BE_OWN and isinstance(own_names, list | tuple) and name in own_names


def complete(
    meta: MutableMapping[str, Any], parent: MutableMapping[str, Any] | None, tries: int = 0
) -> None:
    """Fill in what a new task lacks: its own id and time, and inherited values.

    A redirect of the same page only lacks its own id. *tries* of the parent failed, so that a copy
    of its meta may contain that number.
    """
    if TASK_ID not in meta or (parent is not None and meta[TASK_ID] == parent.get(TASK_ID)):
        created, before = meta.get(CREATED_AT), parent or {}
        if RETRY_COUNT in meta or OWN in before or created not in (None, before.get(CREATED_AT)):
            _separate_own(meta, before, tries)
        else:
            meta[CREATED_AT] = round(time.time(), 3)
        meta[TASK_ID] = f"{_names.getrandbits(128):032x}"
    if parent is not None:
        for key in INHERITED:
            if key not in meta and key in parent:
                meta[key] = parent[key]
        if HOME not in meta and parent.get(HOME):
            meta[HOME] = parent[HOME]
        if JAR in parent:  # a copy of an earlier page's meta has an older version
            meta[JAR] = parent[JAR]


def _separate_own(meta: MutableMapping[str, Any], parent: Mapping[str, Any], tries: int) -> None:
    """Keep the project's values under names of ours, and renew the engine's values of the parent.

    The engine's count is at most *tries*; a callback may have increased it in the parent's meta.
    """
    count, copied = meta.get(RETRY_COUNT), TASK_ID in meta
    of_engine = {
        CREATED_AT: copied and meta.get(CREATED_AT) == parent.get(CREATED_AT),
        RETRY_COUNT: copied and isinstance(count, int) and count <= tries,
    }
    own_names = [
        name
        for name, is_engines in of_engine.items()
        if name in meta and (is_own(parent, name) or not is_engines)
    ]
    if CREATED_AT not in own_names:
        meta[CREATED_AT] = round(time.time(), 3)
    if RETRY_COUNT not in own_names:
        meta.pop(RETRY_COUNT, None)
    meta.pop(OWN, None)
    if own_names:
        meta[OWN] = own_names


def run_of(meta: Mapping[str, Any]) -> str:
    """Return the scope of a request's run; '' if it belongs to none."""
    run = meta.get(RUN)
    return f"run {run}" if run else ""
