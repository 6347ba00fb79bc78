"""A misspelt `-a` argument is refused or named; one that the spider uses in any way is not."""

from __future__ import annotations

import pytest
from scrapy import Spider

from scrapy_seine.engine.spider import FrontierSpider
from scrapy_seine.engine.starting.arguments import misspelt, refuse_undeclared
from scrapy_seine.errors import ConfigError


class Own(Spider):
    name = "own"
    category = "all"
    tag: str

    def __init__(self, *args: object, since: str = "", **more: object) -> None:
        super().__init__(*args, **more)

    def parse(self, response: object) -> object:
        return getattr(self, "pages", None), self.tag, response

    @property
    def proper(self) -> object:
        return [self.propre for _ in ()]  # type: ignore[attr-defined]

    @classmethod
    def static(cls) -> object:
        def inner(spider: object) -> object:
            return spider.within  # type: ignore[attr-defined]

        return inner


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        (FrontierSpider, {"name": "x", "urls": "http://a/"}, {"urls": "url"}),
        (FrontierSpider, {"name": "x", "url": "http://a/"}, {}),
        (
            FrontierSpider,
            {"name": "x", "Url": "a", "start_url": "b"},
            {"Url": "url", "start_url": "url"},
        ),
        (Own, {"categroy": "shoes"}, {"categroy": "category"}),
        (Own, {"SINCE": "1", "since_day": "2"}, {"SINCE": "since", "since_day": "since"}),
        (Own, {"category": "shoes", "pages": "3", "tag": "x", "_job": "7"}, {}),
        (Own, {"unlike_any_other": "1"}, {}),
        (Own, {"start_urls": "http://a/", "name": "x"}, {}),
        (Own, {"within": "1", "propre": "1", "statc": "1"}, {"statc": "static"}),
    ],
)
def test_what_resembles_a_parameter_is_named(kind, given, expected) -> None:
    assert misspelt(kind(**given)) == expected


class Declares(Spider):
    name = "declares"
    arguments = ("url", "site")
    quiet = False


class Derived(Declares):
    name = "derived"


@pytest.mark.parametrize("given", [[], ["url", "site"], ["quiet"], ["_job"]])
def test_a_spider_that_declares_its_arguments_takes_those_and_its_attributes(given) -> None:
    refuse_undeclared(Declares, given)


@pytest.mark.parametrize(
    ("given", "meant"), [("urls", "; did you mean url?"), ("zzz", "; there is url, site")]
)
def test_a_spider_that_declares_its_arguments_takes_no_other(given, meant) -> None:
    """A misspelt url would leave the worker waiting for seeds."""
    with pytest.raises(ConfigError) as told:
        refuse_undeclared(Declares, ["url", given])
    assert str(told.value) == f"-a {given}=…: spider declares has no such argument{meant}"


@pytest.mark.parametrize("kind", [Derived, Own])
def test_a_spider_that_declares_none_itself_takes_any(kind) -> None:
    refuse_undeclared(kind, ["anything"])
