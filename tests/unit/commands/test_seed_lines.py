"""Which seeds a file holds, whatever it is."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from pathlib import Path

import pytest

from scrapy_seine.commands import seed
from scrapy_seine.engine.starting.seed_format import MOST_BYTES
from scrapy_seine.errors import ConfigError


def test_a_line_without_an_end_costs_only_itself(tmp_path: Path) -> None:
    """/dev/zero filled the memory."""
    file = tmp_path / "seeds"
    file.write_bytes(b"http://a.example/\n" + b"x" * (3 * MOST_BYTES) + b"\nhttp://b.example/\n")
    first, long, last = (line for _, line in seed.lines(str(file)))
    assert (first, last) == (b"http://a.example/", b"http://b.example/")
    assert MOST_BYTES < len(long) < 2 * MOST_BYTES


def test_an_empty_file_holds_none() -> None:
    assert list(seed.lines("/dev/null")) == []


def test_a_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        list(seed.lines(str(tmp_path)))


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_without_an_end_is_refused(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=f"^{device} is a device, and no list of seeds$"):
        list(seed.lines(device))
    with Path(device).open("rb") as stdin:
        monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": stdin}))
        with pytest.raises(ConfigError, match=r"^stdin is a device"):
            list(seed.lines("-"))


def test_a_pipe_whose_line_has_no_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """`cat /dev/zero | scrapy seed -` was read for ever."""
    monkeypatch.setattr(seed, "_ENDLESS", 1 << 20)
    reader, writer = os.pipe()

    def fill() -> None:
        with contextlib.suppress(BrokenPipeError):
            while os.write(writer, bytes(1 << 16)):
                pass
        os.close(writer)

    thread = threading.Thread(target=fill)
    thread.start()
    with open(reader, "rb") as stdin:  # noqa: PTH123  # a pipe
        monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": stdin}))
        with pytest.raises(ConfigError, match=r"^stdin has a line of more than 1 MiB, and is no"):
            list(seed.lines("-"))
    thread.join()
