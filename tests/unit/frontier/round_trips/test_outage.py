"""What a worker says of a Redis that lets it in no more."""

from __future__ import annotations

import pytest
from redis.exceptions import AuthenticationError

from scrapy_seine.frontier.round_trips.outage import Outage
from scrapy_seine.frontier.round_trips.redis_refusals import Refusals


def test_a_password_that_was_changed_is_told_with_what_to_do(
    caplog: pytest.LogCaptureFixture,
) -> None:
    outage = Outage(60, Refusals(lambda name, count: None))
    for _ in range(3):
        outage.next_try(AuthenticationError("invalid username-password pair or user is disabled."))
    (line,) = [record.getMessage() for record in caplog.records]
    assert line == (
        "Redis does not answer: invalid username-password pair or user is disabled (has its "
        "password been changed? Correct the URL, and restart this process); working from the "
        "buffers"
    )
