"""Collects what a worker sends to the frontier in the next round trip."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

from scrapy_seine.attrs_bases import Record, Value
from scrapy_seine.frontier.dictionary_choice import Packer
from scrapy_seine.frontier.encoding.wire import MAX_CHILDREN, commit_args, retry_args
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.frontier.model import Burial, Done, Early, Lease, Push, Retry
from scrapy_seine.frontier.which_partition import part_of_id

#: Leases ended by one script, at most, because a script blocks every other client.
MAX_PAGES = 100
#: Lists from which calls are made; a call that sets a site's limit is kept itself.
_HOMES = {
    "free_slots": "landed",
    "push": "pushes",
    "commit": "done",
    "commit_out": "done",
    "retry": "retries",
    "bury": "burials",
    "release": "releases",
}
#: Subjects kept in another list than others of their call.
_OWN_HOMES = {Burial: "burials", Early: "early"}
#: Arguments of `note_latency`: the bounds, then this number for each domain.
_BOUNDS, _MEASURED = 3, 5


@attrs.frozen(eq=False, repr=False)
class Call(Value):
    """One script call of a round trip, and the subjects (pages, leases, pushes) it is about."""

    name: str
    args: list[Any]
    about: list[Any]


def _commit(pages: Sequence[Done | Burial]) -> tuple[str, list[Any]]:
    return "commit", commit_args(pages)


@attrs.define(eq=False, repr=False)
class Endings(Record):
    """Limits to set; pages done, to retry, to bury or to hand back; slots to free; pushes."""

    limits: list[Call] = attrs.Factory(list)
    done: list[Done] = attrs.Factory(list)
    retries: list[Retry] = attrs.Factory(list)
    burials: list[Burial] = attrs.Factory(list)
    releases: list[Lease] = attrs.Factory(list)
    landed: list[Lease] = attrs.Factory(list)
    pushes: list[Push] = attrs.Factory(list)
    early: list[Early] = attrs.Factory(list)
    """Links that enter before their page ends."""

    def __bool__(self) -> bool:
        return bool(
            self.done
            or self.retries
            or self.burials
            or self.releases
            or self.pushes
            or self.early
            or self.landed
            or self.limits
        )

    def __len__(self) -> int:
        pushed = len(self.pushes) + len(self.early)
        return len(self.done) + len(self.retries) + len(self.burials) + pushed

    def put_back(self, earlier: Endings) -> None:
        """Put the endings of a failed round trip first in the next one."""
        for field in attrs.fields(Endings):
            getattr(self, field.name)[:0] = getattr(earlier, field.name)

    def return_failed(self, calls: Sequence[Call], *, is_lease_lost: bool = False) -> None:
        """Put the subjects of failed calls first in the next round trip.

        *is_lease_lost*: Redis lost the leases of these subjects; only pushes, which need no lease,
        are sent again.
        """
        earlier = Endings()
        for call in calls:
            home = _HOMES.get(call.name)
            if home is None:
                earlier.limits.append(call)
                continue
            for subject in call.about:
                name = _OWN_HOMES.get(type(subject), home)
                if not is_lease_lost or name == "pushes":
                    getattr(earlier, name).append(subject)
        self.put_back(earlier)

    def drop_lost(self, is_lost: Callable[[Lease], bool]) -> list[Lease]:
        """Drop endings of leases that are no longer held; returns these leases."""
        leases_dropped: list[Lease] = []
        for name in ("done", "retries", "burials"):
            endings = getattr(self, name)
            leases_dropped += [ending.lease for ending in endings if is_lost(ending.lease)]
            endings[:] = [ending for ending in endings if not is_lost(ending.lease)]
        # A link without its page is dropped, because a worker that parses the page again yields it.
        self.early[:] = [early for early in self.early if not is_lost(early.lease)]
        for leases in (self.releases, self.landed):
            leases[:] = [lease for lease in leases if not is_lost(lease)]
        return leases_dropped

    def by_partition(self, keys: Keys) -> list[Endings]:
        """Divide the endings among the partitions, by number."""
        shares = [Endings() for _ in range(keys.of)]

        def home(domain: str) -> int:
            return keys.part(domain).index or 0

        for lease_request in self.limits:
            for index, part in _routed(lease_request, home):
                shares[index].limits.append(part)
        for push in self.pushes:
            shares[home(push.domain)].pushes.append(push)
        for early in self.early:
            shares[home(early.push.domain)].early.append(early)
        for name in ("done", "retries", "burials"):
            for ending in getattr(self, name):
                getattr(shares[part_of_id(ending.lease.id)], name).append(ending)
        for name in ("releases", "landed"):
            for lease in getattr(self, name):
                getattr(shares[part_of_id(lease.id)], name).append(lease)
        return shares

    def calls(
        self,
        commit: Callable[[Sequence[Done | Burial]], tuple[str, list[Any]]] = _commit,
        packer: Packer | None = None,
    ) -> Iterator[Call]:
        """Make script calls, small enough for Lua's stack and for the server's other clients.

        *commit* returns the script that ends pages, and its arguments; *packer* packs requests.
        """
        pack = bytes if packer is None else packer.pack
        ending = {d.lease.key for d in self.done}
        with_links = [burial for burial in self.burials if burial.children]
        landed = [lease for lease in self.landed if lease.key not in ending]
        for part in _parts(landed, MAX_PAGES):
            yield Call("free_slots", [arg for x in part for arg in (x.id, x.token)], part)
        for part in _parts(self.pushes, MAX_CHILDREN):
            yield Call("push", [len(part), *(arg for p in part for arg in p.args(pack))], part)
        for part in _parts(self.early, MAX_CHILDREN):
            yield Call("push", [len(part), *(arg for x in part for arg in x.push.args(pack))], part)
        for pages in _by_children([*self.done, *with_links]):
            name, args = commit(pages)
            yield Call(name, args, pages)
        for part in _parts(self.retries, MAX_PAGES):
            args = retry_args(part, pack)
            yield Call("retry", [len(part), *args], part)
        for part in _parts([burial for burial in self.burials if not burial.children], MAX_PAGES):
            args = [arg for b in part for arg in (b.lease.id, b.lease.token, b.note)]
            yield Call("bury", [len(part), *args], part)
        for part in _parts(self.releases, MAX_PAGES):
            args = [arg for x in part for arg in (x.id, x.token)]
            yield Call("release", [len(part), *args], part)


def _routed(lease_request: Call, home: Callable[[str], int]) -> Iterator[tuple[int, Call]]:
    """Route a limit to its domain's partition; a measure of many domains is split among theirs."""
    if lease_request.name != "note_latency":
        yield home(lease_request.args[0]), lease_request
        return
    bounds, rows = lease_request.args[:_BOUNDS], lease_request.args[_BOUNDS:]
    by_part: dict[int, list[Any]] = {}
    for start in range(0, len(rows), _MEASURED):
        by_part.setdefault(home(rows[start]), []).extend(rows[start : start + _MEASURED])
    for index, args in by_part.items():
        yield index, Call(lease_request.name, [*bounds, *args], lease_request.about)


def _parts(subjects: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(subjects), size):
        yield subjects[start : start + size]


def _by_children(pages: list[Done | Burial]) -> Iterator[list[Done | Burial]]:
    """Group pages so that a group has few pages and few children; a page is never split (I3)."""
    group: list[Done | Burial] = []
    children = 0
    for page in pages:
        if group and (len(group) >= MAX_PAGES or children + len(page.children) > MAX_CHILDREN):
            yield group
            group, children = [], 0
        group.append(page)
        children += len(page.children)
    if group:
        yield group
