"""What access costs a plain crawl: next to nothing, since what has nothing to do is not there."""

from __future__ import annotations

import pytest
from scrapy.exceptions import NotConfigured
from scrapy.utils.misc import build_from_crawler

from middlewares.identities import Profiles
from middlewares.ladder import Escalate
from middlewares.proxies import Proxies
from tests.benchmarks.access import LIMIT_MS, crawler_of, measure


@pytest.mark.parametrize("idle", [Escalate, Profiles, Proxies])
def test_a_middleware_with_nothing_to_do_is_not_there(idle: type) -> None:
    with pytest.raises(NotConfigured):
        build_from_crawler(idle, crawler_of())


@pytest.mark.alone
def test_a_plain_page_costs_less_than_a_quarter_of_a_millisecond() -> None:
    costs = measure(pages=1000, rounds=3)
    there = {path.rpartition(".")[2] for path, ms in costs.items() if ms}
    assert {"Detect", "Render", "Egress", "Redirect", "MetaRefresh", "Decompress"} <= there
    assert sum(costs.values()) < LIMIT_MS, costs
