"""Every Lua file keeps its declared contract, and every verb has one of each kind."""

from __future__ import annotations

import re
from importlib import resources

import pytest
from redis.asyncio import Redis

from scrapy_seine import lua_scripts
from scrapy_seine.errors import ScriptContractError
from scrapy_seine.frontier.encoding.wire import script
from scrapy_seine.frontier.frontier import Frontier
from scrapy_seine.frontier.model import Push

LUA = resources.files("scrapy_seine.frontier") / "lua"
FILES = sorted(p.name for p in LUA.iterdir() if p.name.endswith(".lua"))
VERBS = [name.removesuffix(".lua") for name in FILES if not name.startswith("_")]


@pytest.mark.parametrize("name", VERBS)
def test_a_header_declares_what_its_script_uses(name: str) -> None:
    lua = script(name)
    assert lua.name == name
    assert lua.keys >= 1
    assert len(lua.sha) == 40


@pytest.mark.parametrize("name", FILES)
def test_a_file_stays_short_and_says_what_it_is_for(name: str) -> None:
    lines = (LUA / name).read_text("utf-8").splitlines()
    assert len(lines) <= 130
    assert lines[0].startswith(f"-- {name.removesuffix('.lua')}: ")


@pytest.mark.parametrize("name", VERBS)
async def test_the_server_compiles_it(redis_client: Redis, name: str) -> None:
    lua = script(name)
    sha = await redis_client.script_load(lua.source)
    assert (sha.decode() if isinstance(sha, bytes) else sha) == lua.sha


@pytest.mark.parametrize("name", VERBS)
def test_a_script_touches_only_keys_under_its_prefix(name: str) -> None:
    """On Redis Cluster a script may use one slot: each key is made of KEYS[n]."""
    literal = re.findall(r"redis\.call\('\w+', '([^']+)'", script(name).source)
    assert literal == []


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("-- other: x\n-- reply: y\nreturn 1\n", "must start with"),
        ("-- good: x\nreturn 1\n", "does not say what"),
        ("-- good: x\n-- KEYS[2] k\n-- reply: y\nreturn 1\n", "out of order"),
        ("-- good: x\n-- KEYS[1] k\n-- reply: y\nreturn KEYS[2]\n", r"uses KEYS\[2\]"),
        ("-- good: x\n-- ARGV[1] k\n-- reply: y\nreturn ARGV[2]\n", r"uses ARGV\[2\]"),
        ("return 1\n", "must start with"),
    ],
)
def test_a_broken_header_is_refused_at_load(source: str, complaint: str) -> None:
    with pytest.raises(ScriptContractError, match=complaint):
        lua_scripts._check("good", source)


@pytest.mark.redis
async def test_a_server_that_forgot_its_scripts_is_taught_again(
    redis_client: Redis, namespace: str
) -> None:
    frontier = Frontier(redis_client, namespace)
    push = Push(domain="a", blob=b"x")
    assert await frontier.push([push]) == ["OK"]
    await redis_client.script_flush()
    assert await frontier.push([push]) == ["OK"]
    await redis_client.script_flush()
    assert len((await frontier.lease("w", 2, ttl_ms=1000)).leases) == 2
