"""I8: a spider that fails to say a site's limits costs neither the seed nor the worker."""

from __future__ import annotations

import pytest

from scrapy_seine.politeness.site_limits import SiteLimits


class Failing:
    def limits_of(self, url: str) -> tuple[int, int]:
        raise KeyError(url)


def test_a_site_whose_limits_cannot_be_said_has_the_crawls_own(
    caplog: pytest.LogCaptureFixture,
) -> None:
    site_limits = SiteLimits()
    assert site_limits.limits_of_new_site("a.example", Failing()) is None
    site_limits.send_limits("b.example", Failing())
    assert caplog.text.count("limits_of failed") == 2
