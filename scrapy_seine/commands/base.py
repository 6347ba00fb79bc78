"""What all of Seine's own commands share: one line for an error, --json, an example in the help."""

from __future__ import annotations

import argparse
import errno
import re
import sys
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import orjson
from scrapy import Request, Spider
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import Settings
from scrapy.spiderloader import get_spider_loader
from scrapy_redis.spiders import RedisMixin

from scrapy_seine.broken_files import broken_files
from scrapy_seine.engine.starting.seed_reading import requests_of
from scrapy_seine.engine.telemetry.logs import guard_logs
from scrapy_seine.errors import ConfigError, SeineError
from scrapy_seine.interrupts import interruptible
from scrapy_seine.lenient import did_you_mean
from scrapy_seine.printable import (
    OUTPUT_ERRORS,
    discard_output,
    escaped,
    guarded_streams,
    open_streams,
    printable,
    redact,
)
from scrapy_seine.store_errors import said_by

FAILED = 1
#: What a shell reports of a program that Ctrl-C ended.
INTERRUPTED = 130
#: Why a file or a folder is the user's to mend: its rights, or a disk that is read-only.
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
#: An option, with a value or without.
_OPTION = re.compile(r"--[a-z][a-z-]*(=.*)?", re.DOTALL)
#: An option in a usage, as `[--check [--wait SECONDS]]`: what is left takes arguments.
_OPTIONAL = re.compile(r"\[--[^\[\]]*(?:\[[^\[\]]*\])?\]")
_OPTION_NAME = re.compile(r"--[a-z][a-z-]*")


class SeineCommand(ScrapyCommand):
    """Base of the commands: they define `summary`, `example`, `perform`, and options if any.

    `perform` raises SeineError for what the user can mend: it becomes one line and exit status 1.
    """

    summary: ClassVar[str] = ""
    """What the command does, in a line."""
    arguments: ClassVar[str] = ""
    """What comes after its name."""
    example: ClassVar[str] = ""
    """A call that works as it stands."""
    usual_spider: ClassVar[str] = ""
    """Whose crawl is meant where nothing names one; empty: that of the project's only spider."""

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    any_words: ClassVar[bool] = False
    """Whether its arguments are another program's, options included."""

    as_json = False
    _parser: argparse.ArgumentParser | None = None

    def syntax(self) -> str:
        """What comes after the command's name."""
        return self.arguments or "[options]"

    def short_desc(self) -> str:
        """Say in a line what the command does."""
        return self.summary

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare --json, and show the example below the options."""
        super().add_options(parser)
        self._parser = parser
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.epilog = f"example: {self.example}" if self.example else None

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Set what the options of all commands say, once it is known that it can be."""
        if status := guarded(lambda: check_outputs(opts)):
            sys.exit(status)
        super().process_options(args, opts)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the command, its errors turned into an exit status.

        Raises:
            UsageError: from the work; Scrapy shows the usage, and exits with 2.
        """
        self.as_json = opts.json
        guard_logs()
        with guarded_streams():
            try:
                self.exitcode = guarded(lambda: self._perform(args, opts), self._say_failure)
            except UsageError as error:
                if self.as_json:
                    self.show("", error=str(error))
                raise

    def _say_failure(self, text: str) -> None:
        """Say what went wrong: a line for people, and with --json an object for programs."""
        complain(text)
        if self.as_json:
            self.show("", error=one_line(text))
            sys.stdout.flush()

    def _perform(self, args: list[str], opts: argparse.Namespace) -> int | None:
        """Do the work, but for an option that is none: Scrapy hands it over as an argument.

        Raises:
            SeineError: with what may be meant, or what the work raises.
        """
        strange = [word for word in args if _OPTION.fullmatch(word)]
        if strange and self._parser is not None and not self.any_words:
            name = strange[0].partition("=")[0]
            known = _OPTION_NAME.findall(self._parser.format_help())
            raise ConfigError(f"there is no option {name}{did_you_mean(name, known)}")
        if not _OPTIONAL.sub("", self.arguments).strip():
            refuse_arguments(args)
        return self.perform(args, opts)

    @abstractmethod
    def perform(self, args: list[str], opts: argparse.Namespace) -> int | None:
        """Do the work; returns the exit status, none for 0.

        Raises:
            SeineError: with what the user should read.
        """

    @property
    def project(self) -> Settings:
        """The project's settings."""
        assert self.settings is not None  # Scrapy sets them before it runs a command
        return self.settings

    def show(self, text: str, **data: Any) -> None:
        """Print *text*, or with --json *data*."""
        print(escaped(orjson.dumps(data, default=str).decode()) if self.as_json else text)


