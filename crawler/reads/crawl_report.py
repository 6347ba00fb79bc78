"""The text of `scrapy crawl`: one line while a worker runs, one block when it ends. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from scrapy_seine.attrs_bases import Value
from scrapy_seine.reads.formatting import count, span

#: Width of a label in the block, in columns.
_LABEL_WIDTH = 13
#: Finish reasons in words; any other reason is shown unchanged.
_END_REASONS = {
    "finished": "the crawl is complete",
    "shutdown": "stopped; the crawl goes on where it was, with the next worker",
    "outage": "the worker gave up, because a store was unreachable",
    "error": "the worker ended by an error; the line above names the error",
    "start_error": "the spider's start raised an error; what it had not asked for yet is missing",
    "browser_failed": "the worker ended, because its browser does not start",
    "state_lost": "the worker ended, because Redis lost the state of the crawl",
}
#: Estimates below this many seconds are rounded up to whole seconds.
_ROUND_UP_BELOW_S = 10
#: Reasons to give up a page, in words; other kinds are shown unchanged.
_GIVE_UP_REASONS = {
    "connection": "no connection",
    "timeout": "timeouts",
    "5xx": "server errors",
    "429": "asked to slow down",
    "ban": "blocked by the site or a proxy",
    "proxy": "no proxy worked",
    "network": "this machine had no network",
    "robots": "robots.txt could not be read",
    "parse": "the spider raised an error",
    "store": "could not be stored",
    "redirects": "redirected in a circle or too often",
    "size": "too large",
    "item": "a pipeline raised an error",
    "broken": "incomplete pages",
    "unreadable": "took too long to read",
    "closed": "the spider closed itself over them",
    "address": "address not allowed",
    "lane": "no worker has the lane",
}
#: Reasons not to read a page, in words.
_IGNORE_REASONS = {
    "gone": "gone (404, 410)",
    "robots": "forbidden by robots.txt",
    "not modified": "unchanged since the last visit",
    "offsite": "of another site",
    "dead end": "of addresses that lead nowhere",
    "cancelled": "cancelled with their job",
    "http status": "other HTTP errors",
    "filter": "left out by a filter",
}
#: Names of what the frontier counts at its limits, and who sets each.
LIMIT_SETTINGS = {
    "over_domain_pages": "SEINE_DOMAIN_PAGES",
    "over_job_pages": "SEINE_JOB_PAGES, or the job's budget",
    "over_pending": "SEINE_MOST_PENDING",
}


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Moment(Value):
    """A crawl's progress, as one worker sees it."""

    crawl: str
    pages: int
    """Pages that this worker has done or given up."""
    rate: float
    """Pages a second of the whole fleet, in the last seconds."""
    products: int
    """Items that this worker has scraped."""
    sites: int
    errors: int
    """Tries that failed, and pages given up."""
    waiting: int
    """Known pages that are not done."""
    growing: bool
    """Links were added lately, so that more pages will follow."""


def live_line(moment: Moment) -> str:
    """Render a crawl's progress in one line.

    >>> live_line(Moment(crawl="catalog", pages=312, rate=45.2, products=250, sites=1, errors=0,
    ...     waiting=900, growing=True))
    'catalog: 312 pages | 45 pages/s | 250 products | 1 site | 900 wait | at least 20 s left'
    """
    parts = [
        plural(moment.pages, "page"),
        f"{moment.rate:.0f} pages/s",
        plural(moment.products, "product"),
        plural(moment.sites, "site"),
    ]
    parts += [plural(moment.errors, "error")] if moment.errors else []
    parts += [f"{count(moment.waiting)} wait"] if moment.waiting else []
    if moment.waiting and moment.rate > 0:
        parts.append(time_left(moment.waiting / moment.rate, growing=moment.growing))
    return f"{moment.crawl}: {' | '.join(parts)}"


def time_left(seconds: float, *, growing: bool) -> str:
    """Render an estimate: a second at least, and a lower bound while links are added.

    >>> time_left(0.2, growing=False), time_left(90, growing=True)
    ('1 s left', 'at least 1 min 30 s left')
    """
    amount = f"{max(1, math.ceil(seconds))} s" if seconds < _ROUND_UP_BELOW_S else span(seconds)
    return f"{'at least ' if growing else ''}{amount} left"


def plural(n: int, noun: str) -> str:
    """Render a number with its noun.

    >>> plural(1, "page"), plural(1200, "page")
    ('1 page', '1,200 pages')
    """
    return f"{count(n)} {noun}{'' if n == 1 else 's'}"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class End(Value):
    """The result of a worker's run."""

    crawl: str
    reason: str
    """Scrapy's finish reason."""
    seconds: float
    sites: int
    stats: Mapping[str, Any]
    """Scrapy's stats of the worker."""
    known_links: int = 0
    """Links that were not followed, because their URL is in the seen set."""
    refused_links: Mapping[str, int] = attrs.field(factory=dict)
    """Links that did not enter, by the frontier's name of the limit (LIMIT_SETTINGS)."""
    waiting: int = 0
    """Pages that still wait in the crawl."""
    dead: int = 0
    """Dead letters of the crawl."""
    stores: bool = True
    """Whether the items went to PostgreSQL."""
    embedded: bool = False
    """Whether the crawl used an embedded server."""
    site: str = ""
    """The site file whose seeds the worker started with (-a site=); empty: none."""
    feeds: tuple[str, ...] = ()
    """Files that the items were written to (-o)."""


