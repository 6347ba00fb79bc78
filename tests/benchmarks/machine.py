"""Where figures were measured, as far as it matters to them; no names and no paths."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil
import psycopg2
from redis import Redis

from tests.benchmarks.stage import PEERS, Stage

PACKAGES = ("scrapy", "twisted", "scrapy-redis", "lxml", "redis", "psycopg2-binary")
OTHERS = ("celery", "crawlee", "requests", "beautifulsoup4")


def machine(stage: Stage) -> dict[str, Any]:
    """Cores, CPU model, memory, and the versions of all that took part."""
    return {
        "cores": os.cpu_count(),
        "cpu": _cpu_model(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9),
        "load_at_start": [round(load, 2) for load in os.getloadavg()],
        "versions": {
            "system": " ".join([platform.system(), *platform.release().split(".")[:1]]),
            "python": platform.python_version(),
            **_servers(stage),
            **{name: version(name) for name in PACKAGES},
            **_others(),
        },
    }


def _cpu_model() -> str:
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    found = re.search(r"model name\s*:\s*(.+)", text)
    return found[1] if found else platform.processor()


def _servers(stage: Stage) -> dict[str, str]:
    with Redis.from_url(stage.redis_url) as redis:
        found = redis.info("server")
    name = "valkey" if "valkey_version" in found else "redis"
    with closing(psycopg2.connect(stage.database_url)) as connection:
        number = connection.server_version
    return {
        f"{name} (server)": found.get("valkey_version") or found["redis_version"],
        "postgresql (server)": f"{number // 10000}.{number % 10000}",
    }


def _others() -> dict[str, str]:
    if not PEERS.exists():
        return {}
    code = "import sys, importlib.metadata as m; print(*map(m.version, sys.argv[1:]))"
    found = subprocess.check_output([str(PEERS), "-c", code, *OTHERS], text=True)
    return dict(zip(OTHERS, found.split(), strict=True))
