"""What remembering a URL costs, and how often the Bloom filter errs.

usage: python -m tests.benchmarks.seen [--json] [--urls 10000000]

Fingerprints go through the same Lua as a push does, without the requests around them. The error is
the share of a tenth as many other fingerprints that the filter takes for known.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from typing import Any

from redis import Redis

from scrapy_seine.lua_scripts import load_script
from tests.benchmarks.server import cpu_s, memory, redis_server

BATCH = 1000
BODY = """
local g, n = recall(), 0
for i = 3, #ARGV do
    if ARGV[2] == 'ask' then
        n = n + (KINDS[g.kind].known(g, ARGV[i]) and 1 or 0)
    else
        n = n + (unseen(ARGV[i]) and 1 or 0)
    end
end
memorise()
return n
"""


def source() -> str:
    """The frontier's own Lua with a body that only remembers, or only asks."""
    script = load_script("scrapy_seine.frontier", "remember")
    shared, _, own = script.source.partition("-- remember: ")
    return shared + BODY + own.rpartition("return new\n")[2]  # the functions around it end there


def run(redis: Redis, crawl: str, verb: str, n: int, seed: int) -> int:
    """Remember *n* random fingerprints, or ask for them; returns how many were new, or known."""
    script, draw, found = redis.register_script(source()), random.Random(seed), 0
    for start in range(0, n, BATCH):
        part = [draw.getrandbits(64) - 2**63 for _ in range(min(BATCH, n - start))]
        found += script(keys=[f"{{{crawl}}}:"], args=[0, verb, *part])
    return found


def measure(url: str, kind: str, urls: int) -> dict[str, Any]:
    """Fill one memory, and weigh it."""
    with Redis.from_url(url) as redis:
        redis.flushall()
        run(redis, "warm", "ask", 1, 0)
        redis.hset(f"{{{kind}}}:seen", mapping={"wanted": kind, "capacity": urls})
        empty, begun, cpu = memory(url), time.perf_counter(), cpu_s(url)
        new = run(redis, kind, "remember", urls, seed=1)
        seconds, used = time.perf_counter() - begun, memory(url) - empty
        cpu = cpu_s(url) - cpu
        wrong = run(redis, kind, "ask", urls // 10, seed=2)
    return {
        "bytes_per_url": round(used / urls, 2),
        "error": round(wrong / (urls // 10), 6),
        "taken_for_known_while_filling": urls - new,
        "urls_per_s": round(urls / seconds),
        "redis_cpu_us_per_url": round(1e6 * cpu / urls, 2),
    }


def main() -> None:
    """Measure both and print; the last line is one JSON object with --json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object last")
    parser.add_argument("--urls", type=int, default=10_000_000)
    options = parser.parse_args()
    with redis_server() as url:
        found = {kind: measure(url, kind, options.urls) for kind in ("exact", "bloom")}
    print(json.dumps(found, indent=2))
    if options.json:
        result = {
            "urls": options.urls,
            "exact_bytes_per_url": found["exact"]["bytes_per_url"],
            "bloom_bytes_per_url": found["bloom"]["bytes_per_url"],
            "bloom_error": found["bloom"]["error"],
        }
        print(json.dumps(result))


if __name__ == "__main__":
    main()
