"""Plain Scrapy settings; they import nothing of ours."""

import gc
import os
import pkgutil
import sys
from difflib import get_close_matches
from types import TracebackType


def _tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Say in one line that the user stopped a start, or named settings that there are not."""
    module = os.environ.get("SCRAPY_SETTINGS_MODULE", "")
    if issubclass(kind, KeyboardInterrupt):
        print("seine: stopped", file=sys.stderr)
    elif isinstance(error, ModuleNotFoundError) and module and error.name == module:
        names = [f"{__name__}.{found.name}" for found in pkgutil.iter_modules(__path__)]
        alike = get_close_matches(module, names, 1)
        meant = f"; did you mean {alike[0]}?" if alike else ""
        there = f"there is {', '.join(names)}{meant}"
        print(f"seine: SCRAPY_SETTINGS_MODULE={module} is no module; {there}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


# Scrapy reads the settings before it loads any command, which takes most of a start.
sys.excepthook = _tell
# Nearly all that a start makes stays for good, and so does Scrapy, which is imported by now: a
# collector that looks through it every 700 objects finds nothing, for 0.1 s of each start.
gc.freeze()
gc.set_threshold(50_000)
