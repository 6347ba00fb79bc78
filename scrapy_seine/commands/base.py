"""The base of all of Seine's own commands: --json, and an example in the help."""

from __future__ import annotations

import argparse
import math
import re
import sys
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar, NoReturn

import orjson
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from scrapy_seine.commands.early_options import set_values
from scrapy_seine.commands.help_text import HelpFormatter
from scrapy_seine.commands.one_line_errors import MISUSED, complain, guarded, one_line
from scrapy_seine.engine.telemetry.logs import guard_logs
from scrapy_seine.errors import ConfigError
from scrapy_seine.misspelt_names import did_you_mean, nearest
from scrapy_seine.printable import (
    escaped,
    guarded_streams,
)

#: An option, with a value or without.
_OPTION = re.compile(r"--[a-z][a-z-]*(=.*)?", re.DOTALL)
#: An option in a usage, as `[--check [--wait SECONDS]]`; the rest of the usage takes arguments.
_OPTIONAL = re.compile(r"\[--[^\[\]]*(?:\[[^\[\]]*\])?\]")
_OPTION_NAME = re.compile(r"--[a-z][a-z-]*")
#: Scrapy's options, which may be empty.
_SCRAPYS = {"--logfile", "--loglevel", "--pidfile", "--profile", "--set"}
#: Similarity, 0 to 1, from which an option is suggested: `--` alone makes any two alike.
_MIN_SIMILARITY = 0.7


def refuse_unknown_options(settings: Settings) -> None:
    """Refuse unknown settings after -s.

    Raises:
        ConfigError: with the likely names.
    """
    if set_values(sys.argv[1:]):
        # Imported here, because its table takes 10 ms.
        from scrapy_seine.engine import settings_check

        settings_check.refuse_unknown_options(settings)


