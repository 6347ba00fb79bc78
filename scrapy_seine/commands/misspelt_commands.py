"""One line for a misspelt project or command, or for a folder without a project.

If SCRAPY_PROJECT names a project that scrapy.cfg lacks, Scrapy assumes no project, and then reports
"Unknown command", or crawls without any settings. It makes every command before it runs one, so
that the library's own command can check this.
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

from scrapy_seine.commands.early_options import wrong_options
from scrapy_seine.misspelt_names import did_you_mean

#: Verbs of `scrapy seine`, one module of this package each.
VERBS = ("status", "progress", "workers", "frontier", "dlq", "seed", "join-feeds", "logs", "down")


def wrong_turn(
    name: str,
    *,
    project: str = "",
    config: str = "",
    projects: Sequence[str] = (),
    commands: Iterable[str] | None = None,
    anywhere: bool = False,
) -> str | None:
    """Return what is wrong with a call of `scrapy`; None: nothing was found.

    Args:
        name: name of the command.
        project: value of SCRAPY_PROJECT.
        config: path of the nearest scrapy.cfg; '' if there is none.
        projects: names in its section of settings.
        commands: names of all commands; None if no project was found.
        anywhere: whether the command needs no project.

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
        command_names = set(commands)
        if not name or name in command_names:
            return None
        if "=" in name:  # the value of an option before the command
            return f"{name} stands where the command should; options come after it"
        if name in VERBS and "seine" in command_names:
            return f"there is no command {name!r}; did you mean seine {name}?"
        return (
            f"there is no command {name!r}{did_you_mean(name, command_names) or '; see `scrapy`'}"
        )
    if project in projects:  # Scrapy treats an empty variable as a project without settings
        return f"SCRAPY_SETTINGS_MODULE is set and empty; unset it, and {config} says which it is"
    if config:
        project_names = ", ".join(projects) or "none"
        suggestion = did_you_mean(project, projects)
        return f"SCRAPY_PROJECT={project} is not in {config}; there is {project_names}{suggestion}"
    if not name or anywhere:
        return None
    no_config = "neither this folder nor one above it holds a scrapy.cfg"
    return f"scrapy {name}: {no_config}; change to the project's folder first"


def look_around() -> str | None:
    """Return what is wrong with this call of `scrapy`, see `wrong_turn`."""
    program = Path(sys.argv[0])
    if program.name != "scrapy" and program.parent.name != "scrapy":
        return None  # called by another program, which handles its own arguments
    if (fault := wrong_options(sys.argv[1:])) is not None:
        return fault
    words = [arg for arg in sys.argv[1:] if not arg.startswith("-")]
    if words[:2] == ["seine", "join-feeds"]:
        return None  # it needs only files, which `scrapy runspider -O` leaves anywhere
    name = words[0] if words else ""
    # Scrapy has set it if it found a project.
    if os.environ.get("SCRAPY_SETTINGS_MODULE"):
        # This is enough to start a worker: reading the project's settings and the names of all
        # installed packages again takes as long as a hundred pages.
        if name in commands_below("scrapy.commands"):
            return None
        return wrong_turn(name, commands=_commands())
    config, parser = closest_scrapy_cfg(), get_config()
    return wrong_turn(
        name,
        project=os.environ.get("SCRAPY_PROJECT", "default"),
        config=os.path.relpath(config) if config else "",
        projects=parser.options("settings") if parser.has_section("settings") else [],
        anywhere=_needs_no_project(name),
    )


def _needs_no_project(name: str) -> bool:
    """Whether a command, Scrapy's or a plug-in's, declares that it works without a project."""
    if name in commands_below("scrapy.commands"):
        commands = [importlib.import_module(f"scrapy.commands.{name}").Command]
    else:
        commands = [point.load() for point in entry_points(group="scrapy.commands", name=name)]
    return any(not command.requires_project for command in commands)


def _commands() -> list[str]:
    module = str(get_project_settings().get("COMMANDS_MODULE") or "")
    names = [*commands_below("scrapy.commands"), *commands_below(module)]
    return names + [point.name for point in entry_points(group="scrapy.commands")]


def commands_below(package: str) -> list[str]:
    """Return the names of a package's modules, without importing them."""
    spec = importlib.util.find_spec(package) if package else None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return [info.name for info in pkgutil.iter_modules([str(Path(place)) for place in places])]
