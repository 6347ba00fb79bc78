"""`scrapy frontier`: where requests are; pause, resume, clear, priorities; import of a queue."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import attrs
from redis.asyncio import Redis
from scrapy import Request, Spider
from scrapy.exceptions import UsageError

from scrapy_seine.commands.base import SeineCommand, number_within
from scrapy_seine.commands.fleet_base import with_fleet
from scrapy_seine.commands.which_crawl import declare_crawl, frontier_of, make_sure, only_spider
from scrapy_seine.commands.which_domain import declare_domain, domain_of
from scrapy_seine.commands.which_spider import spider_class
from scrapy_seine.endpoints import endpoints
from scrapy_seine.errors import ConfigError
from scrapy_seine.frontier import find as find_frontier
from scrapy_seine.frontier import open as open_frontier
from scrapy_seine.frontier.change_priority import RequestSelection, checked
from scrapy_seine.frontier.encoding.legacy import Source, import_queue
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.opening import release_spider
from scrapy_seine.misspelt_names import did_you_mean
from scrapy_seine.reads import lazy_rich, terminal_tables
from scrapy_seine.reads.audit import record_command
from scrapy_seine.reads.domains import list_domains, read_domains
from scrapy_seine.reads.fleet import Fleet, read_fleet

#: Domains that a name is compared with, at most.
_COMPARED = 1000
#: Fields of a request by which a project's own fingerprint may tell it from others.
_COMPARED_FIELDS = ("url", "method", "headers", "body", "cookies", "meta", "cb_kwargs", "flags")
#: Options that each action reads, beside those that all read.
ACTIONS = {
    "show": {"domain", "top"},
    "pause": {"domain"},
    "resume": {"domain"},
    "clear": {"domain", "yes"},
    "priority": {"domain", "job", "site", "url", "all"},
    "import-scrapy-redis": {"requests", "dupefilter", "urls", "unpickle"},
}


class Command(SeineCommand):
    """Shows requests by state and domain, and acts on the whole fleet at once."""

    summary = "Show the frontier; pause, resume, reorder or clear it; import scrapy-redis' queue"
    arguments = "[show|pause|resume|clear|priority N|import-scrapy-redis] [--domain D]"
    example = "scrapy frontier pause --domain shop.example"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare options for the crawl, the domain, and the import."""
        super().add_options(parser)
        declare_crawl(self, parser)
        declare_domain(parser, "act on this domain alone")
        parser.add_argument(
            "--top", type=number_within(1, 10**6), default=20, help="domains shown (default 20)"
        )
        parser.add_argument("--yes", action="store_true", help="clear without asking")
        priority_options = parser.add_argument_group(
            "priority", "larger is sooner; of what is queued now:"
        )
        priority_options.add_argument("--job", default="", help="requests of this job")
        priority_options.add_argument("--site", default="", help="requests of this site (site_id)")
        priority_options.add_argument("--url", default="", help="this URL; a * stands for any text")
        priority_options.add_argument("--all", action="store_true", help="every queued request")
        import_options = parser.add_argument_group("import-scrapy-redis")
        import_options.add_argument(
            "--requests", default="", help="key (default: <spider>:requests)"
        )
        import_options.add_argument(
            "--dupefilter", default="", help="key (default: <spider>:dupefilter)"
        )
        import_options.add_argument(
            "--urls", default="", help="file of URLs that were crawled, one a line"
        )
        import_options.add_argument(
            "--unpickle",
            action="store_true",
            help="read pickled requests. Whoever can write to that Redis chose these bytes, and a "
            "pickle may name code to run; here plain data alone is read and the rest refused",
        )

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Show the frontier, or act on it.

        Raises:
            ConfigError: the named crawl does not exist, --domain names none, `clear` was not
            confirmed, a priority is invalid or selects no requests, or the import cannot be done
            as requested.
            StoreUnreachable: Redis does not answer.
        """
        verb = args[0] if args else "show"
        self.check_action(verb, opts, ACTIONS)
        if len(args) > 1 + (verb == "priority"):
            raise UsageError(f"one of {', '.join(ACTIONS)}")
        opts.domain = domain_of(opts)
        if verb == "priority":
            opts.priority, opts.which = _priority_of(args[1:], opts)
        config = frontier_of(self, opts)
        crawl = config.crawl
        url = endpoints(self.project, need=("redis",)).redis_url
        if verb == "clear" and not opts.yes:
            _confirm(
                f"drop every request of {opts.domain or f'crawl {crawl}, and forget its seen URLs'}"
            )
        acts: dict[str, Any] = {
            "show": self._show,
            "pause": self._pause,
            "resume": self._resume,
            "clear": self._clear,
            "priority": self._priority,
            "import-scrapy-redis": self._import,
        }

        async def work(redis: Redis) -> int | None:
            if verb == "import-scrapy-redis":
                frontier = await open_frontier(redis, config)
            else:
                if opts.crawl:
                    await make_sure(redis, crawl)
                plain_frontier = await find_frontier(redis, crawl, config.partitions)
                frontier = plain_frontier.sealed(config.secrets)
            status: int | None = await acts[verb](redis, frontier, opts)
            return status

        return with_fleet(url, work) or 0

    async def _show(self, redis: Redis, frontier: Frontier, opts: argparse.Namespace) -> None:
        fleet = await read_fleet(redis, frontier.keys.crawl)
        names = await list_domains(redis, frontier.keys, limit=opts.top)
        names = [opts.domain] if opts.domain else names
        domains = await read_domains(redis, frontier.keys, names, fleet.at)
        if self.as_json:
            self.show("", **state_of(fleet), domains=[attrs.asdict(d) for d in domains])
            return
        console = lazy_rich.Console(highlight=False)
        console.print(describe_requests(fleet))
        if domains:
            console.print(terminal_tables.domains(domains))

    async def _pause(self, redis: Redis, frontier: Frontier, opts: argparse.Namespace) -> None:
        await frontier.pause(opts.domain)
        suffix = await _doubt(redis, frontier, opts.domain) if opts.domain else ""
        await record_command(frontier.redis, frontier.keys, "pause", opts.domain, 1)
        text = f"{_target(frontier, opts)} is paused{suffix}"
        self.show(text, paused=True, domain=opts.domain)

    async def _resume(self, _: Redis, frontier: Frontier, opts: argparse.Namespace) -> None:
        was_paused = await frontier.resume(opts.domain)
        await record_command(frontier.redis, frontier.keys, "resume", opts.domain, int(was_paused))
        text = "goes on" if was_paused else "was not paused"
        self.show(f"{_target(frontier, opts)} {text}", resumed=was_paused, domain=opts.domain)

    async def _clear(self, _: Redis, frontier: Frontier, opts: argparse.Namespace) -> None:
        domain = opts.domain
        seen_count = 0 if domain else (await frontier.counts()).seen
        dropped = await (frontier.clear_domain(domain) if domain else frontier.clear())
        if not domain:
            await release_spider(frontier)
        await record_command(frontier.redis, frontier.keys, "clear", domain, dropped)
        also = "" if domain else f", {seen_count} seen URLs forgotten"
        text = f"{_target(frontier, opts)}: {dropped} requests dropped{also}"
        self.show(text, dropped=dropped, domain=domain, forgotten=seen_count)

    async def _priority(self, _: Redis, frontier: Frontier, opts: argparse.Namespace) -> None:
        result = await frontier.set_priority(opts.priority, opts.which)
        selection = " ".join(word for word in attrs.astuple(opts.which) if word)
        await record_command(
            frontier.redis,
            frontier.keys,
            "set_priority",
            f"{opts.priority} {selection}",
            result.changed,
        )
        text = (
            f"{result.changed} requests have priority {opts.priority} now, "
            f"{result.unchanged} had it"
        )
        suffix = f"; {result.unreadable} cannot be read and stay where they are"
        self.show(text + (suffix if result.unreadable else ""), **attrs.asdict(result))

    async def _import(self, redis: Redis, frontier: Frontier, opts: argparse.Namespace) -> int:
        spider = opts.spider or self.usual_spider
        crawl_is_named = bool(self.project.get("SEINE_CRAWL"))
        if not spider and not (crawl_is_named and opts.requests and opts.dupefilter):
            spider = only_spider(self.project)
        source = Source(
            requests=opts.requests or f"{spider}:requests",
            dupefilter=opts.dupefilter or f"{spider}:dupefilter",
            unpickle=opts.unpickle,
            urls=opts.urls,
        )
        # The filter's table of settings takes 10 ms, and no other action needs it.
        from scrapy_seine.engine.dupefilter import dupefilter_beside
        from scrapy_seine.engine.stored.serializer import from_blob

        kind = spider_class(self.project, spider) if spider else Spider
        # Without its arguments, because only the names of its methods are compared.
        instance = kind.__new__(kind)
        known = dupefilter_beside(kind, self.project)
        result = await import_queue(
            redis,
            frontier,
            source,
            lambda fields: known.request_fingerprint(
                Request(**{name: fields[name] for name in _COMPARED_FIELDS if name in fields})
            ),
            lambda blob: from_blob(blob, instance) if spider else None,
        )
        self.show(result.text(), **attrs.asdict(result))
        return 1 if result.refused else 0


def state_of(fleet: Fleet) -> dict[str, Any]:
    """Return the figures of a frontier as plain data."""
    c = fleet.counts
    return {
        "crawl": fleet.crawl,
        "paused": c.paused,
        "ready": c.ready,
        "delayed": c.delayed,
        "leased": c.leased,
        "dead": c.dead,
        "moving": c.moving,
        "partitions": fleet.partitions,
        "seen": c.seen,
        "due_now": fleet.due_now,
        "domains_ready": c.domains_ready,
        "domains_waiting": c.domains_waiting,
        "totals": c.totals,
    }


def describe_requests(fleet: Fleet) -> str:
    """Describe where the requests are."""
    c = fleet.counts
    split = f" in {fleet.partitions} partitions" if fleet.partitions > 1 else ""
    moving = f"{c.moving} moving, " if split else ""
    return (
        f"crawl {fleet.crawl}{split}{' (paused)' if c.paused else ''}: {c.ready} ready, {moving}"
        f"{c.delayed} delayed, {c.leased} leased, {c.dead} dead, {c.seen} seen; "
        f"{fleet.due_now} due now; domains: {c.domains_ready} ready, {c.domains_waiting} waiting"
    )


def _priority_of(args: list[str], opts: argparse.Namespace) -> tuple[int, RequestSelection]:
    """Read the priority, and the selection of requests.

    Raises:
        ConfigError: the priority is invalid, or no requests are selected.
    """
    selection = RequestSelection(domain=opts.domain, job=opts.job, site=opts.site, url=opts.url)
    if selection == RequestSelection() and not opts.all:
        raise ConfigError("which requests? say --domain, --job, --site, --url, or --all")
    return checked(args[0] if args else ""), selection


async def _doubt(redis: Redis, frontier: Frontier, domain: str) -> str:
    """Say that a domain has and had no request, because the site that is meant goes on then."""
    (row,) = await read_domains(redis, frontier.keys, [domain], time.time())
    if row.queued or row.active or row.ended:
        return ""
    names = await list_domains(redis, frontier.keys, limit=_COMPARED)
    return f"; the crawl has had no request of it yet{did_you_mean(domain, names)}"


def _target(frontier: Frontier, opts: argparse.Namespace) -> str:
    return opts.domain or f"crawl {frontier.keys.crawl}"


def _confirm(action: str) -> None:
    if not sys.stdin.isatty():
        raise ConfigError(f"to {action}, say --yes")
    if input(f"Really {action}? Type yes: ").strip().lower() != "yes":
        raise ConfigError("nothing was dropped")
