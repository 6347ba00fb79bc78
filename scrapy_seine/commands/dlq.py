"""`scrapy dlq`: dead letters, the requests that were given up: list, show, replay, purge."""

from __future__ import annotations

import argparse
import re
import sys
import time

import attrs
import orjson
from redis.asyncio import Redis
from scrapy.exceptions import UsageError

from scrapy_seine.commands.base import SeineCommand, number_within
from scrapy_seine.commands.fleet_base import with_fleet
from scrapy_seine.commands.which_crawl import declare_crawl, frontier_of, make_sure
from scrapy_seine.commands.which_domain import declare_domain, domain_of
from scrapy_seine.endpoints import endpoints
from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier import find as find_frontier
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.reads import lazy_rich
from scrapy_seine.reads.audit import record_command
from scrapy_seine.reads.dead_letters import Filter, one_dead, reason_of, search_dead
from scrapy_seine.reads.formatting import span
from scrapy_seine.reads.requests import FoundRequest, shown_request

_FILTERS = {"reason", "domain", "text", "older", "newer"}
#: Options that each action reads, beside those that all read.
ACTIONS = {
    "list": {*_FILTERS, "limit"},
    "show": set[str](),
    "replay": {*_FILTERS, "pace", "all"},
    "purge": {*_FILTERS, "all", "yes"},
}
NO_SUCH = "no dead letter has the id {!r}; `scrapy seine dlq` shows them"
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "": 1}


class Command(SeineCommand):
    """Shows why requests were given up, and sends them back or drops them."""

    summary = "List, show, replay or purge dead letters, by reason, domain or age"
    arguments = "[list|show ID|replay [ID …]|purge [ID …]] [--reason R] [--domain D]"
    example = "scrapy dlq replay --reason 5xx --older 1h --pace 200"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare options for the crawl and the dead letters."""
        super().add_options(parser)
        declare_crawl(self, parser)
        parser.add_argument("--reason", default="", help="dead letters with this reason")
        declare_domain(parser, "dead letters of this domain")
        parser.add_argument(
            "--text", default="", help="dead letters with this text in URL or error"
        )
        parser.add_argument("--older", default="", help="given up longer ago than 90s, 15m, 2h, 3d")
        parser.add_argument("--newer", default="", help="given up less long ago: 90s, 15m, 2h, 3d")
        parser.add_argument(
            "--limit",
            type=number_within(1, 10**6),
            default=50,
            help="dead letters listed, at most (50)",
        )
        parser.add_argument(
            "--pace",
            type=number_within(0, 86_400_000),
            default=100,
            help="ms between two replayed requests (100)",
        )
        parser.add_argument("--all", action="store_true", help="replay or purge without a filter")
        parser.add_argument("--yes", action="store_true", help="purge without asking")

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Show dead letters, or act on them.

        Raises:
            ConfigError: an age is invalid, no dead letters are selected, or the crawl or the named
            id is unknown.
            StoreUnreachable: Redis does not answer.
        """
        verb, ids = (args[0], args[1:]) if args else ("list", [])
        self.check_action(verb, opts, ACTIONS)
        if (verb == "show" and len(ids) != 1) or (verb == "list" and ids):
            raise UsageError("one of list, show ID, replay [ID …], purge [ID …]")
        selection = _filter(opts)
        if ids and (opts.all or selection != Filter()):
            raise UsageError("name ids or a filter, not both")
        if verb in {"replay", "purge"} and not (ids or opts.all or selection != Filter()):
            raise ConfigError(f"which dead letters? name ids, a filter, or --all to {verb} all")
        if verb == "purge" and not opts.yes:
            _confirm()
        config = frontier_of(self, opts)
        url = endpoints(self.project, need=("redis",)).redis_url

        async def work(redis: Redis) -> None:
            if opts.crawl:
                await make_sure(redis, config.crawl)
            frontier = (await find_frontier(redis, config.crawl)).sealed(config.secrets)
            if verb == "list":
                await self._list(frontier, selection, opts.limit)
            elif verb == "show":
                await self._show(frontier, ids[0])
            elif verb == "replay":
                await self._replay(
                    frontier, await _selected_ids(frontier, ids, selection), opts.pace
                )
            else:
                await self._purge(frontier, await _selected_ids(frontier, ids, selection))

        with_fleet(url, work)
        return 0

    async def _list(self, frontier: Frontier, selection: Filter, limit: int) -> None:
        letters, complete = await search_dead(frontier, selection, limit=limit)
        if self.as_json:
            self.show("", dead=[attrs.asdict(letter) for letter in letters], complete=complete)
            return
        if not letters:
            print("no dead letter matches" if selection != Filter() else "no dead letters")
            return
        lazy_rich.Console(highlight=False).print(_table(letters))
        if not complete:
            print("there are more: narrow the filter, or raise --limit")

    async def _show(self, frontier: Frontier, id_: str) -> None:
        stored_letter = await one_dead(frontier, id_)
        if stored_letter is None:
            raise ConfigError(NO_SUCH.format(id_))
        letter, stored = stored_letter
        request = shown_request(stored)
        fields = {"id": id_, "url": letter.url, "buried": letter.at, **letter.note}
        letter_fields = {**fields, "request": request}
        text = orjson.dumps(letter_fields, option=orjson.OPT_INDENT_2, default=str).decode()
        self.show(text, **letter_fields)

    async def _replay(self, frontier: Frontier, ids: list[str], pace_ms: int) -> None:
        back = await frontier.requeue_dead(ids, pause_ms=pace_ms)
        await record_command(frontier.redis, frontier.keys, "replay", " ".join(ids[:20]), back)
        duration_s = back * pace_ms / 1000
        self.show(f"{back} replayed over {duration_s:g} s", replayed=back, over_s=duration_s)

    async def _purge(self, frontier: Frontier, ids: list[str]) -> None:
        purged = await frontier.purge(ids)
        await record_command(frontier.redis, frontier.keys, "purge", " ".join(ids[:20]), purged)
        self.show(f"{purged} purged", purged=purged)


