"""Requests for callbacks that read what callbacks change on the spider stay in one worker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from scrapy import Request, Spider
from scrapy.linkextractors import LinkExtractor
from scrapy.settings import Settings
from scrapy.spiders import CrawlSpider, Rule, XMLFeedSpider

import scrapy_seine
from scrapy_seine.engine.stored.spider_state import own_state, own_to_pipelines
from settings import base


class Counts(Spider):
    page = 1

    def parse(self, response: Any) -> Iterator[Any]:
        self.page += 1
        yield response.follow(f"/page/{self.page}", self.parse_page)

    def parse_page(self, response: Any) -> Iterator[Any]:
        yield {"url": response.url}


class CountsOnItsClass(Spider):
    page = 1

    def parse(self, response: Any) -> Iterator[Any]:
        CountsOnItsClass.page = CountsOnItsClass.page + 1
        if CountsOnItsClass.page < 9:
            yield response.follow(f"/page/{response.url}", self.parse)


class KeepsAToken(Spider):
    def parse(self, response: Any) -> Iterator[Any]:
        self.token = response.text
        yield from self.asked(response)

    def asked(self, response: Any) -> Iterator[Any]:
        yield response.follow("/list", callback=self.parse_list)

    def parse_list(self, response: Any) -> Iterator[Any]:
        yield response.follow("/a", callback=self.parse_item, headers=self.headers())

    def headers(self) -> dict[str, str]:
        return {"Authorization": self.token}

    def parse_item(self, response: Any) -> Any:
        return {}


class Gathers(Spider):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.found: dict[str, int] = {}

    def parse(self, response: Any) -> Iterator[Any]:
        self.found[response.url] = 1
        yield response.follow("/last", callback=self.last)

    def last(self, response: Any) -> Any:
        return {"found": self.found.get(response.url)}


class PopsAList(Spider):
    words: ClassVar[list[str]] = ["a", "b"]

    async def start(self) -> Any:
        yield self.following()

    def following(self) -> Request:
        return Request(f"http://a.invalid/{self.words.pop()}")

    def parse(self, response: Any) -> Any:
        return self.following()


class OnlyCounts(Spider):
    count = 0

    def parse(self, response: Any) -> Iterator[Any]:
        self.count += 1
        self.logger.info("%d pages", self.count)
        yield {"url": response.url}

    def closed(self, reason: str) -> None:
        print(self.count)


class OnlyReads(Spider):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.base = "http://a.invalid"
        self.prepare("x")

    def prepare(self, key: str) -> None:
        self.key = key

    def parse(self, response: Any) -> Any:
        return Request(self.base + self.key, self.parse)


class RulesThatCount(CrawlSpider):
    rules = (
        Rule(LinkExtractor(allow="item"), callback="parse_item"),
        Rule(LinkExtractor(allow="list"), callback="parse_list"),
    )
    seen: ClassVar[set[str]] = set()

    def parse_item(self, response: Any) -> Any:
        if response.url in self.seen:
            return None
        self.seen.add(response.url)
        return {}

    def parse_list(self, response: Any) -> Any:
        return {}


class NodesThatCount(XMLFeedSpider):
    row = 0

    def parse_node(self, response: Any, selector: Any) -> Any:
        self.row += 1
        return {"row": self.row}


class CountsInAnObject(Spider):
    pager: Any = None

    def parse(self, response: Any) -> Any:
        self.pager.page += 1
        return response.follow(f"/page/{self.pager.page}")


class TakesFromAnObjectsList(Spider):
    pager: Any = None

    def parse(self, response: Any) -> Any:
        return response.follow(self.pager.pages.pop(0))


class Iterates(Spider):
    pages = iter(range(2, 9))

    def parse(self, response: Any) -> Any:
        return response.follow(f"/page/{next(self.pages)}")


class TakesFromAQueue(Spider):
    waiting: Any = None

    def parse(self, response: Any) -> Any:
        return None if self.waiting.empty() else response.follow(self.waiting.get())


class LooksUp(Spider):
    names: ClassVar[dict[str, str]] = {}

    def parse(self, response: Any) -> Any:
        self.crawler.found = {"name": self.names.get(response.url)}  # type: ignore[attr-defined]
        return self.crawler.found  # type: ignore[attr-defined]


class SetsByName(Spider):
    page = 1

    def parse(self, response: Any) -> Any:
        setattr(self, "page", getattr(self, "page") + 1)  # noqa: B009, B010


class GathersInADict(Spider):
    def parse(self, response: Any) -> Iterator[Any]:
        parts: dict[str, Any] = {"left": 2}
        for path in ("/a", "/b"):
            yield response.follow(path, self.part, cb_kwargs={"parts": parts})

    def part(self, response: Any, parts: dict[str, Any]) -> Any:
        parts["left"] -= 1
        return None if parts["left"] else parts


class Pager:
    def __init__(self) -> None:
        self.page = 1
        self.stored = 0

    def following(self) -> str:
        self.page += 1
        return self.shown()

    def shown(self) -> str:
        return f"/page/{self.page}"


class AsksAnObject(Spider):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.pager = Pager()

    def parse(self, response: Any) -> Any:
        return response.follow(self.pager.following())


class AsksAnObjectOfItsClass(Spider):
    pager = Pager()

    def parse(self, response: Any) -> Any:
        return response.follow(self.pager.following())


class TellsAnObject(Spider):
    pager = Pager()

    def parse(self, response: Any) -> Any:
        self.pager.following()
        return {"url": response.url}


class ReadsAnObject(Spider):
    pager = Pager()

    def parse(self, response: Any) -> Any:
        return response.follow(self.pager.shown())


class CountsInTheStats(Spider):
    def parse(self, response: Any) -> Any:
        stats = self.crawler.stats
        assert stats is not None
        stats.inc_value("pages")
        stats.inc_value("others")
        return response.follow(f"/page/{stats.get_value('pages')}/{stats.get_value('elapsed')}")


class CallsAFunction(Spider):
    def parse(self, response: Any) -> Any:
        return response.follow(f"/page/{following_page()}")


def following_page() -> int:
    global PAGE
    PAGE += 1
    return PAGE


PAGE = 1
WAITING: list[str] = []


class CountsInItsModule(Spider):
    def parse(self, response: Any) -> Any:
        global PAGE
        PAGE += 1
        return response.follow(f"/page/{PAGE}")


class TakesFromItsModule(Spider):
    def parse(self, response: Any) -> Any:
        return response.follow(WAITING.pop())


class HasALocalOfThatName(Spider):
    def parse(self, response: Any) -> Any:
        WAITING = [response.url]  # noqa: N806
        WAITING.append("/b")
        return response.follow(WAITING[PAGE])


@pytest.mark.parametrize(
    ("kind", "read_by"),
    [
        (Counts, {"parse": {"page"}}),
        (CountsOnItsClass, {"parse": {"page"}}),
        (KeepsAToken, {"parse_list": {"token"}}),
        (Gathers, {"last": {"found"}}),
        (PopsAList, {"parse": {"words"}}),
        (OnlyCounts, {}),
        (OnlyReads, {}),
        (RulesThatCount, {"parse_item": {"seen"}}),
        (NodesThatCount, {"parse": {"row"}}),
        (CountsInAnObject, {"parse": {"pager"}}),
        (TakesFromAnObjectsList, {"parse": {"pager"}}),
        (Iterates, {"parse": {"pages"}}),
        (TakesFromAQueue, {"parse": {"waiting"}}),
        (LooksUp, {}),
        (SetsByName, {"parse": {"page"}}),
        (CountsInItsModule, {"parse": {"global PAGE"}}),
        (TakesFromItsModule, {"parse": {"global WAITING"}}),
        (HasALocalOfThatName, {}),
        (AsksAnObject, {"parse": {"pager"}}),
        (AsksAnObjectOfItsClass, {"parse": {"pager"}}),
        (TellsAnObject, {}),
        (ReadsAnObject, {}),
        (CountsInTheStats, {"parse": {"the stat pages"}}),
        (CallsAFunction, {"parse": {"global PAGE"}}),
        (GathersInADict, {"part": {"what requests share as parts"}}),
    ],
)
def test_what_callbacks_read_and_change_is_found_in_their_source(
    kind: type[Spider], read_by: dict[str, set[str]]
) -> None:
    assert own_state(kind).read_by == read_by


def test_a_request_is_kept_by_its_callback_or_errback() -> None:
    spider, state = KeepsAToken("k"), own_state(KeepsAToken)
    assert state.keeps(Request("http://a.invalid", spider.parse_list))
    assert state.keeps(Request("http://a.invalid", spider.parse_item, errback=spider.parse_list))
    assert not state.keeps(Request("http://a.invalid", spider.parse_item))
    assert not state.keeps(Request("http://a.invalid"))
    assert own_state(Counts).keeps(Request("http://a.invalid"))


def test_a_rules_own_callback_decides() -> None:
    spider, state = RulesThatCount("r"), own_state(RulesThatCount)
    item, listing = (
        Request("http://a.invalid", spider._callback, meta={"rule": n}) for n in range(2)
    )
    assert (state.keeps(item), state.keeps(listing)) == (True, False)


def test_a_class_without_source_has_none() -> None:
    made = type("Made", (Spider,), {"parse": lambda self, response: None})
    assert own_state(made).read_by == {}


def test_the_line_names_attribute_and_callback() -> None:
    (line,) = own_state(Counts).lines("pages")
    assert "spider 'pages': callbacks change self.page" in line
    assert "for parse, which reads that, stay in the page's worker" in line
    (line,) = own_state(CountsInItsModule).lines("pages")
    assert "callbacks change global PAGE, and" in line


class ParksItems(Spider):
    """Asks for each seller once; what comes meanwhile waits for that page."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.waiting: dict[str, list[Any]] = {}
        self.queue: list[str] = []

    def parse(self, response: Any) -> Iterator[Any]:
        self.queue.append(response.url)
        seller = response.css("a::attr(href)").get()
        self.waiting.setdefault(seller, []).append({"url": response.url})
        yield response.follow(seller, self.parse_seller)

    def parse_seller(self, response: Any) -> Iterator[Any]:
        yield from self.waiting.pop(response.url)
        yield response.follow(self.queue.pop(), self.parse)


