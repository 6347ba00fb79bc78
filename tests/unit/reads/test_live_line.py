"""A line that moves on a terminal moves there, while foreign text gives no orders."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.utils.test import get_crawler

from crawler.cli.live_line import Watch
from scrapy_seine.printable import guarded_streams
from scrapy_seine.reads import lazy_rich


class Terminal(io.StringIO):
    """What a terminal is to a program."""

    def isatty(self) -> bool:
        return True


def test_the_orders_of_a_live_line_reach_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    out = Terminal()
    monkeypatch.setattr("sys.stdout", out)
    with guarded_streams():
        console = lazy_rich.Console(highlight=False, force_terminal=True)
        with lazy_rich.Live(console=console, auto_refresh=False) as live:
            live.update(lazy_rich.Text("one \x1b[31m"), refresh=True)
            live.update(lazy_rich.Text("two"), refresh=True)
            console.print(lazy_rich.Text("said \x1b[31m beside it"))

    text = out.getvalue()
    assert "\x1b[2K" in text, "the line is erased before it is drawn anew"
    assert "\ufffd[2K" not in text
    assert "\x1b[31m" not in text
    assert "one \ufffd[31m" in text


def test_a_page_that_is_tried_again_is_fetched_once() -> None:
    """A minute without network made 873 fetched pages of 55."""
    line = Watch(get_crawler(), io.StringIO())
    lease = SimpleNamespace(domain="shop.example")
    for outcome in ("retry", "retry", "release", "done", "bury"):
        ended: Any = SimpleNamespace(outcome=outcome, lease=lease)
        line._page_ended(ended)
    assert (line.pages, line.errors) == (2, 3)
