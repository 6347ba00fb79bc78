"""What all of Seine's own commands share: --json, and an example in the help."""

from __future__ import annotations

import argparse
import re
import sys
from abc import abstractmethod
from typing import Any, ClassVar

import orjson
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from scrapy_seine.commands.one_line_errors import check_outputs, complain, guarded, one_line
from scrapy_seine.engine.telemetry.logs import guard_logs
from scrapy_seine.errors import ConfigError
from scrapy_seine.misspelt_names import did_you_mean
from scrapy_seine.printable import (
    escaped,
    guarded_streams,
)

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


def refuse_arguments(args: list[str]) -> None:
    """Let no argument pass, because a command that ignored it would do something else.

    Raises:
        ConfigError: there is one.
    """
    if args:
        raise ConfigError(f"it takes no argument; {args[0]!r} is one")
