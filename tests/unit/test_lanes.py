"""Which client serves the plain lane."""

from __future__ import annotations

import pytest

from scrapy_seine.engine.download.lanes import CLIENTS, client_of
from scrapy_seine.errors import ConfigError


@pytest.mark.parametrize("name", CLIENTS)
def test_a_setting_names_the_client(name: str) -> None:
    assert client_of({"SEINE_CLIENT": name}) == CLIENTS[name]


def test_a_client_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(ConfigError, match=r"SEINE_CLIENT='curl' is none of seine, scrapy"):
        client_of({"SEINE_CLIENT": "curl"})
