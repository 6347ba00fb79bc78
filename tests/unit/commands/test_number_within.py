"""Numbers after an option: those that it cannot mean are refused before any work."""

from __future__ import annotations

import argparse

import pytest
from scrapy.settings import Settings

from crawler.commands import explain, proxies
from scrapy_seine.commands import dlq, frontier
from scrapy_seine.commands.base import SeineCommand


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (proxies.Command, "--timeout=nan"),  # each good proxy failed by a ValueError
        (proxies.Command, "--timeout=-1"),
        (proxies.Command, "--timeout=1e400"),
        (dlq.Command, "--limit=-5"),
        (dlq.Command, "--pace=99999999999999999999"),
        (frontier.Command, "--top=0"),
        (explain.Command, "--links=-1"),
    ],
)
def test_a_number_out_of_range_is_refused_in_a_line(
    kind: type[SeineCommand], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = argparse.ArgumentParser(conflict_handler="resolve")
    command = kind()
    command.settings = Settings()
    command.add_options(parser)
    with pytest.raises(SystemExit):
        parser.parse_args([words])
    name, _, value = words.partition("=")
    said = capsys.readouterr().err
    assert said.startswith(f"seine: argument {name}: {value!r} is no number from ")
    assert said.count("\n") == 1
