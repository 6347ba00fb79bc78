"""Identities: an honest robot by default, a whole browser where a site's operator chose so.

A browser's headers are a set with an order; one header of another browser gives the set away. So
profiles are data (data/profiles.json), taken whole, and one visitor, that is one way out to one
site, keeps one profile. The choice is a hash of both: every worker makes the same one without
asking anybody, and the same address never shows two browsers to a site.
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

from scrapy_seine.config import SettingsLike
from scrapy_seine.errors import ConfigError
from scrapy_seine.records import Value

#: Identity of a site that chose none: name and contact in the User-Agent, nothing pretended.
BOT = "bot"
#: Key of `request.meta`: name of the profile that was used.
PROFILE = "header_profile"
#: Safari names its first two languages only.
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
    """In the order of the browser; None marks the place of a header that a request may bring."""

    @property
    def user_agent(self) -> str:
        """What the browser calls itself."""
        return next(v or "" for name, v in self.headers if name == "user-agent")

    def headers_for(
        self, url: str, *, referer: str = "", country: str = ""
    ) -> list[tuple[str, str | None]]:
        """Headers of a navigation to *url*, in order; None is a place to fill or leave out.

        *country* is that of the way out, ISO 3166 alpha-2; it decides the languages.
        """
        changed: dict[str, str] = {"accept-language": self.languages(country)}
        site = fetch_site(url, referer)
        if site != "none":
            changed["sec-fetch-site"] = site
        if referer:
            changed["referer"] = referer
        return [(name, changed.get(name, value)) for name, value in self.headers]

    def languages(self, country: str) -> str:
        """Accept-Language of a visitor from *country*.

        >>> pick(["firefox-linux"], "x").languages("DE")
        'de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7'
        """
        spoken = spoken_in(country)
        if self.browser == "safari":
            spoken = spoken[:_SAFARI_LANGUAGES]
        return ",".join(
            language if not i else f"{language};q={1 - i / 10:.1f}"
            for i, language in enumerate(spoken)
        )


def spoken_in(country: str) -> list[str]:
    """Languages of a browser's user, most wanted first; American where the country is unknown."""
    return _languages().get(country.upper()) or _languages()[""]


def fetch_site(url: str, referer: str) -> str:
    """Sec-Fetch-Site of a navigation from *referer* to *url*.

    >>> fetch_site("https://a.example/2", "https://a.example/1")
    'same-origin'
    """
    if not referer:
        return "none"
    to, of = urlsplit(url), urlsplit(referer)
    if (to.scheme, to.netloc) == (of.scheme, of.netloc):
        return "same-origin"
    a, b = to.hostname or "", of.hostname or ""
    return "same-site" if a.endswith("." + b) or b.endswith("." + a) else "cross-site"


def _read(name: str) -> Any:
    text = (resources.files("crawler.access") / "data" / name).read_text("utf-8")
    return json.loads(text)


@cache
def _languages() -> dict[str, list[str]]:
    return dict(_read("languages.json"))


@cache
def profiles() -> dict[str, Profile]:
    """All profiles by name."""
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
    """Names of the profiles that an identity allows; none for the robot.

    *identity*: `bot`, `browser` (any), `desktop`, `mobile`, a browser, or a profile's name.

    Raises:
        ConfigError: it is none of these.
    """
    if identity == BOT:
        return ()
    found = tuple(
        p.name for p in profiles().values() if identity in ("browser", p.device, p.browser, p.name)
    )
    if not found:
        known = ["bot", "browser", "desktop", "mobile", *profiles()]
        raise ConfigError(f"identity {identity!r} is not one of {', '.join(known)}, or a browser")
    return found


def chosen(settings: SettingsLike, spider: object) -> tuple[str, dict[str, str], bool]:
    """Read who chose what: the default identity, those by site, and whether any is a browser's.

    *spider*: the spider's class, whose `identities()` tells what its site files chose.

    Raises:
        ConfigError: an identity does not exist.
    """
    default = str(settings.get("SEINE_IDENTITY") or BOT)
    raw = settings.get("SEINE_IDENTITIES") or {}
    sites = {str(k): str(v) for k, v in (json.loads(raw) if isinstance(raw, str) else raw).items()}
    files: set[str] = getattr(spider, "identities", set)()
    # Each is looked up, so that a wrong one is named whatever the others are.
    allowed = [candidates(identity) for identity in (default, *sites.values(), *sorted(files))]
    return default, sites, any(allowed)


def pick(names: Sequence[str], visitor: str) -> Profile:
    """Profile of a visitor: the same for the same visitor, everywhere and always."""
    return profiles()[names[zlib.crc32(visitor.encode()) % len(names)]]