def age(text: str) -> float:
    """Parse an age into seconds.

    Raises:
        ConfigError: it is invalid.

    >>> age("15m"), age("2h"), age("90")
    (900.0, 7200.0, 90.0)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", text.strip())
    if not match:
        raise ConfigError(f"{text!r} is no age: write 90s, 15m, 2h or 3d")
    return float(match[1]) * _UNITS[match[2]]


def _filter(opts: argparse.Namespace) -> Filter:
    now = time.time()
    selection = Filter(reason=opts.reason, domain=domain_of(opts), text=opts.text)
    if opts.newer:
        selection = attrs.evolve(selection, since=now - age(opts.newer))
    return attrs.evolve(selection, until=now - age(opts.older)) if opts.older else selection


async def _selected_ids(frontier: Frontier, ids: list[str], selection: Filter) -> list[str]:
    """Return the selected ids, the oldest first.

    Raises:
        ConfigError: a typed id is of no dead letter; then the others are left unchanged.
    """
    if ids:
        for id_ in ids:
            if await one_dead(frontier, id_) is None:
                raise ConfigError(NO_SUCH.format(id_))
        return ids
    letters, _ = await search_dead(frontier, selection, limit=sys.maxsize, most=sys.maxsize)
    return [letter.id for letter in reversed(letters)]


def _table(letters: list[FoundRequest]) -> lazy_rich.Table:
    table = lazy_rich.Table(title=f"The newest {len(letters)} dead letters", title_justify="left")
    for name in ("id", "age", "reason", "url", "error"):
        table.add_column(name, overflow="fold" if name == "url" else "ellipsis")
    now = time.time()
    for letter in letters:
        error = str(letter.note.get("error", ""))[:120]
        cells = (letter.id, span(now - letter.at), reason_of(letter), letter.url, error)
        table.add_row(*(lazy_rich.Text(cell) for cell in cells))
    return table


def _confirm() -> None:
    if not sys.stdin.isatty():
        raise ConfigError("to purge dead letters, say --yes")
    if input("Really purge dead letters? Type yes: ").strip().lower() != "yes":
        raise ConfigError("nothing was purged")
