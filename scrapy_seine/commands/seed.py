"""`scrapy seed`: push URLs to a crawl, from the command line, a file or standard input."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from redis.exceptions import RedisError
from scrapy.exceptions import UsageError

from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.commands.one_line_errors import complain
from scrapy_seine.commands.which_crawl import only_spider
from scrapy_seine.commands.which_spider import seed_reader, spider_class
from scrapy_seine.config import FrontierConfig
from scrapy_seine.endpoints import blocking_client, endpoints
from scrapy_seine.engine.starting.seed_format import MOST_BYTES, seeds_key_of
from scrapy_seine.errors import BadSeed, ConfigError, StoreUnreachable

#: Seeds per round trip.
BATCH = 1000
#: Bytes of a line that are read; a seed is shorter.
_LONGEST = MOST_BYTES + 2
#: Bytes of a line without an end from which the file is no list of seeds.
_ENDLESS = 1 << 26
#: What a table may call its column of seeds.
_HEADERS = {b"url", b"urls", b"link", b"links", b"loc", b"address"}
Line = tuple[str, bytes]
"""The seed's place, for messages; and the seed."""


class Command(SeineCommand):
    """Checks each seed as the spider would, and pushes the good ones in their order."""

    summary = "Push seeds: URLs, or files of URLs or JSON objects, one a line (- is stdin)"
    arguments = "URL|FILE|- …"
    example = "scrapy seed https://shop.example/sale https://shop.example/new"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare --spider."""
        super().add_options(parser)
        usual = self.usual_spider or "the project's only one"
        parser.add_argument(
            "--spider", default="", help=f"spider that reads the seeds (default: {usual})"
        )

    def perform(self, args: list[str], opts: argparse.Namespace) -> int:
        """Push the seeds; exit status 1 if one was bad.

        Raises:
            ConfigError: there is none, as in the file of a script that failed.
        """
        if not args:
            raise UsageError("name a URL, a file, or - for standard input")
        spider = opts.spider or self.usual_spider or only_spider(self.project)
        parse = seed_reader(self.project, spider)
        usual = FrontierConfig.from_settings(self.project, spider).seeds_key
        key = seeds_key_of(spider_class(self.project, spider), usual)
        url = endpoints(self.project, need=("redis",)).redis_url
        pushed, bad_count = _push(url, key, (line for arg in args for line in lines(arg)), parse)
        if not pushed and not bad_count:
            names = ", ".join("stdin" if arg == "-" else arg for arg in args)
            raise ConfigError(f"{names}: no seed is in there; nothing was pushed")
        text = f"{pushed} pushed to {key}" + (f", {bad_count} bad" if bad_count else "")
        self.show(text, pushed=pushed, bad=bad_count, key=key)
        return 1 if bad_count else 0


def lines(argument: str) -> Iterator[Line]:
    """Yield an argument's seeds, without empty lines and # comments.

    Raises:
        ConfigError: a file cannot be read, or is a table.
    """
    if argument == "-":
        _refuse_device("stdin", sys.stdin.buffer)
        yield from _seeds("stdin", sys.stdin.buffer)
    elif "://" in argument or argument.lstrip().startswith("{"):
        yield f"{argument[:200]}:", argument.encode("utf-8", "surrogateescape")
    else:
        try:
            with open(argument, "rb") as file:  # noqa: PTH123  # Path("") is the folder
                _refuse_device(argument, file)
                yield from _seeds(argument, file)
        except FileNotFoundError:
            raise ConfigError(
                f"{argument!r} is neither a URL with http:// in front nor a file"
            ) from None
        except OSError as error:
            raise ConfigError(f"{argument} cannot be read: {error.strerror}") from None


def _seeds(name: str, file: BinaryIO) -> Iterator[Line]:
    for number, line in enumerate(_lines_of(name, file), start=1):
        # Editors of another system write a byte order mark before the first line.
        seed = line.removeprefix(b"\xef\xbb\xbf").strip()
        if number == 1:
            _refuse_table(name, seed)
        if seed and not seed.startswith(b"#"):
            yield f"{name}:{number}:", seed


def _lines_of(name: str, file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file, in UTF-8 where its mark says that it is UTF-16.

    Raises:
        ConfigError: it is not, although it is marked so.
    """
    lines_of_bytes = _bounded_lines(name, file)
    first = next(lines_of_bytes, b"")
    if not first.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        yield first
        yield from lines_of_bytes
        return
    try:
        text = (first + file.read()).decode("utf-16")
    except UnicodeError as error:
        raise ConfigError(f"{name} begins as UTF-16 does, but is not: {error}") from None
    yield from text.encode("utf-8", "surrogatepass").split(b"\n")


