"""The embedded PostgreSQL server."""

from __future__ import annotations

import os
import re
import shutil
import signal
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import psycopg2

from scrapy_seine.embedded import process
from scrapy_seine.embedded.account import own_folder
from scrapy_seine.embedded.binaries import Postgres, postgres_trees
from scrapy_seine.embedded.data_folder import POSTGRES_SOCKET, Places, reachable
from scrapy_seine.errors import EmbeddedError

NAME = "the embedded PostgreSQL server"
USER = DATABASE = "seine"


def url(place: Places, database: str = DATABASE) -> str:
    """Return the URL of a database of this server."""
    return f"postgresql://{USER}@/{database}?host={quote(str(place.postgres_sockets), safe='/')}"


def running(place: Places) -> bool:
    """Return whether the server answers and has our database.

    Raises:
        EmbeddedError: the server runs but does not answer.
    """
    problem = _problem(url(place))
    server = _process(place) if "timeout" in problem else None
    if server:
        raise EmbeddedError(f"{NAME} (pid {server.pid}) runs but does not answer; end it")
    return not problem


def start(place: Places, binaries: str, *, durable: bool = True) -> None:
    """Start the server, and first create its data where none exists; the caller holds the lock.

    Raises:
        ConfigError: *binaries* is wrong.
        EmbeddedError: the server cannot be started.
    """
    _server(place, binaries, durable).start()
    _create_database(place)  # also for existing data: the process that made it may have died early


def stop(place: Places) -> bool:
    """Stop the server; return whether it ran.

    Raises:
        EmbeddedError: the server does not stop.
    """
    return _server(place).stop()


def _server(place: Places, binaries: str = "auto", durable: bool = True) -> process.Server:
    log, admin = place.data / "postgres.log", url(place, "postgres")
    return process.Server(
        name=NAME,
        log=log,
        pid_file=_pid_file(place),
        socket=place.postgres_socket,
        found=lambda: _process(place),
        ready=lambda: not _problem(admin),
        spawn=lambda: _spawn(place, binaries, log, durable),
        # "Fast": disconnects clients, writes data. Then "immediate": replays the log at next start.
        ends=((signal.SIGINT, 20), (signal.SIGQUIT, 10)),
    )


def _spawn(place: Places, binaries: str, log: Path, durable: bool) -> process.Process:
    installation = reachable(_choose(postgres_trees(binaries), place.database), place.account)
    with process.held(place.postgres_home / "postgres.in-use") as lock:
        # A killed server leaves its lock file; another program may have its process id by now.
        (place.postgres_sockets / f"{POSTGRES_SOCKET}.lock").unlink(missing_ok=True)
        _clear_postmaster(place.database / "postmaster.pid")
        if not place.database.exists():
            _initialise(installation, place, durable)
        command = _command(installation, place, durable)
        child = process.spawn(command, account=place.account, log=log, lock=lock)
        process.remember(child, _pid_file(place))
    return child


def _pid_file(place: Places) -> Path:
    return place.data / "postgres.pid"


def _process(place: Places) -> process.Process | None:
    """Return the running server by our pid file, or by PostgreSQL's where ours is lost."""
    recorded = process.recall(_pid_file(place))
    if recorded is not None:
        return recorded
    try:
        lines = (place.database / "postmaster.pid").read_text().splitlines()
        pid, sockets = int(lines[0]), lines[4]
    except (OSError, ValueError, IndexError):
        return None
    is_ours = sockets == str(place.postgres_sockets)
    return process.find(pid) if is_ours and _is_postgres(pid, place.database) else None


def _is_postgres(pid: int, folder: Path | str) -> bool:
    line = process.command_line(pid)
    return "postgres" in line and str(folder) in line


def _problem(address: str) -> str:
    """Return why no connection can be made, or an empty string."""
    try:
        psycopg2.connect(address, connect_timeout=5).close()
    except psycopg2.OperationalError as error:
        return str(error).strip() or "no answer"
    return ""


def _clear_postmaster(file: Path) -> None:
    """Remove PostgreSQL's own lock file, unless a foreign server uses the folder.

    The caller holds our lock, so no server of ours and no child of a killed one runs.
    """
    try:
        pid, folder = file.read_text().splitlines()[:2]
        is_foreign = process.find(int(pid)).alive and _is_postgres(int(pid), folder)
    except (OSError, ValueError):
        is_foreign = False
    if not is_foreign:
        file.unlink(missing_ok=True)


def _choose(candidates: list[Postgres], database: Path) -> Postgres:
    """Return the first installation that can read the data.

    Raises:
        EmbeddedError: no installation can.
    """
    try:
        data_version = int((database / "PG_VERSION").read_text())
    except OSError:
        return candidates[0]
    for candidate in candidates:
        if candidate.major() == data_version:
            return candidate
    installations = ", ".join(f"{c.major()} ({c.source})" for c in candidates)
    raise EmbeddedError(
        f"{database} was made by PostgreSQL {data_version}, here is {installations}; set "
        "SEINE_EMBEDDED_BINARIES or SEINE_DATA_DIR"
    )


def _initialise(installation: Postgres, place: Places, durable: bool) -> None:
    """Create the database's folder; it gets its name once it is complete."""
    new_folder = place.postgres_home / "postgres.new"
    shutil.rmtree(new_folder, ignore_errors=True)
    own_folder(new_folder)
    place.account.give(new_folder)
    command: list[str | Path] = [
        installation.bin / "initdb",
        "-D",
        new_folder,
        f"--username={USER}",
        "--auth=trust",
    ]
    command += ["--encoding=UTF8", "--locale=C", *([] if durable else ["--no-sync"])]
    status, output = place.account.run(command)
    if status:
        raise EmbeddedError(f"initdb failed in {new_folder}: {_reason(output)}")
    new_folder.rename(place.database)


def _reason(output: str) -> str:
    """Return the error line of initdb's output; its last lines only report the clean-up.

    >>> _reason("creating ... ok\\ninitdb: error: no space left\\ninitdb: removing contents")
    'no space left'
    >>> _reason(""), _reason("Killed")
    ('no word', 'Killed')
    """
    match = re.search(r"(?:error|FATAL|PANIC): +(.+)", output)
    return match[1] if match else (output.strip().splitlines() or ["no word"])[-1]


def _command(installation: Postgres, place: Places, durable: bool) -> list[str | Path]:
    # "trust" is safe, because only this user and root can enter the sockets' folder.
    options = {
        "listen_addresses": "",
        "port": "5432",
        "unix_socket_directories": '"' + str(place.postgres_sockets) + '"',
        "unix_socket_permissions": "0700",
        "max_connections": "200",
        "timezone": "UTC",
        "logging_collector": "off",
    }
    if not durable:
        options |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
    flags = [text for k, v in options.items() for text in ("-c", f"{k}={v}")]
    return [installation.bin / "postgres", "-D", place.database, *flags]


def _create_database(place: Places) -> None:
    with closing(psycopg2.connect(url(place, "postgres"), connect_timeout=5)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,))
            if cursor.fetchone() is None:
                cursor.execute(f'CREATE DATABASE "{DATABASE}"')


def psql(binaries: str) -> str:
    """Return the psql to run: its name where it is on PATH, else its path beside the server."""
    if shutil.which("psql"):
        return "psql"
    for tree in postgres_trees(binaries):
        if os.access(tree.bin / "psql", os.X_OK):
            return str(tree.bin / "psql")
    return "psql"
