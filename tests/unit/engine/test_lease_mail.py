"""Leases that a worker hands to the one whose memory holds their request."""

from __future__ import annotations

import orjson
import pytest

from scrapy_seine.engine.local_requests import lease_of_mail, lease_to_mail
from scrapy_seine.frontier.model import Lease

LEASE = Lease(id="7", token="t", slot_ms=5, deliveries=1, stored=b"4000 a.example\n\x01\xff")


def test_a_lease_arrives_as_it_was_even_if_its_header_was_read():
    assert LEASE.domain == "a.example"
    assert lease_of_mail(lease_to_mail(LEASE)) == LEASE


def test_a_lease_of_another_version_is_read():
    fields = orjson.loads(lease_to_mail(LEASE))
    del fields["slack_ms"]
    assert lease_of_mail(orjson.dumps({**fields, "new": 1})) == LEASE


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"stored":"zz"}', b'{"stored":1}', b"\xff"])
def test_a_damaged_lease_is_warned_of_and_takes_no_other_with_it(text, caplog):
    assert lease_of_mail(text) is None
    assert "cannot be read, and comes again" in caplog.text
