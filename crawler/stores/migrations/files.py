"""The migrations: numbered SQL files beside this module."""

from __future__ import annotations

import hashlib
from importlib import resources

import attrs

from scrapy_seine.attrs_bases import Value


@attrs.frozen(eq=False, repr=False)
class Migration(Value):
    """One numbered file."""

    name: str
    sql: str

    @property
    def digest(self) -> str:
        """SHA-256 of the SQL, to detect a file that was edited after it was applied."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def available() -> list[Migration]:
    """Return the files of this package in their order."""
    files = [
        entry for entry in resources.files(__package__).iterdir() if entry.name.endswith(".sql")
    ]
    return [
        Migration(entry.name.removesuffix(".sql"), entry.read_text("utf-8"))
        for entry in sorted(files, key=lambda entry: entry.name)
    ]
