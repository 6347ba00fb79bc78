"""What a site's answer to the request for robots.txt means, and when a failed request is repeated.

Source: RFC 9309, 2.3.1.
"""

from __future__ import annotations

from typing import Literal

State = Literal["rules", "free", "away"]
_TOO_MANY = 429
#: Pause after the first failed request for robots.txt, doubled by each further one, s.
_FIRST_AWAY_S, _MOST_AWAY_S = 5.0, 600.0


def state_of(status: int) -> State:
    """Classify a response to a request for robots.txt (RFC 9309, 2.3.1).

    A 429 counts as away although it is a 4xx, because a site that wants fewer requests must not be
    treated as one that allows all.

    >>> [state_of(s) for s in (200, 404, 403, 302, 429, 500)]
    ['rules', 'free', 'free', 'free', 'away', 'away']
    """
    if 200 <= status < 300:  # noqa: PLR2004
        return "rules"
    return "away" if status >= 500 or status == _TOO_MANY else "free"  # noqa: PLR2004


def away_s(failures: int) -> float:
    """Seconds until a robots.txt that could not be fetched is requested again.

    >>> [away_s(n) for n in (0, 1, 6, 7, 500)]
    [5.0, 10.0, 320.0, 600.0, 600.0]
    """
    return min(_MOST_AWAY_S, _FIRST_AWAY_S * 2.0 ** min(failures, 30))
