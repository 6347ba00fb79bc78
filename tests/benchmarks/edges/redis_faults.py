"""Faults of Redis and of workers, while one fleet goes on: nothing is lost, nobody stops."""

from __future__ import annotations

import signal
import threading
from contextlib import suppress

from redis.exceptions import RedisError, ResponseError

from tests.benchmarks.edges.scene import Scene, pause
from tests.benchmarks.edges.servers import small_disk
from tests.benchmarks.edges.site import listing, page

#: Links of a page that is larger than what enters at once.
MANY = 2500
#: How long Redis is frozen, s: longer than three lives of a lease in the short form.
FROZEN_S, FROZEN_LONG_S = 10.0, 60.0


def redis_faults(scene: Scene) -> None:
    """Keep one fleet, and do one thing after the other to its Redis and its workers."""
    scene.environment["EDGES_KEEP_ALIVE"] = "1"
    scene.settings["SEINE_KEEP_ALIVE"] = 1
    scene.start()
    _frozen(scene, FROZEN_S)
    _restarted(scene)
    _cut_off(scene)
    _scripts_forgotten(scene)
    _full(scene)
    _frozen_worker(scene)
    _busy(scene)
    _paused(scene)
    _idle_connections_cut(scene)
    _right_taken_away(scene)
    _many_links(scene)
    _wrong_types(scene)
    _spoilt_numbers(scene)
    scene.stop()
    scene.exits("redis")
    scene.judge()


def full_disk(scene: Scene) -> None:
    """Let the disk under Redis be full while it appends, then free it."""
    scene.environment["EDGES_KEEP_ALIVE"] = "1"
    scene.settings["SEINE_KEEP_ALIVE"] = 1
    scene.redis.stop()
    name = scene.fault("15 the disk under Redis is full")
    with small_disk(scene.redis.folder, "8m") as mounted:
        if not mounted:
            scene.faults.remove(name)
            return
        scene.redis.start("--appendfsync", "always", "--auto-aof-rewrite-percentage", "0")
        scene.start()
        host, seed = scene.shelf(name, 60)
        scene.seed(seed)
        scene.asked(name, host, 5)
        ballast = scene.redis.folder / "ballast"
        with suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)
        pause(4)
        ballast.unlink()
        if scene.redis.process is not None and scene.redis.process.poll() is not None:
            scene.redis.start()
        scene.settle(name)
        scene.stop()
        scene.exits("full disk")
        scene.judge()
        scene.redis.stop(signal.SIGKILL)


def _begun(scene: Scene, name: str, count: int = 60, asked: int = 10) -> str:
    """Begin a shelf; returns its host when some of it was asked for."""
    host, seed = scene.shelf(scene.fault(name), count)
    scene.seed(seed)
    scene.asked(name, host, asked)
    return host


def _frozen(scene: Scene, seconds: float) -> None:
    name = f"15 Redis is frozen for {seconds:g} s"
    _begun(scene, name)
    scene.redis.freeze()
    pause(seconds)
    scene.redis.thaw()
    scene.settle(name)


def frozen_long(scene: Scene) -> None:
    """Freeze Redis for a minute."""
    scene.environment["EDGES_KEEP_ALIVE"] = "1"
    scene.settings["SEINE_KEEP_ALIVE"] = 1
    scene.start()
    _frozen(scene, FROZEN_LONG_S)
    scene.stop()
    scene.exits("frozen")
    scene.judge()


def _restarted(scene: Scene) -> None:
    name = "15 Redis is killed and comes back with its file"
    _begun(scene, name)
    pause(1.2)  # what `appendfsync everysec` promises to keep
    scene.redis.stop(signal.SIGKILL)
    pause(1)
    scene.redis.start()
    scene.settle(name)


def _cut_off(scene: Scene) -> None:
    name = "15 Redis cuts every connection off"
    _begun(scene, name)
    with scene.redis.client() as redis:
        redis.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        redis.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
    scene.settle(name)


def _scripts_forgotten(scene: Scene) -> None:
    name = "15 Redis forgets its scripts"
    _begun(scene, name)
    with scene.redis.client() as redis:
        redis.script_flush()
    scene.settle(name)


def _full(scene: Scene) -> None:
    name = "15 Redis is at its limit of memory"
    _begun(scene, name)
    with scene.redis.client() as redis:
        redis.config_set("maxmemory", "1mb")
        pause(4)
        redis.config_set("maxmemory", "0")
    scene.settle(name)