def closing_block(end: End) -> list[str]:
    """Render what a worker did, and the user's next commands."""
    pages, items = _stat(end, "seine/dequeued"), _stat(end, "item_scraped_count")
    head = f"{end.crawl}: {_END_REASONS.get(end.reason, end.reason)}"
    sites = f" of {plural(end.sites, 'site')}" if end.sites else ""
    lines = [head, _line("fetched", f"{plural(pages, 'page')}{sites} in {span(end.seconds)}")]
    lines += [_line(label, text) for label, text in _labelled_lines(end, items) if text]
    lines += ["next:", *(f"  {command}" for command in _next_commands(end, pages, items))]
    return lines


def _labelled_lines(end: End, items: int) -> Iterator[tuple[str, str]]:
    yield "products", _product_counts(end)
    yield "written", f"{plural(items, 'item')} to {', '.join(end.feeds)}" if end.feeds else ""
    yield "known", _skipped_links(end)
    yield "left out", _refused_links(end)
    yield "not read", _kinds(end, "seine/ignored/", _IGNORE_REASONS)
    yield (
        "rejected",
        _count_with_hint(
            _stat(end, "seine/store/rejected"), "item", "`scrapy export rejected_items`"
        ),
    )
    yield (
        "doubtful",
        _count_with_hint(
            _stat(end, "seine/store/doubtful"),
            "value",
            "kept out of the products; `scrapy export doubtful` gives the reasons",
        ),
    )
    yield "seeds", _count_with_hint(_stat(end, "seine/seeds_rejected"), "bad seed", "set aside")
    yield "given up", _kinds(end, "seine/buried/", _GIVE_UP_REASONS)
    yield (
        "waiting",
        _count_with_hint(end.waiting, "page", "another worker or the next run takes them"),
    )


def _product_counts(end: End) -> str:
    if not end.stores:
        return ""
    new_count, changed_count = _stat(end, "seine/store/new"), _stat(end, "seine/store/changed")
    unchanged_count = sum(
        _stat(end, f"seine/store/{name}") for name in ("refreshed", "unchanged", "stale")
    )
    unchanged_count += _stat(end, "seine/store/confirmed")
    gone_count, twice_count = _stat(end, "seine/store/gone"), _stat(end, "seine/store/twice")
    counts = {
        "new": new_count,
        "changed": changed_count,
        "unchanged": unchanged_count,
        "gone from the shop": gone_count,
        "seen twice": twice_count,
    }
    return ", ".join(f"{count(n)} {word}" for word, n in counts.items() if n) or "none found"


def _skipped_links(end: End) -> str:
    if not end.known_links:
        return ""
    return f"{plural(end.known_links, 'link')} skipped: fetched before"


def _refused_links(end: End) -> str:
    refused = {limit: n for limit, n in end.refused_links.items() if n}
    if not refused:
        return ""
    names = ", ".join(LIMIT_SETTINGS[limit] for limit in refused)
    return f"up to {plural(sum(refused.values()), 'link')} over a limit: {names}"


def _kinds(end: End, prefix: str, word_by_kind: Mapping[str, str]) -> str:
    kinds = {
        name.removeprefix(prefix): _stat(end, name)
        for name in end.stats
        if name.startswith(prefix) and "/" not in name.removeprefix(prefix)
    }
    total = sum(kinds.values())
    if not total:
        return ""
    by_count = sorted(kinds.items(), key=lambda pair: -pair[1])
    reasons = ", ".join(f"{count(n)} {word_by_kind.get(kind, kind)}" for kind, n in by_count)
    return f"{plural(total, 'page')}: {reasons}"


def _count_with_hint(n: int, noun: str, hint: str) -> str:
    return f"{plural(n, noun)}; {hint}" if n else ""


def _line(label: str, text: str) -> str:
    return f"  {label:<{_LABEL_WIDTH}}{text}"


def _stat(end: End, name: str) -> int:
    value = end.stats.get(name, 0)
    return int(value) if isinstance(value, int | float) else 0


def _next_commands(end: End, pages: int, items: int) -> list[str]:
    """Return up to three commands, the most useful first."""
    crawl = "" if end.crawl == "catalog" else f" --crawl {end.crawl}"
    commands: list[tuple[str, str]] = []
    if not items and (end.known_links or not pages) and end.reason == "finished":
        commands.append(
            (f"scrapy forget '*'{crawl}", "let the next run fetch the known pages again")
        )
    if end.stores and items:
        condition = f" --where site_id={end.site}" if end.site else ""
        commands.append(
            (f"scrapy export products{condition} -o products.csv", "the products as a table")
        )
    elif end.stores and pages:
        commands.append(("scrapy explain URL", "what is read from one page, and what is missing"))
    if end.dead:
        commands.append((f"scrapy dlq{crawl}", "the pages that were given up, with the reason"))
    if end.waiting:
        setting = "" if end.crawl == "catalog" else f" -s SEINE_CRAWL={end.crawl}"
        commands.append((f"scrapy crawl catalog{setting}", "go on"))
    commands.append((f"scrapy dashboard{crawl}", "all of it in a browser"))
    commands.append((f"scrapy status{crawl}", "the crawl on one screen"))
    if end.embedded:
        commands.append(("scrapy down", "stop the embedded servers; their data stays"))
    best_commands = commands[:3]
    width = max(len(command) for command, _ in best_commands)
    return [f"{command:<{width}}  {reason}" for command, reason in best_commands]
