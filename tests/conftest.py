"""Real servers for the whole suite, and a clean place on them for each test."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, settings
from redis.asyncio import Redis

from crawler.demo import shop_process, worker_processes
from crawler.stores import embedded
from crawler.stores.store_endpoints import redis_client as connect_redis
from tests import started
from tests.helpers import create_database, drop_database, patient, server_folder, sweep_servers
from tests.measuring import run_alone
from tests.ordering import long_first, rank

# A shared machine is slow at times; what hypothesis calls too slow there says nothing of the code.
settings.register_profile("seine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("seine")

# A shell starts background jobs with Ctrl-C ignored, and each process of a test inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Give each test's limit the room that a busy machine needs, and begin with the long tests."""
    for item in items:
        marker = item.get_closest_marker("timeout")
        if marker is not None and marker.args:
            item.add_marker(pytest.mark.timeout(patient(marker.args[0])), append=False)
    yield  # those that are not asked for are left out
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if processes > 1:
        items[:] = long_first(
            items, processes, rank, module=lambda item: item.nodeid.partition("::")[0]
        )


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Measure again what a busy machine spoils."""
    if item.get_closest_marker("alone") is None:
        return None
    run_alone(item, nextitem)
    return True


@pytest.fixture(scope="session", autouse=True)
def _started() -> Iterator[None]:
    """Workers of a fleet are forked as well, and the shops that they crawl."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker_processes, "subprocess", started)
        patch.setattr(shop_process, "subprocess", started)
        yield
    started.end()


@pytest.fixture(scope="session")
def _servers() -> Iterator[embedded.Servers]:
    sweep_servers()
    with server_folder(in_memory=True) as folder:
        yield embedded.start(folder, durable=False)


@pytest.fixture(scope="session")
def redis_url(_servers: embedded.Servers) -> str:
    """URL of the session's Redis; use `namespace` for keys of your own."""
    return _servers.redis_url


@pytest.fixture(scope="session")
def database_url(_servers: embedded.Servers) -> str:
    """URL of the session's PostgreSQL; use `database` or `database_url_empty` for tables."""
    return _servers.database_url


@pytest.fixture
def namespace() -> str:
    """Name for a crawl that no other test uses."""
    return f"t{uuid.uuid4().hex[:12]}"


@pytest.fixture
async def redis_client(redis_url: str) -> AsyncIterator[Redis]:
    """Client of the session's Redis."""
    client = connect_redis(redis_url)
    yield client
    await client.aclose()


@pytest.fixture
def database_url_empty(database_url: str) -> Iterator[str]:
    """URL of a fresh database with nothing in it."""
    url = create_database(database_url)
    yield url
    drop_database(database_url, url)


@pytest.fixture(scope="session")
def _template(database_url: str) -> str:
    """Name of a migrated database that tests get copies of."""
    from crawler.stores.migrations import migrate

    url = create_database(database_url)
    migrate(url)
    return urlsplit(url).path[1:]


@pytest.fixture
def database(database_url: str, _template: str) -> Iterator[str]:
    """URL of a fresh database with the schema in it."""
    url = create_database(database_url, template=_template)
    yield url
    drop_database(database_url, url)
