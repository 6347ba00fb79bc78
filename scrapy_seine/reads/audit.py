"""The latest actions on a crawl, with their actors: a log line, and the newest in Redis."""

from __future__ import annotations

import getpass
import logging
import os
import socket
import time
from typing import Any

import attrs
import orjson
from redis.asyncio import Redis

from scrapy_seine.attrs_bases import Value
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.lenient_parsing import real, record

logger = logging.getLogger(__name__)
#: Actions kept in Redis (`actions`, a list of JSON, newest first).
KEEP = 500
#: Actions that a reading returns.
_SHOWN = 10


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Action(Value):
    """One action."""

    at: float
    who: str
    origin: str
    """The address it came from, or `terminal`."""
    verb: str
    target: str
    result: str


async def record_action(
    redis: Redis, keys: Keys, *, who: str, origin: str, verb: str, target: str, result: str
) -> None:
    """Record an action, after it was done."""
    logger.info("%s by %s from %s: %s: %s", verb, who, origin, target or "crawl", result)
    action = Action(
        at=round(time.time(), 3),
        who=who,
        origin=origin,
        verb=verb,
        target=target[:500],
        result=result,
    )
    pipe = redis.pipeline(transaction=False)
    pipe.lpush(keys.actions, orjson.dumps(attrs.asdict(action)))
    pipe.ltrim(keys.actions, 0, KEEP - 1)
    await pipe.execute()


async def record_command(redis: Redis, keys: Keys, verb: str, target: str, result: object) -> None:
    """Record an action in a terminal."""
    await record_action(
        redis,
        keys,
        who=_user(),
        origin=f"terminal on {socket.gethostname()}",
        verb=verb,
        target=target,
        result=str(result),
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return f"uid {os.getuid()}"


async def read_actions(redis: Redis, keys: Keys) -> list[Action]:
    """Return the newest actions, newest first."""
    client: Any = redis
    rows = await client.lrange(keys.actions, 0, _SHOWN - 1)
    return [_action(fields) for raw in rows if (fields := record(raw))]


def _action(fields: dict[str, Any]) -> Action:
    texts = ("who", "origin", "verb", "target", "result")
    return Action(at=real(fields.get("at")), **{name: str(fields.get(name, "")) for name in texts})
