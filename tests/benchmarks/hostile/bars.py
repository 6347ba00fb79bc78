"""What an attack must not do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Figures that must be 0.
NOTHING = (
    "stopped_workers",
    "lost_good_pages",
    "lost_good_rows",
    "wrong_good_rows",
    "code_runs",
    "files_read",
    "private_fetches",
    "secrets_shown",
    "not_asked_for",
    "dashboard_failures",
    "command_failures",
    "control_characters",
    "formula_cells",
)
#: Figures that must not be larger.
MOST = {"slowest_read_s": 5.5, "longest_loop_block_s": 5.5}
#: Figures that must not be smaller.
LEAST = {"good_rate_share": 0.7}


def failed(figures: Mapping[str, Any], *, pace: bool = True) -> dict[str, Any]:
    """The figures that are not as they should be; *pace*: that of the good work counts too."""
    wrong = {name for name in NOTHING if figures[name]}
    wrong |= {name for name, most in MOST.items() if figures[name] > most}
    if pace:
        wrong |= {name for name, least in LEAST.items() if (figures[name] or 0) < least}
    return {name: figures[name] for name in sorted(wrong)}
