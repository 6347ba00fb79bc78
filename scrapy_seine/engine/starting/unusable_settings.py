"""What a start failed by: a setting's wrong value, class or folder, a spider's name or arguments.

Asked only after a failure, so that a start that succeeds pays nothing for it.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from traceback import walk_tb

from scrapy import Spider
from scrapy.settings import BaseSettings, default_settings
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from scrapy_seine.engine.settings_check import CLASS, ORDERED, TABLE, is_path, wrong_values
from scrapy_seine.misspelt_names import did_you_mean

#: Settings that name modules, no classes.
_OF_MODULES = ("SPIDER_MODULES", "COMMANDS_MODULE")
#: What a loader of spiders raises for a name, before the name.
_NO_SPIDER = "Spider not found: "
#: What Scrapy raises for a class that it cannot load: no such module, no such name, no full path.
_NOT_LOADED = (ImportError, NameError, ValueError)
#: Words that may be names of settings.
_NAMES = re.compile(r"[A-Z][A-Z0-9_]{3,}")


def blame(settings: BaseSettings, error: BaseException) -> str | None:
    """Say which setting made a start fail with *error*; None where none is known to.

    >>> broken = BaseSettings({"DNS_RESOLVER": "nosuch.Resolver", "JOBDIR": "/proc/x"})
    >>> blame(broken, ModuleNotFoundError("No module named 'nosuch'"))
    "DNS_RESOLVER names nosuch.Resolver, which cannot be imported: No module named 'nosuch'"
    >>> blame(broken, FileNotFoundError(2, "No such file or directory", "/proc/x"))
    'JOBDIR=/proc/x cannot be used: No such file or directory'
    >>> blame(BaseSettings({"SPIDER_MODULES": "nosuch.spiders"}), ModuleNotFoundError())
    'SPIDER_MODULES names nosuch.spiders, which is no module'
    >>> blame(broken, KeyError("of the spider itself"))
    """
    if fault := _blame_custom_settings(error):
        return fault
    with warnings.catch_warnings(action="ignore"):  # Scrapy warns of old settings that are read
        if isinstance(error, KeyError):
            return _blame_name(settings, str(error.args[0] if error.args else ""))
        if isinstance(error, OSError):
            return _blame_for_place(settings, error)
        if isinstance(error, TypeError) and (fault := _blame_arguments(error)):
            return fault
        fault = _blame_for_class(settings, error) if isinstance(error, _NOT_LOADED) else None
        return fault or _blame_by_text(settings, error) or _blame_no_class(settings)


def _blame_name(settings: BaseSettings, text: str) -> str | None:
    if not text.startswith(_NO_SPIDER):
        return None
    name = text.removeprefix(_NO_SPIDER)
    names = load_object(settings["SPIDER_LOADER_CLASS"]).from_settings(settings).list()
    suggestion = did_you_mean(name, names)
    return f"no spider is named {name!r}; there is {', '.join(sorted(names)) or 'none'}{suggestion}"


def _blame_arguments(error: TypeError) -> str | None:
    """Say which argument a spider lacks or does not take; None for errors within its own code."""
    *_, (frame, _) = walk_tb(error.__traceback__) if error.__traceback__ else [(None, 0)]
    if frame is None or frame.f_code is not Spider.from_crawler.__func__.__code__:  # type: ignore[attr-defined]
        return None
    name = getattr(frame.f_locals.get("cls"), "name", None)
    return f"spider {name}: {error}; an argument is given as -a NAME=VALUE"


def blame_values(error: BaseException) -> str | None:
    """Say which values of the project or its spider are wrong; None where none is.

    Scrapy fails by some when it reads the project's module, before it looks for any command.
    """
    name = os.environ.get("SCRAPY_SETTINGS_MODULE", "")
    module = sys.modules.get(name)
    faults = "; ".join(wrong_values(vars(module))) if module is not None else ""
    return f"{name}: {faults}" if faults else _blame_custom_settings(error)


def _blame_custom_settings(error: BaseException) -> str | None:
    """Say which custom settings are wrong of the spider whose crawler could not be made."""
    for frame, _ in walk_tb(error.__traceback__):
        spider = getattr(frame.f_locals.get("self"), "spidercls", None)
        custom_settings = getattr(spider, "custom_settings", None)
        if custom_settings is None:
            continue
        place = f"custom_settings of {global_object_name(spider)}"
        if not isinstance(custom_settings, Mapping):
            return f"{place} is no table"
        if faults := "; ".join(wrong_values(dict(custom_settings))):
            return f"{place}: {faults}"
    return None


def _blame_for_class(settings: BaseSettings, error: Exception) -> str | None:
    # Of a part of Scrapy's that is none of Scrapy's own, the error itself tells which path it is.
    own = (
        (str(name), str(path))
        for name in settings
        if name not in _OF_MODULES and is_path(path := settings.get(name))
        if _unloadable(str(path)) == str(error)
    )
    for name, path in chain(_class_paths(settings), own):
        if fault := _unloadable(path):
            return f"{name} names {path}, which cannot be imported: {fault}"
    for name in _OF_MODULES:
        for path in filter(None, map(str, settings.getlist(name))):
            if not _is_module(path):
                return f"{name} names {path}, which is no module"
    return None


def _blame_no_class(settings: BaseSettings) -> str | None:
    """Say which path leads to a thing that cannot be called: a module, often, without the class."""
    for name, path in _class_paths(settings):
        if not _unloadable(path) and not callable(thing := load_object(path)):
            return f"{name} names {path}, which is no class but a {type(thing).__name__}"
    return None


def _unloadable(path: str) -> str:
    """Return the error of loading a class, empty where it can be loaded."""
    try:
        load_object(path)
    except _NOT_LOADED as error:
        return str(error) or type(error).__name__
    except Exception:  # it is loaded where it is used, as a feed's format
        return ""
    return ""


def _blame_by_text(settings: BaseSettings, error: BaseException) -> str | None:
    """Say what Scrapy itself finds wrong, if it names a setting or quotes the value of one."""
    text, frames = str(error), [frame for frame, _ in walk_tb(error.__traceback__)]
    if not frames or str(frames[-1].f_globals.get("__name__")).partition(".")[0] != "scrapy":
        return None
    if any(name in vars(default_settings) for name in _NAMES.findall(text)):
        return text
    for name in sorted(map(str, settings)):
        value = settings.get(name)
        is_own = bool(settings.getpriority(name)) and isinstance(value, str) and value
        if is_own and repr(value) in text:
            return f"{name}={value} cannot be used: {text}"
    return None


def _is_module(path: str) -> bool:
    try:
        return find_spec(path) is not None
    except (ModuleNotFoundError, ValueError):  # there is no package of it; it is no name
        return False


def _blame_for_place(settings: BaseSettings, error: OSError) -> str | None:
    if not isinstance(error.filename, str):
        return None
    failed_path = Path(error.filename)
    for name in sorted(map(str, settings)):
        value = settings.get(name)
        if isinstance(value, str) and value.strip("/.") and _is_in(failed_path, value):
            return f"{name}={value} cannot be used: {error.strerror}"
    return None


def _is_in(failed_path: Path, place: str) -> bool:
    """Whether a path is in a place; Python's log makes the path of its file absolute."""
    return failed_path.is_relative_to(place) or failed_path == Path(place).absolute()


def _class_paths(settings: BaseSettings) -> Iterator[tuple[str, str]]:
    """Settings of Scrapy's that name classes, each with each path that it names."""
    for name, default in vars(default_settings).items():
        kind = TABLE.get(name)
        if name not in settings or kind is None:
            continue
        value = settings.get(name)
        if kind is ORDERED:
            yield from ((name, path) for path in value if isinstance(path, str))
        elif isinstance(default, Mapping) and isinstance(value, Mapping):
            yield from ((name, path) for path in value.values() if is_path(path))
        elif kind.text.startswith(CLASS.text) and is_path(value):
            yield name, value
