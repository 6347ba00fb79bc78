"""The test suite's crawls: servers from REDIS_URL and DATABASE_URL, short leases."""

from settings import environment
from settings.base import *

SEINE_LEASE_SECONDS = 5
LOG_LEVEL = "INFO"
STATS_DUMP = True

environment.apply(globals())