class ParksItemsByKey(ParksItems):
    def parse(self, response: Any) -> Iterator[Any]:
        self.waiting[response.url].append(response.text)
        yield response.follow("/seller", self.parse_seller)


@pytest.mark.parametrize("kind", [ParksItems, ParksItemsByKey])
def test_items_that_wait_for_another_page_are_said_to_be_in_danger(kind: type[Spider]) -> None:
    (_, line) = own_state(kind).lines("shop")
    assert "spider 'shop': an item that waits in self.waiting for a page that another" in line
    assert "Start one worker" in line


class ReportsAtItsEnd(Spider):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.found: dict[str, list[str]] = {}
        self.places: list[str] = []

    def parse(self, response: Any) -> None:
        self.found[response.url].append(response.text)

    def closed(self, reason: str) -> None:
        Path(self.places[0]).write_text(str(self.found))


def test_a_report_at_the_end_is_said_to_be_a_part() -> None:
    (line,) = own_state(ReportsAtItsEnd).lines("report")
    assert "closed reads self.found, in which each worker has the part of its own pages" in line


class DropsDuplicates:
    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.wanted = {"a"}

    def process_item(self, item: Any) -> Any:
        known = item["id"] in self.ids
        if known or item["id"] not in self.wanted:
            raise ValueError
        self.ids.add(item["id"])
        return item


