"""How verbs and replies look on the wire: arguments laid out, answers read, stored requests."""

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
from scrapy_seine.lenient import items, whole, word
from scrapy_seine.lua_scripts import Script, load_script
from scrapy_seine.meta import REPLAYED, RETRY_COUNT, RETRY_TIMES, is_own
from scrapy_seine.printable import printable

#: A script's arguments are unpacked onto Lua's stack and must not hold up other clients.
MAX_CHILDREN = 500
_LEASE_FIELDS = 6


def remembered(current: bytes | None, old: bytes | None) -> int:
    """Sum the sizes of the memory's generations."""
    return whole(current) + sum(whole(g.get("n")) for g in items(old) if isinstance(g, dict))


def domain_of(stored: bytes) -> str:
    """Name the domain in a stored request's header."""
    return stored.partition(b"\n")[0].split(b" ")[1].decode()


def job_of(stored: bytes) -> str:
    """Name the job in a stored request's header; empty: it has none.

    >>> job_of(b"0 a.example shop-full\\nrequest"), job_of(b"0 a.example\\nrequest")
    ('shop-full', '')
    """
    return b" ".join(stored.partition(b"\n")[0].split(b" ")[2:]).decode()


def untried(stored: bytes | None, seal: Seal = NO_SEAL) -> bytes:
    """Return a stored dead letter as if it had never failed, marked as replayed.

    Empty where it stays as it is: what cannot be read, and what nobody of the fleet signed, because
    a signature would say that somebody did.
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
    """Lay lanes out as the lease script reads them."""
    return "".join(f"{lane} " for lane in lanes)


def escape(pattern: str) -> str:
    """Quote what SCAN's MATCH would take for a wildcard."""
    return "".join(f"\\{c}" if c in "*?[]\\^" else c for c in pattern)


def script(name: str) -> Script:
    """Load one of the frontier's scripts."""
    return load_script("scrapy_seine.frontier", name)


def commit_args(
    pages: Sequence[Done | Burial],
    pack: Callable[[bytes], bytes] = bytes,
    keys: Keys | None = None,
) -> list[Any]:
    """Lay pages and their children out as `commit` reads them; with *keys* as `commit_out` does.

    *keys* are those of the pages' partition. Its requests are packed, those on their way to another
    one are not, which has dictionaries of its own.
    """
    args: list[Any] = [len(pages)]
    for page in pages:
        args += (page.lease.id, page.lease.token, page.lease.job, page.ended, len(page.children))
        for child in page.children:
            here = True
            if keys is not None:
                part = part_of_domain(child.domain, keys.of)
                here = part == keys.index
                args.append("" if here else part)
            args += child.args(pack) if here else child.args()
    return args


def retry_args(retries: Sequence[Retry], pack: Callable[[bytes], bytes] = bytes) -> list[Any]:
    """Lay failed requests out as `retry` reads them; *pack* makes what is kept of one."""
    return [a for r in retries for a in (r.lease.id, r.lease.token, r.wait_ms, r.push.stored(pack))]


def parse_leased(reply: Sequence[Any], slack_ms: float = 0.0) -> Leased:
    """Read the reply of the lease script, which was asked for room for so much lateness."""
    state, now_ms, next_due_ms, undone, entered, expired, flat, shown, broken, workers, spoilt = (
        reply
    )
    leases = [
        Lease(
            id=word(flat[at]),
            token=word(flat[at + 1]),
            slot_ms=int(flat[at + 2]),
            **_limits(flat[at + 3]),
            slack_ms=slack_ms,
            deliveries=int(flat[at + 4]),
            stored=flat[at + 5],
        )
        for at in range(0, len(flat), _LEASE_FIELDS)
    ]
    return Leased(
        state="PAUSED" if word(state) == "PAUSED" else "OK",
        now_ms=int(now_ms),
        next_due_ms=int(next_due_ms),
        undone=int(undone),
        entered=int(entered),
        expired=bool(expired),
        leases=leases,
        state_shown=word(shown),
        broken_keys=[key.decode("utf-8", "replace") for key in broken],
        workers=int(workers),
        spoilt_numbers=spoilt.decode("utf-8", "replace").splitlines(),
    )


def parse_beat(reply: Sequence[Any]) -> Beat:
    """Read the reply of the renew script."""
    lost, workers, undone, to_sweep, cancelled = reply
    return Beat(
        lost=list(map(word, lost)),
        workers=int(workers),
        undone=int(undone),
        to_sweep=to_sweep == 1,
        cancelled=None if cancelled is None else frozenset(map(word, cancelled)),
    )


def _limits(raw: Any) -> dict[str, int]:
    """Read a lease's pause, and the limits of each address where each keeps its own."""
    if isinstance(raw, int):
        return {"delay_ms": raw}
    delay_ms, each_ms, each_cap = map(int, word(raw).split())
    return {"delay_ms": delay_ms, "each_ms": each_ms, "each_cap": each_cap}


def note(reason: str, error: str, worker: str, **more: Any) -> bytes:
    """Write the note that a dead letter carries."""
    text = {"reason": reason, "error": printable(error), "worker": worker}
    return orjson.dumps({**text, **more})