def _busy(scene: Scene) -> None:
    """Run somebody else's script that does not end, until it is killed."""
    name = "15 Redis is busy with somebody else's script"
    _begun(scene, name)

    def hog() -> None:
        with suppress(RedisError), scene.redis.client() as redis:
            redis.eval("while true do end", 0)

    with scene.redis.client() as redis:
        redis.config_set("busy-reply-threshold", "100")
        thread = threading.Thread(target=hog, daemon=True)
        thread.start()
        pause(3)
        redis.execute_command("SCRIPT", "KILL")
        thread.join(10)
    scene.settle(name)


def _paused(scene: Scene) -> None:
    name = "15 Redis holds back its clients for a while"
    _begun(scene, name)
    with scene.redis.client() as redis:
        redis.execute_command("CLIENT", "PAUSE", "4000", "ALL")
    scene.settle(name)


def _idle_connections_cut(scene: Scene) -> None:
    name = "15 Redis cuts connections off that are idle for a second"
    with scene.redis.client() as redis:
        redis.config_set("timeout", "1")
    _, seed = scene.shelf(scene.fault(name), 20, late_s=2.5)
    scene.seed(seed)
    scene.settle(name)
    with scene.redis.client() as redis:
        redis.config_set("timeout", "0")


def _right_taken_away(scene: Scene) -> None:
    name = "15 an administrator forbids scripts for a while"
    _begun(scene, name)
    with scene.redis.client() as redis:
        redis.execute_command("ACL", "SETUSER", "default", "-evalsha", "-eval")
        pause(3)
        redis.execute_command("ACL", "SETUSER", "default", "+@all")
    scene.settle(name)


def _spoilt_numbers(scene: Scene) -> None:
    """Write what is no number into every count, while the fleet counts."""
    keys = scene.keys
    places = {
        "the crawl's totals": keys.counters,
        "the crawl's sequence": keys.control,
        "a job's totals": f"{keys.prefix}job:spoilt",
        "a domain's counts": "",
    }
    for what, key in places.items():
        for junk in ("x", str(2**63 - 1)):
            name = scene.fault(f"9 {what} hold {junk}")
            host, seed = scene.shelf(name, 20, late_s=0.3, job_id="spoilt")
            scene.jobs.pop("spoilt", None)
            scene.seed(seed)
            scene.asked(name, host, 5)
            with scene.redis.client() as redis:
                place = key or keys.domain(host)
                fields = [b"seq"] if place == keys.control else redis.hkeys(place)
                wishes = {b"lane", b"paused", b"delay", b"cap", b"plan", b"state"}
                if counts := {field: junk for field in fields if field not in wishes}:
                    redis.hset(place, mapping=counts)
            scene.settle(name)


def _frozen_worker(scene: Scene) -> None:
    name = "15 a worker is frozen for longer than its leases live"
    _begun(scene, name)
    victim = scene.alive[0]
    victim.send_signal(signal.SIGSTOP)
    pause(6)
    victim.send_signal(signal.SIGCONT)
    scene.settle(name)


def _many_links(scene: Scene) -> None:
    """Kill workers while the links of a large page enter."""
    name = scene.fault(f"13 workers are killed while {MANY} links of a page enter")
    host = scene.site.host()
    paths = [f"/c/{number}" for number in range(MANY)]
    url = f"http://{host}/big"
    scene.site.pages[url] = listing(paths)
    scene.expect(name, url, "read")
    for path in paths:
        scene.site.pages[f"http://{host}{path}"] = page("<html><p>nothing</p></html>")
        scene.expect(name, f"http://{host}{path}", "read")
    scene.seed(scene.seed_of(url))
    scene.asked(name, host, 3)
    scene.kill(scene.alive[0])
    scene.asked(name, host, 300)
    scene.kill(scene.alive[0])
    scene.settle(name)


def _wrong_types(scene: Scene) -> None:
    """Spoil one domain's keys; the other domains go on."""
    with scene.redis.client() as redis:
        for text, key in {"queue": "q", "state": "d"}.items():
            name = scene.fault(f"9 the {text} of a domain has the wrong type")
            _, seed = scene.shelf(name, 30)
            spoiled = scene.site.host()
            scene.site.pages[f"http://{spoiled}/"] = page("<html><p>spoiled</p></html>")
            redis.delete(f"{scene.keys.prefix}{key}:{spoiled}")
            redis.set(f"{scene.keys.prefix}{key}:{spoiled}", "spoiled")
            scene.seed(scene.seed_of(f"http://{spoiled}/"), seed)
            try:
                redis.zadd(f"{scene.keys.prefix}ready", {spoiled: 0})
            except ResponseError:
                redis.delete(f"{scene.keys.prefix}ready")
            scene.settle(name)
            redis.delete(f"{scene.keys.prefix}{key}:{spoiled}")
