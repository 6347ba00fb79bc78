"""Clocks that are wrong: a worker's, a day ahead; Redis', an hour back or forward."""

from __future__ import annotations

import attrs

from tests.benchmarks.edges.scene import Scene, pause
from tests.benchmarks.edges.servers import MovedClock, private_redis
from tests.benchmarks.edges.site import page

DAY_S, HOUR_S = 86_400, 3_600


def clocks(scene: Scene) -> None:
    """Move clocks; without a C compiler there is no way to do so, and no such fault."""
    moved = MovedClock(scene.folder / "clock")
    if not moved.make():
        return
    _worker_ahead(scene, moved)
    scene.judge()
    _redis_jumps(scene, moved, -HOUR_S)
    _redis_jumps(scene, moved, HOUR_S)


def _worker_ahead(scene: Scene, moved: MovedClock) -> None:
    """Let a worker of tomorrow read the pages first, then those of today what they became."""
    name = scene.fault("8 a worker's clock is a day ahead")
    scene.settings["SEINE_FRESH_SECONDS"] = 0
    host, seed = scene.shelf(name, 25, job_id="first")
    moved.move(DAY_S)
    scene.seed(seed)
    scene.start(1, moved.environment)
    scene.wait_end(name)
    for number, one in enumerate(scene.expected):
        if one.thing is not None:
            # By little, each its own: a jump, or one price on all of them, is held back on purpose.
            later = attrs.evolve(one.thing, price=one.thing.price.replace(".50", ".60"))
            scene.expected[number] = attrs.evolve(one, thing=later)
            scene.site.pages[one.url] = page(later.html)
    scene.seed(scene.seed_of(f"http://{host}/shelf", job_id="second"))
    scene.start()
    scene.wait_end(name)
    scene.exits(name)


def _redis_jumps(scene: Scene, moved: MovedClock, seconds: int) -> None:
    """Let Redis' clock step while domains have a pause and a worker dies."""
    way = "back" if seconds < 0 else "forward"
    name = scene.fault(f"8 Redis' clock steps an hour {way}")
    moved.move(0)
    before, expected = scene.redis, scene.expected
    scene.settings["SEINE_DOMAIN_DELAY_MS"] = 100
    with private_redis(moved.environment) as redis:
        scene.redis, scene.expected = redis, []
        host, seed = scene.shelf(name, 60)
        scene.seed(seed)
        scene.start()
        scene.asked(name, host, 15)
        moved.move(seconds)
        pause(1)
        if scene.alive:
            scene.kill(scene.alive[0])
        scene.wait_end(name)
        scene.exits(name)
        scene.judge()
    scene.redis, scene.expected = before, expected
