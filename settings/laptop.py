"""One machine, nothing to set up: private servers are started where no URL is given."""

from settings import environment
from settings.base import *

SEINE_EMBEDDED = True

environment.apply(globals())
