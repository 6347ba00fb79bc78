"""Broken files under spiders/ stop neither `scrapy list` nor a crawl; their pages are read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.demo.shop_process import served
from tests import started

pytestmark = pytest.mark.acceptance
ROOT = Path(__file__).parents[2]
WRONG = (
    "from crawler.extract.site import Site\n\n\nclass Shop(Site):\n"
    "    domains = ('127.0.0.1',)\n    delay_ms = 'slow'\n"
)


def test_broken_files_stop_no_crawl(crawl, tmp_path):
    project = tmp_path / "project"
    shutil.copytree(ROOT / "spiders", project / "spiders")
    shutil.copy(ROOT / "scrapy.cfg", project)
    (project / "spiders" / "mine.py").write_text("class :\n")
    (project / "spiders" / "sites" / "aaa.py").write_text("import nosuchmodule\n")
    (project / "spiders" / "sites" / "shop.py").write_text(WRONG)
    stores = {"REDIS_URL": crawl.redis_url, "DATABASE_URL": crawl.database_url}
    environment = {**os.environ, **stores, "SCRAPY_PROJECT": "test", "SEINE_CRAWL": crawl.name}

    def scrapy(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "scrapy", *args]
        return started.run(
            command, cwd=project, env=environment, capture_output=True, text=True, check=False
        )

    listed = scrapy("list")
    assert (listed.returncode, listed.stdout.split()) == (0, ["catalog"])
    assert "Traceback" not in listed.stderr
    assert "spiders/mine.py:1: SyntaxError" in listed.stderr
    assert "spiders/sites/aaa.py:1: ModuleNotFoundError" in listed.stderr

    with served(products=3) as shop:
        crawled = scrapy("crawl", "catalog", "-a", f"url={shop.url}")
    assert crawled.returncode == 0
    said = "spiders/sites/shop.py:6: delay_ms = 'slow': a whole number of at least 0 is needed"
    assert said in crawled.stderr
    # What the loader found before there was a log is in the log as well.
    teller = "[crawler.cli.start_warnings] WARNING: "
    assert f"{teller}files: spiders/mine.py:1: SyntaxError" in crawled.stderr
    assert f"{teller}identity: USER_AGENT is" in crawled.stderr
    rows = crawl.query("SELECT count(*) FROM products")
    assert rows == [(3,)]
