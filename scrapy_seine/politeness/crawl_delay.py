"""`Crawl-delay` (or `Request-rate`) of a robots.txt: the pause that a site asks for, up to a limit.

The frontier keeps it for the whole fleet, if it is longer than the project's pause
(`frontier/lua/_pace_and_limits.lua`).
"""

from __future__ import annotations

import re

from protego import Protego

from scrapy_seine.config import SettingsLike, number

_DAY_S = 86_400
#: A delay with a decimal comma or the unit, which the parser would ignore.
_WRITTEN = re.compile(
    r"(crawl[- ]delay\s*:?\s*\d+)(?:[.,](\d+))?(?:\s*s[a-z]*[.]?)?", re.IGNORECASE
)
#: Characters of such a line; the time to match a line of blanks grows with its square.
_LONGEST = 60


def plain(line: str) -> str:
    """Return a line of a robots.txt with a delay as the parser reads it.

    >>> plain("Crawl-delay: 0,7"), plain("crawl-delay:10 sec."), plain("Crawl-delay: 1 hour")
    ('Crawl-delay: 0.7', 'crawl-delay:10.0', 'Crawl-delay: 1 hour')
    """
    written = _WRITTEN.fullmatch(line) if len(line) <= _LONGEST else None
    return line if written is None else f"{written[1]}.{written[2] or 0}"


def asked_s(rules: Protego, agent: str) -> float | None:
    """Seconds between two requests that a site asks of *agent*; None: it asks for none.

    >>> asked_s(Protego.parse("User-agent: *\\nCrawl-delay: 2\\nRequest-rate: 1/4"), "Seine")
    4.0
    """
    delay, rate = rules.crawl_delay(agent), rules.request_rate(agent)
    pauses = [float(delay)] if delay else []
    if rate is not None and rate.requests:
        # Numbers of any length occur; one that is no float counts as a day.
        pauses.append(min(rate.seconds, _DAY_S * rate.requests) / rate.requests)
    return max(pauses, default=None)


def limit_s(settings: SettingsLike) -> float:
    """The longest pause that a robots.txt may ask for, s (SEINE_CRAWL_DELAY_LIMIT_SECONDS)."""
    return number(settings, "SEINE_CRAWL_DELAY_LIMIT_SECONDS", 30)


def kept_ms(asked_s: float, limit_s: float) -> int:
    """Return the pause to keep, ms.

    >>> kept_ms(1.5, 30), kept_ms(86_400, 30)
    (1500, 30000)
    """
    return int(min(asked_s, limit_s) * 1000)