def _refuse_device(name: str, file: BinaryIO) -> None:
    """Refuse a device, which may have no end; a terminal and the empty device have one.

    Raises:
        ConfigError: the file is a device.
    """
    try:
        status = os.fstat(file.fileno())
    except OSError:  # no file of the system: a test's, or a notebook's
        return
    is_device = stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)
    if is_device and not file.isatty() and status.st_rdev != Path(os.devnull).stat().st_rdev:
        raise ConfigError(f"{name} is a device, and no list of seeds")


def _bounded_lines(name: str, file: BinaryIO) -> Iterator[bytes]:
    """Yield lines; of a longer line its beginning, which is no seed.

    Raises:
        ConfigError: a line has no end.
    """
    while line := file.readline(_LONGEST):
        yield line
        size = len(line)
        while len(line) == _LONGEST and not line.endswith(b"\n"):
            line = file.readline(_LONGEST)
            size += len(line)
            if size > _ENDLESS:
                text = (
                    f"{name} has a line of more than {_ENDLESS >> 20} MiB, and is no list of seeds"
                )
                raise ConfigError(text)


def _refuse_table(name: str, header: bytes) -> None:
    """Let no table pass: a URL with the columns behind it would be taken for another URL.

    Raises:
        ConfigError: the first line is a table's header; with what takes the column out.
    """
    for separator in (b",", b";", b"\t"):
        columns = [each.strip(b"\" '").lower() for each in header.split(separator)]
        places = [place for place, column in enumerate(columns, start=1) if column in _HEADERS]
        if len(columns) > 1 and places:
            by = "" if separator == b"\t" else f" -d'{separator.decode()}'"
            raise ConfigError(
                f"{name} is a table; push its column of URLs, as by: "
                f"tail -n +2 {name} | cut{by} -f{places[0]} | scrapy seine seed -"
            )


def _push(
    url: str, key: str, seed_lines: Iterator[Line], parse: Callable[[bytes], object]
) -> tuple[int, int]:
    """Push the good seeds; returns how many were good and bad.

    Raises:
        StoreUnreachable: Redis became unreachable; with the number of seeds pushed before.
        ConfigError: a file cannot be read, or is no list of seeds; with that number as well.
    """
    pushed = bad_count = 0
    with closing(blocking_client(url)) as client:
        while batch := _next_batch(seed_lines, pushed):
            good_seeds = [seed for place, seed in batch if _is_good(place, seed, parse)]
            bad_count += len(batch) - len(good_seeds)
            if not pushed and bad_count == BATCH:
                raise ConfigError(f"the first {BATCH:,} lines are no seeds; nothing was pushed")
            try:
                _append(client, key, good_seeds)
            except RedisError as error:
                raise StoreUnreachable(f"{key}, after {pushed} seeds: {error}") from None
            pushed += len(good_seeds)
    return pushed, bad_count


def _next_batch(seed_lines: Iterator[Line], pushed: int) -> list[Line]:
    try:
        return list(islice(seed_lines, BATCH))
    except ConfigError as error:  # of a later file, or of a later line
        if not pushed:
            raise
        raise ConfigError(f"{error}; the {pushed:,} seeds before were pushed") from None


def _is_good(place: str, seed: bytes, parse: Callable[[bytes], object]) -> bool:
    try:
        parse(seed)
    except BadSeed as error:
        complain(f"{place} {error}")
        return False
    return True


def _append(client: Any, key: str, seeds: list[bytes]) -> None:
    """Append to the key: a list, unless somebody made it a set or a sorted set."""
    if not seeds:
        return
    kind = client.type(key)
    if kind == b"set":
        client.sadd(key, *seeds)
    elif kind == b"zset":
        client.zadd(key, dict.fromkeys(seeds, 0))
    else:
        client.rpush(key, *seeds)
