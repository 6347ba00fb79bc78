"""A start that fails by a setting names the setting, not the line of code that read it."""

from __future__ import annotations

import pytest
from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from scrapy_seine.engine.starting.unusable_settings import blame


@pytest.mark.parametrize("path", ["nosuch.Policy", "middlewares.ban_policy.NoSuch"])
def test_a_class_that_another_packages_setting_names_is_told_with_the_setting(path: str) -> None:
    """It was a traceback of the package, because only Scrapy's own settings were looked at."""
    settings = BaseSettings({"SEINE_FLEET": "shop.example", "ROTATING_PROXY_BAN_POLICY": path})
    with pytest.raises((ImportError, NameError)) as raised:
        load_object(path)
    line = blame(settings, raised.value)
    assert line is not None
    assert line.startswith(f"ROTATING_PROXY_BAN_POLICY names {path}, which cannot be imported")


def test_a_text_with_points_is_not_taken_for_the_class_that_is_missing() -> None:
    settings = BaseSettings({"SEINE_FLEET": "shop.example"})
    assert blame(settings, ModuleNotFoundError("No module named 'other'")) is None


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("ITEM_PIPELINES", {"os.path": 300}, "os.path, which is no class but a module"),
        ("STATS_CLASS", "os.sep", "os.sep, which is no class but a str"),
        ("EXTENSIONS", {"logging.INFO": 1}, "logging.INFO, which is no class but a int"),
    ],
)
def test_a_thing_that_is_no_class_is_named(name: str, value: object, told: str) -> None:
    """The class behind its module was forgotten, and a traceback named no setting."""
    settings = BaseSettings({name: value})
    line = blame(settings, TypeError("'module' object is not callable"))
    assert line is not None
    assert line.startswith(f"{name} names {told}")


def test_a_class_is_not_blamed_for_an_error_of_its_own_code() -> None:
    settings = BaseSettings({"STATS_CLASS": "scrapy.statscollectors.MemoryStatsCollector"})
    assert blame(settings, TypeError("unsupported operand")) is None
