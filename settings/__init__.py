"""Plain Scrapy settings; they import nothing of ours."""

import sys
from types import TracebackType


def _tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Say in one line that the user stopped a command while its modules were loaded."""
    if issubclass(kind, KeyboardInterrupt):
        print("seine: stopped", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


# Scrapy reads the settings before it loads any command, which takes most of a start.
sys.excepthook = _tell
