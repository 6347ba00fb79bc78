"""The settings of the catalogue crawler and of the library, with their valid values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from crawler.access.browser_programs import NAMES
from crawler.access.identities import candidates
from crawler.access.ladder import STEPS
from crawler.access.proxies.list_format import POOLS
from crawler.stores.archive.object_storage import is_place
from scrapy_seine.engine import settings_check
from scrapy_seine.engine.settings_check import (
    CLASS,
    FLAG,
    PORT,
    SWITCH,
    TEXT,
    Kind,
    list_of,
    number,
    one_of,
    optional,
    or_none,
    place,
    secret,
    table_of,
    text_like,
    whole_number,
)

#: Characters of the dashboard's token, at least.
_SHORTEST_TOKEN = 16
_PLACE = optional(Kind("a folder or s3://bucket/prefix", lambda v: is_place(str(v))))
_IDENTITY = Kind(
    "bot, browser, desktop, mobile, a browser or the name of a profile",
    lambda v: candidates(str(v)) is not None,
)
_PER = one_of("site", "egress")
_STEP = one_of(*STEPS)
_POOL = one_of("any", "none", *POOLS)
#: What a browser loads, by Playwright's names.
_RESOURCES = (
    "stylesheet", "image", "media", "font", "script", "texttrack", "xhr", "fetch", "eventsource",
    "websocket", "manifest", "other",
)  # fmt: skip


def _object(value: Any) -> dict[Any, Any]:
    return dict(json.loads(value) if isinstance(value, str) else value)


TABLE: Mapping[str, Kind] = {
    **settings_check.TABLE,
    "PLAYWRIGHT_BROWSER_TYPE": one_of(*NAMES),
    "PLAYWRIGHT_CDP_URL": optional(text_like(r"(?:http|ws)s?://\S+", "a http:// or ws:// address")),
    "PLAYWRIGHT_CONNECT_URL": optional(text_like(r"wss?://\S+", "a ws:// address")),
    "PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT": or_none(number()),
    "PLAYWRIGHT_MAX_PAGES_PER_CONTEXT": whole_number(1),
    "PLAYWRIGHT_PROCESS_REQUEST_HEADERS": or_none(CLASS),
    "ROTATING_PROXY_BACKOFF_BASE": number(0.1),
    "ROTATING_PROXY_BACKOFF_CAP": number(0.1),
    "ROTATING_PROXY_BAN_POLICY": CLASS,
    "ROTATING_PROXY_CLOSE_SPIDER": FLAG,
    "ROTATING_PROXY_PAGE_RETRY_TIMES": whole_number(),
    "SCHEDULER": CLASS,
    "SEINE_ARCHIVE": place("written", _PLACE),
    "SEINE_ARCHIVE_BYTES": whole_number(1),
    "SEINE_ARCHIVE_SECONDS": number(),
    "SEINE_ATTEMPTS": FLAG,
    "SEINE_ATTEMPTS_DAYS": whole_number(1),
    "SEINE_BATCH_BYTES": whole_number(1),
    "SEINE_BATCH_ROWS": whole_number(1),
    "SEINE_BATCH_SECONDS": number(),
    "SEINE_BROWSER_BLOCK": list_of(one_of(*_RESOURCES)),
    "SEINE_BROWSER_CONTEXTS": whole_number(1),
    "SEINE_BROWSER_PAGES": whole_number(1),
    "SEINE_BROWSER_PATH": TEXT,
    "SEINE_BROWSER_RECYCLE_PAGES": whole_number(1),
    "SEINE_BROWSER_RESTART_PAGES": whole_number(1),
    "SEINE_BROWSER_SECONDS": number(1),
    "SEINE_BUFFER_BYTES": whole_number(1),
    "SEINE_DASHBOARD_HOST": TEXT,
    "SEINE_DASHBOARD_HOSTS": TEXT,
    "SEINE_DASHBOARD_PORT": PORT,
    "SEINE_DASHBOARD_TOKEN": secret(_SHORTEST_TOKEN),
    "SEINE_DETECT": SWITCH,
    "SEINE_EXPECT": Kind("a list of pieces of HTML", lambda v: [str(item) for item in v]),
    "SEINE_FLEET": text_like(r"[\w.:-]+", "a name of letters, digits and _ . : -"),
    "SEINE_FRESH_SECONDS": number(),
    "SEINE_IDENTITIES": table_of(_IDENTITY),
    "SEINE_IDENTITY": optional(_IDENTITY),
    "SEINE_LADDER": one_of("auto", "on", "off"),
    "SEINE_LADDER_BAD": whole_number(1),
    "SEINE_LADDER_BUDGET": whole_number(),
    "SEINE_LADDER_CAP": _STEP,
    "SEINE_LADDER_CAPS": table_of(_STEP),
    "SEINE_LADDER_PAUSE_SECONDS": number(),
    "SEINE_LADDER_POOL": _POOL,
    "SEINE_LADDER_REST_SECONDS": number(0.1),
    "SEINE_LADDER_SHARE": number(0, 1),
    "SEINE_LADDER_WINDOW_SECONDS": number(1),
    "SEINE_LIMITS_PER": table_of(_PER),
    "SEINE_LIMIT_PER": _PER,
    "SEINE_PROXIES": Kind(
        "a list of proxies, or lines of them", lambda v: v is None or [str(item) for item in v]
    ),
    "SEINE_PROXIES_PATH": TEXT,
    "SEINE_PROXY_CONCURRENCY": whole_number(),
    "SEINE_PROXY_DELAY_MS": number(),
    "SEINE_PROXY_GLOBAL_BANS": whole_number(1),
    "SEINE_PROXY_POOL": _POOL,
    "SEINE_PROXY_QUARANTINE_LIMIT_SECONDS": number(0.1),
    "SEINE_PROXY_QUARANTINE_SECONDS": number(0.1),
    "SEINE_PROXY_STICKY_REQUESTS": whole_number(1),
    "SEINE_PROXY_STICKY_SECONDS": number(),
    "SEINE_READ_MB": number(0.1),
    "SEINE_RENDER": Kind("a table (in JSON, if it is a text)", _object),
    "SEINE_REPLAY": place("read", _PLACE),
    "SEINE_SITEMAPS": SWITCH,
    "SEINE_STRICT": FLAG,
    "SEINE_WEBHOOK_SECRET": secret(_SHORTEST_TOKEN),
    "SEINE_WEBHOOK_URL": optional(text_like(r"https?://[^\s/]+.*", "an http:// or https:// URL")),
    "WREQ_HTTP2_ENABLED": SWITCH,
}
