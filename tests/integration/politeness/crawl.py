"""Crawls as processes of their own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Self

import attrs
from redis.asyncio import Redis

from scrapy_seine.frontier.keys import Keys
from tests import started
from tests.helpers import patient, wait_until_async

ROOT = Path(__file__).parents[3]


@attrs.define
class Crawl:
    """One crawl, by any number of workers."""

    redis_url: str
    name: str
    settings: dict[str, Any] = attrs.Factory(dict)
    workers: list[started.Popen] = attrs.Factory(list)
    _logs: list[IO[bytes]] = attrs.Factory(list)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for worker, log in zip(self.workers, self._logs, strict=True):
            if worker.poll() is None:
                worker.kill()
                worker.wait()
            log.close()

    async def seed(self, urls: Sequence[str]) -> None:
        """Push seeds as a user does, when each worker has joined: one that comes late stays."""
        async with Redis.from_url(self.redis_url) as redis:

            async def joined() -> bool:
                return await redis.zcard(Keys(self.name).workers) >= len(self.workers)

            await wait_until_async(joined, 30 + 5 * len(self.workers), "all workers have joined")
            await redis.rpush(f"{self.name}:seeds", *urls)

    async def start(self, workers: int = 1, *, first: bool = False) -> None:
        """Start real `scrapy crawl` processes; *first*: go before others, where we may say so.

        On a busy machine a process may sleep between its look at the clock and its write. A test
        of times is then one of the machine.
        """
        settings = {"REDIS_START_URLS_KEY": "%(crawl)s:seeds", **self.settings}
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "SCRAPY_SETTINGS_MODULE": "tests.integration.politeness.settings",
            "REDIS_URL": self.redis_url,
            "SEINE_CRAWL": self.name,
            "POLITE_SETTINGS": json.dumps(settings),
        }
        for _ in range(workers):
            command = [sys.executable, "-m", "scrapy", "crawl", "polite"]
            log = TemporaryFile()  # noqa: SIM115  # closed with the crawl
            worker = started.Popen(command, cwd=ROOT, env=environment, stderr=log)
            self._logs.append(log)
            self.workers.append(worker)
            if first:
                with contextlib.suppress(PermissionError):
                    os.setpriority(os.PRIO_PROCESS, worker.pid, -10)

    async def logged(self, words: str) -> None:
        """Wait until a worker has logged these words."""

        async def found() -> bool:
            return any(
                words.encode() in os.pread(log.fileno(), 10_000_000, 0) for log in self._logs
            )

        await wait_until_async(found, 30, f"a worker logs {words!r}")

    async def finish(self, limit_s: float = 60) -> list[str]:
        """Wait for the workers to end by themselves; returns what each logged."""
        limit_s = patient(limit_s)
        until = time.monotonic() + limit_s
        while late := [worker for worker in self.workers if worker.poll() is None]:
            if time.monotonic() > until:
                break
            await asyncio.sleep(0.02)
        for worker in late:
            worker.kill()
            worker.wait()
        for log in self._logs:
            log.seek(0)
        logs = [log.read().decode() for log in self._logs]
        if late:
            tails = "\n\n".join(log[-3000:] for log in logs)
            raise TimeoutError(f"{len(late)} workers did not end in {limit_s:g} s:\n{tails}")
        return logs


def stat(logs: Sequence[str], name: str) -> float:
    """Sum of one of Scrapy's statistics over all workers."""
    pattern = re.compile(rf"'{re.escape(name)}': ([\d.]+)")
    return sum(float(value) for log in logs for value in pattern.findall(log)[-1:])
