"""Identities: an honest robot by default, a complete browser profile where the operator sets one.

A browser sends its headers in a fixed order, and a single header of another browser reveals the
disguise. So profiles are data (data/profiles.json) and are used as a whole. A visitor, that is one
proxy and one site, keeps one profile. The profile is chosen by a hash of both, so that every worker
chooses the same one, and a site never sees two browsers at one address.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import urlsplit

import attrs

from scrapy_seine.attrs_bases import Value
from scrapy_seine.config import SettingsLike
from scrapy_seine.errors import ConfigError

#: The default identity: the User-Agent has the robot's name and contact.
BOT = "bot"
#: Key of `request.meta`: name of the profile that was used.
PROFILE = "header_profile"
#: Safari sends its first two languages only.
_SAFARI_LANGUAGES = 2


@attrs.frozen(eq=False, repr=False)
class Profile(Value):
    """One browser on one platform."""

    name: str
    browser: str
    """`chrome`, `edge`, `firefox` or `safari`."""
    device: str
    """`desktop` or `mobile`."""
    emulation: dict[str, str]
    """Profile and platform of the same browser in the TLS lane."""
    headers: tuple[tuple[str, str | None], ...]
    """In the browser's order; None marks the position of a header that a request may have."""

    @property
    def user_agent(self) -> str:
        """The browser's User-Agent."""
        return next(v or "" for name, v in self.headers if name == "user-agent")

    def headers_for(
        self, url: str, *, referer: str = "", country: str = ""
    ) -> list[tuple[str, str | None]]:
        """Return the headers of a navigation to *url*, in order; None: a position to fill or omit.

        *country* is the proxy's, ISO 3166 alpha-2; it determines the languages.
        """
        own_values: dict[str, str] = {"accept-language": self.languages(country)}
        fetch_site_value = fetch_site(url, referer)
        if fetch_site_value != "none":
            own_values["sec-fetch-site"] = fetch_site_value
        if referer:
            own_values["referer"] = referer
        return [(name, own_values.get(name, value)) for name, value in self.headers]

    def languages(self, country: str) -> str:
        """Return the Accept-Language header of a visitor from *country*.

        >>> pick(["firefox-linux"], "x").languages("DE")
        'de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7'
        """
        languages = spoken_in(country)
        if self.browser == "safari":
            languages = languages[:_SAFARI_LANGUAGES]
        return ",".join(
            language if not i else f"{language};q={1 - i / 10:.1f}"
            for i, language in enumerate(languages)
        )


def spoken_in(country: str) -> list[str]:
    """Return the languages of a country, preferred first; US English for an unknown country."""
    return _languages().get(country.upper()) or _languages()[""]


def fetch_site(url: str, referer: str) -> str:
    """Return the Sec-Fetch-Site header of a navigation from *referer* to *url*.

    >>> fetch_site("https://a.example/2", "https://a.example/1")
    'same-origin'
    """
    if not referer:
        return "none"
    target, source = urlsplit(url), urlsplit(referer)
    if (target.scheme, target.netloc) == (source.scheme, source.netloc):
        return "same-origin"
    target_host, source_host = target.hostname or "", source.hostname or ""
    return (
        "same-site"
        if target_host.endswith("." + source_host) or source_host.endswith("." + target_host)
        else "cross-site"
    )


def _read(name: str) -> Any:
    text = (resources.files("crawler.access") / "data" / name).read_text("utf-8")
    return json.loads(text)


@cache
def _languages() -> dict[str, list[str]]:
    return dict(_read("languages.json"))


@cache
def profiles() -> dict[str, Profile]:
    """Return all profiles by name."""
    return {
        raw["name"]: Profile(
            raw["name"],
            raw["browser"],
            raw["device"],
            raw["emulation"],
            tuple((name, value) for name, value in raw["headers"]),
        )
        for raw in _read("profiles.json")
    }


@cache
def candidates(identity: str) -> tuple[str, ...]:
    """Return the names of the profiles that an identity allows; none for the robot.

    *identity*: `bot`, `browser` (any), `desktop`, `mobile`, a browser, or a profile's name.

    Raises:
        ConfigError: the identity is none of these.
    """
    if identity == BOT:
        return ()
    names = tuple(
        profile.name
        for profile in profiles().values()
        if identity in ("browser", profile.device, profile.browser, profile.name)
    )
    if not names:
        identities = ["bot", "browser", "desktop", "mobile", *profiles()]
        raise ConfigError(
            f"identity {identity!r} is not one of {', '.join(identities)}, or a browser"
        )
    return names


def identities_of(settings: SettingsLike, spider: object) -> tuple[str, dict[str, str], bool]:
    """Read the default identity, those by site, and whether any of them is a browser's.

    *spider*: the spider's class, whose `identities()` returns those of its site files.

    Raises:
        ConfigError: an identity does not exist.
    """
    default = str(settings.get("SEINE_IDENTITY") or BOT)
    raw = settings.get("SEINE_IDENTITIES") or {}
    sites = {str(k): str(v) for k, v in (json.loads(raw) if isinstance(raw, str) else raw).items()}
    files: set[str] = getattr(spider, "identities", set)()
    # All are checked, so that an invalid one is reported in any case.
    allowed = [candidates(identity) for identity in (default, *sites.values(), *sorted(files))]
    return default, sites, any(allowed)


def pick(names: Sequence[str], visitor: str) -> Profile:
    """Return the profile of a visitor: always the same one, in every worker."""
    return profiles()[names[zlib.crc32(visitor.encode()) % len(names)]]
