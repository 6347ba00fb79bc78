"""How often a price changes, as far as is known, and what a look at it is worth. Pure.

A product's changes are a Poisson process whose rate is known as a gamma distribution: first that
of its site and category (`prior`), then sharper with each look. A look tells only whether the price
changed since the one before, so the expected number of changes of each stretch is put in its place,
as in the expectation step of Dempster, Laird and Rubin ("Maximum likelihood from incomplete data
via the EM algorithm", JRSS B 39(1), 1977).

The worth of a look follows from the best plan under a budget. The share of time in which a price is
right is greatest where the next look at each product would add as much per look, the multiplier
of the budget (Cho and Garcia-Molina, "Effective page refresh policies", ACM TODS 28(4), 2003;
with weights Azar et al., "Tractable near-optimal policies for crawling", PNAS 115(32), 2018).
A look after t seconds adds w · (1 - e^(-rt) (1 + rt)) / r. To take the highest worth first, as
many as the budget allows by then, spends the budget exactly, and whatever is taken last is the
multiplier. With an uncertain rate the worth is the mean over the distribution: a product of which
little is known is worth more the longer nobody looked, so that no wrong guess lasts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import attrs

from scrapy_seine.records import Value

_DAY_S = 86_400.0
#: Looks that found a change are taken for equally long; so many steps find the rate then.
_STEPS = 16
_CLOSE = 1e-4
#: Nearer to a shape of 1 than this, its own formula is the exact one.
_ONE = 1e-6
#: How unlike each other the products of a category are: 1 is an exponential distribution of rates.
_SHAPE = 1.0
#: So many changes of its own make a category differ from its site; and a site from any other.
_CATEGORY, _SITE = 2.0, 0.5
#: Categories of a site that are told apart; the rest counts as the site.
MOST_GROUPS = 5000


@attrs.frozen(eq=False, repr=False)
class Looks(Value):
    """What looks at a product, or at all products of a category, found."""

    changes: int = 0
    """Looks that found the price changed."""
    changed_s: float = 0.0
    """Seconds between these looks and the ones before, added up."""
    calm_s: float = 0.0
    """Seconds before the looks that found the same price."""

    def __add__(self, other: Looks) -> Looks:
        return Looks(
            self.changes + other.changes,
            self.changed_s + other.changed_s,
            self.calm_s + other.calm_s,
        )


@attrs.frozen(eq=False, repr=False)
class Belief(Value):
    """A gamma distribution of the rate of change, in changes a second."""

    shape: float
    seconds: float

    @property
    def rate(self) -> float:
        """The mean."""
        return self.shape / self.seconds


#: Where nothing is known of a site: a change in four weeks.
ANY = Belief(_SITE, _SITE * 28 * _DAY_S)


def belief(looks: Looks, prior: Belief = ANY) -> Belief:
    """Return what is known of a rate after the looks.

    Ten looks, one a day, of which five found a change:

    >>> round(belief(Looks(5, 5 * 86400.0, 5 * 86400.0)).rate * 86400, 2)
    0.26
    """
    calm = prior.seconds + max(0.0, looks.calm_s)
    if looks.changes <= 0:
        return Belief(prior.shape, calm)
    changed = max(float(looks.changes), looks.changed_s)  # a second each, at least
    step, rate = changed / looks.changes, (prior.shape + looks.changes) / (calm + changed)
    for _ in range(_STEPS):
        before, expected = rate, rate * step / -math.expm1(-rate * step)
        rate = (prior.shape + looks.changes * expected) / (calm + changed)
        if rate - before <= _CLOSE * rate:
            break
    shape = prior.shape + looks.changes
    return Belief(shape, shape / rate)


def worth(known: Belief, waited_s: float) -> float:
    """Return the mean worth of a look after *waited_s*, in seconds of a right price.

    >>> round(worth(Belief(2.0, 2 * 86400.0), 86400.0) / 86400, 3)
    0.222
    """
    if waited_s <= 0:
        return 0.0
    shape, left = known.shape, known.seconds / (known.seconds + waited_s)
    more = shape - 1
    if abs(more) < _ONE:
        gained = -known.seconds * math.log(left)
    else:
        gained = known.seconds / more * -math.expm1(more * math.log(left))
    return max(0.0, float(gained - waited_s * left**shape))


def priors(groups: Iterable[tuple[str, Looks]]) -> dict[str, Belief]:
    """Return what is to be thought of a new product, by category; of the site as a whole by "".

    A category of which little is known is taken to be like its site.
    """
    known: Mapping[str, Looks] = dict(groups)
    site = belief(sum(known.values(), Looks()), ANY).rate
    found = {"": _like(site)}
    for name, looks in known.items():
        if name:
            found[name] = _like(belief(looks, Belief(_CATEGORY, _CATEGORY / site)).rate)
    return found


def _like(rate: float) -> Belief:
    return Belief(_SHAPE, _SHAPE / rate)
