"""Redis servers that belong together, on loopback: a Cluster of three, a master under Sentinel."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import attrs
from redis import Redis
from redis.exceptions import RedisError

from scrapy_seine.embedded.binaries import redis_servers
from tests.benchmarks.server import free_port
from tests.helpers import wait_until

SLOTS = (0, 5461, 10923, 16384)


def start(stack: ExitStack, *options: object) -> subprocess.Popen[bytes]:
    """Start a server that dies with the stack."""
    program = redis_servers("auto")[0].server
    server = subprocess.Popen(
        [program, *map(str, options)], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    )
    stack.callback(server.wait)
    stack.callback(server.kill)
    return server


def says(port: int, *words: object) -> Any:
    """A server's answer; None: it has none."""
    with Redis(port=port) as client:
        try:
            return client.execute_command(*words)
        except RedisError:
            return None


def wait_for(port: int) -> None:
    """Return when a server answers."""
    wait_until(lambda: says(port, "PING"), 15, f"port {port} answers")


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """Run a Cluster of three masters; gives its URL."""
    with ExitStack() as stack:
        nodes = [_node(stack, folder / str(n)) for n in range(3)]
        first = nodes[0][0]
        for n, (port, bus) in enumerate(nodes):
            wait_for(port)
            says(port, "CLUSTER", "ADDSLOTSRANGE", SLOTS[n], SLOTS[n + 1] - 1)
            if n:
                says(first, "CLUSTER", "MEET", "127.0.0.1", port, bus)
        for port, _ in nodes:
            wait_until(lambda port=port: _complete(port), 30, "the cluster is formed")
        yield f"redis+cluster://127.0.0.1:{first}"


@contextmanager
def moving_slot(client: Any, key: str) -> Iterator[Callable[..., None]]:
    """Move a key's slot to another master; gives what moves so many of its keys, by default all."""
    slot = client.keyslot(key)
    source = client.get_node_from_key(key).port
    target = next(node.port for node in client.get_primaries() if node.port != source)
    source_id, target_id = (says(port, "CLUSTER MYID") for port in (source, target))
    says(target, "CLUSTER SETSLOT", slot, "IMPORTING", source_id)
    says(source, "CLUSTER SETSLOT", slot, "MIGRATING", target_id)

    def move(most: int = 10_000) -> None:
        keys = says(source, "CLUSTER GETKEYSINSLOT", slot, most)
        assert says(source, "MIGRATE", "127.0.0.1", target, "", 0, 5000, "KEYS", *keys)

    yield move
    for node in client.get_primaries():
        says(node.port, "CLUSTER SETSLOT", slot, "NODE", target_id)


def _node(stack: ExitStack, folder: Path) -> tuple[int, int]:
    port, bus = free_port(), free_port()
    folder.mkdir()
    options = ["--port", port, "--cluster-port", bus, "--bind", "127.0.0.1", "--save", ""]
    options += ["--cluster-enabled", "yes", "--dir", folder, "--cluster-node-timeout", 5000]
    start(stack, *options)
    return port, bus


def _complete(port: int) -> bool:
    told = str(says(port, "CLUSTER INFO"))
    return all(word in told for word in ("'ok'", "'16384'", "'cluster_known_nodes': '3'"))


@attrs.frozen
class Watched:
    """A master with a replica, under Sentinel."""

    url: str
    master: subprocess.Popen[bytes]
    master_port: int
    replica_port: int


@contextmanager
def sentinel(folder: Path) -> Iterator[Watched]:
    """Run a master, a replica, and one Sentinel that decides alone."""
    with ExitStack() as stack:
        master, replica, watch = free_port(), free_port(), free_port()
        common = ("--bind", "127.0.0.1", "--dir", folder, "--save", "", "--repl-diskless-load")
        served = start(stack, "--port", master, *common, "swapdb")
        wait_for(master)
        start(stack, "--port", replica, *common, "swapdb", "--replicaof", "127.0.0.1", master)
        # Counted as connected, a replica may still be waiting for its first copy: the link tells.
        linked = "master_link_status': 'up"
        wait_until(lambda: linked in str(says(replica, "INFO")), 30, "a replica in step")
        config = folder / "sentinel.conf"
        config.write_text(
            f"port {watch}\nbind 127.0.0.1\ndir {folder}\n"
            f"sentinel monitor main 127.0.0.1 {master} 1\n"
            "sentinel down-after-milliseconds main 800\nsentinel failover-timeout main 4000\n"
        )
        start(stack, config, "--sentinel")
        wait_for(watch)
        wait_until(lambda: _replicas(watch) == 1, 20, "Sentinel knows the replica")
        yield Watched(f"redis+sentinel://127.0.0.1:{watch}/main", served, master, replica)


def _replicas(port: int) -> int:
    told = says(port, "SENTINEL MASTER", "main") or {}
    return int(told.get("num-slaves", 0)) if isinstance(told, dict) else 0
