"""Estimate how often a price changes, and the worth of a look at it. Pure.

A product's changes are a Poisson process whose rate has a gamma distribution: first the prior of
its site and category, then narrower with each look. A look shows only whether the price changed
since the last one, so we use the expected number of changes of each interval, as in the expectation
step of Dempster, Laird and Rubin ("Maximum likelihood from incomplete data via the EM algorithm",
JRSS B 39(1), 1977).

The worth of a look follows from the best plan under a budget. The share of time with a right price
is greatest if the next look adds the same gain at each product: the budget's multiplier (Cho and
Garcia-Molina, "Effective page refresh policies", ACM TODS 28(4), 2003; with weights Azar et al.,
"Tractable near-optimal policies for crawling", PNAS 115(32), 2018). A look after t seconds adds
w · (1 - e^(-rt) (1 + rt)) / r. Taking the highest worth first spends the budget exactly, and the
last worth taken is the multiplier. With an uncertain rate the worth is the mean over the
distribution: that of a product with few looks grows with the time since the last one, so that no
wrong estimate lasts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import attrs

from scrapy_seine.attrs_bases import Value

_DAY_S = 86_400.0
#: Steps of the iteration for the rate; intervals with a change count as equally long.
_STEPS = 16
_TOLERANCE = 1e-4
#: Distance from a shape of 1 within which the limit's formula is used, being more exact.
_LIMIT_DISTANCE = 1e-6
#: Shape of the rates within a category: 1 is an exponential distribution.
_SHAPE = 1.0
#: Weight of the prior, in changes: of the site for a category, of any site for a site.
_CATEGORY_WEIGHT, _SITE_WEIGHT = 2.0, 0.5
#: Largest number of a site's categories with their own prior; the others use the site's.
MAX_CATEGORIES = 5000


@attrs.frozen(eq=False, repr=False)
class Looks(Value):
    """The results of the looks at a product, or at all products of a category."""

    changes: int = 0
    """Looks that found a changed price."""
    changed_s: float = 0.0
    """Total of the intervals before these looks, in seconds."""
    calm_s: float = 0.0
    """Total of the intervals before looks that found the same price, in seconds."""

    def __add__(self, looks: Looks) -> Looks:
        return Looks(
            self.changes + looks.changes,
            self.changed_s + looks.changed_s,
            self.calm_s + looks.calm_s,
        )


@attrs.frozen(eq=False, repr=False)
class Belief(Value):
    """A gamma distribution of the rate of change, in changes a second."""

    shape: float
    seconds: float

    @property
    def rate(self) -> float:
        """The mean of the distribution."""
        return self.shape / self.seconds


#: The prior of any site: one change in four weeks.
ANY_SITE = Belief(_SITE_WEIGHT, _SITE_WEIGHT * 28 * _DAY_S)


def belief(looks: Looks, prior: Belief = ANY_SITE) -> Belief:
    """Return the distribution of a rate after the looks.

    Ten looks, one a day, of which five found a change:

    >>> round(belief(Looks(5, 5 * 86400.0, 5 * 86400.0)).rate * 86400, 2)
    0.26
    """
    calm_s = prior.seconds + max(0.0, looks.calm_s)
    if looks.changes <= 0:
        return Belief(prior.shape, calm_s)
    changed_s = max(float(looks.changes), looks.changed_s)  # a second each, at least
    step, rate = changed_s / looks.changes, (prior.shape + looks.changes) / (calm_s + changed_s)
    for _ in range(_STEPS):
        last_rate, expected_changes = rate, rate * step / -math.expm1(-rate * step)
        rate = (prior.shape + looks.changes * expected_changes) / (calm_s + changed_s)
        if rate - last_rate <= _TOLERANCE * rate:
            break
    shape = prior.shape + looks.changes
    return Belief(shape, shape / rate)


def worth(rate_belief: Belief, waited_s: float) -> float:
    """Return the mean worth of a look after *waited_s*, in seconds of a right price.

    >>> round(worth(Belief(2.0, 2 * 86400.0), 86400.0) / 86400, 3)
    0.222
    """
    if waited_s <= 0:
        return 0.0
    shape, shrinkage = rate_belief.shape, rate_belief.seconds / (rate_belief.seconds + waited_s)
    exponent = shape - 1
    if abs(exponent) < _LIMIT_DISTANCE:
        gain = -rate_belief.seconds * math.log(shrinkage)
    else:
        gain = rate_belief.seconds / exponent * -math.expm1(exponent * math.log(shrinkage))
    return max(0.0, float(gain - waited_s * shrinkage**shape))


def priors(groups: Iterable[tuple[str, Looks]]) -> dict[str, Belief]:
    """Return the prior of a new product by category; that of the whole site under "".

    A category with few changes gets about the prior of its site.
    """
    by_category: Mapping[str, Looks] = dict(groups)
    site = belief(sum(by_category.values(), Looks()), ANY_SITE).rate
    beliefs = {"": _prior(site)}
    for name, looks in by_category.items():
        if name:
            beliefs[name] = _prior(
                belief(looks, Belief(_CATEGORY_WEIGHT, _CATEGORY_WEIGHT / site)).rate
            )
    return beliefs


def _prior(rate: float) -> Belief:
    return Belief(_SHAPE, _SHAPE / rate)
