"""What made a call of `scrapy` fail before there was a crawler: a setting, or the value of -s.

Asked only after a failure, so that a call that succeeds pays nothing for it.
"""

from __future__ import annotations

import sys

from scrapy.utils.project import get_project_settings

from scrapy_seine.commands.early_options import set_values
from scrapy_seine.engine.starting.unusable_settings import blame, blame_values


def fault_of_call(error: BaseException) -> str | None:
    """Say what the user has to mend; None where nothing is known to be wrong."""
    if not isinstance(error, Exception):
        return None
    if (fault := blame_values(error)) is not None:
        return fault
    try:
        settings = get_project_settings()
    except Exception:  # the project's settings cannot be read, and the traceback shows where
        return None
    settings.setdict(set_values(sys.argv[1:]), priority="cmdline")
    return blame(settings, error)
