"""Redis that is more than one server: a Cluster, or a master that Sentinel watches.

`redis+cluster://host:6379,host:6380` names some nodes of a Cluster; the others are found through
them. `redis+sentinel://host:26379,host:26380/mymaster/0` names Sentinels, the master they watch,
and a database; who is master is asked anew for each connection, so a failover is a reconnect.
User and password, before an @, are those of the data's servers. `rediss+…` means TLS.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

import attrs
import hiredis
import redis as blocking
from redis.asyncio import Redis
from redis.asyncio.cluster import ClusterNode, RedisCluster
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.sentinel import Sentinel
from redis.cluster import ClusterNode as BlockingNode
from redis.connection import HiredisRespSerializer
from redis.exceptions import RedisClusterException
from redis.sentinel import Sentinel as BlockingSentinel

from scrapy_seine.errors import ConfigError
from scrapy_seine.records import Value

SCHEMES = ("redis+cluster", "rediss+cluster", "redis+sentinel", "rediss+sentinel")
_PORTS = {"cluster": 6379, "sentinel": 26379}


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Topology(Value):
    """What such a URL says."""

    kind: str
    """`cluster` or `sentinel`."""
    nodes: tuple[tuple[str, int], ...]
    master: str = ""
    options: Mapping[str, Any] = attrs.field(factory=dict, repr=False)
    """Credentials, database, TLS."""


def parse(url: str) -> Topology | None:
    """Read a URL; None: it names one server.

    Raises:
        ConfigError: it names no node, no master, or a port that is none.

    >>> parse("redis+sentinel://a,b:9/main").nodes
    (('a', 26379), ('b', 9))
    """
    scheme, _, rest = url.partition("://")
    if scheme not in SCHEMES:
        return None
    kind = scheme.partition("+")[2]
    # By hand: newer Pythons refuse an IPv6 address that is not alone between the slashes.
    authority, _, path = rest.partition("?")[0].partition("/")
    credentials, _, places = authority.rpartition("@")
    nodes = tuple(_node(place, _PORTS[kind]) for place in places.split(",") if place)
    master, _, database = path.strip("/").partition("/")
    if not nodes or (kind == "sentinel" and not master):
        raise ConfigError(f"REDIS_URL: {scheme}:// needs nodes, and Sentinel its master's name")
    user, _, password = credentials.partition(":")
    options: dict[str, Any] = {"username": unquote(user), "password": unquote(password)}
    options = {name: value for name, value in options.items() if value}
    if "?" in rest:
        raise ConfigError(f"REDIS_URL: {scheme}:// takes no parameters behind a question mark")
    if kind == "sentinel" and database:
        if not (database.isascii() and database.isdigit()):
            raise ConfigError(f"REDIS_URL: {database!r} behind the master is no database's number")
        options["db"] = int(database)
    if scheme.startswith("rediss"):
        options["ssl"] = True
    return Topology(kind=kind, nodes=nodes, master=master, options=options)


def _node(place: str, default: int) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{place}")
        return parts.hostname or "", parts.port or default
    except ValueError:
        raise ConfigError(f"REDIS_URL: {place!r} is no node") from None


@cache
def own_connection(kind: type[AbstractConnection]) -> type[AbstractConnection]:
    """A kind of connection that packs commands in C, and whose every loss is a connection error.

    redis-py's asynchronous connections put a command together in Python, argument by argument:
    that was one per cent of a page's CPU. What is written to a connection that the other end has
    reset meanwhile makes uvloop raise a RuntimeError, which nobody takes for an outage.
    """
    return kind if issubclass(kind, _OwnWays) else type(kind.__name__, (_OwnWays, kind), {})


class _OwnWays:
    _pack = staticmethod(HiredisRespSerializer().pack)

    def pack_command(self, *words: Any) -> Any:
        name = words[0]
        if isinstance(name, str) and " " not in name:
            try:
                return [hiredis.pack_command(words)]
            except TypeError:
                pass  # redis-py turns some kinds of bytes into others, and says what is none
        return self._pack(*words)

    async def send_packed_command(self, *command: Any, **how: Any) -> None:
        above: Any = super()
        try:
            await above.send_packed_command(*command, **how)
        except RuntimeError as error:
            raise blocking.ConnectionError("the connection was reset") from error


class ClusterClient(RedisCluster):
    """A cluster's client that looks like a server's: its outages are connection errors."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        kind = own_connection(self.connection_kwargs["connection_class"])
        self.connection_kwargs["connection_class"] = kind  # of nodes that are found later
        for node in self.startup_nodes:
            node.connection_class = kind  # type: ignore[assignment]

    async def initialize(self, *args: Any, **how: Any) -> Any:
        """Find the nodes.

        Raises:
            ConnectionError: none answers; the base class says so with an error of its own kind.
        """
        try:
            return await super().initialize(*args, **how)
        except RedisClusterException as error:
            raise blocking.ConnectionError(str(error)) from None


class WatchedClient(Redis):
    """A client of whichever server is master; it closes its questions to Sentinel too."""

    def __init__(self, *arguments: Any, **how: Any) -> None:
        super().__init__(*arguments, **how)
        pool: Any = self.connection_pool
        for one in (pool, *(asked.connection_pool for asked in pool.sentinel_manager.sentinels)):
            one.connection_class = own_connection(one.connection_class)

    async def aclose(self, close_connection_pool: bool | None = None) -> None:
        """Close every connection."""
        await super().aclose(close_connection_pool)
        pool: Any = self.connection_pool
        for sentinel in pool.sentinel_manager.sentinels:
            await sentinel.aclose()


def client(found: Topology, options: Mapping[str, Any]) -> Redis:
    """Open a client; it connects at its first command."""
    both = {**options, **found.options}
    if found.kind == "cluster":
        nodes = [ClusterNode(host, port) for host, port in found.nodes]
        made: Any = ClusterClient(startup_nodes=nodes, **both)
    else:
        watching: Any = Sentinel
        made = watching(found.nodes, sentinel_kwargs=_plain(options), **both)
        made = made.master_for(found.master, redis_class=WatchedClient)
    opened: Redis = made  # a Cluster's client has the same commands
    return opened


def blocking_client(found: Topology, options: Mapping[str, Any]) -> blocking.Redis:
    """Open a client that waits for each reply."""
    both = {**options, **found.options}
    node: Any = BlockingNode
    if found.kind == "cluster":
        nodes = [node(host, port) for host, port in found.nodes]
        made: Any = blocking.RedisCluster(startup_nodes=nodes, **both)
    else:
        watching: Any = BlockingSentinel
        made = watching(found.nodes, sentinel_kwargs=_plain(options), **both)
        made = made.master_for(found.master)
    opened: blocking.Redis = made  # the same
    return opened


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what holds for a connection to Sentinel too."""
    return {name: value for name, value in options.items() if name.startswith("socket")}
