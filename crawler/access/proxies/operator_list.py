"""The operator's proxies from settings and files, which are read again when they change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from crawler.access.proxies.list_format import BadLine, Proxy, parse
from scrapy_seine.config import SettingsLike
from scrapy_seine.errors import ConfigError


class ProxyList:
    """Lines from the settings and from files."""

    def __init__(self, lines: Sequence[str], paths: Sequence[str]) -> None:
        self.lines = list(lines)
        self.paths = [Path(path) for path in paths]
        self._state: tuple[Any, ...] | None = None

    def __bool__(self) -> bool:
        return bool(self.lines or self.paths)

    @classmethod
    def from_settings(cls, settings: SettingsLike) -> ProxyList:
        """Collect the lists that the settings name."""
        lines = [
            *_lines(settings.get("SEINE_PROXIES")),
            *_lines(settings.get("ROTATING_PROXY_LIST")),
        ]
        names = ("SEINE_PROXIES_PATH", "ROTATING_PROXY_LIST_PATH")
        return cls(lines, [str(path) for name in names if (path := settings.get(name))])

    def check(self) -> str:
        """Check the lists at the start; return a warning, or an empty string.

        Raises:
            ConfigError: a file cannot be read, or no line of the lists is a proxy.
        """
        proxies, bad = ProxyList(self.lines, [str(path) for path in self.paths]).read() or ([], [])
        if bad and not proxies:
            line = bad[0]
            raise ConfigError(f"the list of proxies has none: line {line.number}: {line.reason}")
        source = ", ".join(str(path) for path in self.paths) or "SEINE_PROXIES"
        if proxies:
            return ""
        return f"{source} lists no proxy: requests are sent directly unless other workers have any"

    def forget(self) -> None:
        """Make the next `read` read the files even if they have not changed."""
        self._state = None

    def read(self) -> tuple[list[Proxy], list[BadLine]] | None:
        """Read the lists; None: no file has changed since the last time.

        Raises:
            ConfigError: a file cannot be read.
        """
        try:
            stats = [path.stat() for path in self.paths]
            state = tuple((stat.st_mtime_ns, stat.st_size, stat.st_ino) for stat in stats)
            if state == self._state:
                return None
            texts = [path.read_text("utf-8-sig") for path in self.paths]
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"the list of proxies cannot be read: {error}") from None
        self._state = state
        return parse([*self.lines, *(line for text in texts for line in text.splitlines())])


def _lines(raw: Any) -> list[str]:
    """Return the lines of a setting that is a list or a text."""
    if not raw:
        return []
    if isinstance(raw, str):
        return raw.replace(",", "\n").splitlines()
    return [str(line) for line in raw] if isinstance(raw, Iterable) else []
