"""What is said before a worker starts: which names mean nothing, and of no other name."""

from __future__ import annotations

import logging

import pytest
from scrapy.settings import Settings

from crawler.cli.start_warnings import check_names


def test_a_setting_of_scrapys_that_the_command_line_gives_is_no_mistake(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SCRAPY_SETTINGS_MODULE", raising=False)
    settings = Settings()
    settings.set("CLOSESPIDER_PAGECOUNT", "5", priority="cmdline")
    settings.set("CLOSESPIDER_PAGECONT", "5", priority="cmdline")
    with caplog.at_level(logging.WARNING):
        check_names(settings)
    [said] = [line for line in caplog.messages if "CLOSESPIDER" in line]
    assert said.startswith("settings: CLOSESPIDER_PAGECONT is no setting")
