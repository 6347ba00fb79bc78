"""Commands that pages show, and that no other test runs, do what the page says of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from tests.helpers import execute, run_scrapy

ROOT = Path(__file__).parents[2]
BAD_SEED = '{"a":1}'


@pytest.fixture
def stores(redis_url: str, database: str) -> Iterator[dict[str, str]]:
    """A site, and a filter of scrapy-redis, without which there is nothing to import."""
    execute(database, "INSERT INTO sites (site_id) VALUES ('lamps.example')")
    with Redis.from_url(redis_url) as redis:
        redis.sadd("catalog:dupefilter", "0" * 40)
        yield {"REDIS_URL": redis_url, "DATABASE_URL": database, "SCRAPY_PROJECT": "test"}
        redis.delete("catalog:dupefilter")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("redis", "lpush", "{key}", "123", "https://shop.example/", BAD_SEED), "3"),
        (("redis", "lrange", "{key}", "0", "-1"), "(empty)"),
        (("quality", "--since", "24h", "--keep"), ""),
        (("quality", "lamps.example", "--accept", "availability"), "lamps.example"),
        (("export", "doubtful", "-o", "doubtful.csv"), ""),
        (("export", "products", "--help"), "--format csv"),
        (
            ("seine", "frontier", "import-scrapy-redis", "--crawl", "{crawl}"),
            "0 queued, 0 duplicates",
        ),
        (
            ("seine", "frontier", "import-scrapy-redis", "--unpickle", "--crawl", "{crawl}"),
            "0 queued, 0 duplicates",
        ),
        (
            ("seine", "frontier", "import-scrapy-redis", "--urls=/dev/null", "--crawl", "{crawl}"),
            "0 queued, 0 duplicates",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_command_that_a_page_shows_works(
    stores: dict[str, str], namespace: str, tmp_path: Path, command: tuple[str, ...], words: str
) -> None:
    names = {"{key}": f"{namespace}:start_urls", "{crawl}": namespace}
    placed = [names.get(word, word) for word in command]
    call = [str(tmp_path / word) if word == "doubtful.csv" else word for word in placed]
    wrote = run_scrapy(*call, folder=ROOT, environment=stores)
    assert words in wrote
    if call != placed:
        assert (tmp_path / "doubtful.csv").exists()
