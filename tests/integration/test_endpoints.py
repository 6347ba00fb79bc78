"""A store that cannot be used is one line that names the setting and hides the password."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis
import uvloop
from redis.asyncio import Connection, Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import DataError, RedisError

from crawler.stores import store_endpoints
from scrapy_seine import redis_topology
from scrapy_seine.commands import fleet_base
from scrapy_seine.errors import ConfigError, StoreUnreachable
from tests.helpers import drop_database, execute


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that accepts and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_both_stores_answer(redis_url: str, database_url: str) -> None:
    found = store_endpoints.endpoints({"REDIS_URL": redis_url, "DATABASE_URL": database_url})
    assert found == store_endpoints.Endpoints(redis_url, database_url)


def test_a_refused_connection_names_the_setting_and_hides_the_password() -> None:
    settings = {
        "REDIS_URL": "redis://:hunter2@127.0.0.1:1/0",
        "DATABASE_URL": "postgresql://u:hunter2@127.0.0.1:1/x?password=hunter2",
    }
    with pytest.raises(StoreUnreachable) as caught:
        store_endpoints.endpoints(settings)
    line = str(caught.value)
    assert "REDIS_URL=redis://***@127.0.0.1:1/0" in line
    assert "DATABASE_URL=postgresql://***@127.0.0.1:1/x" in line
    assert "hunter2" not in line
    assert "\n" not in line


@pytest.mark.alone
def test_two_silent_stores_cost_no_more_than_the_limit(
    silent_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapy_seine.endpoints.CHECK_S", 0.3)
    settings = {
        "REDIS_URL": f"redis://127.0.0.1:{silent_port}",
        "DATABASE_URL": f"postgresql://127.0.0.1:{silent_port}/x",
    }
    start = time.monotonic()
    with pytest.raises(StoreUnreachable, match=r"REDIS_URL.*DATABASE_URL"):
        store_endpoints.endpoints(settings)
    assert time.monotonic() - start < 2


def test_a_cluster_without_addresses_is_told_which_to_set(redis_url: str) -> None:
    with pytest.raises(ConfigError, match="REDIS_URL and DATABASE_URL must be set"):
        store_endpoints.endpoints({})
    with pytest.raises(ConfigError, match="DATABASE_URL must be set"):
        store_endpoints.endpoints({"REDIS_URL": redis_url})


def test_an_address_may_come_from_the_environment_alone(
    redis_url: str, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", redis_url)
    monkeypatch.setenv("DATABASE_URL", database_url)
    here = store_endpoints.Endpoints(redis_url, database_url)
    assert store_endpoints.endpoints({}) == here
    assert store_endpoints.endpoints({"REDIS_URL": "", "DATABASE_URL": None}) == here
    assert fleet_base.addresses({}) == here
    with pytest.raises(StoreUnreachable, match="REDIS_URL=redis"):  # a setting wins
        store_endpoints.endpoints({"REDIS_URL": "redis://127.0.0.1:1"})


def test_a_caller_that_needs_one_store_waits_for_no_other(redis_url: str) -> None:
    found = store_endpoints.endpoints({"REDIS_URL": redis_url}, need=("redis",))
    assert found.redis_url == redis_url


@pytest.mark.parametrize(
    ("parameter", "said"),
    [
        ("socket_timeout=abc", "Invalid value for 'socket_timeout'"),
        ("db=abc", "Invalid value for 'db'"),
        ("db=99999", "DB index is out of range"),
        ("tls=1", "there is no parameter 'tls'"),
        ("protocol=9", "protocol must be either 2 or 3"),
        ("username=nobody&password=hunter2", "refuses the user name or the password"),
    ],
)
def test_a_mistyped_parameter_of_redis_is_a_line_at_once(
    redis_url: str, parameter: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """I10: each was a traceback, and the worker waited 600 s for a server that was there."""
    url = f"{redis_url.partition('?')[0]}?{parameter}"
    with pytest.raises(ConfigError, match="REDIS_URL") as caught:
        store_endpoints.endpoints({"REDIS_URL": url}, need=("redis",))
    assert said in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "url",
    [
        "redis+sentinel://127.0.0.1/main/one",
        "redis+cluster://127.0.0.1:1?socket_timeout=1",
        "redis://127.0.0.1:1/0?ssl_cert_reqs=none",
    ],
)
def test_a_parameter_that_an_address_cannot_have_is_a_line_at_once(url: str) -> None:
    with pytest.raises(ConfigError, match="REDIS_URL"):
        store_endpoints.endpoints({"REDIS_URL": url}, need=("redis",))


def test_a_database_that_lacks_letters_is_a_line_at_once(database_url: str) -> None:
    """I10: each page with such a letter failed ten times, and scrapy doctor found nothing."""
    made = "ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
    execute(database_url, f"CREATE DATABASE t_latin {made}")
    url = urlsplit(database_url)._replace(path="/t_latin").geturl()
    try:
        with pytest.raises(ConfigError, match="its encoding is LATIN1"):
            store_endpoints.endpoints({"DATABASE_URL": url}, need=("postgres",))
    finally:
        drop_database(database_url, url)


def test_a_cluster_that_is_away_is_waited_for_and_no_traceback(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(StoreUnreachable, match="Connection refused"):
        store_endpoints.endpoints({"REDIS_URL": "redis+cluster://127.0.0.1:1"}, need=("redis",))
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "parameter",
    [
        "sslmode=sure",
        "connect_timeout=soon",
        "target_session_attrs=best",
        "channel_binding=x",
        "service=none",
        "options=-c%20nosuch%3D1",
        "options=--bad",
        "client_encoding=klingon",
        "sslmod=require",
        "user=nobody_here",
    ],
)
def test_a_mistyped_parameter_of_postgresql_is_a_line_at_once(
    database_url: str, parameter: str
) -> None:
    """I10: it was taken for an outage, and waited for up to 600 s."""
    sign = "&" if "?" in database_url else "?"
    with pytest.raises(ConfigError, match="DATABASE_URL"):
        store_endpoints.endpoints(
            {"DATABASE_URL": f"{database_url}{sign}{parameter}"}, need=("postgres",)
        )


@pytest.mark.parametrize(
    "url", ["hunter2", "redis://:a/hunter2@h/0", "redis://:a#hunter2@h", "postgresql://h/x"]
)
def test_what_is_no_url_is_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError, match="REDIS_URL") as caught:
        store_endpoints.endpoints({"REDIS_URL": url}, need=("redis",))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("'redis://h:1/0'", ": leave out the quotation marks"),
        ('"redis://h:1/0', ": leave out the quotation marks"),
        ("h:6379", "; write redis:// in front"),
        ("redsi://h", "; did you mean redis://?"),
        ("redis://h:port/0", "has a port that is no number from 0 to 65535"),
        ("redis://u:p#w@h:1/0", "has a port that is no number from 0 to 65535"),
        ("redis://h:99999", "has a port that is no number from 0 to 65535"),
        ("redis://:p@::1:6379/0", "IPv6 address without brackets: write redis://[::1], for"),
    ],
)
def test_what_is_no_url_is_told_why(url: str, words: str) -> None:
    with pytest.raises(ConfigError, match=r"^REDIS_URL ") as caught:
        store_endpoints.endpoints({"REDIS_URL": url}, need=("redis",))
    assert words in str(caught.value)


def test_a_file_of_an_address_that_cannot_be_read_is_named() -> None:
    """The client's own error is "No such file or directory", and was waited for as an outage."""
    url = "rediss://127.0.0.1:1/0?ssl_ca_certs=/nosuch/ca.pem"
    with pytest.raises(ConfigError, match=r"ssl_ca_certs=/nosuch/ca\.pem cannot be read: No such"):
        store_endpoints.endpoints({"REDIS_URL": url}, need=("redis",))


