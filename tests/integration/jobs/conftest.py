"""A frontier, its jobs, and a coordinator of one site's plan, on the suite's servers."""

from __future__ import annotations

import pytest

from crawler.catalogue.coordinator.leader import Coordinator
from crawler.catalogue.jobs.in_redis import Jobs
from tests.integration.frontier_kit import Driver
from tests.integration.jobs.kit import PLAN


@pytest.fixture
def driver(redis_client, namespace):
    return Driver(redis_client, namespace)


@pytest.fixture
def jobs(driver):
    return Jobs(driver.f)


@pytest.fixture
def coordinator(redis_client, namespace, database):
    return Coordinator(redis_client, namespace, database, [PLAN])
