"""Task metadata that travels in `request.meta`, so that each request explains itself (M4)."""

from __future__ import annotations

import secrets
import time
from collections.abc import MutableMapping
from typing import Any

#: Unique name of the task; survives retries.
TASK_ID = "task_id"
#: Job the task counts for.
JOB_ID = "job_id"
#: What a request's URL is remembered within, instead of its job: another scope fetches it again.
SCOPE = "scope"
#: `full`, `recrawl`, `seed` …
JOB_TYPE = "job_type"
#: Short name of the site.
SITE_ID = "site_id"
#: Links between the seed and this page (Scrapy's own key).
DEPTH = "depth"
#: Attempts that failed so far.
RETRY_COUNT = "retry_count"
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
#: Names of headers that a middleware put on the request for one download.
BORROWED = "borrowed_headers"
#: Lane that a request asks for: `plain`, `tls` or `browser`.
LANE = "lane"
#: As whom the site is asked, as in SEINE_IDENTITY.
IDENTITY = "identity"
#: Lane that this try uses, as the ladder decided.
LANE_NOW = "lane_now"

#: The page in whose place a request is sent (robots.txt): it goes on the page's lease, and is never
#: stored.
INSTEAD_OF = "instead_of"
#: How far away the time to send may be that a request waits for, ms.
PATIENCE_MS = "patience_ms"

#: Host and port of the seed that a request comes from, where their address is private: the only
#: private ones that it may reach; '' where the seed's were public. Only the engine sets it.
HOME = "home"

#: Keys that a child takes over from the page that yielded it.
INHERITED = (JOB_ID, JOB_TYPE, SITE_ID, PROXY_POOL, PROXY_COUNTRY)


def complete(meta: MutableMapping[str, Any], parent: MutableMapping[str, Any] | None) -> None:
    """Fill in what a new task lacks: its own id and time, and what its parent hands down.

    The same address under another URL (a redirect) is complete already, but for its own id.
    """
    if TASK_ID not in meta or (parent is not None and meta[TASK_ID] == parent.get(TASK_ID)):
        meta[TASK_ID] = secrets.token_hex(16)
        meta[CREATED_AT] = round(time.time(), 3)
        meta.pop(RETRY_COUNT, None)
    if parent is not None:
        for key in INHERITED:
            if key not in meta and key in parent:
                meta[key] = parent[key]
        if HOME not in meta and parent.get(HOME):
            meta[HOME] = parent[HOME]
