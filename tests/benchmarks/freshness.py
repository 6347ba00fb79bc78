"""How right stored prices are under a budget of looks, beside the best plan that knows all rates.

A shop of products in five categories is simulated for 60 days: prices change as Poisson events at
rates that spread widely within a category, importance is Zipf's. Nothing is fetched: each look is
what the coordinator's own functions choose (`recrawl.due`, `allowance`, `change_rate.priors`), and
it learns only what a look shows. After 30 days of learning, the share of time in which a price is
right, weighted by importance, is compared with

* `optimum`: the best share that looks at fixed intervals can give, with the true rates known: Cho
  and Garcia-Molina's condition with weights, its multiplier found by bisection;
* `uniform`: each product equally often.

With a sitemap, each change is dated by it with a chance of 70 %, and of its dates 20 % are false.
What is dated is looked at at once, as the coordinator has it, beside the budget; the optimum then
has as many looks as were taken, knows all rates and how far the dates can be believed (the worth of
a look given a noisy signal: Busa-Fekete and others, "Tractable crawling with noisy signals", 2025).

usage: python -m tests.benchmarks.freshness [--products 400] [--seeds 2] [--alike] [--json]

Bars: 0.97 of the optimum, 0.95 with the sitemap, and never below uniform; the exit status is 1
where one is missed. `--alike` gives all products the same importance, for which no bar is set.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from statistics import mean
from typing import Any

import attrs

from crawler.catalogue.coordinator.change_rate import Belief, Looks, priors
from crawler.catalogue.coordinator.known_product import KnownProduct
from crawler.catalogue.coordinator.recrawl import allowance, due_products_of
from crawler.catalogue.jobs.model import Plan

#: A look at each product in so many days.
BUDGETS = (1, 3, 7, 21)
LEAST, LEAST_SITEMAP = 0.97, 0.95
DATED, FALSE = 0.7, 0.2
DAYS, LEARNING = 60, 30
#: Steps of a day.
STEPS = 12
_DAY_S = 86_400.0
_START = datetime(2026, 1, 1, tzinfo=UTC)
#: Of each category: changes a day in the middle, and how far its products spread (sigma of logs).
CATEGORIES = ((0.02, 0.8), (0.1, 0.8), (0.3, 0.8), (1.0, 0.8), (0.05, 1.2))


@attrs.frozen
class Item:
    """A product as it is; nobody but the optimum knows."""

    category: str
    rate: float
    """Changes a day."""
    weight: float


@attrs.define
class State:
    """What became of a product."""

    known: KnownProduct
    wrong: bool = False
    dates: int = 0
    """Dates of the sitemap since the last look."""


def world(products: int, seed: int, *, alike: bool = False) -> list[Item]:
    """Make the shop's products."""
    dice = random.Random(seed)
    weights = [1.0 if alike else 1 / place for place in range(1, products + 1)]
    dice.shuffle(weights)
    found = []
    for weight in weights:
        number = dice.randrange(len(CATEGORIES))
        middle, spread = CATEGORIES[number]
        found.append(Item(f"c{number}", middle * math.exp(spread * dice.gauss()), weight))
    return found


def share_right(rate: float, every: float) -> float:
    """Share of time in which a price is right that is looked at *every* so many days."""
    x = rate * every
    return -math.expm1(-x) / x if x > 0 else 1.0


def interval(item: Item, multiplier: float) -> float:
    """Days after which a look is worth the multiplier; infinite where it never is."""
    worth = multiplier * item.rate / item.weight
    if worth >= 1:
        return math.inf
    low, high = 0.0, 700.0
    for _ in range(60):
        middle = (low + high) / 2
        if 1 - math.exp(-middle) * (1 + middle) < worth:
            low = middle
        else:
            high = middle
    return high / item.rate


def optimum(items: Sequence[Item], looks: float) -> float:
    """The best weighted share with so many looks a day in all, by bisection of the multiplier."""
    low, high = 1e-9, max(item.weight / item.rate for item in items)
    for _ in range(60):
        middle = math.sqrt(low * high)
        if sum(1 / interval(item, middle) for item in items) > looks:
            low = middle
        else:
            high = middle
    right = sum(item.weight * share_right(item.rate, interval(item, high)) for item in items)
    return right / sum(item.weight for item in items)


