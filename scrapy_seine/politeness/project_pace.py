"""The pace in a project's Scrapy settings, applied to the whole fleet.

DOWNLOAD_DELAY, CONCURRENT_REQUESTS_PER_DOMAIN and DOWNLOAD_SLOTS are limits of one process in
Scrapy (https://docs.scrapy.org/en/latest/topics/settings.html): eight workers would be eight times
as fast. Here they are the limits of a domain; SEINE_DOMAIN_DELAY_MS and SEINE_DOMAIN_CONCURRENCY
take precedence if set. In the same way AUTOTHROTTLE_ settings set the fleet's throttle.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from scrapy_seine.attrs_bases import Value
from scrapy_seine.config import SettingsLike, flag, number

#: Largest share of a pause that randomness may remove, so that some pause remains.
_MOST_JITTER = 0.9


@attrs.frozen(eq=False, repr=False)
class Pace(Value):
    """Pauses derived from how long sites take to answer."""

    target: float
    """Requests in flight at one site, in the whole fleet."""
    least_ms: int
    most_ms: int


@attrs.frozen(eq=False, repr=False)
class ProjectPace(Value):
    """A shortest pause, and the longest random addition as a multiple of it."""

    delay_ms: int
    jitter: float = 0.0

    @classmethod
    def spread(cls, delay_s: float, jitter: float) -> ProjectPace:
        """Make a pause of *delay_s* on average, varied by a factor of *jitter*, as Scrapy does.

        >>> ProjectPace.spread(1.0, 0.5), ProjectPace.spread(1.0, 0)
        (ProjectPace(delay_ms=500, jitter=2.0), ProjectPace(delay_ms=1000, jitter=0.0))
        """
        part = min(max(jitter, 0.0), _MOST_JITTER)
        return cls(round(1000 * delay_s * (1 - part)), round(2 * part / (1 - part), 3))


def pace_of_project(settings: SettingsLike) -> ProjectPace:
    """Read the pause between two requests to one domain.

    Raises:
        ConfigError: a setting is no number.
    """
    own_ms = int(number(settings, "SEINE_DOMAIN_DELAY_MS", 0))
    if own_ms:
        return ProjectPace(own_ms)
    random = flag(settings, "RANDOMIZE_DOWNLOAD_DELAY", True)
    jitter = number(settings, "DOWNLOAD_DELAY_JITTER", 0.5) if random else 0.0
    return ProjectPace.spread(number(settings, "DOWNLOAD_DELAY", 0), jitter)


def concurrency_of_project(settings: SettingsLike) -> int:
    """Read how many requests may be in flight to one domain; Scrapy's 0 is CONCURRENT_REQUESTS.

    With CONCURRENT_REQUESTS_PER_IP Scrapy counts the requests of each address instead. A domain of
    the fleet then has as many; domains at one address are counted together by each worker alone.

    Raises:
        ConfigError: a setting is no number.
    """
    if settings.get("SEINE_DOMAIN_CONCURRENCY") is not None:
        return int(number(settings, "SEINE_DOMAIN_CONCURRENCY", 16, low=1))
    per_domain = int(number(settings, "CONCURRENT_REQUESTS_PER_IP", 0))
    per_domain = per_domain or int(number(settings, "CONCURRENT_REQUESTS_PER_DOMAIN", 16))
    return per_domain or int(number(settings, "CONCURRENT_REQUESTS", 16, low=1))


def slot_of_project(slots: Mapping[str, Any], domain: str) -> tuple[int | None, int | None]:
    """Return pause (ms) and concurrency of a domain in DOWNLOAD_SLOTS; None: not set.

    >>> slot_of_project({"a.example": {"delay": 2, "concurrency": 1}}, "a.example:8080")
    (2000, 1)
    >>> slot_of_project({}, "a.example")
    (None, None)
    """
    slot = slots.get(domain, slots.get(domain.partition(":")[0]))
    if not isinstance(slot, Mapping):
        return None, None
    delay, concurrency = slot.get("delay"), slot.get("concurrency")
    return (
        None if delay is None else round(1000 * float(delay)),
        None if concurrency is None else max(1, int(concurrency)),
    )


def throttle_of_project(settings: SettingsLike) -> Pace | None:
    """Read the settings of the fleet's throttle; None if it is off.

    Raises:
        ConfigError: one is wrong.
    """
    if not flag(settings, "SEINE_AUTOTHROTTLE"):
        return _autothrottle(settings)
    return Pace(
        number(settings, "SEINE_AUTOTHROTTLE_CONCURRENCY", 1, low=0.01),
        int(number(settings, "SEINE_AUTOTHROTTLE_LEAST_MS", 0)),
        int(number(settings, "SEINE_AUTOTHROTTLE_MOST_MS", 60_000)),
    )


def _autothrottle(settings: SettingsLike) -> Pace | None:
    """Read Scrapy's own AUTOTHROTTLE_ settings, which apply to the fleet here."""
    if not flag(settings, "AUTOTHROTTLE_ENABLED"):
        return None
    return Pace(
        number(settings, "AUTOTHROTTLE_TARGET_CONCURRENCY", 1, low=0.01),
        int(1000 * number(settings, "DOWNLOAD_DELAY", 0)),
        int(1000 * number(settings, "AUTOTHROTTLE_MAX_DELAY", 60)),
    )
