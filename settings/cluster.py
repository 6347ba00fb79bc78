"""A fleet: REDIS_URL and DATABASE_URL are required, and workers wait for seeds when idle."""

from settings import environment
from settings.base import *

SEINE_KEEP_ALIVE = True

environment.apply(globals())
