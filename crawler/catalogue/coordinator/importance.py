"""How much a known product matters beside others: as a watch list or its site file says, else 1."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable

from crawler.catalogue.coordinator.known_product import Known

logger = logging.getLogger(__name__)
#: Importance is kept within these, so that no slip of a rule starves a site.
LEAST, MOST = 1e-3, 1e3
Rule = Callable[[Known], float]


def importance(known: Known, rule: Rule | None = None) -> float:
    """How much a wrong price of a product matters beside others: its watch list's word, else the
    site file's, else 1. A rule that raises or gives no number counts as 1, and is told of.
    """
    given: object = known.watched
    if given is None and rule is not None:
        try:
            given = rule(known)
        except Exception as error:  # a site file's own; the others are planned all the same
            logger.warning("importance of %s: %s: %s", known.url, type(error).__name__, error)
            return 1.0
    if given is None:
        return 1.0
    if isinstance(given, bool) or not isinstance(given, int | float) or math.isnan(given):
        logger.warning("importance of %s: %.40r is no number", known.url, given)
        return 1.0
    return min(MOST, max(LEAST, float(given)))
