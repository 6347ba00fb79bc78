"""The importance of a known product: that of its watch list, else of its site file, else 1."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable

from crawler.catalogue.coordinator.known_product import KnownProduct

logger = logging.getLogger(__name__)
#: Bounds of the importance, so that a wrong rule does not starve a site.
MIN_IMPORTANCE, MAX_IMPORTANCE = 1e-3, 1e3
Rule = Callable[[KnownProduct], float]


def importance(product: KnownProduct, rule: Rule | None = None) -> float:
    """Return the importance of a product: that of its watch list, else of the site file's rule,
    else 1. A rule that raises or returns no number counts as 1 and is logged.
    """
    value: object = product.watched
    if value is None and rule is not None:
        try:
            value = rule(product)
        except Exception as error:  # a site file's rule must not stop the plans of other products
            logger.warning("importance of %s: %s: %s", product.url, type(error).__name__, error)
            return 1.0
    if value is None:
        return 1.0
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        logger.warning("importance of %s: %.40r is no number", product.url, value)
        return 1.0
    return min(MAX_IMPORTANCE, max(MIN_IMPORTANCE, float(value)))
