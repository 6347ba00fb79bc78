"""An archive in a folder: what it has stored is there after a power failure as well."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from crawler.stores.archive.object_storage import Folder


def test_an_object_is_stored_once_its_name_and_its_folders_are_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index has it then, and would name an object that does not exist."""
    synced, fsync = [], os.fsync

    def recorded(number: int) -> None:
        path = Path(f"/proc/self/fd/{number}").readlink()
        if path.is_dir():
            synced.append((path, sorted(child.name for child in path.iterdir())))
        fsync(number)

    monkeypatch.setattr(os, "fsync", recorded)
    folder = Folder(tmp_path / "pages")
    folder.put("2026/11/a.warc.gz", b"a")
    root = tmp_path / "pages"
    assert sorted(synced) == [
        (tmp_path, ["pages"]),
        (root, ["2026"]),
        (root / "2026", ["11"]),
        (root / "2026" / "11", ["a.warc.gz"]),
    ]
    synced.clear()
    folder.put("2026/11/b.warc.gz", b"b")
    assert synced == [(root / "2026" / "11", ["a.warc.gz", "b.warc.gz"])]
    assert folder.get("2026/11/b.warc.gz", 0) == b"b"
