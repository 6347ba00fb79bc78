"""`python -m tests.benchmarks.sides.later 2026-12-01T12:00:00+00:00 crawl …`: Scrapy on that day.

The clock goes on from there; only the time of day is another, not how long things take.
"""

from __future__ import annotations

import sys
from datetime import datetime

import time_machine
from scrapy.cmdline import execute

if __name__ == "__main__":
    _, day, *command = sys.argv
    traveller = time_machine.travel(datetime.fromisoformat(day), tick=True)
    traveller.start()
    execute(["scrapy", *command])
