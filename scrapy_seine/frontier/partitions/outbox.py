"""Moves links from the partition whose commit left them to the partitions they belong to, once.

A page's links may lead to domains of other partitions, and no script reaches two. So `commit`
writes them to an outbox of its own partition, where they count as undone. The worker that committed
moves them at once, any other worker by its heartbeat: first the receiver takes them in, and only
then they leave the outbox. If a worker dies in between, they are moved again, and the receiver
drops them by their numbers: it keeps the last number that it took in from each partition, as the
receiver of a stream of packets does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.gather import run_all

#: Requests moved to one partition by one script, at most.
BATCH = 500


async def forward(source: Frontier, parts: Sequence[Frontier]) -> int:
    """Empty the outbox of one of *parts*; returns how many requests were in it.

    Raises:
        RedisError: a server does not answer; requests for the others have left all the same.
    """
    moved = 0
    while True:
        heads = await _heads(source, parts)
        await run_all(_move(source, part, head) for part, head in heads)
        moved += sum(len(head) for _, head in heads)
        if all(len(head) < BATCH for _, head in heads):
            return moved


async def _heads(source: Frontier, parts: Sequence[Frontier]) -> list[tuple[Frontier, list[Any]]]:
    """Read the first requests for each other partition, always from the head: see receive."""
    pipe = source.redis.pipeline(transaction=False)
    receivers = [part for part in parts if part.keys.index != source.keys.index]
    for part in receivers:
        pipe.xrange(source.keys.outbox(part.keys.index or 0), count=BATCH)
    heads = zip(receivers, await pipe.execute(), strict=True)
    return [(part, head) for part, head in heads if head]


async def _move(source: Frontier, part: Frontier, head: Sequence[Any]) -> None:
    numbers = [int(id_.partition(b"-")[0]) for id_, _ in head]
    await receive(source, part, head)
    await source.run("outbox_delivered", part.keys.index or 0, numbers[-1])


async def receive(source: Frontier, part: Frontier, head: Sequence[Any]) -> int:
    """Let *part* take in the head of an outbox; returns how many requests were new to it."""
    args: list[Any] = [source.keys.index, len(head)]
    for id_, fields in head:
        fp, due, stored = (fields.get(name, b"") for name in (b"fp", b"due", b"stored"))
        args += (id_.partition(b"-")[0], fp, due, part.packer.pack_stored(stored))
    return int(await part.run("outbox_receive", *args))
