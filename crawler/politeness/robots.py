"""What a robots.txt allows (RFC 9309), and for how long to believe it. Pure."""

from __future__ import annotations

from typing import Literal

import attrs
from protego import Protego

State = Literal["rules", "free", "away"]
#: Bytes of a robots.txt that are read; a crawler must read at least as many.
SIZE_LIMIT = 500 * 1024
_TOO_MANY = 429


def state_of(status: int) -> State:
    """What an answer to robots.txt means (RFC 9309, 2.3.1).

    A 429 counts as away although it is a 4xx: a site that asks for less must not be read as one
    that allows all.

    >>> [state_of(s) for s in (200, 404, 403, 302, 429, 500)]
    ['rules', 'free', 'free', 'free', 'away', 'away']
    """
    if 200 <= status < 300:  # noqa: PLR2004
        return "rules"
    return "away" if status >= 500 or status == _TOO_MANY else "free"  # noqa: PLR2004


def away_s(failures: int, *, first_s: float = 5.0, most_s: float = 600.0) -> float:
    """Seconds until a robots.txt that could not be read is asked for again.

    >>> [away_s(n) for n in (0, 1, 6, 7, 500)]
    [5.0, 10.0, 320.0, 600.0, 600.0]
    """
    return min(most_s, first_s * 2.0 ** min(failures, 30))


@attrs.frozen
class Robots:
    """One site's rules."""

    state: State
    rules: Protego | None = None

    @classmethod
    def read(cls, state: State, body: bytes) -> Robots:
        """Parse a robots.txt; what is no text of rules allows everything."""
        if state != "rules":
            return cls(state)
        text = body[:SIZE_LIMIT].decode("utf-8-sig", "replace")
        return cls(state, Protego.parse(text))

    def allows(self, url: str, agent: str) -> bool:
        """Whether *agent* may ask for *url*."""
        if self.state == "away":
            return False
        return self.rules is None or bool(self.rules.can_fetch(url, agent))

    def delay_s(self, agent: str) -> float | None:
        """Seconds between two requests that the site asks of *agent*, if it does.

        >>> Robots.read("rules", b"User-agent: *\\nCrawl-delay: 1.5").delay_s("Seine")
        1.5
        >>> Robots.read("rules", b"User-agent: *\\nRequest-rate: 1/4").delay_s("Seine")
        4.0
        """
        if self.rules is None:
            return None
        delay = self.rules.crawl_delay(agent)
        rate = self.rules.request_rate(agent)
        asked = [float(delay)] if delay else []
        if rate is not None and rate.requests:
            asked.append(rate.seconds / rate.requests)
        return max(asked, default=None)