class SeineCommand(ScrapyCommand):
    """Base of the commands: they define `summary`, `example`, `perform`, and options if any.

    `perform` raises SeineError for errors that the user can fix: one line and exit status 1.
    """

    summary: ClassVar[str] = ""
    """What the command does, in a line."""
    arguments: ClassVar[str] = ""
    """The arguments after its name."""
    example: ClassVar[str] = ""
    """A call that works unchanged."""
    usual_spider: ClassVar[str] = ""
    """The default spider, whose crawl is meant; '': the project's only spider."""

    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    any_words: ClassVar[bool] = False
    """Whether its arguments, options included, are passed to another program."""

    refuses_names: ClassVar[bool] = True
    """Whether `check_names` is called; `scrapy doctor` reports unknown names itself."""

    check_names = staticmethod(refuse_unknown_options)
    """Refuses unknown settings after -s; the catalogue's commands warn of variables, too."""

    as_json = False
    _parser: argparse.ArgumentParser | None = None

    def syntax(self) -> str:
        """Return the usage after the command's name."""
        return self.arguments or "[options]"

    def short_desc(self) -> str:
        """Return the command's summary."""
        return self.summary

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare --json, and show the example below the options."""
        super().add_options(parser)
        self._parser = parser
        parser.formatter_class = HelpFormatter
        parser.error = refuse_call  # type: ignore[assignment,method-assign]
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        parser.epilog = f"example: {self.example}" if self.example else None

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the command, and turn its errors into an exit status.

        Raises:
            UsageError: from the work; Scrapy passes it to the parser, see `refuse_call`.
        """
        self.as_json = opts.json
        guard_logs()
        with guarded_streams():
            self.exitcode = guarded(lambda: self._perform(args, opts), self._report_failure)

    def _report_failure(self, text: str) -> None:
        """Report a failure: a line for people, and with --json an object for programs."""
        complain(text)
        if self.as_json:
            print_json(error=one_line(text))
            sys.stdout.flush()

    def _perform(self, args: list[str], opts: argparse.Namespace) -> int | None:
        """Do the work, after rejecting unknown options, which Scrapy passes as arguments, and
        unknown settings.

        Raises:
            SeineError: with the likely option, or from the work.
        """
        unknown_options = [word for word in args if _OPTION.fullmatch(word)]
        if unknown_options and self._parser is not None and not self.any_words:
            name = unknown_options[0].partition("=")[0]
            options = _OPTION_NAME.findall(self._parser.format_help())
            likely = nearest(name, options, _MIN_SIMILARITY)
            suggestion = f"; did you mean {likely}?" if likely else ""
            raise ConfigError(f"there is no option {name}{suggestion}")
        if not self.any_words:
            self._refuse_empty_values(sys.argv[1:])
        if self.refuses_names:
            self.check_names(self.project)
        if not _OPTIONAL.sub("", self.arguments).strip():
            refuse_arguments(args)
        return self.perform(args, opts)

    def _refuse_empty_values(self, words: list[str]) -> None:
        """Reject an option with an empty value, as a script's unset variable makes it.

        It would count as left out: `frontier clear --domain "$SHOP"` would clear the whole crawl.

        Raises:
            ConfigError: there is one.
        """
        pairs = (
            (word, after) if "=" not in word else word.partition("=")[::2]
            for word, after in zip(words, [*words, "none"][1:], strict=True)
        )
        empty_options = [name for name, value in pairs if not value and name.startswith("--")]
        if not empty_options or self._parser is None:
            return
        options = {*_OPTION_NAME.findall(self._parser.format_help())} - _SCRAPYS
        for name in empty_options:
            if name in options:
                raise ConfigError(f"{name} has an empty value; leave it out if none is meant")

    def check_action(
        self, action: str, opts: argparse.Namespace, options: Mapping[str, Collection[str]]
    ) -> None:
        """Reject an unknown action, and an option that only other actions read.

        `dlq replay --limit 10` would replay each dead letter. *options* has those of each action;
        options of no action count for all.

        Raises:
            UsageError: with the likely action, or with the actions that read the option.
        """
        refuse_unknown_action(action, list(options))
        assert self._parser is not None  # Scrapy has declared the options
        all_names = sorted(set[str]().union(*options.values()))
        # A default that is given by hand differs from one that is not in the words alone.
        typed = argparse.Namespace(**dict.fromkeys(all_names))
        if action in sys.argv:  # a program that calls `scrapy.cmdline.execute` has words of its own
            self._parser.parse_known_args(sys.argv[1:], typed)
        for name in all_names:
            readers = [other for other, names in options.items() if name in names]
            is_changed = getattr(opts, name) != self._parser.get_default(name)
            is_given = is_changed or getattr(typed, name) is not None
            if is_given and action not in readers:
                option = name.replace("_", "-")
                raise UsageError(
                    f"{action} does not read --{option}; that is of {', '.join(readers)}"
                )

    @abstractmethod
    def perform(self, args: list[str], opts: argparse.Namespace) -> int | None:
        """Do the work; returns the exit status, None for 0.

        Raises:
            SeineError: with a message for the user.
        """

    @property
    def project(self) -> Settings:
        """The project's settings."""
        assert self.settings is not None  # Scrapy sets them before it runs a command
        return self.settings

    def show(self, text: str, **data: Any) -> None:
        """Print *text*, or with --json *data*."""
        if self.as_json:
            print_json(**data)
        else:
            print(text)


def number_within(
    low: float, high: float, kind: Callable[[str], float] = int
) -> Callable[[str], float]:
    """Return the `type` of an option whose value is a number within limits.

    >>> number_within(1, 9)("3"), number_within(0.5, 9, float)("1.5")
    (3, 1.5)
    """

    def read(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is no number from {low:g} to {high:g}")
        return value

    return read


def print_json(**data: Any) -> None:
    """Print one JSON object."""
    print(escaped(orjson.dumps(data, default=str).decode()))


def refuse_call(text: str) -> NoReturn:
    """Report a wrong call in one line, without the usage that argparse prints before it."""
    complain(text)
    if "--json" in sys.argv:
        print_json(error=one_line(text))
    sys.exit(MISUSED)


def refuse_unknown_action(name: str, actions: Sequence[str]) -> None:
    """Reject an action that the command does not have.

    Raises:
        UsageError: with the likely action.
    """
    if name not in actions:
        suggestion = did_you_mean(name, actions)
        raise UsageError(f"{name!r} is none of {', '.join(actions)}{suggestion}")


def one_argument(args: list[str]) -> str | None:
    """Return the only argument of a command, None if there is none.

    Raises:
        ConfigError: there is a second one.
    """
    if len(args) > 1:
        raise ConfigError(f"it takes one argument at most; {args[1]!r} is a second one")
    return args[0] if args else None


def refuse_arguments(args: list[str]) -> None:
    """Reject arguments, because a command that ignored one would do something else.

    Raises:
        ConfigError: there is one.
    """
    if args:
        raise ConfigError(f"it takes no argument; {args[0]!r} is one")
