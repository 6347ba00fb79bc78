"""One line for a project or a command that is misspelt, or for a folder that holds no project.

Scrapy takes a name in SCRAPY_PROJECT that scrapy.cfg lacks for no project at all, and then says
"Unknown command", or crawls without any settings. It makes every command before it runs one, so
that the library's own command is the place to look.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import entry_points
from pathlib import Path

from scrapy.utils.conf import closest_scrapy_cfg, get_config
from scrapy.utils.project import get_project_settings

from scrapy_seine.misspelt_names import did_you_mean

#: Verbs of `scrapy seine`, one module of this package each.
VERBS = ("status", "progress", "workers", "frontier", "dlq", "seed", "join-feeds", "logs")


def wrong_turn(
    name: str,
    *,
    project: str = "",
    config: str = "",
    projects: Sequence[str] = (),
    commands: Iterable[str] | None = None,
    anywhere: bool = False,
) -> str | None:
    """Say what is wrong with how `scrapy` was called; None: nothing that can be seen from here.

    Args:
        name: of the command.
        project: which one SCRAPY_PROJECT asks for.
        config: path of the nearest scrapy.cfg; '' where there is none.
        projects: names that it gives settings to.
        commands: names of all commands; None where no project was found.
        anywhere: the command needs no project.

    >>> wrong_turn("crawl", project="clustr", config="scrapy.cfg", projects=["default", "cluster"])
    'SCRAPY_PROJECT=clustr is not in scrapy.cfg; there is default, cluster; did you mean cluster?'
    >>> wrong_turn("statsu", commands=["status", "crawl"])
    "there is no command 'statsu'; did you mean status?"
    >>> wrong_turn("workers", commands=["crawl", "seine"])
    "there is no command 'workers'; did you mean seine workers?"
    >>> wrong_turn("SEINE_CRAWL=x", commands=["status"])
    'SEINE_CRAWL=x stands where the command should; options come after it'
    >>> wrong_turn("status", project="default", config="scrapy.cfg", projects=["default"])
    'SCRAPY_SETTINGS_MODULE is set and empty; unset it, and scrapy.cfg says which it is'
    """
    if commands is not None:
        known = set(commands)
        if not name or name in known:
            return None
        if "=" in name:  # the value of an option that stands in front of the command
            return f"{name} stands where the command should; options come after it"
        if name in VERBS and "seine" in known:
            return f"there is no command {name!r}; did you mean seine {name}?"
        return f"there is no command {name!r}{did_you_mean(name, known) or '; see `scrapy`'}"
    if project in projects:  # Scrapy takes a variable that is empty for a project of no settings
        return f"SCRAPY_SETTINGS_MODULE is set and empty; unset it, and {config} says which it is"
    if config:
        there = ", ".join(projects) or "none"
        meant = did_you_mean(project, projects)
        return f"SCRAPY_PROJECT={project} is not in {config}; there is {there}{meant}"
    if not name or anywhere:
        return None
    here = "neither this folder nor one above it holds a scrapy.cfg"
    return f"scrapy {name}: {here}; change to the project's folder first"


def look_around() -> str | None:
    """Say what is wrong with how `scrapy` was called here, see `wrong_turn`."""
    program = Path(sys.argv[0])
    if program.name != "scrapy" and program.parent.name != "scrapy":
        return None  # called by another program, which has its own ways
    words = [arg for arg in sys.argv[1:] if not arg.startswith("-")]
    if words[:2] == ["seine", "join-feeds"]:
        return None  # it needs files alone, which `scrapy runspider -O` leaves anywhere
    name = words[0] if words else ""
    # Scrapy has set it by now where it found a project.
    if os.environ.get("SCRAPY_SETTINGS_MODULE"):
        # A start of a worker needs no more: to read the project's settings and the names of all
        # installed packages once more takes as long as a hundred pages.
        if name in commands_below("scrapy.commands"):
            return None
        return wrong_turn(name, commands=_commands())
    config, found = closest_scrapy_cfg(), get_config()
    return wrong_turn(
        name,
        project=os.environ.get("SCRAPY_PROJECT", "default"),
        config=os.path.relpath(config) if config else "",
        projects=found.options("settings") if found.has_section("settings") else [],
        anywhere=_needs_no_project(name),
    )


def _needs_no_project(name: str) -> bool:
    """Whether a command says of itself that it works anywhere, be it Scrapy's or a plug-in's."""
    if name in commands_below("scrapy.commands"):
        found = [importlib.import_module(f"scrapy.commands.{name}").Command]
    else:
        found = [point.load() for point in entry_points(group="scrapy.commands", name=name)]
    return any(not command.requires_project for command in found)


def _commands() -> list[str]:
    own = str(get_project_settings().get("COMMANDS_MODULE") or "")
    found = [*commands_below("scrapy.commands"), *commands_below(own)]
    return found + [point.name for point in entry_points(group="scrapy.commands")]


def commands_below(package: str) -> list[str]:
    """Names of the modules of a package, without importing them."""
    spec = importlib.util.find_spec(package) if package else None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return [info.name for info in pkgutil.iter_modules([str(Path(place)) for place in places])]
