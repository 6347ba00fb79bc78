"""Keeps leases for a while if the event loop is blocked; then the worker exits.

C code and a spider's own blocking call are not interrupted by signals. A thread with a connection
of its own renews the worker's leases, so that no other worker takes the same page meanwhile and
blocks as well. After three times the parsing limit the process exits with a status of its own; its
leases then expire, and each of them counts as a delivery whose worker died (`tried_alone`).
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from pathlib import Path
from time import monotonic

from redis.asyncio import Redis

from scrapy_seine.config import FrontierConfig
from scrapy_seine.endpoints import redis_client
from scrapy_seine.engine.heartbeat import Heartbeat
from scrapy_seine.frontier import open as open_frontier
from scrapy_seine.frontier.frontier import Frontier

logger = logging.getLogger(__name__)
#: Exit status of a process whose event loop was blocked (EX_SOFTWARE).
EXIT_CODE = 70
#: Interval at which the loop shows that it runs, s.
_TICK_S = 1.0
_LAST_WORDS_S = 2.0


class Watchdog:
    """Watches one event loop from a thread."""

    def __init__(
        self,
        heartbeat: Heartbeat,
        redis_url: str,
        config: FrontierConfig,
        limit_s: float,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._heartbeat, self._url, self._config = heartbeat, redis_url, config
        self._patience_s = 3 * limit_s
        self._loop = loop
        self._ticks = 0
        self._stopped = threading.Event()
        self._loops_thread = threading.get_native_id()
        self._thread = threading.Thread(target=self._run, name="seine-watchdog", daemon=True)

    def start(self) -> None:
        """Start to watch; without a limit nothing is watched."""
        if self._patience_s > 0:
            self._tick()
            self._thread.start()

    def stop(self) -> None:
        """Stop watching."""
        self._stopped.set()

    def _tick(self) -> None:
        self._ticks += 1
        if not self._stopped.is_set():
            self._loop.call_later(_TICK_S, self._tick)

    def _run(self) -> None:
        asyncio.run(self._watch())

    async def _watch(self) -> None:
        """Measure how long the loop is blocked; a frozen process counts as two ticks at most.

        Time in which the loop's thread had no processor renews leases, but ends no worker: on a
        loaded machine a page may take many times its CPU, and the parsing limit counts CPU.
        """
        redis: Redis | None = None
        frontier: Frontier | None = None
        renew_s = self._heartbeat.lease_s / 3
        last_tick, still_s, held_s, renewed_s, looked = -1, 0.0, 0.0, 0.0, monotonic()
        starved_s = self._starved_s()
        while not self._stopped.is_set():
            await asyncio.sleep(_TICK_S)
            now = monotonic()
            passed_s, looked = min(now - looked, 2 * _TICK_S), now
            before_s, starved_s = starved_s, self._starved_s()
            if self._ticks != last_tick:
                last_tick, still_s, held_s, renewed_s = self._ticks, 0.0, 0.0, 0.0
                continue
            still_s += passed_s
            held_s += max(0.0, passed_s - (starved_s - before_s))
            if held_s > self._patience_s + _TICK_S:
                self._exit(still_s)
            if still_s - renewed_s < renew_s:
                continue
            renewed_s = still_s
            try:
                if frontier is None:
                    redis = redis or redis_client(self._url)
                    frontier = await open_frontier(redis, self._config)
                await self._renew(frontier)
            except Exception as error:
                # The loop may have resumed, and changed its leases. Whatever failed, go on
                # watching, or nothing would end a blocked worker.
                logger.debug("leases were not renewed: %s", error)
        if redis is not None:
            await redis.aclose()

    async def _renew(self, frontier: Frontier) -> None:
        heartbeat = self._heartbeat
        leases = [*heartbeat.inflight.leases, *heartbeat.exchange.buffered]
        ttl_ms = int(heartbeat.lease_s * 1000)
        await frontier.renew(heartbeat.worker, leases, ttl_ms=ttl_ms, info=heartbeat.last_info)

    def _starved_s(self) -> float:
        """Seconds that the loop's thread was ready to run without a processor; 0 if unknown.

        Source: Documentation/scheduler/sched-stats.rst of Linux, `/proc/<pid>/schedstat`.
        """
        try:
            words = Path(f"/proc/self/task/{self._loops_thread}/schedstat").read_bytes().split()
            return int(words[1]) / 1e9
        except (OSError, ValueError, IndexError):
            return 0.0

    def _exit(self, still_s: float) -> None:
        words = (
            f"worker exits: its event loop stood still for {still_s:.0f} s, because a page or a "
            "blocking call held it; its requests return when their leases expire"
        )
        # The code that blocks the loop may hold the log's lock too.
        reporter = threading.Thread(target=logger.critical, args=(words,), daemon=True)
        reporter.start()
        reporter.join(_LAST_WORDS_S)
        if reporter.is_alive():
            os.write(2, f"{words}\n".encode())
        os._exit(EXIT_CODE)
