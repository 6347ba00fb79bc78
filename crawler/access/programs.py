"""Where the browser's program is."""

from __future__ import annotations

import shutil

from scrapy_seine.errors import ConfigError

#: Names under which systems install a browser of Chromium's family.
NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")


def find_browser(path: str = "") -> str:
    """Path of the browser's program.

    Raises:
        ConfigError: there is none.
    """
    found = shutil.which(path) if path else next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise ConfigError(
            f"SEINE_BROWSER_PATH={path!r} is no program"
            if path
            else "no browser is installed; install Chromium, or name one in SEINE_BROWSER_PATH"
        )
    return found
