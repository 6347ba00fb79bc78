"""Send the ends of jobs as webhooks: signed, in order, until the receiver accepts each.

A job's end is written to a stream in the transaction that ends the job, so that no crash loses it.
The leading coordinator sends the stream's events one by one, each until the receiver answers 2xx.
After a crash the last event may be sent again; receivers detect a repetition by its `webhook-id`.
The headers are those of Standard Webhooks (standardwebhooks.com): `webhook-signature` is `v1,` and
the base64 of HMAC-SHA256 over `id.timestamp.body`.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Self
from urllib.parse import urlsplit

import attrs
import orjson
from redis.exceptions import RedisError

from crawler.catalogue.jobs.model import ENDED, Job
from scrapy_seine.attrs_bases import Value
from scrapy_seine.config import SettingsLike
from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.lenient_parsing import real, record, word
from scrapy_seine.printable import printable, redact

logger = logging.getLogger(__name__)
#: Approximate number of stored events; a receiver that is down for longer misses the oldest.
MAX_EVENTS = 10_000
#: Age at which a refused event is given up, s.
GIVE_UP_S = 3 * 86_400.0
#: Timeout of one attempt, s.
TIMEOUT_S = 10.0
#: Pause between two reads of the stream, s.
READ_EVERY_S = 1.0
#: Longest pause between two attempts, s.
MAX_PAUSE_S = 300.0
_BATCH = 100
_MIN_SECRET = 16
#: Characters of an error that are logged.
_MAX_REASON = 300


@attrs.frozen(eq=False, repr=False)
class WebhookConfig(Value):
    """The receiver of the events."""

    url: str
    secret: str = attrs.field(repr=False)

    @classmethod
    def from_settings(cls, settings: SettingsLike) -> Self | None:
        """Read SEINE_WEBHOOK_URL and SEINE_WEBHOOK_SECRET; None: no events are sent.

        Raises:
            ConfigError: the URL is invalid, or the secret is missing or short.
        """
        url = str(settings.get("SEINE_WEBHOOK_URL") or "").strip()
        secret = str(settings.get("SEINE_WEBHOOK_SECRET") or "")
        if not url:
            return None
        if not _is_url(url):
            raise ConfigError(f"SEINE_WEBHOOK_URL={redact(url)} is no http:// or https:// URL")
        if len(secret) < _MIN_SECRET:
            raise ConfigError(
                f"SEINE_WEBHOOK_URL needs a SEINE_WEBHOOK_SECRET of {_MIN_SECRET} characters"
            )
        return cls(url, secret)


def _is_url(text: str) -> bool:
    """Whether *text* is an HTTP URL with a host and a valid port.

    >>> _is_url("https://hooks.example/x"), _is_url("https://hooks.example:port"), _is_url("h:80")
    (True, False, False)
    """
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def event_of(crawl: str, job: Job | None, job_id: str, state: str, at_s: float) -> dict[str, Any]:
    """Build the event of a job's end; its `id` is the same in every process."""
    event: dict[str, Any] = {
        "id": f"{crawl}:{job_id}:{state}",
        "type": f"job.{state}",
        "at": round(at_s, 3),
        "crawl": crawl,
        "job": job_id,
    }
    if job is not None:
        counters = {name: getattr(job, name) for name in ("total", *ENDED)}
        event |= {"site": job.site_id, "kind": job.kind, "started_at": job.started_at, **counters}
    return event


def signature(secret: str, event_id: str, timestamp: int, body: bytes) -> str:
    """Sign by Standard Webhooks; a secret that begins with `whsec_` is base64."""
    key = secret.encode()
    if secret.startswith("whsec_"):
        try:
            key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        except binascii.Error:
            key = secret.encode()
    message = b"%s.%d.%s" % (event_id.encode(), timestamp, body)
    return "v1," + base64.b64encode(hmac.digest(key, message, hashlib.sha256)).decode()


def headers(secret: str, event_id: str, body: bytes, now_s: float) -> dict[str, str]:
    """Return the headers of one attempt."""
    return {
        "content-type": "application/json",
        "user-agent": "seine-webhooks",
        "webhook-id": event_id,
        "webhook-timestamp": str(int(now_s)),
        "webhook-signature": signature(secret, event_id, int(now_s), body),
    }