def _key_and_certificate(folder: Path, name: str) -> tuple[Path, Path]:
    key, certificate = folder / f"{name}.key", folder / f"{name}.crt"
    words = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-days", "2")
    command = ["openssl", *words, "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return key, certificate


def test_certificates_that_cannot_be_used_are_named_at_once(tmp_path: Path) -> None:
    """The client's own error is one of the connection, and was waited for as an outage."""
    key, certificate = _key_and_certificate(tmp_path, "one")
    other_key, _ = _key_and_certificate(tmp_path, "other")
    (tmp_path / "empty").touch()
    pair = f"ssl_certfile={certificate}&ssl_keyfile="
    for query, words in {
        f"ssl_ca_certs={tmp_path}/empty": "ssl_ca_certs=.*empty cannot be used: no certificate",
        f"ssl_ca_certs={certificate}&{pair}{other_key}": "ssl_certfile=.*one.crt and ssl_keyfile="
        ".*other.key cannot be used: key values mismatch",
        f"{pair}{tmp_path}/empty": "ssl_keyfile=.*empty cannot be used",
    }.items():
        url = f"rediss://127.0.0.1:1/0?{query}"
        with pytest.raises(ConfigError, match=words):
            store_endpoints.endpoints({"REDIS_URL": url}, need=("redis",))
    url = f"rediss://127.0.0.1:1/0?ssl_ca_certs={certificate}&{pair}{key}"
    with pytest.raises(StoreUnreachable, match="Connection refused"):
        store_endpoints.endpoints({"REDIS_URL": url}, need=("redis",))


@pytest.mark.alone
async def test_a_client_tries_a_dead_server_once(tmp_path: Path) -> None:
    client: Redis = store_endpoints.redis_client(f"unix://{tmp_path}/none.sock")
    start = time.monotonic()
    with pytest.raises(RedisConnectionError):
        await client.ping()
    assert time.monotonic() - start < 0.5
    await client.aclose()


async def test_a_command_is_packed_as_redis_py_packs_it(redis_url: str) -> None:
    client = store_endpoints.redis_client(redis_url)
    connection = client.connection_pool.make_connection()
    words = ("SCRIPT LOAD", "Grüße", b"\x00\r\n", 7, -1.5, bytearray(b"x" * 9000), "")
    some = [words, ("SET", *words[1:-2]), ("SET", *words), ("SET", memoryview(b"x"))]
    packed = b"".join(connection.pack_commands(some))
    assert packed == b"".join(Connection().pack_commands(some))
    with pytest.raises(DataError):
        connection.pack_command("SET", "key", None)
    await client.aclose()


async def test_no_connection_reads_the_metadata_of_installed_packages(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took 1 ms of each connection, and a worker opens several."""
    monkeypatch.setattr("redis.utils.metadata.version", lambda _: pytest.fail("metadata is read"))
    client = store_endpoints.redis_client(redis_url)
    await client.ping()
    clients: Any = await client.client_list()
    assert redis.__version__ in {one.get("lib-ver", redis.__version__) for one in clients}
    await client.aclose()
    with store_endpoints.blocking_client(redis_url) as blocking:
        assert blocking.ping()


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_a_connection_that_the_other_end_reset_is_an_outage_for_every_event_loop(
    redis_url: str, run: Callable[[Any], None]
) -> None:
    """uvloop raises a RuntimeError, by which a worker ended at once in place of waiting."""

    async def scenario() -> None:
        client: Any = store_endpoints.redis_client(redis_url)
        connection = await client.connection_pool.get_connection()
        connection._writer.transport.abort()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        with pytest.raises(RedisError):
            await connection.send_command("PING")
        assert await client.ping()
        await client.aclose()

    run(scenario())


@pytest.mark.parametrize(
    "url", ["redis+cluster://127.0.0.1:1", "redis+sentinel://127.0.0.1:1/main", "redis://h:1"]
)
async def test_each_kind_of_client_has_such_connections(url: str) -> None:
    client: Any = store_endpoints.redis_client(url)
    if hasattr(client, "startup_nodes"):
        holders = [*client.startup_nodes, SimpleNamespace(**client.connection_kwargs)]
    else:
        manager = getattr(client.connection_pool, "sentinel_manager", None)
        watching = [] if manager is None else manager.sentinels
        holders = [client.connection_pool, *(one.connection_pool for one in watching)]
    for holder in holders:
        kind = holder.connection_class
        assert redis_topology.own_connection(kind) is kind
    await client.aclose()


async def test_a_connection_that_is_closed_while_a_command_is_sent_is_an_outage() -> None:
    """A Cluster's client closes its connections when a slot has moved."""

    class Closing(Connection):
        is_connected = True  # `send_packed_command` looks, and another task closes it

    with pytest.raises(RedisConnectionError):
        await redis_topology.own_connection(Closing)().send_packed_command(b"PING", False)
