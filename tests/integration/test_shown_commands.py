"""Commands that pages show, and that no other test runs, do what the page says of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import execute, patient

ROOT = Path(__file__).parents[2]
BAD_SEED = '{"a":1}'


@pytest.fixture
def stores(redis_url: str, database: str) -> dict[str, str]:
    execute(database, "INSERT INTO sites (site_id) VALUES ('lamps.example')")
    return {"REDIS_URL": redis_url, "DATABASE_URL": database, "SCRAPY_PROJECT": "test"}


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("redis", "lpush", "{key}", "123", "https://shop.example/", BAD_SEED), "3"),
        (("redis", "lrange", "{key}", "0", "-1"), "(empty)"),
        (("quality", "--since", "24h", "--keep"), ""),
        (("quality", "lamps.example", "--accept", "availability"), "lamps.example"),
        (("export", "doubtful", "-o", "doubtful.csv"), ""),
        (("export", "products", "--help"), "--format csv"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_command_that_a_page_shows_works(
    stores: dict[str, str], namespace: str, tmp_path: Path, command: tuple[str, ...], words: str
) -> None:
    placed = [word.replace("{key}", f"{namespace}:start_urls") for word in command]
    call = [str(tmp_path / word) if word == "doubtful.csv" else word for word in placed]
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", *call],
        cwd=ROOT,
        env={**os.environ, **stores},
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert words in done.stdout + done.stderr
    if call != placed:
        assert (tmp_path / "doubtful.csv").exists()
