"""Where each address keeps a domain's limits, the frontier hands out as much as all of them may."""

from __future__ import annotations

import pytest

from tests.integration.frontier_kit import Driver, pages

pytestmark = pytest.mark.redis
SHOP = "a.example"


@pytest.fixture
async def driver(redis_client, namespace):
    driver = Driver(redis_client, namespace)
    await driver.f.configure(delay_ms=200, concurrency=2, half_window_ms=1000)
    await driver.f.push(pages(20))
    return driver


async def test_four_addresses_are_four_times_as_fast_and_each_knows_its_limits(driver) -> None:
    await driver.f.set_spread(SHOP, 4, ttl_ms=60_000)
    (lease,) = await driver.take()
    assert (lease.delay_ms, lease.each_ms, lease.each_cap) == (52, 200, 2)
    driver.later(54)
    assert await driver.take() == []
    driver.later(2)
    assert len(await driver.take()) == 1
    for _ in range(20):
        driver.later(60)
        await driver.take()
    assert (await driver.where())[2] == 8  # four times two in flight


async def test_what_is_not_repeated_is_forgotten(driver) -> None:
    await driver.f.set_spread(SHOP, 4, ttl_ms=1000)
    driver.later(1000)
    (lease,) = await driver.take()
    assert (lease.delay_ms, lease.each_ms, lease.each_cap) == (200, 0, 0)


async def test_one_address_that_is_left_keeps_the_limits_itself(driver) -> None:
    await driver.f.set_spread(SHOP, 1, ttl_ms=60_000)
    (lease,) = await driver.take()
    assert (lease.delay_ms, lease.each_ms, lease.each_cap) == (210, 200, 2)


async def test_what_the_site_asks_for_is_asked_of_all_addresses_together(driver) -> None:
    await driver.f.set_spread(SHOP, 4, ttl_ms=60_000)
    await driver.f.set_delay(SHOP, robots_ms=150)
    driver.later(1000)
    (lease,) = await driver.take()
    assert (lease.delay_ms, lease.each_ms) == (200, 0)
