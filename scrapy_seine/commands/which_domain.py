"""Which domain a command is about: `--domain`, or the URL of one of its pages."""

from __future__ import annotations

import argparse

from scrapy_seine.errors import ConfigError
from scrapy_seine.urls import domain


def declare_domain(parser: argparse.ArgumentParser, text: str) -> None:
    """Declare --domain."""
    parser.add_argument("--domain", default="", help=f"{text}; a URL of it will do")


def domain_of(opts: argparse.Namespace) -> str:
    """Return the domain that an option names; '' for none.

    Raises:
        ConfigError: it is no domain, so that nothing would be found or acted on.

    >>> domain_of(argparse.Namespace(domain="https://Shop.example/sale"))
    'shop.example'
    >>> domain_of(argparse.Namespace(domain="shop.example:8080"))
    'shop.example:8080'
    >>> domain_of(argparse.Namespace(domain="shop.example/sale"))
    Traceback (most recent call last):
    scrapy_seine.errors.ConfigError: --domain 'shop.example/sale' is no domain, as shop.example
    """
    name: str = opts.domain
    try:
        if "://" in name:
            return domain(name)
        if not set(name) & set("/?#@ "):
            return name  # a slot of the project may have any other name
    except ValueError:
        pass
    raise ConfigError(f"--domain {name[:200]!r} is no domain, as shop.example")
