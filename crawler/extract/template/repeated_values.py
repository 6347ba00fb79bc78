"""What repeats on the newest pages of a make, though no catalogue repeats it: a wall, a default."""

from __future__ import annotations

from collections import deque
from operator import itemgetter

from crawler.extract.default_parser import Found
from crawler.extract.template.make import NEWEST, Make
from crawler.extract.template.observation import Observation
from crawler.extract.template.page_doubts import Doubt, is_confirmed
from crawler.extract.template.profile import KNOWN, Field

#: Repetitions that no catalogue has. A price that two sources of a page tell may repeat more often:
#: lists are sorted by price, and colours cost the same.
_MIN_REPEATS, _MIN_CONFIRMED_REPEATS = 6, 10
#: A price that is told so many times as often as it is in the whole shop repeats by no chance.
_MIN_PRICE_RATIO = 3
#: Pages of one product, of the newest ones, that no shop has: one for each of its categories, say.
_MIN_COPIES = 10
_KEY_OF, _VALUE_OF = itemgetter(0), itemgetter(1)


def repeated_value(field: str, observation: Observation, make: Make, key: str) -> Doubt | None:
    """What the newest pages have against a value; the first ones with it are doubtful as well.

    Before a value was noticed to be everywhere, products were stored with it. Their pages are read
    again among pages of before, so that the newest ones would no longer contradict the value.
    """
    suspects, recent = make.suspects[field], make.profile.fields[field].recent
    value, doubt = str(observation.value), _repetition(field, observation, make, key)
    if doubt is None:
        if suspects.pop(key, None) == value:
            return Doubt("repeated", "product after product had it when it was read first")
    elif not recent or recent[-1][0] != "repeated":  # it begins here
        suspects.clear()
        suspects.update(pair for pair in make.newest[field] if pair[1] == value)
    return doubt


def repeated_product(result: Found, make: Make, key: str) -> Doubt | None:
    """Whether page after page shows one product: a wall in the shop's own template."""
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
    """Whether product after product has one name, or one price where prices vary."""
    if observation.value is None:
        return None
    newest = make.newest[field]
    value = str(observation.value)
    if (key, value) not in newest:
        newest.append((key, value))
    if field == "availability":
        return _all_sold_out(value, newest, make.profile.fields[field])
    times = [*map(_VALUE_OF, newest)].count(value)
    if times < _MIN_REPEATS:
        return None
    minimum = (
        _MIN_CONFIRMED_REPEATS
        if field == "price" and is_confirmed(field, observation)
        else _MIN_REPEATS
    )
    if times < minimum or len({product for product, _ in newest}) < minimum:
        return None
    share = make.profile.fields[field].value_share(value)
    if field == "price" and (share > 1 / 4 or times < _MIN_PRICE_RATIO * share * NEWEST):
        return None  # a shop where one price, or one of a few, is usual
    return Doubt("repeated", f"{times} of the newest {len(newest)} products have it")


def _all_sold_out(value: str, newest: deque[tuple[str, str]], stats: Field) -> Doubt | None:
    """Whether product after product cannot be had, in a shop that had most of them."""
    if len(newest) < NEWEST or stats.pages < 2 * KNOWN:
        return None
    share = stats.value_share("InStock")
    if share < 1 / 2 or any(stock == "InStock" for _, stock in newest):
        return None
    return Doubt("repeated", f"none of the newest {len(newest)} is in stock, {share:.0%} were")
