"""A worker's start: what it loads, and what it leaves as it was."""

import subprocess
import sys

CLIENT = """
import inspect, sys
whole = inspect.stack
from crawler.engine.warmup import load_client
load_client()
from scrapy.core.downloader.contextfactory import ScrapyClientContextFactory
assert inspect.stack is whole
assert "twisted.internet.reactor" not in sys.modules
print(ScrapyClientContextFactory.__module__)
"""


def test_the_client_is_loaded_as_it_always_is_and_installs_no_reactor():
    done = subprocess.run(
        [sys.executable, "-c", CLIENT], check=False, capture_output=True, text=True
    )

    assert (done.stdout, done.stderr) == ("scrapy.core.downloader.contextfactory\n", "")
