"""Where the two stores are, and a client for each."""

from __future__ import annotations

import attrs
from redis.asyncio import Redis

from crawler.config import SettingsLike


@attrs.frozen
class Endpoints:
    """Addresses of the two stores."""

    redis_url: str
    database_url: str


def endpoints(settings: SettingsLike) -> Endpoints:
    """Read both addresses from the settings."""
    return Endpoints(settings.get("REDIS_URL"), settings.get("DATABASE_URL"))


def redis_client(url: str) -> Redis:
    """Open a client; it connects at its first command."""
    return Redis.from_url(url)
