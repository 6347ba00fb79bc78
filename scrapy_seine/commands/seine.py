"""`scrapy seine VERB`: the library's commands, in any project that has it installed."""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from typing import Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from scrapy_seine.commands.base import refuse_call, refuse_unknown_action
from scrapy_seine.commands.misspelt_commands import VERBS, look_around
from scrapy_seine.commands.one_line_errors import FAILED, complain
from scrapy_seine.interrupts import one_line_errors


class Command(ScrapyCommand):
    """Passes all arguments after the verb to the verb's command."""

    requires_project = True
    requires_crawler_process = False

    def __init__(self) -> None:
        super().__init__()
        one_line_errors()  # Scrapy makes this command first of those that are not its own
        if (problem := look_around()) is not None:
            complain(problem)
            sys.exit(FAILED)

    def syntax(self) -> str:
        """Return the usage after the command's name."""
        return f"{'|'.join(VERBS)} [options]"

    def short_desc(self) -> str:
        """Return the command's summary."""
        return "See and steer the shared frontier; `scrapy seine VERB --help` says more"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Leave every option to the verb."""
        for action in list(parser._actions):
            if "--help" in action.option_strings:
                parser._remove_action(action)
        parser._option_string_actions.clear()
        parser.epilog = "example: scrapy seine status --watch"
        parser.error = refuse_call  # type: ignore[assignment,method-assign]

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Leave the options to the verb."""
        opts.profile = None  # Scrapy reads it

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the verb.

        Raises:
            UsageError: there is no such verb.
        """
        if args and args[0] in {"-h", "--help"}:
            print(f"usage: scrapy seine {self.syntax()}\n\n{self.short_desc()}")
            return
        if not args:
            raise UsageError(f"one of {', '.join(VERBS)}")
        refuse_unknown_action(args[0], VERBS)
        module = args[0].replace("-", "_")
        verb: Any = importlib.import_module(f"scrapy_seine.commands.{module}").Command()
        parser = argparse.ArgumentParser(
            prog=f"scrapy seine {args[0]}",
            usage=f"scrapy seine {args[0]} {verb.syntax()}",
            description=verb.long_desc(),
            conflict_handler="resolve",
        )
        assert self.settings is not None
        self.settings.setdict(verb.default_settings, priority="command")
        verb.settings = self.settings
        verb.add_options(parser)
        # Its example is that of a project with commands of these names.
        parser.epilog = re.sub(rf"\bscrapy (?={args[0]}\b)", "scrapy seine ", parser.epilog or "")
        verb_options, verb_arguments = parser.parse_known_args(args[1:])
        verb.process_options(verb_arguments, verb_options)
        verb.run(verb_arguments, verb_options)
        self.exitcode = verb.exitcode
