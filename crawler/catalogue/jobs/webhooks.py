"""The ends of jobs as webhooks: signed, in order, until the receiver has each.

A job's end is written to a stream in the transaction that ends the job, so that no crash loses it.
The leading coordinator sends the stream's events one after the other, and moves on when the
receiver answers 2xx; one that is killed in between sends the last one again. Receivers know a
repetition by its `webhook-id`. The headers are those of Standard Webhooks (standardwebhooks.com):
`webhook-signature` is `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`.
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
from scrapy_seine.config import SettingsLike
from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.lenient import real, record, word
from scrapy_seine.printable import redact
from scrapy_seine.records import Value

logger = logging.getLogger(__name__)
#: Events kept, about; a receiver that is away for longer misses the oldest.
KEEP = 10_000
#: An event that the receiver has refused for so long is given up, s.
GIVE_UP_S = 3 * 86_400.0
#: Seconds for one attempt.
TIMEOUT_S = 10.0
#: Between two looks at the stream, s.
LOOK_S = 1.0
#: Longest pause between two attempts, s.
LONGEST_S = 300.0
_BATCH = 100
_LEAST_SECRET = 16


@attrs.frozen(eq=False, repr=False)
class WebhookConfig(Value):
    """Where events go."""

    url: str
    secret: str = attrs.field(repr=False)

    @classmethod
    def from_settings(cls, settings: SettingsLike) -> Self | None:
        """Read SEINE_WEBHOOK_URL and SEINE_WEBHOOK_SECRET; None where no events are sent.

        Raises:
            ConfigError: the URL is none, or the secret is missing or short.
        """
        url = str(settings.get("SEINE_WEBHOOK_URL") or "").strip()
        secret = str(settings.get("SEINE_WEBHOOK_SECRET") or "")
        if not url:
            return None
        if not _is_url(url):
            raise ConfigError(f"SEINE_WEBHOOK_URL={redact(url)} is no http:// or https:// URL")
        if len(secret) < _LEAST_SECRET:
            raise ConfigError(
                f"SEINE_WEBHOOK_URL needs a SEINE_WEBHOOK_SECRET of {_LEAST_SECRET} characters"
            )
        return cls(url, secret)


def _is_url(text: str) -> bool:
    """Whether something can be sent there at all.

    >>> _is_url("https://hooks.example/x"), _is_url("https://hooks.example:port"), _is_url("h:80")
    (True, False, False)
    """
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def event_of(crawl: str, job: Job | None, job_id: str, state: str, at_s: float) -> dict[str, Any]:
    """Describe the end of a job; its `id` is the same whoever describes it."""
    told: dict[str, Any] = {
        "id": f"{crawl}:{job_id}:{state}",
        "type": f"job.{state}",
        "at": round(at_s, 3),
        "crawl": crawl,
        "job": job_id,
    }
    if job is not None:
        counted = {name: getattr(job, name) for name in ("total", *ENDED)}
        told |= {"site": job.site_id, "kind": job.kind, "started_at": job.started_at, **counted}
    return told


def signature(secret: str, event_id: str, timestamp: int, body: bytes) -> str:
    """Sign as Standard Webhooks does; a secret that begins with `whsec_` is base64."""
    key = secret.encode()
    if secret.startswith("whsec_"):
        try:
            key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        except binascii.Error:
            key = secret.encode()
    signed = b"%s.%d.%s" % (event_id.encode(), timestamp, body)
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


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
    """Seconds until the next attempt, after so many in a row failed.

    >>> [pause_s(n) for n in (1, 2, 3, 20)]
    [1.0, 2.0, 4.0, 300.0]
    """
    return min(LONGEST_S, 2.0 ** min(failures - 1, 20))


@attrs.define(eq=False, repr=False)
class Webhooks:
    """Sends one crawl's events."""

    redis: Any
    keys: Keys
    config: WebhookConfig
    look_s: float = LOOK_S
    post: Callable[[str, bytes, Mapping[str, str]], Any] | None = None
    """How an event is sent: returns the HTTP status; None: with aiohttp."""
    _failures: int = 0

    async def run(self, may_send: Callable[[], bool]) -> None:
        """Send what there is while *may_send*, until cancelled."""
        task, begun = asyncio.current_task(), False
        # redis-py may take a cancellation for itself on Python 3.11, so the task asks as well.
        while task is None or not task.cancelling():
            try:
                if not begun:
                    await self.begin()
                    begun = True
                if may_send() and not await self.deliver():
                    await asyncio.sleep(pause_s(self._failures))
            except (RedisError, OSError) as error:
                logger.warning("webhooks wait: %s", error)
            await asyncio.sleep(self.look_s)

    async def begin(self) -> None:
        """Begin with what happens from now on, where no event was ever sent."""
        newest = await self.redis.xrevrange(self.keys.events, count=1)
        last = word(newest[0][0]) if newest else "0-0"
        await self.redis.set(self.keys.events_sent, last, nx=True)

    async def deliver(self) -> bool:
        """Send all events that wait, in their order; False where one could not be sent."""
        while True:
            sent = word(await self.redis.get(self.keys.events_sent) or b"0-0")
            waiting = await self.redis.xrange(self.keys.events, f"({sent}", "+", count=_BATCH)
            if not waiting:
                return True
            for entry, fields in waiting:
                if not await self._send(bytes(fields.get(b"event", b""))):
                    return False
                await self.redis.set(self.keys.events_sent, word(entry))

    async def _send(self, body: bytes) -> bool:
        """Send one event; True also where it is given up, with a line."""
        told = record(body)
        name, now_s = str(told.get("id", "")), time.time()
        try:
            signed = headers(self.config.secret, name, body, now_s)
            status = int(await (self.post or _post)(self.config.url, body, signed))
            reason = f"status {status}"
        except (OSError, TimeoutError) as error:
            status, reason = 0, redact(str(error)) or type(error).__name__
        if 200 <= status < 300:  # noqa: PLR2004  # RFC 9110: successful
            self._failures = 0
            return True
        if now_s - real(told.get("at")) > GIVE_UP_S:
            logger.error("webhook %s is given up after three days: %s", name, reason)
            return True
        self._failures += 1
        logger.warning(
            "webhook %s: %s; attempt %d, next in %.0f s",
            *(name, reason, self._failures, pause_s(self._failures)),
        )
        return False


async def _post(url: str, body: bytes, sent: Mapping[str, str]) -> int:
    # A coordinator without webhooks imports no HTTP client.
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(url, data=body, headers=sent, allow_redirects=False) as answer,
        ):
            return answer.status
    except (aiohttp.ClientError, ValueError) as error:  # a header or a URL that is none
        raise OSError(str(error)) from None


def add_to(pipe: Any, keys: Keys, event: Mapping[str, Any]) -> None:
    """Write an event in a transaction that is open."""
    pipe.xadd(keys.events, {"event": orjson.dumps(event)}, maxlen=KEEP, approximate=True)
