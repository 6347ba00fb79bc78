"""I1, I2, I3, I5, I6 under random verbs and random deaths, judged by a model in plain Python."""

from __future__ import annotations

import asyncio
import copy
import hashlib
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from redis.asyncio import Redis

from scrapy_seine.frontier.encoding.wire import script
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Burial, Done, Lease, Push, Retry
from scrapy_seine.frontier.opening import frontier_of
from scrapy_seine.frontier.partitions import outbox
from scrapy_seine.frontier.round_trips.endings import Call
from scrapy_seine.frontier.worker_deaths import shared_deaths
from scrapy_seine.lua_scripts import call
from tests.integration.frontier_kit import T0
from tests.integration.frontier_model import Known, Way

pytestmark = pytest.mark.redis

#: Each partition has one, of two as of three.
DOMAINS = ("a", "b", "g")
MAX_DELIVERIES = 3


class FrontierMachine(RuleBasedStateMachine):
    """Two workers, one frontier, one clock; a crash forgets what a worker holds.

    In several partitions a worker may also die before it has brought a page's links over, or when
    some have arrived and not left yet; and one may be so slow that it brings them again.
    """

    url = ""
    partitions = 1

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.redis = Redis.from_url(self.url)
        name = f"m{uuid.uuid4().hex[:10]}"
        self.f: Frontier = frontier_of(self.redis, name, self.partitions, now_ms=T0)
        self.known: dict[str, Known] = {}
        self.fingerprints: set[tuple[str, int]] = set()
        self.ways: dict[tuple[int, int], Way] = defaultdict(Way)
        self.stale: list[Lease] = []
        self.caps = dict.fromkeys(DOMAINS, 16)
        self.delays = dict.fromkeys(DOMAINS, 0)
        self.slots: dict[str, int] = {}
        self.paused: set[str] = set()
        self.older: tuple[dict[bytes, bytes], dict[str, Any]] | None = None

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        self.run(self.f.erase())
        self.run(self.redis.aclose())
        self.loop.close()

    def held(self, worker: str | None = None) -> list[Known]:
        found = [k for k in self.known.values() if k.state == "leased"]
        return [k for k in found if worker in {None, k.worker}]

    def admitted(self, push: Push) -> str:
        if push.fingerprint is not None:
            memory = (self.f.part(push.domain).keys.prefix, push.fingerprint)
            if memory in self.fingerprints:
                return "DUPLICATE"
            self.fingerprints.add(memory)
        name = push.blob.decode()
        late = push.not_before_ms > self.f.now_ms
        self.known[name] = Known(
            name, push.domain, "delayed" if late else "ready", push.not_before_ms
        )
        return "OK"

    def fresh(self, fingerprint: int, domain: str, wait_ms: int, priority: int = 0) -> Push:
        name = f"{domain}/{len(self.known)}/{uuid.uuid4().hex[:6]}"
        not_before = self.f.now_ms + wait_ms if wait_ms else 0
        return Push(
            domain=domain,
            blob=name.encode(),
            fingerprint=fingerprint if fingerprint < 40 else None,
            priority=priority,
            not_before_ms=not_before,
        )

    def pick(self, choice: int) -> tuple[Lease, Known | None]:
        """One of the current leases, or one that is no longer anybody's."""
        current = [(k.lease, k) for k in self.held() if k.lease]
        every: list[tuple[Lease, Known | None]] = [*current, *((x, None) for x in self.stale)]
        return every[choice % len(every)]

    def ended(self, known: Known | None, state: Any, reply: list[str]) -> None:
        assert reply == ["OK" if known else "LOST"]
        if known is not None:
            assert known.lease is not None
            self.stale.append(known.lease)
            known.state, known.lease = state, None

    @initialize(data=st.data())
    def limits(self, data: st.DataObject) -> None:
        for domain in DOMAINS:
            self.caps[domain] = data.draw(st.sampled_from([1, 2, 16]))
            self.delays[domain] = data.draw(st.sampled_from([0, 0, 50]))
            self.run(
                self.f.set_delay(
                    domain, delay_ms=self.delays[domain], concurrency=self.caps[domain]
                )
            )

    @rule(
        fingerprints=st.lists(st.integers(0, 60), min_size=1, max_size=6),
        domain=st.sampled_from(DOMAINS),
        wait_ms=st.sampled_from([0, 0, 200]),
        priority=st.integers(-2, 2),
    )
    def push(self, fingerprints: list[int], domain: str, wait_ms: int, priority: int) -> None:
        pushes = [self.fresh(n, domain, wait_ms, priority) for n in fingerprints]
        replies = self.run(self.f.push(pushes))
        assert replies == [self.admitted(p) for p in pushes]

    @rule(
        worker=st.sampled_from(["w1", "w2"]),
        wanted=st.integers(1, 6),
        ttl_ms=st.sampled_from([100, 1000]),
        lead_ms=st.sampled_from([0, 25]),
    )
    def lease(self, worker: str, wanted: int, ttl_ms: int, lead_ms: int) -> None:
        leased = self.run(self.f.lease(worker, wanted, ttl_ms=ttl_ms, lead_ms=lead_ms))
        if "" in self.paused:
            assert (leased.state, list(leased.leases)) == ("PAUSED", [])
            return
        for k in self.known.values():
            if k.state == "delayed" and k.due <= self.f.now_ms:
                k.state = "ready"
        for lease in leased.leases:
            self.handed_out(lease, worker, ttl_ms, lead_ms)
        if len(leased.leases) < wanted:
            self.nothing_was_held_back()

    def handed_out(self, lease: Lease, worker: str, ttl_ms: int, lead_ms: int) -> None:
        k = self.known[lease.blob.decode()]
        assert k.state == "ready"
        assert k.domain not in self.paused
        assert lease.deliveries == k.deliveries
        assert lease.slot_ms <= self.f.now_ms + lead_ms
        if self.delays[k.domain]:
            assert lease.slot_ms - self.slots.get(k.domain, 0) >= self.delays[k.domain]
            self.slots[k.domain] = lease.slot_ms
        k.state, k.lease, k.worker, k.landed = "leased", lease, worker, False
        k.expires = self.f.now_ms + ttl_ms
        in_flight = [h for h in self.held() if h.domain == k.domain and not h.landed]
        assert len(in_flight) <= self.caps[k.domain]

    def nothing_was_held_back(self) -> None:
        """A lease that comes back short left only what may not be sent now."""
        for domain in set(DOMAINS) - self.paused:
            in_flight = [h for h in self.held() if h.domain == domain and not h.landed]
            if self.delays[domain] or len(in_flight) >= self.caps[domain]:
                continue
            assert not [k for k in self.known.values() if k.state == "ready" and k.domain == domain]

    @precondition(lambda self: self.held() or self.stale)
    @rule(
        choice=st.integers(0, 99),
        children=st.lists(st.integers(0, 60), max_size=3),
        dies=st.booleans(),
    )
    def commit(self, choice: int, children: list[int], dies: bool) -> None:
        lease, known = self.pick(choice)
        pushes = [self.fresh(n, DOMAINS[n % 3], 0) for n in children]
        whose = self.f.part(lease.domain) if dies else self.f
        reply = self.run(whose.commit([Done(lease=lease, children=pushes)]))
        self.ended(known, "done", reply)
        self.came_in(lease, known, pushes, dies=dies)

    def came_in(self, lease: Lease, known: Known | None, pushes: list[Push], *, dies: bool) -> None:
        """I3: a page's links came with its end, those of other partitions into the outbox."""
        source = self.f.part(lease.domain)
        if known is not None:
            for push in pushes:
                target = self.f.part(push.domain)
                if target is source:
                    self.admitted(push)
                else:
                    way = (source.keys.index or 0, target.keys.index or 0)
                    self.ways[way].pushes.append(push)
        if not dies:
            self.all_came_over()

    def all_came_over(self) -> None:
        """Outboxes are emptied at once: of links that are the same, any one may be the first."""
        coming = [p for way in self.ways.values() for p in way.pushes[way.arrived :]]
        stored = self.run(self.places())["stored"]
        for push in sorted(coming, key=lambda p: p.blob not in stored):
            assert (self.admitted(push) == "OK") == (push.blob in stored)
        for way in self.ways.values():
            way.pushes, way.arrived = [], 0

    @precondition(lambda self: any(way.pushes for way in self.ways.values()))
    @rule()
    def somebody_brings_the_rest(self) -> None:
        number = sum(len(way.pushes) for way in self.ways.values())
        assert self.run(self.f.forward()) == number
        self.all_came_over()

    @precondition(lambda self: any(way.pushes for way in self.ways.values()))
    @rule(choice=st.integers(0, 99), most=st.integers(1, 3))
    def some_arrive_and_their_bearer_dies(self, choice: int, most: int) -> None:
        ends, way = [(ends, way) for ends, way in self.ways.items() if way.pushes][
            choice % sum(bool(way.pushes) for way in self.ways.values())
        ]
        source, target = (self.f.parts[index] for index in ends)
        head = self.run(self.redis.xrange(source.keys.outbox(ends[1]), count=most))
        new = way.pushes[way.arrived : len(head)]
        assert self.run(outbox.receive(source, target, head)) == len(new)
        for push in new:
            self.admitted(push)
        way.arrived = max(way.arrived, len(head))
        way.heads.append(head)

    @precondition(lambda self: any(way.heads for way in self.ways.values()))
    @rule()
    def a_slow_bearer_brings_the_same_again(self) -> None:
        for ends, way in self.ways.items():
            source, target = (self.f.parts[index] for index in ends)
            for head in way.heads:
                assert self.run(outbox.receive(source, target, head)) == 0

    @precondition(lambda self: self.held() or self.stale)
    @rule(choice=st.integers(0, 99), wait_ms=st.sampled_from([0, 300]))
    def retry(self, choice: int, wait_ms: int) -> None:
        lease, known = self.pick(choice)
        domain = known.domain if known else "a"
        push = Push(domain=domain, blob=lease.blob, priority=-1)
        reply = self.run(self.f.retry([Retry(lease=lease, wait_ms=wait_ms, push=push)]))
        self.ended(known, "delayed", reply)
        if known is not None:
            known.due = self.f.now_ms + wait_ms

    @precondition(lambda self: self.held() or self.stale)
    @rule(
        choice=st.integers(0, 99),
        children=st.lists(st.integers(0, 60), max_size=3),
        dies=st.booleans(),
    )
    def bury(self, choice: int, children: list[int], dies: bool) -> None:
        lease, known = self.pick(choice)
        pushes = [self.fresh(n, DOMAINS[n % 3], 0) for n in children]
        whose = self.f.part(lease.domain) if dies else self.f
        burial = Burial(lease=lease, note=b'{"error":"a\\nb"}', children=pushes)
        self.ended(known, "dead", self.run(whose.bury([burial])))
        if pushes:
            self.came_in(lease, known, pushes, dies=dies)

    @precondition(lambda self: self.held() or self.stale)
    @rule(choice=st.integers(0, 99))
    def release(self, choice: int) -> None:
        lease, known = self.pick(choice)
        self.ended(known, "ready", self.run(self.f.release([lease])))

    @precondition(lambda self: self.held() or self.stale)
    @rule(choice=st.integers(0, 99), begins=st.booleans())
    def isolate(self, choice: int, begins: bool) -> None:
        lease, known = self.pick(choice)
        assert self.run(self.f.isolate(lease, begins=begins)) == (known is not None)
        if known is not None:
            known.isolated = lease.token if begins else ""

    @precondition(lambda self: self.held() or self.stale)
    @rule(choice=st.integers(0, 99))
    def land(self, choice: int) -> None:
        lease, known = self.pick(choice)
        made = Call("free_slots", [lease.id, lease.token], [])
        args = [self.f.now_ms, *made.args]
        prefix = self.f.part(lease.domain).keys.prefix
        freed = self.run(call(self.redis, script("free_slots"), [prefix], args))
        assert freed == (1 if known and not known.landed else 0)
        if known is not None:
            known.landed = True

    @rule(worker=st.sampled_from(["w1", "w2"]))
    def renew(self, worker: str) -> None:
        mine = self.held(worker)
        leases = [k.lease for k in mine if k.lease] + self.stale[-2:]
        lost = self.run(self.f.renew(worker, leases, ttl_ms=1000, info=b"{}"))
        assert sorted(lost) == sorted(x.id for x in self.stale[-2:])
        for k in mine:
            k.expires = self.f.now_ms + 1000

    @rule(ms=st.sampled_from([1, 40, 150, 1001]))
    def time_passes(self, ms: int) -> None:
        self.f.now_ms += ms

    @rule()
    def reap(self) -> None:
        """Whoever let its leases expire is dead; a late word of its changes nothing."""
        expired = [k for k in self.held() if k.expires <= self.f.now_ms]
        returned = buried = 0
        for k in expired:
            assert k.lease is not None
            self.stale.append(k.lease)
            k.alone += k.isolated == k.lease.token
            k.deliveries, k.lease = k.deliveries + 1, None
            k.state = "dead" if self.is_to_blame(k) else "ready"
            buried += k.state == "dead"
            returned += k.state == "ready"
        assert self.run(self.f.reap(max_deliveries=MAX_DELIVERIES)) == (returned, buried)

    @rule(lost=st.sampled_from(["", "ready", "waiting"]))
    def a_look_beside_other_work_is_due(self, lost: str) -> None:
        """I1: what is in its place stays there; a domain that no key names is placed again."""
        for part in self.f.parts:
            # Where nobody has anything, all is sought once a minute, which is over then.
            due = {"look": self.f.now_ms, "passed": 0}
            self.run(self.redis.hset(part.keys.control, mapping=due))
            if lost and not any(k.expires <= self.f.now_ms for k in self.held()):
                self.run(self.redis.delete(getattr(part.keys, lost)))
        self.reap()

    @staticmethod
    def is_to_blame(k: Known) -> bool:
        alone = k.alone >= MAX_DELIVERIES - shared_deaths(MAX_DELIVERIES)
        return k.deliveries >= MAX_DELIVERIES * (1 if alone else 4)

    @precondition(lambda self: any(k.state == "dead" for k in self.known.values()))
    @rule(pause_ms=st.sampled_from([0, 100]))
    def requeue_dead(self, pause_ms: int) -> None:
        ids = {p: self.run(self.redis.zrange(p.keys.dead, 0, -1)) for p in self.f.parts}
        every = [id_.decode() for mine in ids.values() for id_ in mine]
        stored = {
            p: self.run(self.redis.hmget(p.keys.requests, mine)) for p, mine in ids.items() if mine
        }
        assert self.run(self.f.requeue_dead(every, pause_ms=pause_ms)) == len(every)
        for texts in stored.values():
            apart = pause_ms * len(every) // len(texts)
            for place, text in enumerate(texts):
                k = self.known[text.partition(b"\n")[2].decode()]
                assert k.state == "dead"
                k.state, k.due = "delayed", self.f.now_ms + place * apart
                k.deliveries, k.alone, k.isolated = 0, 0, ""

    @rule(domain=st.sampled_from(DOMAINS), level=st.integers(3998, 4002), stale=st.booleans())
    def set_priority(self, domain: str, level: int, stale: bool) -> None:
        """Of requests in any state; what was read before they changed is stale."""
        part = self.f.part(domain)
        mine = {k.name for k in self.known.values() if k.domain == domain}
        stored = self.run(self.redis.hgetall(part.keys.requests))
        args, queued = [], 0
        for id_, text in stored.items():
            blob = text.partition(b"\n")[2]
            if blob.decode() in mine:
                read = hashlib.sha1(b"older" if stale else text, usedforsecurity=False).hexdigest()
                args += [id_, read, b"%d %b\n%b" % (level, domain.encode(), blob)]
                queued += self.known[blob.decode()].state in {"ready", "delayed"}
        assert self.run(part.run("set_priority", *args)) == (0 if stale else queued)

    @rule(domain=st.sampled_from(["", "a"]))
    def pause(self, domain: str) -> None:
        self.run(self.f.pause(domain))
        self.paused.add(domain)

    @rule(domain=st.sampled_from(["", "a"]))
    def resume(self, domain: str) -> None:
        assert self.run(self.f.resume(domain)) == (domain in self.paused)
        self.paused.discard(domain)

    @rule(numbers=st.sets(st.integers(0, 39), max_size=3))
    def forget(self, numbers: set[int]) -> None:
        known = {memory for memory in self.fingerprints if memory[1] in numbers}
        assert self.run(self.f.forget(sorted(numbers))) == len(known)
        self.fingerprints -= known

    @rule(fingerprint=st.integers(0, 60), domain=st.sampled_from(DOMAINS), force=st.booleans())
    def a_push_is_repeated_because_its_reply_was_lost(
        self, fingerprint: int, domain: str, force: bool
    ) -> None:
        push = self.fresh(fingerprint, domain, 0)
        if push.fingerprint is None or force:
            push = attrs.evolve(push, mark=uuid.uuid4().hex, force=force)
        if force and push.fingerprint is not None:
            self.fingerprints.discard((self.f.part(domain).keys.prefix, push.fingerprint))
        assert self.run(self.f.push([push])) == [self.admitted(push)]
        assert self.run(self.f.push([push])) == ["DUPLICATE"]

    MODEL = ("known", "fingerprints", "ways", "caps", "delays", "slots", "paused")

    @rule()
    def somebody_copies_the_server(self) -> None:
        model = {name: copy.deepcopy(getattr(self, name)) for name in self.MODEL}
        self.older = (self.run(self.dump()), model)

    @precondition(lambda self: self.older is not None)
    @rule()
    def the_server_falls_back_to_the_copy(self) -> None:
        """I2: what was leased since is nobody's; ids are given out again, and tokens are not."""
        assert self.older is not None
        keys, model = self.older
        now = [k.lease for k in self.held() if k.lease]
        self.run(self.restore(keys))
        for name, value in model.items():
            setattr(self, name, copy.deepcopy(value))
        tokens = {k.lease.token for k in self.held() if k.lease}
        self.stale = [x for x in [*self.stale, *now] if x.token not in tokens]

    async def dump(self) -> dict[bytes, bytes]:
        client: Any = self.redis
        return {key: await client.dump(key) async for key in self.own_keys()}

    async def restore(self, keys: dict[bytes, bytes]) -> None:
        for key in [key async for key in self.own_keys()]:
            await self.redis.delete(key)
        for key, value in keys.items():
            await self.redis.restore(key, 0, value)

    def own_keys(self) -> AsyncIterator[bytes]:
        return self.redis.scan_iter(match=f"{{{self.f.keys.crawl}[/}}]*", count=1000)

    @rule()
    def the_server_forgets_its_scripts(self) -> None:
        self.run(self.redis.script_flush())

    @invariant()
    def i1_counts_are_the_models(self) -> None:
        states = [k.state for k in self.known.values()]
        c = self.run(self.f.counts())
        assert (c.ready, c.delayed, c.leased, c.dead) == tuple(
            states.count(s) for s in ("ready", "delayed", "leased", "dead")
        )
        assert c.seen == len(self.fingerprints)
        assert c.moving == sum(len(way.pushes) for way in self.ways.values())
        assert self.run(self.f.idle()) == (c.undone == 0)

    @invariant()
    def i1_each_request_is_in_exactly_one_place(self) -> None:
        members = self.run(self.places())
        del members["stored"]
        requests, held, leases = members.pop("requests"), members.pop("held"), members["leases"]
        assert held == leases
        assert sum(map(len, members.values())) == len(requests)
        assert set().union(*members.values()) == requests

    async def places(self) -> dict[str, set[bytes]]:
        """Ids by where they are, and payloads that are stored; ids are unique in the crawl."""
        found: dict[str, set[bytes]] = defaultdict(set)
        for part in self.f.parts:
            k, pipe = part.keys, self.redis.pipeline()
            pipe.hgetall(k.requests)
            pipe.hkeys(k.held)
            queues = [k.queue(domain) for domain in DOMAINS if self.f.part(domain) is part]
            for key in (k.leases, k.delayed, k.dead, *queues):
                pipe.zrange(key, 0, -1)
            requests, *ids = await pipe.execute()
            found["stored"] |= {text.partition(b"\n")[2] for text in requests.values()}
            names = ["requests", "held", "leases", "delayed", "dead", *queues]
            for name, members in zip(names, [requests, *ids], strict=True):
                assert not found[name] & set(members)
                found[name] |= set(members)
        return dict(found)


@pytest.mark.parametrize("partitions", [1, 2, 3])
def test_the_frontier_agrees_with_its_model(redis_url: str, partitions: int) -> None:
    FrontierMachine.url, FrontierMachine.partitions = redis_url, partitions
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        FrontierMachine,
        settings=settings(
            max_examples=40,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