def pause_s(failures: int) -> float:
    """Return the pause before the next attempt, in seconds, after *failures* in a row.

    >>> [pause_s(n) for n in (1, 2, 3, 20)]
    [1.0, 2.0, 4.0, 300.0]
    """
    return min(MAX_PAUSE_S, 2.0 ** min(failures - 1, 20))


@attrs.define(eq=False, repr=False)
class Webhooks:
    """Sends one crawl's events."""

    redis: Any
    keys: Keys
    config: WebhookConfig
    look_s: float = READ_EVERY_S
    post: Callable[[str, bytes, Mapping[str, str]], Any] | None = None
    """Sends an event and returns the HTTP status; None: aiohttp is used."""
    _failures: int = 0
    _gap_after: str | None = None
    """The last sent event when a gap behind it was logged."""

    async def run(self, may_send: Callable[[], bool]) -> None:
        """Send new events while *may_send* returns True, until cancelled."""
        task, has_begun = asyncio.current_task(), False
        # redis-py may swallow a cancellation on Python 3.11, so we check the task too.
        while task is None or not task.cancelling():
            try:
                if not has_begun:
                    await self.begin()
                    has_begun = True
                if may_send() and not await self.deliver():
                    await asyncio.sleep(pause_s(self._failures))
            except (RedisError, OSError) as error:
                logger.warning("webhooks wait: %s", error)
            await asyncio.sleep(self.look_s)

    async def begin(self) -> None:
        """Start with the next event if no event was ever sent."""
        newest = await self.redis.xrevrange(self.keys.events, count=1)
        last_id = word(newest[0][0]) if newest else "0-0"
        await self.redis.set(self.keys.events_sent, last_id, nx=True)

    async def deliver(self) -> bool:
        """Send all waiting events in order; return False if one could not be sent."""
        while True:
            sent_id = word(await self.redis.get(self.keys.events_sent) or b"0-0")
            waiting = await self.redis.xrange(self.keys.events, f"({sent_id}", "+", count=_BATCH)
            if not waiting:
                return True
            if sent_id != self._gap_after and await self._has_gap(sent_id):
                self._gap_after = sent_id
                logger.error(
                    "webhooks: the oldest events were dropped unsent, because Redis keeps the "
                    "latest %d; list the ended jobs by `scrapy jobs list`",
                    MAX_EVENTS,
                )
            for entry, fields in waiting:
                if not await self._send(bytes(fields.get(b"event", b""))):
                    return False
                await self.redis.set(self.keys.events_sent, word(entry))

    async def _has_gap(self, sent_id: str) -> bool:
        """Whether the stream was cut behind its last sent event, so that unsent ones are gone."""
        if await self.redis.xrange(self.keys.events, sent_id, sent_id):
            return False
        return int(await self.redis.xlen(self.keys.events)) >= MAX_EVENTS

    async def _send(self, body: bytes) -> bool:
        """Send one event; return True also if it is given up, which is logged."""
        event = record(body)
        name, now_s = str(event.get("id", "")), time.time()
        try:
            attempt_headers = headers(self.config.secret, name, body, now_s)
            status = int(await (self.post or _post)(self.config.url, body, attempt_headers))
            reason = f"status {status}"
        except (OSError, TimeoutError) as error:
            # The receiver's own bytes are in some errors, at any length and in several lines.
            text = printable(" ".join(redact(str(error)).split()))
            status, reason = 0, text[:_MAX_REASON] or type(error).__name__
        if 200 <= status < 300:  # noqa: PLR2004  # RFC 9110: successful
            self._failures = 0
            return True
        if now_s - real(event.get("at")) > GIVE_UP_S:
            logger.error("webhook %s is given up after three days: %s", name, reason)
            return True
        self._failures += 1
        logger.warning(
            "webhook %s: %s; attempt %d, next in %.0f s",
            *(name, reason, self._failures, pause_s(self._failures)),
        )
        return False


async def _post(url: str, body: bytes, request_headers: Mapping[str, str]) -> int:
    # Imported late, because a coordinator without webhooks needs no HTTP client.
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(
                url, data=body, headers=request_headers, allow_redirects=False
            ) as response,
        ):
            return response.status
    except (aiohttp.ClientError, ValueError) as error:  # ValueError: an invalid header or URL
        raise OSError(str(error)) from None


def add_to(pipe: Any, keys: Keys, event: Mapping[str, Any]) -> None:
    """Add an event to an open transaction."""
    pipe.xadd(keys.events, {"event": orjson.dumps(event)}, maxlen=MAX_EVENTS, approximate=True)
