"""A coordinator as a process that says when it leads: `python -m tests.acceptance.coordinating`.

Arguments: Redis' URL, the crawl, the database's URL, a file with the plans as JSON. Terms and
rounds are short, so that many of them fit into a test.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from crawler.catalogue.coordinator.leader import Coordinator
from crawler.catalogue.jobs.model import Plan
from crawler.stores.store_endpoints import redis_client

TERM_S, ROUND_S = 0.6, 0.2


def read_plans(file: Path) -> list[Plan]:
    """Read what the test wrote."""
    return [
        Plan(**{name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()})
        for fields in json.loads(file.read_text())
    ]


async def main(redis_url: str, crawl: str, database_url: str, plans: Sequence[Plan]) -> None:
    """Lead or stand by until killed."""
    redis = redis_client(redis_url)
    coordinator = Coordinator(redis, crawl, database_url, plans, term_s=TERM_S, round_s=ROUND_S)
    await coordinator.run()


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stdout, format="%(message)s", level=logging.INFO)
    asyncio.run(main(*sys.argv[1:4], plans=read_plans(Path(sys.argv[4]))))
