"""Keys and scripts of a fleet's access state, shared in Redis by its name (SEINE_FLEET)."""

from __future__ import annotations

from typing import Any

from redis.asyncio import Redis

from scrapy_seine.config import SettingsLike
from scrapy_seine.lua_scripts import call, keys_below, load_script

#: Name of a fleet that has no other one.
USUAL_FLEET = "access"


def fleet_name(settings: SettingsLike) -> str:
    """Return the name under which workers share their state of domains and proxies."""
    return str(settings.get("SEINE_FLEET") or USUAL_FLEET)


def prefix(name: str) -> str:
    """Return the prefix of all access keys of a fleet; its hash tag keeps them in one slot.

    >>> prefix("access")
    '{access}:'
    """
    return f"{{{name}}}:"


def proxies_key(fleet: str) -> str:
    """Return the prefix of a fleet's keys of proxies."""
    return prefix(fleet) + "proxies:"


async def run(redis: Redis, name: str, key: str, *args: Any) -> Any:
    """Run a script of this package."""
    return await call(redis, load_script("crawler.access", name), keys_below(key), args)
