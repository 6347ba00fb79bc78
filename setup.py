"""Scrapyd's deploy tool builds its egg through this file; everything is in pyproject.toml."""

from setuptools import setup

# Said here, because setuptools takes any use of __path__ for a reason to unpack an egg. Package
# data is read with importlib.resources, and the suite runs the project out of a zipped egg.
setup(zip_safe=True)
