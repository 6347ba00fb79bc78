"""One machine without setup: embedded servers are started where a URL is empty."""

from settings import environment
from settings.base import *

SEINE_EMBEDDED = True

environment.apply(globals())
