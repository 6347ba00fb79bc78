"""The program that is launched as the browser, and its options."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from scrapy_seine.errors import ConfigError

#: Names under which systems install browsers, by PLAYWRIGHT_BROWSER_TYPE.
NAMES = {
    "chromium": (
        *("chromium", "chromium-browser"),
        *("google-chrome-stable", "google-chrome", "chrome"),
    ),
    "firefox": ("firefox-esr", "firefox"),
}
#: The program that runs in place of Firefox; not imported, because it imports a server and each
#: command of the project imports this module.
_RELAY = Path(__file__).with_name("firefox_relay.py")
#: Environment variable with Firefox' path, for the relay.
FIREFOX_PROGRAM = "FIREFOX_PROGRAM"
_TITLES = {"chromium": "Chromium", "firefox": "Firefox"}
#: Without the first, a page detects the automation at once.
_CHROMIUM_ARGUMENTS = (
    "--disable-blink-features=AutomationControlled",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    # A page's UDP traffic bypasses the proxy, and so the limits on addresses. Chromium ignores a
    # name that it does not know: the first is that of current versions, the second of older ones.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
)
#: By default Firefox bypasses the proxy for this machine's addresses and where the proxy refuses,
#: so a page could reach addresses that the fleet's rules deny. The others stop its own requests.
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
    """The browser does not start; the request goes to another worker without blaming the page."""


def launch_options(kind: str, path: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return Playwright's options for a local browser; those of the project override ours.

    Raises:
        ConfigError: that kind of browser is not supported, or its program is not installed.
    """
    program = options.get("executable_path") or find_browser(path, kind)
    if kind == "firefox":
        return _firefox(program, options)
    arguments = [*_CHROMIUM_ARGUMENTS, *options.get("args", ())]
    return {**options, "executable_path": program, "args": arguments}


def _firefox(program: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that launch the relay, which becomes Firefox, by the worker's Python."""
    if not os.access(_RELAY, os.X_OK):
        raise ConfigError(
            f"{_RELAY} cannot be executed, and Firefox is started by it; use chromium"
        )
    environment = {**os.environ, **(options.get("env") or {})}
    path = f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', os.defpath)}"
    return {
        **options,
        "channel": "moz-firefox",
        "executable_path": str(_RELAY),
        "env": {**environment, "PATH": path, FIREFOX_PROGRAM: program},
        "firefox_user_prefs": {**_FIREFOX_PREFERENCES, **(options.get("firefox_user_prefs") or {})},
    }


def find_browser(path: str = "", kind: str = "chromium") -> str:
    """Return the path of the browser's program.

    Raises:
        ConfigError: no program is installed, or that kind of browser is not supported.
    """
    if kind not in NAMES:
        raise ConfigError(
            f"PLAYWRIGHT_BROWSER_TYPE={kind!r}: only 'chromium' and 'firefox' are launched here; "
            "change the setting, or name a remote browser in PLAYWRIGHT_CONNECT_URL"
        )
    program = (
        shutil.which(path) if path else next(filter(None, map(shutil.which, NAMES[kind])), None)
    )
    if program is None:
        raise ConfigError(
            f"SEINE_BROWSER_PATH={path!r} is no program"
            if path
            else f"no browser is installed; install {_TITLES[kind]}, or set SEINE_BROWSER_PATH"
        )
    return program


def machine_of(url: str) -> str:
    """Return the other machine on which a remote browser is; "": it is this one.

    >>> machine_of("ws://browser:3000/x"), machine_of("http://127.0.0.1:9222"), machine_of("")
    ('browser', '', '')
    """
    host = urlsplit(url).hostname or ""
    try:
        return "" if not host or ip_address(host).is_loopback else host
    except ValueError:
        return "" if host == "localhost" else host
