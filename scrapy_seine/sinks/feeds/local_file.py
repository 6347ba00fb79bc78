"""Resolves the path of a local feed, which must be a file, because the joined file replaces it."""

from __future__ import annotations

from pathlib import Path

from w3lib.url import file_uri_to_path


def local_path(uri: str) -> Path:
    """Return the absolute path of a local feed; of a link, that of its target.

    Raises:
        OSError: it is a device, a pipe or a folder, which a file would replace.
    """
    path = Path(file_uri_to_path(uri) if uri.startswith("file:") else uri).absolute()
    path = path.resolve() if path.is_symlink() else path
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is no file; `-o -:jsonlines` writes to standard output")
    return path
