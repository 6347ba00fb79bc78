"""Settings of a whole process, with the add-on's line: its log, its stats, its consoles."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from redis import Redis

from tests.benchmarks.projects.run import STYLES
from tests.benchmarks.projects.site import Site
from tests.helpers import patient, serving

pytestmark = pytest.mark.redis
ROOT = Path(__file__).parents[2]
#: What a user of Redis' access control lists needs, as the guide has it.
ENOUGH = "~* &* +@all -@admin -@dangerous"


def run(folder: Path, site: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a project's spider with settings of its own."""
    command = [sys.executable, "-m", "scrapy", "runspider", str(STYLES / "quotes_tutorial.py")]
    values = {"ADDONS": '{"scrapy_seine.Addon": 500}', **settings}
    options = [part for pair in values.items() for part in ("-s", "=".join(pair))]
    return subprocess.run(
        [*command, "-a", f"site={site}", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )


def test_a_worker_keeps_the_projects_log_and_consoles(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    with serving(Site) as site:
        done = run(
            tmp_path,
            site,
            REDIS_URL=redis_url,
            SEINE_CRAWL=namespace,
            LOG_LEVEL="INFO",
            LOG_FILE="mine.log",
            LOG_FORMAT="%(asctime)s|%(levelname)s|%(message)s",
            LOG_DATEFORMAT="%H.%M",
            TELNETCONSOLE_ENABLED="1",
            STATS_DUMP="0",
        )
    log = (tmp_path / "mine.log").read_text("utf-8")
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert re.search(r"^\d\d\.\d\d\|INFO\|Spider closed \(finished\)$", log, re.MULTILINE), log
    assert "|DEBUG|" not in log
    assert "TelnetConsole" in log
    assert "Dumping Scrapy stats" not in log


def test_a_projects_log_on_a_full_disk_is_told_of_once(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    settings = f"REDIS_URL = {redis_url!r}\nSEINE_CRAWL = {namespace!r}\nLOG_FILE = 'own.log'\n"
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = own\n")
    (tmp_path / "own.py").write_text(
        settings + "ADDONS = {'scrapy_seine.Addon': 500}\n"
        "from resource import RLIMIT_FSIZE, setrlimit\n"
        "setrlimit(RLIMIT_FSIZE, (8192, 8192))  # no file of this process grows beyond\n"
    )
    with serving(Site) as site:
        done = run(tmp_path, site)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [
        f"seine: the log {tmp_path}/own.log cannot be written: File too large; "
        "its lines may be lost"
    ]


def test_consoles_are_off_and_stats_are_told_by_default(
    tmp_path: Path, redis_url: str, namespace: str
) -> None:
    with serving(Site) as site:
        log = run(tmp_path, site, REDIS_URL=redis_url, SEINE_CRAWL=namespace).stderr
    assert "Dumping Scrapy stats" in log
    assert "TelnetConsole" not in log


def test_an_unknown_level_is_refused_in_a_line(tmp_path: Path) -> None:
    done = run(tmp_path, "http://127.0.0.1:1", LOG_LEVEL="LOUD")
    assert done.returncode != 0
    assert "LOG_LEVEL" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"DNS_RESOLVER": "nosuch.Resolver"}, "DNS_RESOLVER names nosuch.Resolver, which cannot"),
        ({"SPIDER_LOADER_CLASS": "nosuch.Loader"}, "SPIDER_LOADER_CLASS names nosuch.Loader,"),
        ({"SCHEDULER": "nosuch.Scheduler"}, "SCHEDULER names nosuch.Scheduler, which cannot"),
        ({"DUPEFILTER_CLASS": "nosuch.Filter"}, "DUPEFILTER_CLASS names nosuch.Filter, which"),
        ({"LOG_FILE": "/proc/no/x.log"}, "LOG_FILE=/proc/no/x.log cannot be used"),
        ({"LOG_FORMAT": "%q"}, "LOG_FORMAT='%q' is not a format"),
        (
            {"FEEDS": '{"gopher://h/x.csv": {"format": "csv"}, "y.csv": {"format": "csv"}}'},
            "FEEDS: a feed cannot be used, as the line above says",
        ),
    ],
)
def test_a_setting_that_scrapy_cannot_use_ends_the_start_in_a_line(
    tmp_path: Path, redis_url: str, settings: dict[str, str], words: str
) -> None:
    done = run(tmp_path, "http://127.0.0.1:1", REDIS_URL=redis_url, **settings)
    assert done.returncode == 1
    assert words in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("rights", "words"),
    [
        (ENOUGH, "Spider closed (finished)"),
        ("~* &* +@all -evalsha -eval", f"the user of REDIS_URL needs {ENOUGH}"),
    ],
)
def test_a_user_of_redis_needs_the_rights_that_the_guide_names(
    tmp_path: Path, redis_url: str, namespace: str, rights: str, words: str
) -> None:
    assert ENOUGH in (ROOT / "docs/deploying.md").read_text("utf-8")
    user, parts = f"user-{namespace}", urlsplit(redis_url)
    url = parts._replace(netloc=f"{user}:word@{parts.netloc}").geturl()
    with serving(Site) as site, Redis.from_url(redis_url) as redis:
        redis.execute_command("ACL", "SETUSER", user, "on", ">word", *rights.split())
        try:
            done = run(tmp_path, site, REDIS_URL=url, SEINE_CRAWL=namespace)
        finally:
            redis.execute_command("ACL", "DELUSER", user)
    assert done.returncode == (rights != ENOUGH), done.stderr
    assert words in done.stderr
    assert ":word@" not in done.stderr
