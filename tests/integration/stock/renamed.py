"""Scrapy and Twisted with some of their private names renamed, as another version may have them."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

PACKAGES = ("scrapy.", "twisted.web.client")


class _Loader(SourceFileLoader):
    names: re.Pattern[bytes]

    def get_code(self, fullname: str) -> Any:
        source = self.get_data(self.path)
        if not self.names.search(source):
            return super().get_code(fullname)
        return compile(self.names.sub(rb"\g<0>_elsewhere", source), self.path, "exec")


class _Finder(MetaPathFinder):
    def __init__(self, names: re.Pattern[bytes]) -> None:
        self.names = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(PACKAGES):
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and spec.origin and spec.origin.endswith(".py"):
            spec.loader = _Loader(fullname, spec.origin)
            spec.loader.names = self.names
        return spec


def rename(names: Sequence[str]) -> None:
    """Let modules that are imported from now on have other names in place of *names*."""
    assert not any(name.startswith(PACKAGES) for name in sys.modules), "they are loaded already"
    if names:
        either = "|".join(map(re.escape, names))
        # http.cookiejar, in a jar of its own, has a private name of the same spelling.
        pattern = rf"(?<!jar\.)\b(?:{either})\b".encode()
        sys.meta_path.insert(0, _Finder(re.compile(pattern)))
