"""A worker's threads allocate from one arena, because each further arena keeps freed memory."""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys

import pytest

_THREADS = """
import ctypes, sys, threading
from crawler.commands.crawl import set_malloc_options
if sys.argv[1] == "one":
    set_malloc_options()
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
together = threading.Barrier(4)
def allocate():
    together.wait()
    b"x" * 10_000
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
out = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, out)
libc.fflush(out)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="glibc alone has arenas")
def test_the_threads_of_a_worker_share_one_arena() -> None:
    arenas = {}
    for limit in ("one", "default"):
        report = subprocess.run(
            [sys.executable, "-c", _THREADS, limit], check=True, capture_output=True, text=True
        ).stdout
        arenas[limit] = len(re.findall("<heap nr=", report))
    assert arenas["one"] == 1 < arenas["default"]
