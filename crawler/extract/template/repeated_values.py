"""Values repeated on the newest pages of a make as in no catalogue: a bot wall, a default value."""

from __future__ import annotations

from operator import itemgetter

from crawler.extract.default_parser import Found
from crawler.extract.template.make import NEWEST, Make
from crawler.extract.template.observation import Observation
from crawler.extract.template.page_doubts import Doubt, is_confirmed
from crawler.extract.template.profile import KNOWN, Field

#: Repetitions that make a value doubtful. A price that two sources of a page give, or one of a few
#: prices, may repeat more often, because listings are sorted by price, and colours cost the same.
_MIN_REPEATS, _MIN_CONFIRMED_REPEATS = 6, 10
#: A price this many times as frequent on the newest pages as in the whole shop is no chance.
_MIN_PRICE_RATIO = 3
#: Newest pages with one product that are too many even for a shop with a page for each category.
_MIN_COPIES = 10
#: Different names of the newest products that may be the makers' or the artists'.
_MAX_NAMES = 8
_KEY_OF, _VALUE_OF = itemgetter(0), itemgetter(1)


def repeated_value(field: str, observation: Observation, make: Make, key: str) -> Doubt | None:
    """Return a doubt about a value that the newest pages repeat, and about its first products.

    Products were stored with the value before its repetition was noticed (the suspects). Their pages
    are read again between others, so that the newest pages alone would not show the repetition.
    """
    suspects, recent = make.suspects[field], make.profile.fields[field].recent
    value, doubt = str(observation.value), _repetition(field, observation, make, key)
    if doubt is None:
        if suspects.pop(key, None) == value:
            return Doubt("repeated", "product after product had it when it was read first")
    elif not recent or recent[-1][0] != "repeated":  # the repetition begins
        suspects.clear()
        suspects.update(pair for pair in make.newest[field] if pair[1] == value)
    return doubt


def repeats_names(observation: Observation, make: Make) -> bool:
    """Whether the newest products share a few names, as makers, artists or categories would be.

    So have those before, because a template that changes is compared with the stored names.
    """
    newest, known = make.newest["name"], make.profile.fields["name"].values
    if observation.source != "text" or len(newest) < NEWEST:
        return False
    if NEWEST * len(known) > _MAX_NAMES * known.total():
        return False
    names = {name for _, name in newest}
    return len(names) <= _MAX_NAMES and len({key for key, _ in newest}) == NEWEST


def repeated_product(result: Found, make: Make, key: str) -> Doubt | None:
    """Return a doubt if many pages show one product: a bot wall in the shop's own template."""
    entry = (key, result.page.url)
    if entry not in make.newest_pages:
        make.newest_pages.append(entry)
    times = [*map(_KEY_OF, make.newest_pages)].count(key)
    if times < _MIN_COPIES or result.fields.get("external_id") is None:
        return None
    return Doubt(
        "repeated", f"{times} of the newest {len(make.newest_pages)} pages show one product"
    )


def _repetition(field: str, observation: Observation, make: Make, key: str) -> Doubt | None:
    """Return a doubt if many products have one name, or one price although prices vary."""
    if observation.value is None:
        return None
    newest = make.newest[field]
    value = str(observation.value)
    if (key, value) not in newest:
        newest.append((key, value))
    times = [*map(_VALUE_OF, newest)].count(value)
    if times < _MIN_REPEATS:
        return None
    stats = make.profile.fields[field]
    may_repeat = field == "price" and (is_confirmed(field, observation) or _has_few_prices(stats))
    minimum = _MIN_CONFIRMED_REPEATS if may_repeat else _MIN_REPEATS
    if times < minimum or len({product for product, _ in newest}) < minimum:
        return None
    share = stats.value_share(value)
    if field == "price" and (share > 1 / 4 or times < _MIN_PRICE_RATIO * share * NEWEST):
        return None  # a shop where one price, or one of a few, is usual
    return Doubt("repeated", f"{times} of the newest {len(newest)} products have it")


def _has_few_prices(stats: Field) -> bool:
    """Whether a shop has so few prices that each is repeated by chance: 9.50, 14.95, 24.00."""
    return stats.pages >= KNOWN and 2 * len(stats.values) <= stats.values.total()
