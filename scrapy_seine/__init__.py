"""The library of Seine: any Scrapy project becomes distributed, polite as a fleet, and lossless.

    ADDONS = {"scrapy_seine.Addon": 500}
    REDIS_URL = "redis://localhost:6379/0"

It knows nothing of products, shops or tables. Read upwards: `errors urls meta config` are leaves;
`frontier` holds every request in exactly one place and keeps each site's pace; `politeness` decides
pauses; `engine` fills Scrapy's slots; `middlewares` keep what a site asks for; `reads` looks at a
fleet and `commands` acts on it (`scrapy seine …`); `embedded` starts a private Redis; `addon` is
the one line above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy_seine.addon import Addon

__all__ = ["Addon"]


def __getattr__(name: str) -> Any:
    """Load the add-on where it is asked for: a leaf's import must not load Scrapy."""
    if name == "Addon":
        from scrapy_seine.addon import Addon

        return Addon
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
