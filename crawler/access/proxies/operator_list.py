"""The operator's proxies wherever they are written, read again when the file changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from crawler.access.proxies.line import BadLine, Proxy, parse
from scrapy_seine.config import SettingsLike
from scrapy_seine.errors import ConfigError


class ProxyList:
    """Lines from the settings and from files."""

    def __init__(self, lines: Sequence[str], paths: Sequence[str]) -> None:
        self.lines = list(lines)
        self.paths = [Path(path) for path in paths]
        self._seen: tuple[Any, ...] | None = None

    def __bool__(self) -> bool:
        return bool(self.lines or self.paths)

    @classmethod
    def from_settings(cls, settings: SettingsLike) -> ProxyList:
        """Find the lists that the settings name."""
        lines = [
            *_lines(settings.get("SEINE_PROXIES")),
            *_lines(settings.get("ROTATING_PROXY_LIST")),
        ]
        names = ("SEINE_PROXIES_PATH", "ROTATING_PROXY_LIST_PATH")
        return cls(lines, [str(path) for name in names if (path := settings.get(name))])

    def check(self) -> str:
        """Read the lists as they are at the start; returns what is to be told of them, if anything.

        Raises:
            ConfigError: a file cannot be read, or no line of the lists is a proxy.
        """
        proxies, bad = ProxyList(self.lines, [str(path) for path in self.paths]).read() or ([], [])
        if bad and not proxies:
            line = bad[0]
            raise ConfigError(f"the list of proxies has none: line {line.number} {line.reason}")
        where = ", ".join(str(path) for path in self.paths) or "SEINE_PROXIES"
        return "" if proxies else f"{where} lists no proxy: all requests are sent directly"

    def forget(self) -> None:
        """Read the files again next time, although they have not changed."""
        self._seen = None

    def read(self) -> tuple[list[Proxy], list[BadLine]] | None:
        """Read the lists; None where nothing changed since the last time.

        Raises:
            ConfigError: a file cannot be read.
        """
        try:
            stats = [path.stat() for path in self.paths]
            seen = tuple((s.st_mtime_ns, s.st_size, s.st_ino) for s in stats)
            if seen == self._seen:
                return None
            texts = [path.read_text("utf-8-sig") for path in self.paths]
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"the list of proxies cannot be read: {error}") from None
        self._seen = seen
        return parse([*self.lines, *(line for text in texts for line in text.splitlines())])


def _lines(raw: Any) -> list[str]:
    """Read a setting that is a list of lines, or a text of them."""
    if not raw:
        return []
    if isinstance(raw, str):
        return raw.replace(",", "\n").splitlines()
    return [str(line) for line in raw] if isinstance(raw, Iterable) else []
