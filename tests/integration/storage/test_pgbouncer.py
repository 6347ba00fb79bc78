"""Everything works through PgBouncer in transaction mode, where no session is anybody's own."""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import psycopg2
import pytest

from crawler.stores.attempts import keep_days
from crawler.stores.export import Selection, stream
from crawler.stores.gone_products import finish_site
from crawler.stores.migrations import migrate, pending
from scrapy_seine.sinks.postgres.batches import Limits
from tests.helpers import wait_until
from tests.integration.storage.kit import T0, desk, row, rows_of

PROGRAM = shutil.which("pgbouncer", path=os.environ.get("PATH", "") + ":/usr/sbin")
pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not installed"),
]


def answers(url: str) -> bool:
    try:
        with closing(psycopg2.connect(url, connect_timeout=1)):
            return True
    except psycopg2.OperationalError:
        return False


@pytest.fixture
def pooled(database_url_empty: str) -> Iterator[str]:
    """URL of the same database through a pool of two connections for everybody."""
    parts = urlsplit(database_url_empty)
    host = parse_qs(parts.query)["host"][0]
    user = parts.username or getpass.getuser()
    folder = Path(tempfile.mkdtemp(prefix="seine-pgb-", dir="/tmp"))
    # It refuses to run as root.
    runner = pwd.getpwnam("nobody") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    os.chown(folder, runner.pw_uid, runner.pw_gid)
    config = folder / "pgbouncer.ini"
    config.write_text(
        f"[databases]\n* = host={host} user={user}\n[pgbouncer]\nunix_socket_dir = {folder}\n"
        "listen_port = 6432\npool_mode = transaction\nauth_type = any\ndefault_pool_size = 2\n"
        "max_client_conn = 50\nserver_reset_query_always = 1\n"
    )
    process = subprocess.Popen([str(PROGRAM), str(config)], user=runner.pw_uid, group=runner.pw_gid)
    url = f"postgresql://{user}@{parts.path}?host={quote(str(folder), safe='')}&port=6432".replace(
        f"@{parts.path}", f"@/{parts.path[1:]}"
    )
    try:
        wait_until(lambda: answers(url), 10, "PgBouncer answers")
        yield url
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


def test_migrations_writers_exports_and_finishing(pooled: str) -> None:
    assert migrate(pooled)
    assert pending(pooled) == []
    assert keep_days(pooled, 30) > 0
    with desk(pooled, Limits(age_s=0.01)) as one, desk(pooled, Limits(age_s=0.01)) as two:
        for number in range(600):
            one.put(row(number), number)
            two.put(row(number, at=T0 + timedelta(days=1), name=f"new {number}"), number)
    assert (len(one.stored), len(two.stored)) == (600, 600)
    assert rows_of(pooled, "SELECT count(*) FROM products WHERE name LIKE 'new%'") == [(600,)]
    done = finish_site(pooled, "shop", T0 + timedelta(hours=1))
    assert (done.known, done.gone, done.merged) == (600, 0, 0)
    with stream(pooled, Selection.parse("products", "external_id")) as (_, chunks):
        assert sum(len(chunk) for chunk in chunks) == 600
