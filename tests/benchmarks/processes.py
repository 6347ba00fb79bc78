"""What processes use, by the kernel's account: CPU split in user and sys, memory, open files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import attrs
import psutil
import psycopg2
from redis import Redis


@attrs.frozen
class Cpu:
    """CPU seconds."""

    user: float = 0.0
    sys: float = 0.0

    @property
    def total(self) -> float:
        """Both."""
        return self.user + self.sys

    def __add__(self, other: Cpu) -> Cpu:
        return Cpu(self.user + other.user, self.sys + other.sys)

    def __sub__(self, other: Cpu) -> Cpu:
        return Cpu(self.user - other.user, self.sys - other.sys)


def tree(pid: int) -> list[psutil.Process]:
    """The process and all that descend from it; none if it is gone."""
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def cpu_of(processes: Iterable[psutil.Process]) -> Cpu:
    """What they used so far, with the children of theirs that ended."""
    total = Cpu()
    for process in processes:
        with suppress(psutil.Error):
            times = process.cpu_times()
            total += Cpu(times.user + times.children_user, times.system + times.children_system)
    return total


def memory_mb(processes: Iterable[psutil.Process]) -> float:
    """What they take together, in MB of 10^6 bytes; a page that n share counts 1/n to each."""
    total = 0
    for process in processes:
        with suppress(psutil.Error):
            total += process.memory_full_info().pss
    return total / 1e6


def peak_rss_mb(process: psutil.Process) -> float:
    """The most resident memory that it had, in MiB; 0 if it is gone.

    What `wait4` says of it would include the memory of whoever started it.
    """
    return _status_kb(process, "VmHWM") / 1024


def private_mb(processes: Iterable[psutil.Process]) -> float:
    """What they hold beside files and shared memory, in MB; PostgreSQL's buffers are the latter."""
    return sum(_status_kb(process, "RssAnon") * 1024 for process in processes) / 1e6


def _status_kb(process: psutil.Process, field: str) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1])
    return 0


@attrs.frozen(kw_only=True)
class Stores:
    """The process ids of a Redis and of a PostgreSQL's postmaster."""

    redis: int
    postgres: int

    @classmethod
    def behind(cls, redis_url: str, database_url: str) -> Stores:
        """Ask the servers who they are."""
        with Redis.from_url(redis_url) as client:
            redis = int(client.info("server")["process_id"])
        with closing(psycopg2.connect(database_url)) as connection:
            backend = psutil.Process(connection.info.backend_pid)
            return cls(redis=redis, postgres=backend.ppid())

    def cpu(self) -> dict[str, Cpu]:
        """CPU used so far, by store."""
        return {"redis": cpu_of(tree(self.redis)[:1]), "postgres": cpu_of(tree(self.postgres))}


@contextmanager
def spent(stores: Stores) -> Iterator[dict[str, Cpu]]:
    """Fill the mapping with what the stores spend during the block."""
    before, found = stores.cpu(), dict[str, Cpu]()
    yield found
    found.update({name: cpu - before[name] for name, cpu in stores.cpu().items()})


def client_connections(database_url: str) -> int:
    """Connections that clients have to the PostgreSQL server, this question's own left out."""
    query = """SELECT count(*) FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"""
    with closing(psycopg2.connect(database_url)) as connection, connection.cursor() as cursor:
        cursor.execute(query)
        return int(cursor.fetchone()[0])
