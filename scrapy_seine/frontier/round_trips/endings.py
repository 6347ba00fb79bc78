"""Collects what a worker sends to the frontier until the next round trip."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

from scrapy_seine.frontier.encoding.wire import MAX_CHILDREN, commit_args, retry_args
from scrapy_seine.frontier.keys import Keys
from scrapy_seine.frontier.model import Burial, Done, Early, Lease, Push, Retry
from scrapy_seine.frontier.packer import Packer
from scrapy_seine.frontier.which_partition import part_of_id
from scrapy_seine.records import Record, Value

#: Leases ended by one script, at most: a script holds up every other client.
MAX_PAGES = 100
#: Where the subjects of a call wait; a site's wish is its own.
_HOMES = {
    "land": "landed",
    "push": "pushes",
    "commit": "done",
    "commit_out": "done",
    "retry": "retries",
    "bury": "burials",
    "release": "releases",
}
#: Subjects that wait elsewhere than others of their call.
_OWN_HOMES = {Burial: "burials", Early: "early"}
#: Arguments of `measure`: the bounds, then so many for each domain.
_BOUNDS, _MEASURED = 3, 5


@attrs.frozen(eq=False, repr=False)
class Call(Value):
    """One script call of a round trip, and what it speaks of."""

    name: str
    args: list[Any]
    about: list[Any]


def _commit(pages: Sequence[Done | Burial]) -> tuple[str, list[Any]]:
    return "commit", commit_args(pages)


@attrs.define(eq=False, repr=False)
class Endings(Record):
    """What sites wish; pages done, to retry, to bury or to hand back; slots to free; pushes."""

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
        """The round trip failed: *earlier* goes first next time."""
        for field in attrs.fields(Endings):
            getattr(self, field.name)[:0] = getattr(earlier, field.name)

    def take_back(self, calls: Sequence[Call], *, lost: bool = False) -> None:
        """Calls failed: what they speak of goes first next time.

        *lost*: Redis forgot the leases they are about; only what needs none is said again.
        """
        earlier = Endings()
        for made in calls:
            home = _HOMES.get(made.name)
            if home is None:
                earlier.limits.append(made)
                continue
            for subject in made.about:
                place = _OWN_HOMES.get(type(subject), home)
                if not lost or place == "pushes":
                    getattr(earlier, place).append(subject)
        self.put_back(earlier)

    def let_go(self, of: Callable[[Lease], bool]) -> list[Lease]:
        """Drop what would end leases that are no longer held; returns these."""
        gone: list[Lease] = []
        for name in ("done", "retries", "burials"):
            endings = getattr(self, name)
            gone += [ending.lease for ending in endings if of(ending.lease)]
            endings[:] = [ending for ending in endings if not of(ending.lease)]
        # A link without its page is dropped: whoever reads the page again yields it.
        self.early[:] = [early for early in self.early if not of(early.lease)]
        for leases in (self.releases, self.landed):
            leases[:] = [lease for lease in leases if not of(lease)]
        return gone

    def split(self, keys: Keys) -> list[Endings]:
        """Sort what each partition is to be told, by its number."""
        made = [Endings() for _ in range(keys.of)]

        def home(domain: str) -> int:
            return keys.part(domain).index or 0

        for lease_request in self.limits:
            for index, part in _routed(lease_request, home):
                made[index].limits.append(part)
        for push in self.pushes:
            made[home(push.domain)].pushes.append(push)
        for early in self.early:
            made[home(early.push.domain)].early.append(early)
        for name in ("done", "retries", "burials"):
            for ending in getattr(self, name):
                getattr(made[part_of_id(ending.lease.id)], name).append(ending)
        for name in ("releases", "landed"):
            for lease in getattr(self, name):
                getattr(made[part_of_id(lease.id)], name).append(lease)
        return made

    def calls(
        self,
        commit: Callable[[Sequence[Done | Burial]], tuple[str, list[Any]]] = _commit,
        packer: Packer | None = None,
    ) -> Iterator[Call]:
        """Script calls, small enough for Lua's stack and for the server's other clients.

        *commit* says which script ends pages, and with what arguments; *packer* makes what is kept
        of a request.
        """
        pack = bytes if packer is None else packer.pack
        ending = {d.lease.id for d in self.done}
        with_links = [burial for burial in self.burials if burial.children]
        landed = [lease for lease in self.landed if lease.id not in ending]
        for part in _parts(landed, MAX_PAGES):
            yield Call("land", [a for x in part for a in (x.id, x.token)], part)
        for part in _parts(self.pushes, MAX_CHILDREN):
            yield Call("push", [len(part), *(a for p in part for a in p.args(pack))], part)
        for part in _parts(self.early, MAX_CHILDREN):
            yield Call("push", [len(part), *(a for x in part for a in x.push.args(pack))], part)
        for pages in _by_children([*self.done, *with_links]):
            name, args = commit(pages)
            yield Call(name, args, pages)
        for part in _parts(self.retries, MAX_PAGES):
            args = retry_args(part, pack)
            yield Call("retry", [len(part), *args], part)
        for part in _parts([burial for burial in self.burials if not burial.children], MAX_PAGES):
            args = [a for b in part for a in (b.lease.id, b.lease.token, b.note)]
            yield Call("bury", [len(part), *args], part)
        for part in _parts(self.releases, MAX_PAGES):
            args = [a for x in part for a in (x.id, x.token)]
            yield Call("release", [len(part), *args], part)


def _routed(lease_request: Call, home: Callable[[str], int]) -> Iterator[tuple[int, Call]]:
    """Where a wish goes: to its domain's partition, and measures of many domains to each one's."""
    if lease_request.name != "measure":
        yield home(lease_request.args[0]), lease_request
        return
    bounds, rest = lease_request.args[:_BOUNDS], lease_request.args[_BOUNDS:]
    found: dict[int, list[Any]] = {}
    for at in range(0, len(rest), _MEASURED):
        found.setdefault(home(rest[at]), []).extend(rest[at : at + _MEASURED])
    for index, args in found.items():
        yield index, Call(lease_request.name, [*bounds, *args], lease_request.about)


def _parts(things: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(things), size):
        yield things[start : start + size]


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
