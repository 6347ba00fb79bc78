"""How a lease ends, and which statement counts if several are made about one request (I10).

A request ends by one stated outcome: `done`, `ignored` by a named rule, `retry` or `bury`.
`release` hands it back unsent. The empty outcome means that none was stated yet: it never means
success. A request that ends without a statement has failed (kind `internal`).
"""

from __future__ import annotations

import math
from typing import Any, Literal

from scrapy.exceptions import IgnoreRequest
from scrapy.spidermiddlewares.httperror import HttpError

Outcome = Literal["", "done", "ignored", "release", "retry", "bury"]

#: From the weakest statement to the strongest: a failure outranks success, and giving up outranks
#: another try, because a dead letter is visible and can be replayed.
_ORDER: tuple[Outcome, ...] = ("", "done", "ignored", "release", "retry", "bury")
_RANK = {outcome: rank for rank, outcome in enumerate(_ORDER)}
_NOT_THERE = frozenset({404, 410})
#: The longest wait before a request's next try, s.
_MAX_WAIT_S = 30 * 86400.0
#: Failures stated by a status alone: a callback that takes the status handles them.
BY_STATUS = frozenset({"5xx", "429"})


class Ignored(IgnoreRequest):
    """Raised by a middleware: a named rule forbids to parse the request's page."""

    def __init__(self, rule: str, text: str) -> None:
        super().__init__(text)
        self.rule = rule


def prevails(new_outcome: Outcome, stated_outcome: Outcome) -> bool:
    """Whether a new statement replaces the earlier one; of two equal ones the first counts.

    >>> prevails("done", ""), prevails("ignored", "done"), prevails("retry", "done")
    (True, True, True)
    >>> prevails("done", "ignored"), prevails("done", "retry"), prevails("retry", "bury")
    (False, False, False)
    >>> prevails("bury", "retry"), prevails("bury", "bury")
    (True, False)
    """
    return _RANK[new_outcome] > _RANK[stated_outcome]


def rule_of(error: IgnoreRequest) -> str:
    """Return the rule by which a request is ignored; `filter` stands for a project's own rule.

    >>> rule_of(Ignored("robots", "forbidden")), rule_of(IgnoreRequest())
    ('robots', 'filter')
    """
    if isinstance(error, HttpError):
        return "gone" if error.response.status in _NOT_THERE else "http status"
    return str(getattr(error, "rule", "filter"))


#: Usually caused by an item's own values, so that another try would fail again.
_FAULTS = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError),
    *(NameError, TypeError, ValueError),
)
#: Names that PEP 249 gives to a database's refusals; its other errors concern the database itself.
_REFUSALS = {"DataError", "IntegrityError", "NotSupportedError", "ProgrammingError"}


def blames_item(error: BaseException) -> bool:
    """Whether a pipeline's exception blames the item, and not an unreachable sink.

    >>> blames_item(KeyError("price")), blames_item(TimeoutError()), blames_item(Exception())
    (True, False, False)
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    return isinstance(error, _FAULTS) or not names.isdisjoint(_REFUSALS)


def whole_number(value: Any, default: int) -> int:
    """Read a whole number from a stored request; *default* for anything else. Never raises.

    >>> whole_number("3", 0), whole_number("three", 7), whole_number(None, 7)
    (3, 7, 7)
    >>> whole_number(True, 7), whole_number(-2, 7)
    (7, 0)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return default
    try:
        return max(0, int(value))
    except (ValueError, OverflowError):
        return default


def seconds(value: float | None) -> float:
    """Read a wait that a site or a project asked for: finite, not negative, 30 days at most.

    >>> seconds(1.5), seconds(-1), seconds(float("nan")), seconds(float("inf"))
    (1.5, 0.0, 0.0, 0.0)
    """
    return min(max(0.0, value), _MAX_WAIT_S) if value is not None and math.isfinite(value) else 0.0
