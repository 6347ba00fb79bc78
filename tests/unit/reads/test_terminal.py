"""Tables on a terminal too narrow for them."""

from __future__ import annotations

import io

from scrapy_seine.reads import lazy_rich


def drawn(width: int) -> list[str]:
    table = lazy_rich.Table(title="Workers", box=None)
    for name in ("worker", "heartbeat", "pages/min", "buffered"):
        table.add_column(name)
    table.add_row("vm-1", lazy_rich.Text("fresh"), "120", "0")
    out = io.StringIO()
    lazy_rich.Console(file=out, width=width).print(table)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_names_of_columns_are_not_broken_within_a_word() -> None:
    """At 40 columns `heartbeat` was written as hea, rtb and eat below each other."""
    assert drawn(24) == ["Workers", "vm-1", "  heartbeat fresh", "  pages/min 120", "  buffered  0"]
    assert "heartbeat" in drawn(60)[1]
    assert "pages/min" in drawn(60)[1]
