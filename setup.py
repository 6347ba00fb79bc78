"""Scrapyd's deploy tool builds its egg through this file; everything is in pyproject.toml."""

from setuptools import setup

setup()
