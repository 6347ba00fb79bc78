"""What a look at a fleet's health found: one clear line, and what to do."""

from __future__ import annotations

from typing import Literal

import attrs

from scrapy_seine.records import Value

Level = Literal["ok", "warn", "fail"]


@attrs.frozen(eq=False, repr=False)
class Finding(Value):
    """One thing that was looked at."""

    level: Level
    subject: str
    text: str
    advice: str = ""
