"""`scrapy quality`: the quality of each site's data, and what fell since the last measure."""

from __future__ import annotations

import argparse
import re
from datetime import UTC, datetime, timedelta

import attrs
from scrapy.exceptions import UsageError

from crawler.extract.template.observation import FIELDS
from crawler.reads.crawl_report import plural
from crawler.stores.doubtful import ACCEPTED_FOR, accept
from crawler.stores.quality import WEIGHTS, Quality, measure_sites
from crawler.stores.store_endpoints import endpoints
from scrapy_seine.commands.base import SeineCommand, one_argument
from scrapy_seine.errors import ConfigError
from scrapy_seine.printable import printable
from scrapy_seine.reads import lazy_rich

#: Characters of a site's name that are not wrapped.
_WHOLE_SITE = 40
#: Options that each form of the command reads, beside those that both read.
ACTIONS = {"the measure": ("since", "keep"), "--accept": ()}
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


class Command(SeineCommand):
    """Measures quality; exit status 1 where a value fell since the last kept measure."""

    summary = "Measure coverage, rejections, prices and changes of each site's data"
    arguments = "[SITE] [--since 24h] [--keep] [--accept FIELD]"
    example = "scrapy quality --since 24h"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare --since, --keep and --accept."""
        super().add_options(parser)
        parser.add_argument(
            "--since", default="", help="only products seen since: 90m, 24h, 7d (default: all)"
        )
        parser.add_argument(
            "--keep", action="store_true", help="keep the measure, to compare the next one with"
        )
        parser.add_argument(
            "--accept",
            metavar="FIELD",
            choices=FIELDS,
            help=f"believe SITE's doubtful values of a field for a day: {', '.join(FIELDS)}",
        )

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Measure and print."""
        url = endpoints(self.project, need=("postgres",)).database_url
        site = one_argument(args)
        self.check_action("--accept" if opts.accept else "the measure", opts, ACTIONS)
        if opts.accept:
            self._accept(url, site, opts.accept)
            return 0
        measures = measure_sites(url, site, since=since(opts.since), keep=opts.keep)
        if site and not measures:
            raise ConfigError(f"no products of site {site!r} are stored")
        if self.as_json:
            self.show(
                "",
                sites=[{**attrs.asdict(measure), "score": measure.score} for measure in measures],
            )
        else:
            console = lazy_rich.Console(highlight=False)
            console.print(_table(measures) if measures else "no products are stored")
            for measure in measures:
                if summary := certainty(measure):
                    console.print(
                        lazy_rich.escape(f"{printable(measure.site_id)}: {summary}"), soft_wrap=True
                    )
        return 1 if any(measure.fall for measure in measures) else 0

    def _accept(self, url: str, site: str | None, field: str) -> None:
        if site is None:
            raise UsageError("--accept needs a SITE")
        if not measure_sites(url, site, since=None, keep=False):
            raise ConfigError(f"no products of site {site!r} are stored")
        until = datetime.now(UTC) + ACCEPTED_FOR
        waiting = accept(url, site, field, until)
        self.show(
            f"{printable(site)}: any {field} of pages that are read until {until:%Y-%m-%d %H:%M}"
            f" UTC is stored ({plural(waiting, 'doubtful value')} so far)",
            site=site,
            field=field,
            until=until.isoformat(),
            doubtful=waiting,
        )


def certainty(measure: Quality) -> str:
    """Describe how sure a site's prices are, and how many doubtful values were kept out."""
    words = [] if measure.sure is None else [f"{measure.sure:.0%} of the prices are sure"]
    if measure.doubtful:
        count_kept_out = plural(measure.doubtful, "doubtful value")
        words.append(f"{count_kept_out} kept out (reasons: scrapy export doubtful)")
    return ", ".join(words)


def since(text: str) -> datetime | None:
    """Parse `90m`, `24h` or `7d`.

    Raises:
        ConfigError: the text has another form.
    """
    if not text:
        return None
    match = re.fullmatch(r"(\d{1,5})([mhd])", text.strip())
    if match is None:
        raise ConfigError(f"--since {text!r}: write for example 90m, 24h or 7d")
    return datetime.now(UTC) - timedelta(**{_UNITS[match[2]]: int(match[1])})


def _table(measures: list[Quality]) -> lazy_rich.Table:
    table = lazy_rich.Table(box=None, pad_edge=False)
    longest = max((len(measure.site_id) for measure in measures), default=0)
    table.add_column("site", overflow="fold", min_width=min(longest, _WHOLE_SITE))
    for name in ("score", "products", "rejected", "changed", "sane prices"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("incomplete")
    table.add_column("fell")
    for measure in measures:
        table.add_row(
            measure.site_id,
            f"{measure.score:.0%}",
            f"{measure.products:,}",
            f"{measure.rejected:,}",
            f"{measure.changed:,}",
            f"{measure.sane:.0%}",
            ", ".join(f"{n} {measure.coverage[n]:.0%}" for n in WEIGHTS if measure.coverage[n] < 1)
            or "–",
            measure.fall or "–",
        )
    return table
