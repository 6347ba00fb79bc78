"""Ctrl-C ends a command in one line, by the signal, wherever it comes."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import threading
from importlib.metadata import distribution
from pathlib import Path

import pytest

from scrapy_seine.interrupts import end_at_once, interruptible

#: Sends Ctrl-C to itself as soon as a module is asked for.
_AT_IMPORT = """
import os, signal, sys
class Now:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Now())
from {place} import {main}
{main}()
"""
#: Has a setting that Scrapy cannot read.
_WRONG = """
import os, sys
os.chdir({folder!r})
sys.argv = ["scrapy", "list"]
from scrapy_seine.interrupts import main
main()
"""
#: Loses it in a place that passes no exception on, as importlib's own callbacks are.
_LOST = """
import os, signal, sys
from scrapy_seine import interrupts
class Gone:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        os.getpid()  # the handler runs before it returns
def execute():
    with interrupts.interruptible():
        Gone()
    print("went on")
import scrapy.cmdline
scrapy.cmdline.execute = execute
interrupts.main()
"""

#: Counts the collector's looks while Scrapy is imported, and tells its state within the command.
_COLLECTED = """
import gc, sys
looks = []
gc.callbacks.append(lambda phase, told: looks.append(told))
def trace(frame, event, arg):
    if event == "call" and frame.f_code.co_name == "execute":
        print(len(looks), gc.isenabled(), gc.get_freeze_count() > 50_000)
        sys.setprofile(None)
from scrapy_seine.interrupts import main
looks.clear()
sys.argv = ["scrapy", "version"]
sys.setprofile(trace)
main()
"""


#: Says what the import of `main` loads that Python itself had not.
_LOADED = """
import sys
before = set(sys.modules)
from scrapy_seine.interrupts import main
print(*sorted(set(sys.modules) - before))
"""


#: Says how many files a command may open that was begun with few.
_FILES = """
import resource
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, hard))
import scrapy.cmdline
scrapy.cmdline.execute = lambda: print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
from scrapy_seine.interrupts import main
main()
"""


def ended(code: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("name", ["scrapy", "twisted.python", "scrapy.commands.crawl"])
def test_ctrl_c_while_scrapy_is_imported_is_one_line(name: str) -> None:
    code = _AT_IMPORT.format(name=name, place="scrapy_seine.interrupts", main="main")
    assert ended(code) == (-signal.SIGINT, "", "seine: stopped\n")


def test_ctrl_c_once_scrapy_s_own_program_has_loaded_the_library_is_one_line() -> None:
    """That is all a project can have that installs the library's wheel."""
    code = _AT_IMPORT.format(name="crawler.commands.crawl", place="scrapy.cmdline", main="execute")
    code = "import sys; sys.argv = ['scrapy', 'crawl', 'catalog']" + code
    assert ended(code) == (-signal.SIGINT, "", "seine: stopped\n")


def test_a_settings_module_that_scrapy_cannot_read_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = own_settings\n")
    (tmp_path / "own_settings.py").write_text("DOWNLOAD_SLOTS = 5\n")
    monkeypatch.delenv("SCRAPY_PROJECT", raising=False)
    monkeypatch.delenv("SCRAPY_SETTINGS_MODULE", raising=False)
    status, out, err = ended(_WRONG.format(folder=str(tmp_path)))
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("seine: own_settings: DOWNLOAD_SLOTS=5 is not a table")


def test_ctrl_c_that_a_callback_loses_ends_the_command_all_the_same() -> None:
    assert ended(_LOST) == (-signal.SIGINT, "", "seine: stopped\n")


def test_a_commands_work_sees_an_exception_and_nothing_else_does() -> None:
    before = signal.signal(signal.SIGINT, end_at_once)
    try:
        with pytest.raises(KeyboardInterrupt), interruptible():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is end_at_once
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_handles_ctrl_c_otherwise_is_left_alone() -> None:
    """Scrapy's own handler lets a worker end in order; a thread may set none at all."""
    with interruptible():
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interruptible():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        failed: list[BaseException] = []

        def work() -> None:
            try:
                with interruptible():
                    pass
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert failed == []
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_collector_is_off_for_scrapys_import_and_on_for_the_command() -> None:
    """A look at modules finds nothing; a dashboard without a collector would fill the memory."""
    status, out, _ = ended(_COLLECTED)
    assert (status, out.splitlines()[0]) == (0, "0 True True")


def test_a_checkouts_scrapy_is_the_one_that_knows_ctrl_c() -> None:
    """Scrapy's script imports for a second before any line of ours is read."""
    points = distribution("scrapy-seine").entry_points.select(group="console_scripts")
    assert [(point.name, point.value) for point in points] == [
        ("scrapy", "scrapy_seine.interrupts:main")
    ]


def test_little_is_imported_before_ctrl_c_has_its_handler() -> None:
    """`typing` and `threading` took 15 ms, in which Ctrl-C left a traceback."""
    assert not {"typing", "threading", "logging"} & set(ended(_LOADED)[1].split())


def test_a_command_may_open_as_many_files_as_the_system_allows() -> None:
    """A shell's limit of 256 left a worker, its sites and its servers waiting for each other."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    status, out, _ = ended(_FILES.format(soft=min(64, allowed)))
    assert (status, out) == (0, f"{allowed}\n")
