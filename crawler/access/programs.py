"""Where the browser's program is."""

from __future__ import annotations

import shutil

from scrapy_seine.errors import ConfigError

#: Names under which systems install a browser of Chromium's family.
NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")

#: Tried with Firefox 153 ESR, by the channel `moz-firefox` of Playwright 1.65.
_ONLY_CHROMIUM = (
    "PLAYWRIGHT_BROWSER_TYPE={kind!r}: only 'chromium' is launched here, because Firefox ESR lacks "
    "a command that Playwright sends to each context (emulation.setMediaFeaturesOverride); delete "
    "the setting, or name a remote browser in PLAYWRIGHT_CONNECT_URL"
)


def check_kind(kind: str) -> None:
    """Let only Chromium's family be launched.

    Raises:
        ConfigError: another browser is asked for.
    """
    if kind != "chromium":
        raise ConfigError(_ONLY_CHROMIUM.format(kind=kind))


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
