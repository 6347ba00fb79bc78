"""Arguments and replies of the frontier's verbs: encoding, parsing, stored requests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import orjson

from scrapy_seine.errors import DecodeError, EncodeError
from scrapy_seine.frontier.encoding.codec import decode, encode
from scrapy_seine.frontier.encoding.seal import NO_SEAL, Seal
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.frontier.model import Beat, Burial, Done, Lease, Leased, Retry
from scrapy_seine.frontier.which_partition import part_of_domain
from scrapy_seine.lenient_parsing import items, whole_number, word
from scrapy_seine.lua_scripts import Script, load_script
from scrapy_seine.meta import REPLAYED, RETRY_COUNT, RETRY_TIMES, is_own
from scrapy_seine.printable import printable

#: Children in one script call, at most: arguments go onto Lua's stack, and a script blocks others.
MAX_CHILDREN = 500
#: Parts of a turn's reply before its requests, and of each request: id, token, stored request.
_TURN_FIELDS, _LEASE_FIELDS = 2, 3


def seen_count(current: bytes | None, older_generations: bytes | None) -> int:
    """Sum the sizes of the seen-set's generations."""
    return whole_number(current) + sum(
        whole_number(g.get("n")) for g in items(older_generations) if isinstance(g, dict)
    )


def domain_of(stored: bytes) -> str:
    """Return the domain in a stored request's header."""
    return stored.partition(b"\n")[0].split(b" ")[1].decode()


def job_of(stored: bytes) -> str:
    """Return the job in a stored request's header; empty: it has none.

    >>> job_of(b"0 a.example shop-full\\nrequest"), job_of(b"0 a.example\\nrequest")
    ('shop-full', '')
    """
    return b" ".join(stored.partition(b"\n")[0].split(b" ")[2:]).decode()


def reset_tries(stored: bytes | None, seal: Seal = NO_SEAL) -> bytes:
    """Return a stored dead letter as if it had never failed, marked as replayed.

    Returns b"" where the letter stays unchanged: it cannot be read, or the fleet did not sign it,
    and a new signature would claim that it did.
    """
    head, newline, blob = (stored or b"").partition(b"\n")
    try:
        seal.check(stored or b"")
        fields = decode(blob)
        meta = fields.setdefault("meta", {})
        if not isinstance(meta, dict):
            return b""
        for name in (RETRY_COUNT, RETRY_TIMES):
            if not is_own(meta, name):
                meta.pop(name, None)
        meta[REPLAYED] = True
        return head + newline + seal.close(head, encode(fields))
    except (DecodeError, EncodeError):
        return b""


def lanes_arg(lanes: Sequence[str]) -> str:
    """Encode lanes for the lease script."""
    return "".join(f"{lane} " for lane in lanes)


def escape(pattern: str) -> str:
    """Escape wildcards of SCAN's MATCH."""
    return "".join(f"\\{c}" if c in "*?[]\\^" else c for c in pattern)


def script(name: str) -> Script:
    """Load one of the frontier's scripts."""
    return load_script("scrapy_seine.frontier", name)


def commit_args(
    pages: Sequence[Done | Burial],
    pack: Callable[[bytes], bytes] = bytes,
    keys: Keys | None = None,
) -> list[Any]:
    """Encode pages and their children for `commit`; with *keys* for `commit_out`.

    *keys* are those of the pages' partition. Its own requests are packed; requests for another
    partition are not, because it has dictionaries of its own.
    """
    args: list[Any] = [len(pages)]
    for page in pages:
        args += (
            page.lease.id,
            page.lease.token,
            page.lease.job,
            page.job_outcome,
            len(page.children),
        )
        for child in page.children:
            is_local = True
            if keys is not None:
                part = part_of_domain(child.domain, keys.of)
                is_local = part == keys.index
                args.append("" if is_local else part)
            args += child.args(pack) if is_local else child.args()
    return args


def retry_args(retries: Sequence[Retry], pack: Callable[[bytes], bytes] = bytes) -> list[Any]:
    """Encode failed requests for `retry`; *pack* packs each request."""
    return [
        a for r in retries for a in (r.lease.id, r.lease.token, r.wait_ms, r.push.to_stored(pack))
    ]


def parse_leased(reply: Sequence[Any], slack_ms: float = 0.0) -> Leased:
    """Parse the reply of the lease script, which was asked to allow *slack_ms* of lateness."""
    (
        state,
        now_ms,
        next_due_ms,
        undone,
        entered,
        expired,
        turns,
        state_text,
        broken_keys,
        workers,
        spoilt_numbers,
        deaths,
    ) = reply
    deaths_by_id = dict(zip(deaths[::2], map(int, deaths[1::2]), strict=True))
    leases = []
    for turn in turns:
        slot_ms, limits = int(turn[0]), _limits(turn[1])
        leases += [
            Lease(
                id=word(turn[start]),
                token=word(turn[start + 1]),
                slot_ms=slot_ms,
                **limits,
                slack_ms=slack_ms,
                deliveries=deaths_by_id.get(turn[start], 0),
                stored=turn[start + 2],
            )
            for start in range(_TURN_FIELDS, len(turn), _LEASE_FIELDS)
        ]
    return Leased(
        state="PAUSED" if word(state) == "PAUSED" else "OK",
        now_ms=int(now_ms),
        next_due_ms=int(next_due_ms),
        undone=int(undone),
        entered=int(entered),
        expired=bool(expired),
        leases=leases,
        state_text=word(state_text),
        broken_keys=[key.decode("utf-8", "replace") for key in broken_keys],
        workers=int(workers),
        spoilt_numbers=spoilt_numbers.decode("utf-8", "replace").splitlines(),
    )


def parse_beat(reply: Sequence[Any]) -> Beat:
    """Read the reply of the renew script."""
    lost_ids, workers, undone, to_sweep, cancelled = reply
    return Beat(
        lost=list(map(word, lost_ids)),
        workers=int(workers),
        undone=int(undone),
        to_sweep=to_sweep == 1,
        cancelled=None if cancelled is None else frozenset(map(word, cancelled)),
    )


def _limits(raw: Any) -> dict[str, int]:
    """Read a lease's pause, and the limits per address where each address keeps its own."""
    if isinstance(raw, int):
        return {"delay_ms": raw}
    delay_ms, each_ms, each_cap = map(int, word(raw).split())
    return {"delay_ms": delay_ms, "each_ms": each_ms, "each_cap": each_cap}


def note(reason: str, error: str, worker: str, **fields: Any) -> bytes:
    """Write the note that a dead letter carries."""
    text = {"reason": reason, "error": printable(error), "worker": worker}
    return orjson.dumps({**text, **fields})
