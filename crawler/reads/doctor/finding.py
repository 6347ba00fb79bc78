"""The result of one check: one line, and what to do."""

from __future__ import annotations

from typing import Literal

import attrs

from scrapy_seine.attrs_bases import Value

Level = Literal["ok", "warn", "fail"]


@attrs.frozen(eq=False, repr=False)
class Finding(Value):
    """The result of one check."""

    level: Level
    subject: str
    text: str
    advice: str = ""
