"""What a look at a fleet's health found: one clear line, and what to do."""

from __future__ import annotations

from typing import Literal

import attrs

Level = Literal["ok", "warn", "fail"]


@attrs.frozen
class Finding:
    """One thing that was looked at."""

    level: Level
    subject: str
    text: str
    advice: str = ""
