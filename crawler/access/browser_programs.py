"""Which program is launched as the browser, and with what options."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scrapy_seine.errors import ConfigError

#: Names under which systems install browsers, by PLAYWRIGHT_BROWSER_TYPE.
NAMES = {
    "chromium": (
        *("chromium", "chromium-browser"),
        *("google-chrome-stable", "google-chrome", "chrome"),
    ),
    "firefox": ("firefox-esr", "firefox"),
}
#: Run in place of Firefox; found and not imported, because it imports a server and each command
#: of the project reads this module.
_RELAY = Path(__file__).with_name("firefox_relay.py")
#: Variable of the environment in which the relay finds Firefox.
FIREFOX_PROGRAM = "FIREFOX_PROGRAM"
_TITLES = {"chromium": "Chromium", "firefox": "Firefox"}
#: Without the first, a page sees at once that nobody sits in front of it.
_CHROMIUM_ARGUMENTS = (
    "--disable-blink-features=AutomationControlled",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    # UDP of a page's own knows no proxy, and so no limit to where it goes.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
)
#: Firefox leaves the proxy out for this machine's addresses and where the proxy refuses; a page
#: could then reach what the fleet's rules deny. The rest is what Firefox asks for on its own.
_FIREFOX_PREFERENCES: dict[str, bool | int | str] = {
    "network.proxy.allow_hijacking_localhost": True,
    "network.proxy.failover_direct": False,
    "network.proxy.no_proxies_on": "",
    "network.proxy.socks5_remote_dns": True,
    "media.peerconnection.enabled": False,
    "network.http.http3.enable": False,
    "network.dns.disablePrefetch": True,
    "network.prefetch-next": False,
    "network.predictor.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "browser.safebrowsing.downloads.remote.enabled": False,
    "browser.safebrowsing.provider.google4.updateURL": "",
    "datareporting.policy.dataSubmissionEnabled": False,
    "services.settings.server": "data:,",
    "extensions.update.enabled": False,
    "app.normandy.enabled": False,
}


class NoBrowser(Exception):
    """The browser does not start; no page is to blame, and its request goes to another worker."""


def launch_options(kind: str, path: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Write Playwright's options for a browser that is launched here; the project's own win.

    Raises:
        ConfigError: the kind is none that is launched here, or its program is not installed.
    """
    program = asked.get("executable_path") or find_browser(path, kind)
    if kind == "firefox":
        return _firefox(program, asked)
    arguments = [*_CHROMIUM_ARGUMENTS, *asked.get("args", ())]
    return {**asked, "executable_path": program, "args": arguments}


def _firefox(program: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Launch the relay, which becomes Firefox, by the Python that runs the worker."""
    if not os.access(_RELAY, os.X_OK):
        raise ConfigError(
            f"{_RELAY} cannot be executed, and Firefox is started by it; use chromium"
        )
    environment = {**os.environ, **(asked.get("env") or {})}
    path = f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', os.defpath)}"
    return {
        **asked,
        "channel": "moz-firefox",
        "executable_path": str(_RELAY),
        "env": {**environment, "PATH": path, FIREFOX_PROGRAM: program},
        "firefox_user_prefs": {**_FIREFOX_PREFERENCES, **(asked.get("firefox_user_prefs") or {})},
    }


def find_browser(path: str = "", kind: str = "chromium") -> str:
    """Path of the browser's program.

    Raises:
        ConfigError: there is none, or nothing of that kind is launched here.
    """
    if kind not in NAMES:
        raise ConfigError(
            f"PLAYWRIGHT_BROWSER_TYPE={kind!r}: only 'chromium' and 'firefox' are launched here; "
            "change the setting, or name a remote browser in PLAYWRIGHT_CONNECT_URL"
        )
    found = shutil.which(path) if path else next(filter(None, map(shutil.which, NAMES[kind])), None)
    if found is None:
        raise ConfigError(
            f"SEINE_BROWSER_PATH={path!r} is no program"
            if path
            else f"no browser is installed; install {_TITLES[kind]}, or set SEINE_BROWSER_PATH"
        )
    return found