def check_outputs(opts: argparse.Namespace) -> None:
    """Make sure that --pidfile and --profile can be written: Scrapy would end in a traceback.

    Raises:
        ConfigError: one cannot be.
    """
    for option in ("pidfile", "profile"):
        if name := getattr(opts, option, None):
            try:
                Path(name).open("ab").close()
            except OSError as error:
                text = f"--{option} {name} cannot be written: {error.strerror}"
                raise ConfigError(text) from None


def refuse_arguments(args: list[str]) -> None:
    """Let no argument pass, because a command that ignored it would do something else.

    Raises:
        ConfigError: there is one.
    """
    if args:
        raise ConfigError(f"it takes no argument; {args[0]!r} is one")


def guarded(work: Callable[[], int | None], tell: Callable[[str], None] | None = None) -> int:
    """Do *work*; returns its exit status, with one line on stderr where it failed.

    *tell* says the line another way.
    """
    tell = tell or complain
    open_streams()
    try:
        with interruptible():
            status = work() or 0
            sys.stdout.flush()
    except SeineError as error:
        tell(str(error))
        return FAILED
    except KeyboardInterrupt:
        tell("stopped")
        return INTERRUPTED
    except BrokenPipeError:
        sys.stdout = None  # nobody reads; say nothing more at exit
        return FAILED
    except OSError as error:
        if error.filename and error.errno in _FORBIDDEN:
            tell(f"{error.filename} cannot be used: {error.strerror}")
            return FAILED
        if error.errno not in OUTPUT_ERRORS:
            raise
        complain(f"{error.filename or 'standard output'} cannot be written: {error.strerror}")
        discard_output()
        return FAILED
    except Exception as error:
        if (refusal := said_by(error)) is None:
            raise
        tell(refusal)
        return FAILED
    return status


def complain(text: str) -> None:
    """Print one line on stderr, without credentials and control characters."""
    print("seine:", one_line(text), file=sys.stderr)


def one_line(text: str) -> str:
    """A text in one line, without credentials and control characters."""
    return printable(" ".join(redact(text).split()))


def seed_reader(settings: Settings, spider: str) -> Callable[[bytes], list[Request]]:
    """Return what reads a seed as *spider* would; it raises BadSeed for a bad one.

    Raises:
        ConfigError: the project has no such spider.
    """
    return reader_of(spider_class(settings, spider), settings)


def reader_of(kind: Any, settings: Settings) -> Callable[[bytes], list[Request]]:
    """The same, for a spider's class."""
    if not issubclass(kind, RedisMixin):
        return partial(requests_of, kind)  # it has no way of its own, and may need arguments
    made = kind()
    made.redis_encoding = made.redis_encoding or settings.get("REDIS_ENCODING") or "utf-8"
    return partial(requests_of, made)


def spider_class(settings: Settings, spider: str) -> type[Spider]:
    """Return the class of one of the project's spiders.

    Raises:
        ConfigError: the project has no such spider.
    """
    loader = get_spider_loader(settings)
    try:
        return loader.load(spider)
    except KeyError:
        names = ", ".join(sorted(loader.list())) or "none"
        left_out = "".join(f"; left out: {file}" for file in broken_files())
        meant = did_you_mean(spider, loader.list())
        raise ConfigError(
            f"no spider is named {spider!r}; there is {names}{left_out}{meant}"
        ) from None
