"""Fetch one page and parse it as the spider would, for the commands about a single page."""

from __future__ import annotations

import argparse
import asyncio
import re
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attrs
from scrapy.exceptions import UsageError
from scrapy.settings import Settings
from scrapy.spiderloader import get_spider_loader

from crawler.extract import Found, Page, parse
from crawler.extract.links.nofollow import directives_for
from crawler.extract.site import Site
from scrapy_seine.attrs_bases import Value
from scrapy_seine.commands.base import SeineCommand
from scrapy_seine.engine.download.private_addresses import AddressPolicy, policy_from
from scrapy_seine.errors import ConfigError, SeineError
from scrapy_seine.urls import tidy

_TIMEOUT_S = 30
_MAX_BYTES = 20_000_000


@attrs.frozen(eq=False, repr=False)
class PageReply(Value):
    """A fetched or saved page."""

    url: str
    """After redirects."""
    body: bytes
    content_type: str = "text/html"
    robots: str = ""
    """The directives of X-Robots-Tag for this robot."""
    fetched: bool = True
    """False for a saved page, whose links are not followed."""


class BadStatus(SeineError):
    """The status of the response is an error."""

    def __init__(self, url: str, status: int) -> None:
        super().__init__(f"{url} answered {status}")
        self.status = status


class PageCommand(SeineCommand):
    """Base of the commands that take the URL of one page, or a saved page with --url."""

    arguments = "URL|FILE"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the URL of a saved page."""
        super().add_options(parser)
        parser.add_argument("--url", default="", help="where a saved page came from")
        parser.add_argument("--spider", default="catalog", help=argparse.SUPPRESS)

    def get_page(self, args: list[str], opts: argparse.Namespace) -> PageReply:
        """Get the page that the command line names.

        Raises:
            SeineError: the page cannot be fetched or read.
        """
        if len(args) != 1:
            raise UsageError("name one URL, or one file together with --url")
        if "://" in args[0]:
            _check_address(args[0])
            policy = policy_from(self.project)
            return asyncio.run(fetch(args[0], str(self.project.get("USER_AGENT")), policy))
        if not opts.url:
            raise ConfigError(f"{args[0]!r} has no http:// in front; a file needs --url beside it")
        _check_address(opts.url)
        try:
            return PageReply(opts.url, Path(args[0]).read_bytes(), fetched=False)
        except OSError as error:
            raise ConfigError(f"{args[0]} cannot be read: {error.strerror}") from None

    def parse_reply(self, reply: PageReply, opts: argparse.Namespace) -> tuple[Site, Page, Found]:
        """Parse the page as the spider would."""
        site = site_of(self.project, opts.spider, reply.url)
        page = parse(reply.body, reply.url, reply.content_type)
        return site, page, site.extract(page)


def _check_address(url: str) -> None:
    """Refuse an address that a crawl could not request.

    Raises:
        ConfigError: with the reason.
    """
    try:
        tidy(url)
    except ValueError as error:
        raise ConfigError(f"{url!r} cannot be read: {error}") from None


def site_of(settings: Settings, spider: str, url: str) -> Site:
    """Return the site file that a spider uses for a URL; Scrapy's loader loads the spider.

    Raises:
        ConfigError: there is no such spider, or it uses no site files.
    """
    try:
        spider_cls = get_spider_loader(settings).load(spider)
    except KeyError:
        raise ConfigError(f"no spider is named {spider!r}") from None
    find_site: Any = getattr(spider_cls, "site_of", None)
    if find_site is None:
        raise ConfigError(f"spider {spider!r} reads no sites")
    site = find_site(url)
    assert isinstance(site, Site)
    return site


async def fetch(url: str, user_agent: str, policy: AddressPolicy) -> PageReply:
    """Fetch one page; its host may be private, hosts that it redirects to may not.

    Raises:
        BadStatus: the response's status is an error.
        SeineError: there was no response.
    """
    import aiohttp  # late, because Scrapy imports every command, and a worker needs none

    timeout = aiohttp.ClientTimeout(total=_TIMEOUT_S)
    headers = {"User-Agent": user_agent, "Accept": "text/html,*/*;q=0.8"}
    try:
        named_addresses = await _addresses(url)

        def socket_for(info: Any) -> socket.socket:
            family, kind, protocol, _, address = info
            allowed = policy.mode == "allow" or (
                policy.mode == "seeds" and address[:2] in named_addresses
            )
            if policy.is_private(address[0]) and not allowed:
                raise OSError(f"{address[0]} is private, see SEINE_PRIVATE_ADDRESSES")
            return socket.socket(family, kind, protocol)

        connector = aiohttp.TCPConnector(socket_factory=socket_for)
        async with (
            aiohttp.ClientSession(timeout=timeout, headers=headers, connector=connector) as session,
            session.get(url) as reply,
        ):
            body = await reply.content.read(_MAX_BYTES)
            while not reply.content.at_eof() and len(body) < _MAX_BYTES:
                body += await reply.content.read(_MAX_BYTES - len(body))
    except aiohttp.ClientConnectorError as error:
        reason = error.os_error.strerror or error.os_error
        raise SeineError(f"{error.host}:{error.port} cannot be reached: {reason}") from None
    except TimeoutError:
        raise SeineError(f"{url} did not answer within {_TIMEOUT_S} s") from None
    except OSError as error:
        raise SeineError(f"{url} cannot be reached: {error.strerror or error}") from None
    except (aiohttp.ClientError, ValueError) as error:
        raise SeineError(f"{url}: {type(error).__name__} {error}") from None
    if not reply.ok:
        raise BadStatus(url, reply.status)
    kind = reply.headers.get("Content-Type", "")
    directives = directives_for(reply.headers.getall("X-Robots-Tag", ()), user_agent)
    return PageReply(str(reply.url), body, kind, directives)


async def _addresses(url: str) -> set[tuple[str, int]]:
    """Return the IP addresses and the port of a URL's host."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    infos = await asyncio.get_running_loop().getaddrinfo(
        parts.hostname or "", port, type=socket.SOCK_STREAM
    )
    return {(str(address[0]), port) for *_, address in infos}


def slug_of(url: str) -> str:
    """Return a name for a page's folder or a site's file.

    >>> slug_of("https://www.shop.example/p/red-lamp.html?x=1")
    'shop-example-p-red-lamp'
    """
    parts = urlsplit(url)
    text = f"{parts.hostname or ''}{re.sub(r'[.]html?$', '', parts.path)}"
    text = text.removeprefix("www.").lower()
    return "-".join(word for word in re.split(r"[^a-z0-9]+", text) if word)[:80]


def filled_fields(result: Found) -> dict[str, Any]:
    """Return a product's fields that have a value, as plain data."""
    product = result.product()
    if product is None:
        return {}
    fields = attrs.asdict(product)
    for name in ("url", "sources", "scraped_at", "job_id", "site_id"):
        fields.pop(name)
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}
