"""What a start failed by: a setting's wrong value, class or folder, or a spider's name.

Asked only after a failure, so that a start that succeeds pays nothing for it.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from traceback import walk_tb

from scrapy.settings import BaseSettings, default_settings
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from scrapy_seine.engine.settings_check import is_path, wrong_values
from scrapy_seine.misspelt_names import did_you_mean

#: What a loader of spiders raises for a name, before the name.
_NO_SPIDER = "Spider not found: "
#: What Scrapy raises for a class that it cannot load: no such module, no such name, no full path.
_NOT_LOADED = (ImportError, NameError, ValueError)


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
        return _blame_for_class(settings) if isinstance(error, _NOT_LOADED) else None


def _blame_name(settings: BaseSettings, text: str) -> str | None:
    if not text.startswith(_NO_SPIDER):
        return None
    name = text.removeprefix(_NO_SPIDER)
    names = load_object(settings["SPIDER_LOADER_CLASS"]).from_settings(settings).list()
    suggestion = did_you_mean(name, names)
    return f"no spider is named {name!r}; there is {', '.join(sorted(names)) or 'none'}{suggestion}"


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


def _blame_for_class(settings: BaseSettings) -> str | None:
    for name, path in _class_paths(settings):
        try:
            load_object(path)
        except _NOT_LOADED as error:
            return f"{name} names {path}, which cannot be imported: {error}"
    for path in map(str, settings.getlist("SPIDER_MODULES")):
        if not _is_module(path):
            return f"SPIDER_MODULES names {path}, which is no module"
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
        names_classes = isinstance(default, Mapping) or is_path(default)
        if not name.isupper() or not names_classes or name not in settings:
            continue
        value = settings.get(name)
        is_table = isinstance(value, Mapping | BaseSettings)
        paths = [*value, *value.values()] if is_table else [value]
        yield from ((name, path) for path in paths if is_path(path))