class Batches:
    def __init__(self) -> None:
        self.rows: list[Any] = []

    def process_item(self, item: Any) -> Any:
        self.rows.append(item)
        return item


class StoresTenAtATime:
    def __init__(self) -> None:
        self.rows: list[Any] = []

    def process_item(self, item: Any) -> Any:
        self.rows.append(item)
        if len(self.rows) == 10:
            self.store()
        return item

    def store(self) -> None:
        Path("items.jl").write_text(str(self.rows), "utf-8")
        self.rows = []

    def close_spider(self) -> None:
        self.store()


class HoldsItsPages(StoresTenAtATime):
    def process_item(self, item: Any) -> Any:
        self.pages = scrapy_seine.hold(item)
        return super().process_item(item)


class Writes:
    def open_spider(self, spider: Any) -> None:
        self.file = Path("items.json").open(mode="w", encoding="utf-8")  # noqa: SIM115  # as they do

    def process_item(self, item: Any) -> Any:
        if item:
            self.file.write(str(item))
        return item


class Appends:
    def process_item(self, item: Any) -> Any:
        with Path("w").open() as found, Path("items.jl").open("a") as file:
            file.write(found.read())
        return item


def test_a_pipeline_that_writes_a_file_anew_is_named() -> None:
    (line,) = own_to_pipelines(Settings({"ITEM_PIPELINES": {Writes: 1, Appends: 2}}))
    assert line.startswith("pipeline Writes opens a file to write it anew, and each worker does")


def test_a_pipeline_that_stores_items_later_without_holding_their_pages_is_named() -> None:
    pipelines = {StoresTenAtATime: 1, Batches: 2, HoldsItsPages: 3}
    (line,) = own_to_pipelines(Settings({"ITEM_PIPELINES": pipelines}))
    assert line.startswith("pipeline StoresTenAtATime gathers items in self.rows and stores them")


def test_a_pipeline_that_looks_for_items_among_its_own_is_named() -> None:
    pipelines = {DropsDuplicates: 1, Batches: 2, "no.such.Pipeline": None}
    (line,) = own_to_pipelines(Settings({"ITEM_PIPELINES": pipelines}))
    assert line.startswith("pipeline DropsDuplicates remembers items in self.ids, and each worker")


def test_none_of_the_catalogues_own_pipelines_is_named() -> None:
    assert list(own_to_pipelines(Settings({"ITEM_PIPELINES": base.ITEM_PIPELINES}))) == []
