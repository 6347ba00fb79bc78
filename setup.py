"""What a package holds depends on what is made; all that does not is in pyproject.toml.

A wheel holds the library alone, because top-level packages called `settings` or `spiders` cannot be
installed beside anybody's project. Scrapyd's egg and an installation for development hold the
catalogue crawler as well, with the entry point by which Scrapyd finds its settings.
"""

import sys
from tempfile import TemporaryDirectory

from setuptools import find_namespace_packages, setup

LIBRARY = ["scrapy_seine*"]
CRAWLER = ["crawler*", "spiders*", "pipelines*", "middlewares*", "settings*"]
COMMANDS = ["seine = scrapy_seine.commands.seine:Command"]
WHEEL, EGG = "bdist_wheel" in sys.argv, "bdist_egg" in sys.argv
#: pip makes a wheel's metadata by another call, which does not tell what the wheel is for.
DEVELOPMENT = "editable_wheel" in sys.argv
#: Takes the place of Scrapy's own in the environment of a checkout, because only what comes before
#: Scrapy's import can keep a Ctrl-C in it from a traceback. Nobody else's `scrapy` is replaced.
SCRIPTS = ["scrapy = scrapy_seine.interrupts:main"] if DEVELOPMENT else []

#: A wheel is built outside the checkout, because build/lib keeps what the last egg or wheel had: a
#: wheel made after `scrapyd-deploy` held `settings` and `spiders`.
BUILD = TemporaryDirectory(prefix="seine-wheel-")

setup(
    options={"build": {"build_base": BUILD.name}} if WHEEL else {},
    # Folders of data, too: setuptools warns of each that is none of its packages.
    packages=find_namespace_packages(
        include=LIBRARY if WHEEL else LIBRARY + CRAWLER, exclude=["*.__pycache__"]
    ),
    entry_points={
        "scrapy.commands": COMMANDS,
        "console_scripts": SCRIPTS,
        **({"scrapy": ["settings = settings.laptop"]} if EGG else {}),
    },
    # Said here, because setuptools takes any use of __path__ for a reason to unpack an egg. Package
    # data is read with importlib.resources, and the suite runs the project out of a zipped egg.
    zip_safe=True,
)
