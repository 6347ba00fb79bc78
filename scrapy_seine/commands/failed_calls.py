"""What made a call of `scrapy` fail before there was a crawler: a setting, or the value of -s.

Asked only after a failure, so that a call that succeeds pays nothing for it.
"""

from __future__ import annotations

import os
import sys
from configparser import Error as ConfigFileError
from traceback import walk_tb

from scrapy.utils.project import get_project_settings

from scrapy_seine.broken_imports import broken_file
from scrapy_seine.commands.early_options import set_values
from scrapy_seine.engine.starting.unusable_settings import blame, blame_values
from scrapy_seine.printable import OUTPUT_ERRORS, discard_output


def fault_of_call(error: BaseException) -> str | None:
    """Say what the user has to mend; None where nothing is known to be wrong."""
    if not isinstance(error, Exception):
        return None
    if (fault := _lost_output(error) or blame_values(error)) is not None:
        return fault
    try:
        settings = get_project_settings()
    except Exception as failure:
        return _fault_of_project(failure)
    settings.setdict(set_values(sys.argv[1:]), priority="cmdline")
    return blame(settings, error)


def _lost_output(error: Exception) -> str | None:
    """Say that a command of Scrapy could not print; None where another file is at fault."""
    if not isinstance(error, OSError) or error.errno not in OUTPUT_ERRORS:
        return None
    *_, (frame, _) = walk_tb(error.__traceback__)
    if not str(frame.f_globals.get("__name__")).startswith("scrapy.commands"):
        return None
    discard_output()
    return f"standard output cannot be written: {error.strerror}"


def _fault_of_project(error: Exception) -> str | None:
    """Say why a project's settings cannot be read; None where the traceback says more."""
    if isinstance(error, ConfigFileError):
        return f"scrapy.cfg cannot be read: {' '.join(str(error).split())}"
    if isinstance(error, ImportError | SyntaxError):
        name = os.environ.get("SCRAPY_SETTINGS_MODULE", "")
        return f"the settings {name} cannot be imported: {broken_file(name, error)}"
    return None
