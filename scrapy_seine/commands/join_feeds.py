"""`scrapy seine join-feeds FILE`: joins a feed's parts into one file, if no worker has done it."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.errors import ConfigError
from scrapy_seine.sinks.feeds.join import Joined, Order, join, parts_of, written_parts
from scrapy_seine.sinks.feeds.local_file import local_path
from scrapy_seine.sinks.feeds.part import SIDECAR
from scrapy_seine.sinks.feeds.part_names import PARTS

#: The run in a part's name: everything before time and worker.
_RUN = re.compile(r"(.+?)-\d{13}-")


class Command(SeineCommand):
    """Joins the parts that workers left, of one run or of all of them."""

    summary = "Join the parts of a feed into one file, with each page's last complete items"
    arguments = "FILE"
    example = "scrapy seine join-feeds quotes.csv"
    requires_project = False

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare --output and --run."""
        super().add_options(parser)
        parser.add_argument("--output", metavar="PATH", help="file to write, instead of FILE")
        parser.add_argument("--run", help="join the parts of this run alone")

    def perform(self, args: list[str], opts: argparse.Namespace) -> int | None:
        """Join the parts, which stay.

        Raises:
            ConfigError: there are no such parts, or of several runs, or the output is no file.
        """
        if len(args) != 1:
            raise ConfigError("one FILE is needed: what -O named, or the folder of its parts")
        if "://" in args[0]:
            raise ConfigError("copy the folder of parts here first, then name the folder as FILE")
        file, folder = places_of(Path(args[0]))
        runs = runs_of(folder)
        if opts.run is None and len(runs) > 1:
            raise ConfigError(f"{folder} has parts of several runs; name one: {', '.join(runs)}")
        if not runs or opts.run not in {None, *runs}:
            raise ConfigError(f"{folder} has no parts{f' of run {opts.run}' if opts.run else ''}")
        try:
            output = local_path(opts.output or str(file))
        except OSError:
            raise ConfigError(f"{opts.output or file} is no file; name one by --output") from None
        run = f"{opts.run or runs[0]}-"
        # What the feed's own file held before stays, as where a worker joins them.
        appends = output == file and any(
            part.sidecar.get("appends") for part in written_parts(folder, run)
        )
        result = join(Order(folder, run, lambda number: output, append=appends)) or Joined(
            [], 0, 0, 0
        )
        doubled_text = f"; {result.doubled} items of pages that were read again left out"
        cut_off_text = f"; {result.cut_off} pages may lack items" if result.cut_off else ""
        self.show(
            f"{result.items} items of {result.parts} parts in {output}"
            f"{doubled_text if result.doubled else ''}{cut_off_text}",
            file=str(output),
            items=result.items,
            parts=result.parts,
            doubled=result.doubled,
            cut_off=result.cut_off,
        )
        return None


def places_of(path: Path) -> tuple[Path, Path]:
    """Return a feed's file, and the folder of its parts.

    Raises:
        ConfigError: there is no such folder.
    """
    path = path.absolute()
    folder = path if path.name.endswith(PARTS) else path.with_name(path.name + PARTS)
    if not folder.is_dir():
        raise ConfigError(f"there is no folder {folder}")
    return folder.with_name(folder.name.removesuffix(PARTS)), folder


def runs_of(folder: Path) -> list[str]:
    """Return the runs that have parts in a folder."""
    names = (path.name.removesuffix(SIDECAR) for path in parts_of(folder))
    return sorted({match[1] for name in names if (match := _RUN.match(name))})
