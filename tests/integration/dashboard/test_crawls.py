"""A dashboard shows each crawl of its Redis, and no link or form leads from one to another."""

import re
from urllib.parse import unquote

import pytest

from crawler.dashboard.crawls import CRAWLS
from scrapy_seine.frontier.frontier import Frontier
from tests.integration.dashboard.conftest import a_push, form_token, page, serving

MARKUP = "<b>&\"'"


@pytest.fixture
async def other(redis_client, namespace):
    """A second crawl, whose name is one that a page must quote."""
    frontier = Frontier(redis_client, f"{namespace} {MARKUP}")
    await frontier.push([a_push("https://other.example/", 7, domain="other.example")])
    yield frontier
    await frontier.erase()


@pytest.fixture
async def client(namespace, redis_url, database, frontier, other):
    await frontier.push([a_push("https://shop.example/", 8)])
    async with serving(namespace, redis_url, database) as client:
        await client.app[CRAWLS].read_names(0)
        yield client


async def _other_page(client, text, other):
    """Follow the switch to the other crawl; returns the path and the page."""
    tag = f"{other.keys.crawl[: -len(MARKUP)]}"
    places = re.findall(r'<li><a href="(/c/[^"]+)"(?: aria-current="true")?>([^<]+)', text)
    (path,) = [place for place, name in places if name.startswith(tag)]
    return path, await page(client, path.replace("&amp;", "&"))


async def test_the_switch_keeps_the_page_and_what_was_asked(client, other, namespace):
    path, text = await _other_page(client, await page(client, "/domains"), other)

    assert path.endswith("/domains")
    assert "other.example" in text
    assert "shop.example" not in text
    assert MARKUP not in text
    path, _ = await _other_page(client, await page(client, "/attempts?outcome=ok&done=x"), other)
    assert path.endswith("/attempts?outcome=ok")
    path, _ = await _other_page(client, await page(client, "/domains/shop.example"), other)
    assert path.endswith("/domains")
    back = await page(client, f"/c/{namespace}/domains")
    assert "shop.example" in back


@pytest.mark.parametrize(
    "at",
    [
        *("/", "/domains", "/domains/other.example", "/workers", "/frontier", "/dead"),
        *("/products", "/jobs", "/attempts", "/proxies", "/quality"),
    ],
)
async def test_each_link_of_a_crawls_page_stays_within_it(client, other, at):
    base, _ = await _other_page(client, await page(client, "/"), other)
    text = await page(client, base.rstrip("/") + at)

    own = re.findall(r'(?:href|action|src)="(/[^"]*)"', text)
    assert len(own) > 10
    assert [p for p in own if not p.startswith(("/c/", "/static/"))] == []
    pages = re.search(r'<nav aria-label="Pages">.*?</nav>', text, re.S)[0]
    links = re.findall(r'href="([^"]*)"', pages)
    assert all(link.startswith(base) for link in links)
    assert ' aria-current="page"' in pages


async def test_an_action_is_done_to_the_crawl_whose_page_it_is_on(client, other, frontier):
    base, text = await _other_page(client, await page(client, "/"), other)
    data = {"form_token": await form_token(client), "sure": "yes"}
    action = re.search(r'action="([^"]+/do/pause)"', text)[1]
    assert action.startswith(base)
    for back in ("/", f"{base}domains"):
        data["back"] = back
        async with client.post(action, data=data, allow_redirects=False) as response:
            assert response.status == 303
            assert unquote(response.headers["Location"]).startswith(unquote(base))

    assert (await other.counts()).paused
    assert not (await frontier.counts()).paused


async def test_a_crawls_stream_sends_its_own_parts(client, other):
    base, text = await _other_page(client, await page(client, "/"), other)
    assert 'data-live="overview"' in text
    async with client.get(f"{base}events/overview") as response:
        parts = (await response.content.readuntil(b"\n\n")).decode()

    assert "other.example" in parts
    assert base + "domains/other.example" in parts
    assert "shop.example" not in parts


@pytest.mark.parametrize("name", ["nothing", "%00", "a%2Fb", "%FF", "a" * 3000])
async def test_a_crawl_that_is_not_there_is_said_so(client, name):
    async with client.get(f"/c/{name}/domains") as response:
        assert response.status == 404


async def test_visitors_without_the_token_learn_no_name(namespace, redis_url, database, other):
    async with serving(namespace, redis_url, database, token="a-token-of-length") as client:
        await client.app[CRAWLS].read_names(0)
        assert "/c/" not in await page(client, "/login")
        async with client.get(f"/c/{namespace}/", allow_redirects=False) as response:
            assert response.status in {303, 401}
        data = {"sure": "yes"}
        async with client.post(f"/c/{namespace}/do/pause", data=data) as response:
            assert response.status == 401