@attrs.define
class Run:
    """One policy over one shop."""

    items: Sequence[Item]
    looks: float
    """A day, in all; beside those at dated products."""
    sitemap: bool
    seed: int
    states: list[State] = attrs.field(init=False)
    dated: int = 0
    """Looks at products that the sitemap dated."""
    expected: dict[str, Belief] = attrs.Factory(dict)
    plan: Plan = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.states = [
            State(KnownProduct(str(n), _START, category=item.category, watched=item.weight * 100))
            for n, item in enumerate(self.items)
        ]
        maps = ("http://shop.invalid/sitemap.xml",) if self.sitemap else ()
        self.plan = Plan(site_id="shop", recrawl_s=_DAY_S, sitemaps=maps)

    def live(self, choose: Callable[[Run, datetime, int, int], list[int]]) -> float:
        """Live all days; returns the weighted share of right prices after the learning."""
        dice, right, total, spent = random.Random(self.seed), 0.0, 0.0, 0
        budget = round(self.looks * DAYS)
        for step in range(1, DAYS * STEPS + 1):
            now = _START + timedelta(days=step / STEPS)
            counts = step > LEARNING * STEPS
            for item, state in zip(self.items, self.states, strict=True):
                share = self._pass(item, state, dice)
                if counts:
                    right += share * item.weight
                    total += item.weight
            if step % STEPS == 1:
                self._learn()
            most = allowance(budget, spent, step / STEPS / DAYS * _DAY_S)
            picked = choose(self, now, most, spent)
            spent += len(picked)
            for number in picked:
                self.look(number, now)
        return right / total

    def _pass(self, item: Item, state: State, dice: random.Random) -> float:
        """Let a step pass; returns the share of it in which the price was right."""
        changes = dice.random() < -math.expm1(-item.rate / STEPS)
        share = 0.0 if state.wrong else 0.5 if changes else 1.0
        state.wrong = state.wrong or changes
        if self.sitemap:
            false = item.rate * DATED * FALSE / (1 - FALSE) / STEPS
            state.dates += (changes and dice.random() < DATED) + (dice.random() < false)
        return share

    def _learn(self) -> None:
        groups: dict[str, Looks] = {}
        for state in self.states:
            known = state.known
            groups[known.category] = groups.get(known.category, Looks()) + known.looks
        self.expected = priors(groups.items())

    def look(self, number: int, now: datetime) -> None:
        """Look at a product: what the store's statements keep of that."""
        state = self.states[number]
        known, told = state.known, state.dates > 0
        gap_s = (now - known.scraped_at).total_seconds()
        found = state.wrong and not told
        state.known = attrs.evolve(
            known,
            scraped_at=now,
            observed_s=known.observed_s + gap_s,
            price_changes=known.price_changes + found,
            price_changed_s=known.price_changed_s + gap_s * found,
        )
        state.wrong, state.dates = False, 0


def ours(run: Run, now: datetime, most: int, spent: int) -> list[int]:
    """As the coordinator does: what the sitemap dates at once, and what is due of the rest."""
    dated = [n for n, state in enumerate(run.states) if state.dates]
    for number in dated:
        run.look(number, now)
    run.dated += len(dated)
    known = [state.known for state in run.states]
    chosen = due_products_of(known, run.plan, now, most, run.expected, sent_count=spent)
    return [int(each.url) for each in chosen]


def uniform(run: Run, now: datetime, most: int, spent: int) -> list[int]:
    """Those that waited longest."""
    waited = sorted(range(len(run.states)), key=lambda n: run.states[n].known.scraped_at)
    return waited[:most]


def knowing(run: Run, now: datetime, most: int, spent: int) -> list[int]:
    """The worthiest by the true rates, and by how far the dates can be believed."""
    return sorted(range(len(run.items)), key=lambda n: -_true_worth(run, n, now))[:most]


def _true_worth(run: Run, number: int, now: datetime) -> float:
    item, state = run.items[number], run.states[number]
    days = (now - state.known.scraped_at).total_seconds() / _DAY_S
    untold = item.rate * (1 - DATED if run.sitemap else 1.0)
    doubt = untold * days - state.dates * math.log(FALSE)  # the logarithm of being wrong still
    return item.weight / item.rate * (1 - math.exp(-doubt) * (1 + doubt))


def compare(
    every: float, args: argparse.Namespace, seed: int, *, sitemap: bool
) -> dict[str, float]:
    """Live a shop with one budget by our policy, and say how it compares."""
    items = world(args.products, seed, alike=args.alike)
    looks = len(items) / every
    run = Run(items, looks, sitemap, seed)
    found = run.live(ours)
    taken = looks + run.dated / DAYS
    best = optimum(items, taken)
    if sitemap:
        best = max(best, Run(items, taken, True, seed).live(knowing))
    even = Run(items, taken, False, seed).live(uniform)
    return {"ours": found, "optimum": best, "uniform": even, "looks": taken / len(items)}


def measure(args: argparse.Namespace) -> list[dict[str, Any]]:
    """All budgets, without and with the sitemap."""
    found = []
    for sitemap in (False, True):
        for every in args.budgets:
            runs = [compare(every, args, seed, sitemap=sitemap) for seed in range(args.seeds)]
            row: dict[str, Any] = {"days_a_look": every, "sitemap": sitemap}
            row |= {name: round(mean(run[name] for run in runs), 4) for name in runs[0]}
            row["of_optimum"] = round(row["ours"] / row["optimum"], 4)
            row["missed"] = not args.alike and _is_missed(row)
            found.append(row)
            print(row, file=sys.stderr, flush=True)
    return found


def _is_missed(row: dict[str, Any]) -> bool:
    least = LEAST_SITEMAP if row["sitemap"] else LEAST
    return bool(row["of_optimum"] < least or row["ours"] < row["uniform"])


def parsed(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--products", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--budgets", type=float, nargs="+", default=BUDGETS)
    parser.add_argument("--alike", action="store_true", help="the same importance for all")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; 1 where a bar is missed."""
    args = parsed(argv)
    found = measure(args)
    if args.json:
        print(json.dumps({"products": args.products, "rows": found}))
    return 1 if any(row["missed"] for row in found) else 0


if __name__ == "__main__":
    sys.exit(main())
