"""Scrapy's own commands say in a line what they cannot use."""

from __future__ import annotations

import fcntl
import os
import sys
from argparse import Namespace
from errno import EACCES
from pathlib import Path

import pytest
from scrapy.commands.genspider import Command as ScrapyGenspider
from scrapy.settings import Settings

from crawler.commands import genspider
from crawler.stores.export_formats import open_output
from scrapy_seine.errors import ConfigError
from tests.started import PIPE, run


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("check NOSUCH", "no spider is named 'NOSUCH'"),
        ("fetch --spider NOSUCH http://127.0.0.1:1/", "no spider is named 'NOSUCH'"),
        ("parse --spider NOSUCH http://127.0.0.1:1/", "no spider is named 'NOSUCH'"),
        ("fetch http://a:99999/", "'http://a:99999/' cannot be read: Port out of range"),
        ("view http://[", "'http://[' cannot be read: Invalid IPv6 URL"),
        ("shell /nosuch.html -c 1", "/nosuch.html: there is no such file"),
        ("genspider a b://[", "'b://[' cannot be read: Invalid IPv6 URL"),
        ("fetch http://127.0.0.1:1/ -s DOWNLOAD_TIMEOUT=x", "DOWNLOAD_TIMEOUT='x' is not a number"),
        ("shell http://[ -c 1", "'http://[' cannot be read: Invalid IPv6 URL"),
    ],
)
def test_what_cannot_be_used_is_one_line(words: str, said: str) -> None:
    """Each was a traceback, or an exit status of 0."""
    root = Path(__file__).parents[3]
    command = [sys.executable, "-m", "scrapy", *words.split(), "--nolog"]
    done = run(command, cwd=root, stdout=PIPE, stderr=PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(f"seine: {said}")
    assert done.stderr.count("\n") == 1


def test_a_wrong_setting_of_the_environment_is_one_line() -> None:
    command = [sys.executable, "-m", "scrapy", "fetch", "http://127.0.0.1:1/", "--nolog"]
    env = {**os.environ, "STATS_DUMP": "x"}
    done = run(command, cwd=Path(__file__).parents[3], env=env, stdout=PIPE, stderr=PIPE, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("seine: STATS_DUMP='x' is not 1 or 0")


def test_a_new_spider_in_a_folder_of_another_user_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(EACCES, "Permission denied", "spiders/new.py")

    monkeypatch.setattr(ScrapyGenspider, "run", denied)
    command = genspider.Command()
    command.settings = Settings()
    command.run(["new", "shop.example"], Namespace(spider=None))
    assert command.exitcode == 1
    assert capsys.readouterr().err == "seine: spiders/new.py cannot be used: Permission denied\n"


def test_an_export_takes_no_devices_place_and_a_link_stays_one(tmp_path: Path) -> None:
    """`--output /dev/null`, by root, made a file of the machine's device."""
    pipe, link, real = (tmp_path / name for name in ("pipe", "link.csv", "real.csv"))
    os.mkfifo(pipe)
    link.symlink_to(real)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for output in (pipe, link):
        with open_output(str(output)) as file:
            file.write(b"rows")
    assert pipe.is_fifo()
    assert os.read(reader, 9) == real.read_bytes() == b"rows"
    assert link.is_symlink()
    os.close(reader)
    with pytest.raises(ConfigError, match="No space left"), open_output("/dev/full") as file:
        file.write(b"rows")
    with pytest.raises(ConfigError, match="directory"), open_output(str(tmp_path)):
        pass


def test_an_export_removes_what_killed_ones_left_beside_its_file(tmp_path: Path) -> None:
    names = ["left-0", "busy-1", "new-2", "a.csv.0000000g.part", "b.csv.00000003.part"]
    left, busy, new, *others = [
        tmp_path / (name if "." in name else f"a.csv.0000000{name[-1]}.part") for name in names
    ]
    for path in (left, busy, new, *others):
        path.touch()
        os.utime(path, None if path == new else (1, 1))
    with busy.open("wb") as writing:
        fcntl.flock(writing, fcntl.LOCK_EX)
        os.utime(busy, (1, 1))
        with open_output(str(tmp_path / "a.csv")) as file:
            file.write(b"rows")
    assert set(tmp_path.iterdir()) == {tmp_path / "a.csv", busy, new, *others}


def test_two_exports_to_one_file_at_once_do_not_mix(tmp_path: Path) -> None:
    """Say two cron jobs: the first one's name came to the half-written file of both."""
    output = tmp_path / "all.csv"
    with open_output(str(output)) as second:
        with open_output(str(output)) as first:
            second.write(b"22")
            first.write(b"1111")
        assert output.read_bytes() == b"1111"
    assert output.read_bytes() == b"22"
    assert list(tmp_path.iterdir()) == [output]


def test_an_export_to_a_closed_output_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """`>&-`: rows that nobody can have were called exported."""
    monkeypatch.setattr(sys, "__stdout__", None)
    with pytest.raises(ConfigError, match="standard output is closed"), open_output("-"):
        pass
