"""Redis with several servers: a Cluster, or a master that Sentinel watches.

`redis+cluster://host:6379,host:6380` names some nodes of a Cluster; the client finds the others
through them. `redis+sentinel://host:26379,host:26380/mymaster/0` names Sentinels, the master they
watch, and a database; each connection asks for the current master, so a failover is a reconnect.
User and password, before an @, are for the data's servers. `rediss+…` means TLS.
"""

from __future__ import annotations

import asyncio
import threading
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
from redis.exceptions import ClusterError, RedisClusterException
from redis.sentinel import Sentinel as BlockingSentinel

from scrapy_seine.attrs_bases import Value
from scrapy_seine.errors import ConfigError

SCHEMES = ("redis+cluster", "rediss+cluster", "redis+sentinel", "rediss+sentinel")
_PORTS = {"cluster": 6379, "sentinel": 26379}


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Topology(Value):
    """The content of such a URL."""

    kind: str
    """`cluster` or `sentinel`."""
    nodes: tuple[tuple[str, int], ...]
    master: str = ""
    options: Mapping[str, Any] = attrs.field(factory=dict, repr=False)
    """Credentials, database, TLS."""


def parse(url: str) -> Topology | None:
    """Parse a URL; None: it names one server.

    Raises:
        ConfigError: it names no node, no master, or an invalid port.

    >>> parse("redis+sentinel://a,b:9/main").nodes
    (('a', 26379), ('b', 9))
    """
    scheme, _, address = url.partition("://")
    if scheme not in SCHEMES:
        return None
    kind = scheme.partition("+")[2]
    # By hand, because newer Pythons refuse an IPv6 address that is not alone between the slashes.
    authority, _, path = address.partition("?")[0].partition("/")
    credentials, _, places = authority.rpartition("@")
    nodes = tuple(_node(place, _PORTS[kind]) for place in places.split(",") if place)
    master, _, database = path.strip("/").partition("/")
    if not nodes or (kind == "sentinel" and not master):
        raise ConfigError(f"REDIS_URL: {scheme}:// needs nodes, and Sentinel its master's name")
    user, _, password = credentials.partition(":")
    options: dict[str, Any] = {"username": unquote(user), "password": unquote(password)}
    options = {name: value for name, value in options.items() if value}
    if "?" in address:
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
    """Make a connection class that packs commands in C, and raises connection errors for all
    losses.

    redis-py's asynchronous connections build a command in Python, argument by argument: that was
    one per cent of a page's CPU. Writing to a connection that the other end has reset makes uvloop
    raise a RuntimeError, and to one that a Cluster's client closes meanwhile, because a slot moved,
    an AttributeError. Neither is recognised as an outage.
    """
    return (
        kind
        if issubclass(kind, _PackedConnection)
        else type(kind.__name__, (_PackedConnection, kind), {})
    )


class _PackedConnection:
    _pack = staticmethod(HiredisRespSerializer().pack)

    def pack_command(self, *words: Any) -> Any:
        name = words[0]
        if isinstance(name, str) and " " not in name:
            try:
                return [hiredis.pack_command(words)]
            except TypeError:
                pass  # redis-py converts some kinds of bytes, and reports invalid arguments
        return self._pack(*words)

    async def send_packed_command(self, *command: Any, **how: Any) -> None:
        above: Any = super()
        try:
            await above.send_packed_command(*command, **how)
        except (AttributeError, RuntimeError) as error:
            raise blocking.ConnectionError("the connection was reset") from error


class ClusterClient(RedisCluster):
    """A Cluster's client that behaves like a server's: its outages are connection errors."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self._opened_in = threading.current_thread()
        kind = own_connection(self.connection_kwargs["connection_class"])
        self.connection_kwargs["connection_class"] = kind  # for nodes that are found later
        for node in self.startup_nodes:
            node.connection_class = kind  # type: ignore[assignment]

    async def initialize(self, *args: Any, **how: Any) -> Any:
        """Find the nodes.

        redis-py finds them in a thread with an event loop of its own if a transaction is the
        client's first command. That loop ends at once, so its connections are closed before.

        Raises:
            ConnectionError: none answers; the base class raises another type.
        """
        try:
            found = await super().initialize(*args, **how)
        except RedisClusterException as error:
            raise blocking.ConnectionError(str(error)) from None
        if threading.current_thread() is not self._opened_in:
            nodes = (*self.nodes_manager.startup_nodes.values(), *self.get_nodes())
            await asyncio.gather(*(node.disconnect() for node in nodes))
        return found

    async def execute_command(self, *words: Any, **how: Any) -> Any:
        """Run a command.

        Raises:
            ConnectionError: the slot is moving; the base class says `TTL exhausted`.
        """
        try:
            return await super().execute_command(*words, **how)
        except ClusterError as error:
            if type(error) is not ClusterError:
                raise
            raise blocking.ConnectionError("its Cluster is moving the crawl's slot") from None


class WatchedClient(Redis):
    """A client of the current master; it also closes its connections to Sentinel."""

    def __init__(self, *arguments: Any, **how: Any) -> None:
        super().__init__(*arguments, **how)
        pool: Any = self.connection_pool
        for pool_or_sentinel in (
            pool,
            *(asked.connection_pool for asked in pool.sentinel_manager.sentinels),
        ):
            pool_or_sentinel.connection_class = own_connection(pool_or_sentinel.connection_class)

    async def aclose(self, close_connection_pool: bool | None = None) -> None:
        """Close every connection."""
        await super().aclose(close_connection_pool)
        pool: Any = self.connection_pool
        for sentinel in pool.sentinel_manager.sentinels:
            await sentinel.aclose()


def client(topology: Topology, options: Mapping[str, Any]) -> Redis:
    """Open a client; it connects at its first command."""
    all_options = {**options, **topology.options}
    if topology.kind == "cluster":
        nodes = [ClusterNode(host, port) for host, port in topology.nodes]
        redis: Any = ClusterClient(startup_nodes=nodes, **all_options)
    else:
        watching: Any = Sentinel
        redis = watching(topology.nodes, sentinel_kwargs=_plain(options), **all_options)
        redis = redis.master_for(topology.master, redis_class=WatchedClient)
    opened: Redis = redis  # a Cluster's client has the same commands
    return opened


def blocking_client(topology: Topology, options: Mapping[str, Any]) -> blocking.Redis:
    """Open a client that waits for each reply."""
    all_options = {**options, **topology.options}
    node: Any = BlockingNode
    if topology.kind == "cluster":
        nodes = [node(host, port) for host, port in topology.nodes]
        redis: Any = blocking.RedisCluster(startup_nodes=nodes, **all_options)
    else:
        watching: Any = BlockingSentinel
        redis = watching(topology.nodes, sentinel_kwargs=_plain(options), **all_options)
        redis = redis.master_for(topology.master)
    opened: blocking.Redis = redis  # the same
    return opened


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that also apply to connections to Sentinel."""
    return {name: value for name, value in options.items() if name.startswith("socket")}
