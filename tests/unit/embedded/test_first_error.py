"""Of servers that are needed together, the one that does not start is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_seine.embedded import SERVERS, start
from scrapy_seine.embedded.data_folder import Places
from scrapy_seine.errors import EmbeddedError


class Standing:
    """A server that starts, and that nobody can end."""

    def url(self, place: Places) -> str:
        return ""

    def running(self, place: Places) -> bool:
        return False

    def start(self, place: Places, binaries: str, *, durable: bool = True) -> None:
        pass

    def stop(self, place: Places) -> bool:
        raise EmbeddedError("it does not end")


class Failing(Standing):
    """A server that does not start."""

    def start(self, place: Places, binaries: str, *, durable: bool = True) -> None:
        raise EmbeddedError("its data is of another version")


def test_the_error_of_the_start_is_reported_where_the_other_server_does_not_end_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason of the failure was masked by that of stopping the server beside it."""
    monkeypatch.setitem(SERVERS, "standing", Standing())
    monkeypatch.setitem(SERVERS, "failing", Failing())
    with pytest.raises(EmbeddedError, match="its data is of another version"):
        start(tmp_path / "servers", which=("standing", "failing"))
