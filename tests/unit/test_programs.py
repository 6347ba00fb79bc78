"""Which browser is launched."""

from __future__ import annotations

import pytest

from crawler.access.programs import check_kind, find_browser
from scrapy_seine.errors import ConfigError


@pytest.mark.parametrize("kind", ["firefox", "webkit", "Chromium", ""])
def test_another_browser_than_chromium_ends_the_start_in_a_line(kind: str) -> None:
    """Playwright would start it with Chromium's program, and each page would be a dead letter."""
    check_kind("chromium")
    with pytest.raises(ConfigError, match="only 'chromium' is launched here") as refused:
        check_kind(kind)
    assert "\n" not in str(refused.value)


def test_a_path_that_is_no_program_is_named() -> None:
    with pytest.raises(ConfigError, match="SEINE_BROWSER_PATH='/no/such' is no program"):
        find_browser("/no/such")
