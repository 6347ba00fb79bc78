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
    """Say whether the server answers and has our database.

    Raises:
        EmbeddedError: it runs but is silent.
    """
    problem = _problem(url(place))
    found = _process(place) if "timeout" in problem else None
    if found:
        raise EmbeddedError(f"{NAME} (pid {found.pid}) runs but does not answer; end it")
    return not problem


def start(place: Places, binaries: str, *, durable: bool = True) -> None:
    """Start the server, made anew where there is none yet; called under the lock.

    Raises:
        ConfigError: *binaries* is wrong.
        EmbeddedError: it cannot be started.
    """
    _server(place, binaries, durable).start()
    _create_database(place)  # also where one was there already: its starter may have died too early


def stop(place: Places) -> bool:
    """Stop the server; returns whether it ran.

    Raises:
        EmbeddedError: it does not end.
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
        # "Fast": clients are cut off, data is written. Then "immediate": the log is replayed later.
        ends=((signal.SIGINT, 20), (signal.SIGQUIT, 10)),
    )


def _spawn(place: Places, binaries: str, log: Path, durable: bool) -> process.Process:
    chosen = reachable(_choose(postgres_trees(binaries), place.database), place.account)
    with process.held(place.postgres_home / "postgres.in-use") as lock:
        # What a killed server left behind; its process id may be some other program's by now.
        (place.postgres_sockets / f"{POSTGRES_SOCKET}.lock").unlink(missing_ok=True)
        _clear_postmaster(place.database / "postmaster.pid")
        if not place.database.exists():
            _initialise(chosen, place, durable)
        command = _command(chosen, place, durable)
        started = process.spawn(command, account=place.account, log=log, lock=lock)
        process.remember(started, _pid_file(place))
    return started


def _pid_file(place: Places) -> Path:
    return place.data / "postgres.pid"


def _process(place: Places) -> process.Process | None:
    """Return the server that runs: by our file, or by its own where ours is lost."""
    found = process.recall(_pid_file(place))
    if found is not None:
        return found
    try:
        lines = (place.database / "postmaster.pid").read_text().splitlines()
        pid, sockets = int(lines[0]), lines[4]
    except (OSError, ValueError, IndexError):
        return None
    ours = sockets == str(place.postgres_sockets)
    return process.find(pid) if ours and _is_postgres(pid, place.database) else None


def _is_postgres(pid: int, folder: Path | str) -> bool:
    line = process.command_line(pid)
    return "postgres" in line and str(folder) in line


def _problem(address: str) -> str:
    """Return why no connection can be made, or nothing."""
    try:
        psycopg2.connect(address, connect_timeout=5).close()
    except psycopg2.OperationalError as error:
        return str(error).strip() or "no answer"
    return ""


def _clear_postmaster(file: Path) -> None:
    """Remove PostgreSQL's own lock file, unless a server that is not ours works on the folder.

    Called with our lock held: no server of ours, and no child of a killed one, is left.
    """
    try:
        pid, folder = file.read_text().splitlines()[:2]
        theirs = process.find(int(pid)).alive and _is_postgres(int(pid), folder)
    except (OSError, ValueError):
        theirs = False
    if not theirs:
        file.unlink(missing_ok=True)


def _choose(candidates: list[Postgres], database: Path) -> Postgres:
    """Take the first installation that can read the data.

    Raises:
        EmbeddedError: none can.
    """
    try:
        wanted = int((database / "PG_VERSION").read_text())
    except OSError:
        return candidates[0]
    for candidate in candidates:
        if candidate.major() == wanted:
            return candidate
    found = ", ".join(f"{c.major()} ({c.source})" for c in candidates)
    raise EmbeddedError(
        f"{database} was made by PostgreSQL {wanted}, here is {found}; set "
        "SEINE_EMBEDDED_BINARIES or SEINE_DATA_DIR"
    )


def _initialise(chosen: Postgres, place: Places, durable: bool) -> None:
    """Make the database's folder; it gets its name when it is complete."""
    new = place.postgres_home / "postgres.new"
    shutil.rmtree(new, ignore_errors=True)
    own_folder(new)
    place.account.give(new)
    command: list[str | Path] = [
        chosen.bin / "initdb",
        "-D",
        new,
        f"--username={USER}",
        "--auth=trust",
    ]
    command += ["--encoding=UTF8", "--locale=C", *([] if durable else ["--no-sync"])]
    status, said = place.account.run(command)
    if status:
        raise EmbeddedError(f"initdb failed in {new}: {_reason(said)}")
    new.rename(place.database)


def _reason(said: str) -> str:
    """Return the line of initdb's that says why; the last ones only say what it clears away.

    >>> _reason("creating ... ok\\ninitdb: error: no space left\\ninitdb: removing contents")
    'no space left'
    >>> _reason(""), _reason("Killed")
    ('no word', 'Killed')
    """
    found = re.search(r"(?:error|FATAL|PANIC): +(.+)", said)
    return found[1] if found else (said.strip().splitlines() or ["no word"])[-1]


def _command(chosen: Postgres, place: Places, durable: bool) -> list[str | Path]:
    # Root's trust reaches as far as the sockets' folder: only this user and root can enter it.
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
    return [chosen.bin / "postgres", "-D", place.database, *flags]


def _create_database(place: Places) -> None:
    with closing(psycopg2.connect(url(place, "postgres"), connect_timeout=5)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,))
            if cursor.fetchone() is None:
                cursor.execute(f'CREATE DATABASE "{DATABASE}"')


def psql(binaries: str) -> str:
    """Return the psql to type: by name where it is on PATH, else the one beside the server."""
    if shutil.which("psql"):
        return "psql"
    for tree in postgres_trees(binaries):
        if os.access(tree.bin / "psql", os.X_OK):
            return str(tree.bin / "psql")
    return "psql"
