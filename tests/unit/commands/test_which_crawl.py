"""Which crawl a command is about: a project that is not the catalogue has no spider `catalog`."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from scrapy.settings import Settings

from crawler.commands import status as catalogue_status
from scrapy_seine.commands import seed, status
from scrapy_seine.commands.which_crawl import crawl_of, only_spider
from scrapy_seine.errors import ConfigError

SPIDER = """
import scrapy

class {name}(scrapy.Spider):
    name = "{name}"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Make the settings of a project with the spiders of these names."""
    monkeypatch.syspath_prepend(tmp_path)

    def made(*names: str, **settings: str) -> Settings:
        for name in names:
            (tmp_path / f"spider_{name}.py").write_text(SPIDER.format(name=name), "utf-8")
        modules = [f"spider_{name}" for name in names]
        return Settings({"SPIDER_MODULES": modules, **settings})

    return made


def crawl(settings: Settings, *args: str, kind: type[status.Command] = status.Command) -> str:
    """Return the crawl that `scrapy seine status ARGS` reads."""
    command = kind()
    command.settings = settings
    parser = argparse.ArgumentParser(conflict_handler="resolve")
    command.add_options(parser)
    return crawl_of(command, parser.parse_args(args))


def test_the_only_spider_names_the_crawl(project) -> None:
    assert crawl(project("quotes")) == "quotes"


def test_of_several_spiders_none_is_guessed(project) -> None:
    settings = project("quotes", "authors")
    with pytest.raises(ConfigError, match=r"say --spider NAME.* the spiders authors, quotes"):
        crawl(settings)
    assert crawl(settings, "--spider", "authors") == "authors"
    assert crawl(settings, "--crawl", "tuesday") == "tuesday"
    assert crawl(project("quotes", "authors", SEINE_CRAWL="sunday")) == "sunday"


def test_a_project_without_spiders_is_told_so(project) -> None:
    with pytest.raises(ConfigError, match="the project has no spider"):
        only_spider(project())


def test_the_catalogue_means_its_own_spider_without_loading_one(project) -> None:
    settings = project("quotes", "authors")
    assert crawl(settings, kind=catalogue_status.Command) == "catalog"


def test_a_seed_goes_to_no_guessed_spider(project) -> None:
    command = seed.Command()
    command.settings = project("quotes", "authors")
    with pytest.raises(ConfigError, match="say --spider NAME"):
        command.perform(["https://a.example/"], argparse.Namespace(spider="", json=False))
