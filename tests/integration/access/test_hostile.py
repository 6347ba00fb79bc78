"""Whatever a site does to a client, each lane comes back with an answer or an error, in time."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.helpers import patient
from tests.integration.access.conftest import Fetch
from tests.integration.access.misdeeds import hostile_site

LIMITS = {"DOWNLOAD_MAXSIZE": 2_000_000, "DOWNLOAD_TIMEOUT": 4}


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with hostile_site() as (url, _):
        yield url


@pytest.mark.parametrize("lane", ["plain", "tls"])
def test_no_site_can_hold_a_lane_up(fetch: Fetch, site: str, lane: str) -> None:
    kinds = ["bomb", "endless", "drip", "circle/0", "cut", "garbage", "headers", "silence"]
    requests = [{"url": f"{site}/{kind}", "meta": {"lane": lane}} for kind in kinds]
    tls = {"url": site.replace("http:", "https:") + "/x", "meta": {"lane": lane}}
    began = time.monotonic()
    fetched = fetch(*requests, tls, timeout_s=50, **LIMITS)
    took = dict(zip([*kinds, "tls"], fetched.answers, strict=True))
    assert time.monotonic() - began < patient(40)
    for kind in ("bomb", "endless", "drip", "circle/0", "garbage", "silence", "tls"):
        assert "error" in took[kind], took[kind]
