"""The ends of jobs reach the receiver at least once, in order, signed; whoever dies in between."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import hmac
import random

import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from crawler.catalogue.jobs import webhooks
from crawler.catalogue.jobs.webhooks import WebhookConfig, Webhooks, signature
from scrapy_seine.errors import ConfigError
from tests.helpers import patient, wait_until_async

SECRET = "a-secret-of-good-length"


class Receiver:
    """Takes events; *fate* says what becomes of each request."""

    def __init__(self, fate=lambda: 204):
        self.fate, self.got, self.attempts = fate, [], []
        self.third = asyncio.Event()

    async def take(self, request):
        body, told = await request.read(), request.headers
        signed = f"{told['webhook-id']}.{told['webhook-timestamp']}.".encode() + body
        right = base64.b64encode(hmac.digest(SECRET.encode(), signed, hashlib.sha256)).decode()
        assert told["webhook-signature"] == f"v1,{right}"
        event = orjson.loads(body)
        assert event["id"] == told["webhook-id"]
        self.attempts.append(event["id"])
        status = self.fate()
        if status == "lost":  # it has the event, and dies before it answers
            self.got.append(event)
        if status in {"lost", "refused"}:
            request.transport.abort()
            return web.Response()
        if status < 300:
            self.got.append(event)
        if len(self.got) == 3:
            self.third.set()
        return web.Response(status=status)


@contextlib.asynccontextmanager
async def receiving(receiver):
    app = web.Application()
    app.router.add_post("/hook", receiver.take)
    async with TestServer(app) as server:
        yield WebhookConfig(str(server.make_url("/hook")), SECRET)


async def end_some(jobs, n):
    for at in range(n):
        job = await jobs.begin(
            f"job{at}", site_id="shop", kind="full", urls=["https://shop.example/"]
        )
        await (jobs.finish if at % 2 else jobs.cancel)(job)
    await jobs.note_lost("job0")
    return [
        f"{jobs.frontier.keys.crawl}:job{n}:{'finished' if n % 2 else 'cancelled'}"
        for n in range(n)
    ]


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(webhooks, "pause_s", lambda failures: 0.0)


async def test_a_receiver_killed_at_random_gets_each_event_in_order(jobs, redis_client):
    fates = random.Random(7)
    receiver = Receiver(lambda: fates.choice([204, 200, 500, 302, 410, "lost", "refused"]))
    async with receiving(receiver) as config:
        webhooks = Webhooks(redis_client, jobs.frontier.keys, config, look_s=0.01)
        await webhooks.begin()
        ended = [*await end_some(jobs, 20), f"{jobs.frontier.keys.crawl}:job0:lost"]
        # Senders die as well: each is cancelled at some moment, and another goes on.
        while len({event["id"] for event in receiver.got}) < len(ended):
            task = asyncio.ensure_future(webhooks.run(lambda: True))
            await asyncio.wait([task], timeout=fates.random() / 10)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        while not await webhooks.deliver():  # the last one may be refused, as any other
            pass
    firsts = list(dict.fromkeys(event["id"] for event in receiver.got))
    assert firsts == ended
    assert len(receiver.got) > len(ended), "some came twice, with the id that they had before"


async def test_an_event_tells_what_became_of_the_job(jobs, redis_client):
    receiver = Receiver()
    async with receiving(receiver) as config:
        webhooks = Webhooks(redis_client, jobs.frontier.keys, config)
        await webhooks.begin()
        await end_some(jobs, 1)
        assert await webhooks.deliver()
    cancelled, lost = receiver.got
    assert (cancelled["type"], cancelled["site"], cancelled["total"]) == (
        "job.cancelled",
        "shop",
        1,
    )
    assert (lost["type"], lost["job"]) == ("job.lost", "job0")


async def test_what_ended_before_webhooks_were_wanted_is_not_sent(jobs, redis_client):
    await end_some(jobs, 3)
    receiver = Receiver()
    async with receiving(receiver) as config:
        webhooks = Webhooks(redis_client, jobs.frontier.keys, config)
        await webhooks.begin()
        assert await webhooks.deliver()
        assert receiver.got == []


async def test_only_the_leader_sends(jobs, redis_client):
    receiver, leads = Receiver(), []
    async with receiving(receiver) as config:
        webhooks = Webhooks(redis_client, jobs.frontier.keys, config, look_s=0.01)
        task = asyncio.ensure_future(webhooks.run(lambda: bool(leads)))
        sent = jobs.frontier.keys.events_sent
        await wait_until_async(lambda: redis_client.exists(sent), 5, "the sender has begun")
        await end_some(jobs, 2)
        await asyncio.sleep(0.1)
        assert receiver.attempts == []
        leads.append(True)
        await asyncio.wait_for(receiver.third.wait(), patient(5))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_an_event_that_is_refused_for_days_holds_nobody_up(
    jobs, redis_client, monkeypatch, caplog
):
    await redis_client.set(jobs.frontier.keys.events_sent, "0-0")
    ended = await end_some(jobs, 2)
    monkeypatch.setattr(webhooks, "GIVE_UP_S", -1.0)
    receiver = Receiver(lambda: 500)
    async with receiving(receiver) as config:
        assert await Webhooks(redis_client, jobs.frontier.keys, config).deliver()
    assert len(receiver.attempts) == 3
    assert f"webhook {ended[0]} is given up" in caplog.text
    assert SECRET not in caplog.text


async def test_events_that_redis_dropped_unsent_are_told_once(
    jobs, redis_client, monkeypatch, caplog
):
    keys = jobs.frontier.keys
    sent = await redis_client.xadd(keys.events, {"event": b"{}"})
    await redis_client.set(keys.events_sent, sent)
    await end_some(jobs, 2)
    monkeypatch.setattr(webhooks, "MAX_EVENTS", 2)

    async def refuse(url, body, headers):
        return 500

    sender = Webhooks(redis_client, keys, WebhookConfig("http://h/", SECRET), post=refuse)
    assert not await sender.deliver()
    assert "dropped unsent" not in caplog.text
    await redis_client.xtrim(keys.events, maxlen=2, approximate=False)
    for _ in range(2):
        assert not await sender.deliver()
    assert caplog.text.count("the oldest events were dropped unsent") == 1


async def test_junk_in_the_stream_holds_nobody_up(jobs, redis_client):
    keys = jobs.frontier.keys
    await redis_client.set(keys.events_sent, "0-0")
    for junk in (b"\xff", b"[]", b'{"id": 5, "at": "x"}'):
        await redis_client.xadd(keys.events, {"event": junk})
    await redis_client.xadd(keys.events, {"other": "x"})

    async def post(url, body, sent):
        return 500

    config = WebhookConfig("http://127.0.0.1:1/", SECRET)
    assert await Webhooks(redis_client, keys, config, post=post).deliver()
    await redis_client.xadd(keys.events, {"event": b'{"id": "no\\nheader"}'})
    assert await Webhooks(redis_client, keys, config).deliver()


async def test_a_receiver_that_answers_junk_is_one_short_line(jobs, redis_client, caplog):
    async def post(url, body, headers):
        raise OSError("Bad status line:\n\x1b[31m " + "a" * 100_000)

    made = Webhooks(redis_client, jobs.frontier.keys, WebhookConfig("http://x/", SECRET), post=post)
    assert not await made._send(orjson.dumps({"id": "x", "at": 4e9}))
    [line] = [line for line in caplog.messages if "attempt 1" in line]
    assert line.isprintable()
    assert len(line) < 400


def test_the_signature_is_that_of_standard_webhooks():
    """The example of standardwebhooks.com's libraries."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    body = b'{"test": 2432232314}'
    told = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    assert told == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize(
    ("url", "secret"),
    [("ftp://x/", SECRET), ("nowhere", SECRET), ("https://x/", ""), ("https://x/", "short")]
    + [(f"http://{place}/", SECRET) for place in ("x:port", "x:99999", "x:0", "[::1", "")],
)
def test_a_webhook_that_cannot_be_is_refused_at_the_start(url, secret):
    with pytest.raises(ConfigError):
        WebhookConfig.from_settings({"SEINE_WEBHOOK_URL": url, "SEINE_WEBHOOK_SECRET": secret})


def test_no_url_sends_nothing():
    assert WebhookConfig.from_settings({}) is None
