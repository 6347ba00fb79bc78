"""Dead letters: requests that were given up, with the reason of each."""

from __future__ import annotations

from typing import Any

import attrs
import orjson

from scrapy_seine.attrs_bases import Value
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.gather import run_all
from scrapy_seine.frontier.which_partition import part_of_id
from scrapy_seine.lenient_parsing import word
from scrapy_seine.printable import redact
from scrapy_seine.reads.requests import FoundRequest, decode_stored, load
from scrapy_seine.urls import domain

#: Dead letters read in one step while filtering.
STEP = 500
#: Dead letters read for one page, at most.
MOST = 20_000


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Filter(Value):
    """Selects dead letters; empty fields match all."""

    reason: str = ""
    domain: str = ""
    text: str = ""
    """Part of the URL or of the error, in any case."""
    since: float = 0.0
    """Buried at this Unix time or later."""
    until: float = float("inf")
    """Buried at this Unix time or earlier."""

    def matches(self, letter: FoundRequest) -> bool:
        """Whether a dead letter is selected."""
        if not self.since <= letter.at <= self.until:
            return False
        if self.reason and reason_of(letter) != self.reason:
            return False
        if self.domain and domain_of(letter.url) != self.domain.lower():
            return False
        text = self.text.lower()
        return text in letter.url.lower() or text in str(letter.note.get("error", "")).lower()


def domain_of(url: str) -> str:
    """Return the domain at which the frontier holds a URL; '' if it has none."""
    try:
        return domain(url)
    except ValueError:
        return ""


def reason_of(letter: FoundRequest) -> str:
    """Return why it was given up."""
    return str(letter.note.get("reason") or "unknown")


async def read_dead(frontier: Frontier, *, start: int = 0, limit: int = 50) -> list[FoundRequest]:
    """Return dead letters of one partition, the newest first."""
    client: Any = frontier.redis
    keys = frontier.keys
    rows = await client.zrevrange(keys.dead, start, start + limit - 1, withscores=True)
    ids = [id_ for id_, _ in rows]
    notes = await client.hmget(keys.autopsy, ids) if ids else []
    bodies = await load(frontier, ids)
    return [
        decode_stored(stored, id=word(id_), state="dead", at=score / 1000, note=parse_note(note))
        for (id_, score), note, stored in zip(rows, notes, bodies, strict=True)
    ]


def parse_note(note: bytes | None) -> dict[str, Any]:
    """Parse the note of a dead letter; one that cannot be parsed becomes its error."""
    try:
        fields = orjson.loads(note or b"{}")
    except orjson.JSONDecodeError:
        fields = None
    if not isinstance(fields, dict):
        fields = {"error": (note or b"").decode("utf-8", "replace")}
    return {k: redact(v) if isinstance(v, str) else v for k, v in fields.items()}


async def search_dead(
    frontier: Frontier, selection: Filter, *, limit: int = 100, most: int = MOST
) -> tuple[list[FoundRequest], bool]:
    """Return matching dead letters, newest first, and whether all were searched.

    *most* of each partition are read, from the newest on that is old enough.
    """
    parts = await run_all(_search_part(part, selection, limit, most) for part in frontier.parts)
    matches = sorted((x for letters, _ in parts for x in letters), key=lambda x: -x.at)
    return matches[:limit], len(matches) <= limit and all(is_complete for _, is_complete in parts)


async def _search_part(
    frontier: Frontier, selection: Filter, limit: int, most: int
) -> tuple[list[FoundRequest], bool]:
    client: Any = frontier.redis
    matches: list[FoundRequest] = []
    first = await client.zcount(frontier.keys.dead, f"({selection.until * 1000}", "+inf")
    for start in range(first, first + most, STEP):
        batch = await read_dead(frontier, start=start, limit=STEP)
        matches += [letter for letter in batch if selection.matches(letter)]
        if len(batch) < STEP:
            return matches[:limit], len(matches) <= limit
        if len(matches) >= limit:
            break
    return matches[:limit], False


async def one_dead(frontier: Frontier, id_: str) -> tuple[FoundRequest, bytes] | None:
    """Return one dead letter with its stored bytes; None: it does not exist any more."""
    client: Any = frontier.redis
    number, parts = part_of_id(id_), frontier.parts
    part = parts[number] if number < len(parts) else frontier
    keys = part.keys
    score = await client.zscore(keys.dead, id_)
    if score is None:
        return None
    (stored,) = await part.dictionaries.unpack_stored([await client.hget(keys.requests, id_)])
    fields = parse_note(await client.hget(keys.autopsy, id_))
    return decode_stored(stored, id=id_, state="dead", at=score / 1000, note=fields), stored or b""
