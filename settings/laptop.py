"""One machine, nothing to set up: embedded servers are started where no URL is given."""

from settings import environment
from settings.base import *

SEINE_EMBEDDED = True

environment.apply(globals())
