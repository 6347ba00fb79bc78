"""Sends the end of each lease to the frontier, by its stated outcome (I10)."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import attrs
from scrapy import Request, Spider

from scrapy_seine import meta as m
from scrapy_seine.attrs_bases import Value
from scrapy_seine.engine.lease.entry import InFlight
from scrapy_seine.engine.lease.error_text import describe, printable
from scrapy_seine.engine.lease.outcomes import whole_number
from scrapy_seine.engine.local_requests import LocalRequests
from scrapy_seine.engine.stored import serializer
from scrapy_seine.errors import EncodeError
from scrapy_seine.fingerprint import within
from scrapy_seine.frontier.encoding.codec import decode
from scrapy_seine.frontier.encoding.seal import Seal
from scrapy_seine.frontier.encoding.wire import note
from scrapy_seine.frontier.model import Burial, Done, Lease, Push, Retry
from scrapy_seine.frontier.retry_rules import KEEPS_LINKS, decide
from scrapy_seine.frontier.round_trips.exchange import Exchange
from scrapy_seine.printable import redact

logger = logging.getLogger(__name__)


@attrs.frozen(eq=False, repr=False)
class Ends(Value):
    """Turns ended entries into calls of the exchange, and decides on their retries."""

    exchange: Exchange
    worker: str
    spider: Spider
    seal: Seal
    count: Callable[[str, int], None]
    max_retries: int
    """Retries at most, if a request names no number of its own."""
    local: LocalRequests

    def send(self, entry: InFlight) -> None:
        """End the lease of an entry as stated. Never raises."""
        try:
            self._send(entry)
        except Exception as error:
            logger.exception("the end of a request cannot be stored")
            reason = f"{entry.reason}; its end: {describe(error)}"
            self._give_up(entry, "internal", reason, keeps_links=False)

    def _send(self, entry: InFlight) -> None:
        lease = entry.lease
        stub = self.local.stub_for_retry(entry) if entry.outcome in {"release", "retry"} else None
        if stub is not None and entry.outcome == "retry":
            self._try_again(entry, stub)
            return
        self.local.release_parent(entry)
        if entry.request.meta.get(m.REPLAYED):
            entry.children = once_a_page(lease, entry.children)
        if entry.outcome == "done":
            if entry.handled:
                self.count("handled", 1)
            self.exchange.commit(Done(lease=lease, children=entry.children))
        elif entry.outcome == "ignored":
            self.count(f"ignored/{entry.rule}", 1)
            if entry.by:
                self.count(f"ignored/{entry.rule}/{entry.by}", 1)
            self.exchange.commit(Done(lease=lease, children=entry.children, rule=entry.rule))
        elif entry.outcome == "release":
            self.exchange.release(lease)
        elif entry.outcome == "retry" and entry.copy is not None:
            self._retry(entry, entry.copy)
        else:
            self._give_up(entry, entry.kind, entry.reason)

    def _retry(self, entry: InFlight, copy: Request) -> None:
        # The spider may have cleared the request's meta: the request still counts for its job.
        if entry.lease.job:
            copy.meta[m.JOB_ID] = entry.lease.job
        entry.take_proxy_back(copy)
        try:
            push = serializer.to_push(copy, self.spider, fingerprint=None, seal=self.seal)
        except (EncodeError, TypeError, ValueError) as error:
            reason = f"{entry.reason}; it cannot be stored again: {describe(error)}"
            self._give_up(entry, entry.kind, reason)
            return
        self._try_again(entry, push)

    def _try_again(self, entry: InFlight, push: Push) -> None:
        self.count(f"retries/{entry.kind}", 1)
        self.exchange.retry(Retry(lease=entry.lease, wait_ms=int(entry.wait_s * 1000), push=push))

    def _give_up(
        self, entry: InFlight, kind: str, reason: str, *, keeps_links: bool | None = None
    ) -> None:
        keeps_links = kind in KEEPS_LINKS if keeps_links is None else keeps_links
        links = once_a_page(entry.lease, entry.children) if keeps_links else []
        url = printable(entry.request.url)
        logger.warning("gave up %s: %s%s", redact(url), reason, _fate(entry, keeps_links))
        self.count(f"buried/{kind}", 1)
        details: dict[str, Any] = {
            "deliveries": entry.lease.deliveries,
            "at": round(time.time(), 3),
        }
        text = note(kind, printable(reason), self.worker, url=url, retries=entry.tries, **details)
        self.exchange.bury(Burial(lease=entry.lease, note=text, children=links))

    def policy(self, kind: str, request: Request, tries: int, wait_s: float | None) -> float | None:
        """Seconds until the next try after *tries* failed ones, or None: give up. Never raises."""
        meta = request.meta
        if meta.get("dont_retry"):
            return None
        limit = meta.get(m.MAX_RETRIES, meta.get("max_retry_times"))
        return decide(kind, tries, max_retries=whole_number(limit, self.max_retries), wait_s=wait_s)


def _fate(entry: InFlight, keeps_links: bool) -> str:
    """Return the log text about the links of a page that is given up."""
    number = len(entry.children)
    if not number:
        return ""
    if keeps_links:
        return f"; the {number} links that it had yielded enter"
    return f"; its {number} links come with its replay from the dead letters"


def once_a_page(lease: Lease, links: Sequence[Push]) -> list[Push]:
    """Give links that skip the filter a fingerprint within their page.

    So they enter once, though the page was given up and is parsed again as a replay.
    """
    marked: list[Push] = []
    counts: Counter[int] = Counter()
    for link in links:
        if link.fingerprint is not None:
            marked.append(link)
            continue
        number = _number(link)
        counts[number] += 1
        scope = f"replay {lease.id} {counts[number]}"
        marked.append(attrs.evolve(link, fingerprint=within(scope, number)))
    return marked


def _number(link: Push) -> int:
    fields = decode(link.blob)
    identity = repr([fields.get(name) for name in ("url", "method", "body")])
    digest = blake2b(identity.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
