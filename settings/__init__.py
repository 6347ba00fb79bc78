"""Plain Scrapy settings; they import nothing of ours."""

import gc
import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType, TracebackType


def _print_start_error(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print one line where the user stopped a start, or the settings module does not exist."""
    module = os.environ.get("SCRAPY_SETTINGS_MODULE", "")
    if issubclass(kind, KeyboardInterrupt):
        print("seine: stopped", file=sys.stderr)
    elif isinstance(error, ModuleNotFoundError) and module and error.name == module:
        names = [f"{__name__}.{found.name}" for found in pkgutil.iter_modules(__path__)]
        alike = get_close_matches(module, names, 1)
        meant = f"; did you mean {alike[0]}?" if alike else ""
        there = f"there is {', '.join(names)}{meant}"
        print(f"seine: SCRAPY_SETTINGS_MODULE={module} is no module; {there}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


#: Modules of itemadapter that import names of pydantic.
_HOLD_PYDANTIC = ("itemadapter.utils", "itemadapter._json_schema")


class _PydanticLater:
    """Keeps itemadapter from importing pydantic before the project does.

    itemadapter imports pydantic wherever it is installed, which takes 8 MB of each worker and
    delays its start. No item can be a pydantic model before its project has imported pydantic.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find pydantic as Python does, and update itemadapter once it is loaded."""
        if name != "pydantic":
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_set_names(module: ModuleType) -> None:
                load(module)
                sys.meta_path.remove(self)
                self._set_names()

            spec.loader.exec_module = load_and_set_names  # type: ignore[method-assign]
        return spec

    @classmethod
    def import_itemadapter(cls) -> None:
        """Import itemadapter without pydantic, unless one of them is imported already."""
        if "pydantic" in sys.modules or "itemadapter" in sys.modules:
            return
        sys.modules["pydantic"] = None  # type: ignore[assignment]
        try:
            importlib.import_module("itemadapter")
        finally:
            del sys.modules["pydantic"]
        sys.meta_path.insert(0, cls())

    @staticmethod
    def _set_names() -> None:
        """Set pydantic's names in the modules of itemadapter."""
        found = importlib.reload(sys.modules["itemadapter._imports"])
        names = [name for name in vars(found) if "pydantic" in name.lower()]
        for module in map(sys.modules.__getitem__, _HOLD_PYDANTIC):
            for name in names:
                if hasattr(module, name):
                    setattr(module, name, getattr(found, name))


# Scrapy reads the settings before it loads any command, which takes most of a start.
sys.excepthook = _print_start_error
# Nearly all objects of a start are permanent, also those of Scrapy, which is imported by now:
# collecting every 700 objects would find nothing, and take 0.1 s of each start.
gc.freeze()
gc.set_threshold(50_000)
_PydanticLater.import_itemadapter()
