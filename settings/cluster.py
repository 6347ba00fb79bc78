"""A fleet: REDIS_URL and DATABASE_URL are required, and workers wait for seeds when idle."""

from settings import environment
from settings.base import *

SEINE_KEEP_ALIVE = True
# Without it, scrapy_seine/endpoints.py refuses to start if REDIS_URL or DATABASE_URL is empty.
SEINE_EMBEDDED = False

environment.apply(globals())
