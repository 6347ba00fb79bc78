"""The account that an embedded server runs under, and folders that belong to it."""

from __future__ import annotations

import os
import pwd
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path

import attrs

from scrapy_seine.attrs_bases import Value
from scrapy_seine.errors import EmbeddedError

#: PostgreSQL refuses to run as root; the first of these that exists runs it then.
UNPRIVILEGED = ("nobody", "daemon")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Account(Value):
    """A user of this machine."""

    uid: int
    gid: int
    name: str

    @property
    def ours(self) -> bool:
        """Whether this process already runs as this user."""
        return self.uid == os.geteuid()

    def options(self) -> dict[str, object]:
        """Return subprocess options to run a program as this user."""
        if self.ours:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def run(self, argv: Sequence[str | Path], timeout_s: float = 60) -> tuple[int, str]:
        """Run a program as this user; returns its status and output.

        Raises:
            EmbeddedError: it does not exist, does not end, or the user cannot be changed.
        """
        try:
            result = subprocess.run(
                [str(a) for a in argv],
                cwd="/",
                env=plain_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=timeout_s,
                check=False,
                **self.options(),  # type: ignore[call-overload]
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise EmbeddedError(f"cannot run {argv[0]} as user {self.name}: {error}") from None
        return result.returncode, result.stdout.decode("utf-8", "replace")

    def may_enter(self, folder: Path) -> bool:
        """Whether this user can enter *folder*, as the system itself decides."""
        return self.ours or self.run(["test", "-x", folder], timeout_s=10)[0] == 0

    def give(self, folder: Path) -> None:
        """Make this user the owner of a folder of ours."""
        if not self.ours:
            os.chown(folder, self.uid, self.gid)


def plain_environment() -> dict[str, str]:
    """Return an environment without the user's PGDATA, PGPORT or LD_PRELOAD."""
    path = os.environ.get("PATH", os.defpath)
    return {"PATH": path, "LC_ALL": "C", "TZ": "UTC"}


def myself() -> Account:
    """Return the user of this process, which may lack an entry in the password file."""
    uid = os.geteuid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        name = f"uid {uid}"
    return Account(uid=uid, gid=os.getegid(), name=name)


def for_postgres() -> Account:
    """Return the user PostgreSQL runs under: an unprivileged one if this process is root.

    Raises:
        EmbeddedError: there is none.
    """
    if os.geteuid() != 0:
        return myself()
    for name in UNPRIVILEGED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(uid=entry.pw_uid, gid=entry.pw_gid, name=name)
    raise EmbeddedError(
        f"PostgreSQL refuses to run as root, and none of the users {', '.join(UNPRIVILEGED)} "
        "exists; set DATABASE_URL"
    )


def own_folder(folder: Path, *, shared: bool = False) -> Path:
    """Make *folder* if it is missing; check that no other user could have written to it.

    Args:
        folder: where.
        shared: whether others may enter a new folder, though not list it.

    Raises:
        EmbeddedError: it is no folder, or another user can write to it.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        _check_owner(folder)
    else:
        folder.chmod(0o711 if shared else 0o700)
    return folder


def _check_owner(folder: Path) -> None:
    status = folder.lstat()
    if stat.S_ISLNK(status.st_mode):
        status = folder.resolve().stat()
    if not stat.S_ISDIR(status.st_mode):
        raise EmbeddedError(f"{folder} is no folder; remove it or set SEINE_DATA_DIR")
    if status.st_uid != os.geteuid():
        owner = _name(status.st_uid)
        raise EmbeddedError(f"{folder} belongs to {owner}; run as {owner} or set SEINE_DATA_DIR")
    if status.st_mode & 0o022:
        raise EmbeddedError(f"others can write to {folder}; chmod go-w it or set SEINE_DATA_DIR")


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"
