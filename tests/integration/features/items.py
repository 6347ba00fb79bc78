"""Items on their way to where they are stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
from itemadapter import ItemAdapter
from scrapy import Field, Item
from scrapy.exceptions import DropItem
from scrapy.exporters import JsonLinesItemExporter
from scrapy.http import Response
from scrapy.loader import ItemLoader
from scrapy.pipelines.files import FilesPipeline

from tests.integration.features.base import Base, Shop, Yields
from tests.integration.features.catalogue import Seen, feature

SECTION = "Items"
HERE = "tests.integration.features.items"


class Steps:
    """A pipeline that notes each of its calls."""

    def __init__(self, spider: Any = None) -> None:
        self.count = 0

    @classmethod
    def from_crawler(cls, crawler: Any) -> Steps:
        made = cls()
        made.crawler = crawler
        return made

    crawler: Any = None

    def open_spider(self) -> None:
        self.crawler.spider.notes.append("open")

    def close_spider(self) -> None:
        self.crawler.spider.notes.append(f"close {self.count}")

    async def process_item(self, item: Any) -> Any:
        self.count += 1
        if item["path"] == "/page/3":
            raise DropItem("not this one")
        return {**item, "step": 1}


class After:
    """A pipeline behind the other."""

    def process_item(self, item: Any) -> Any:
        item["step"] += 1
        return item


@feature(
    SECTION,
    "ITEM_PIPELINES: `open_spider`, `process_item`, `close_spider`, DropItem",
    "as in Scrapy; a page ends when its items left the pipelines, and one that remembers what it "
    "saw remembers for its worker",
    stats=("item_scraped_count", "item_dropped_count"),
    ITEM_PIPELINES={f"{HERE}.After": 20, f"{HERE}.Steps": 10},
)
class Piped(Shop):
    @staticmethod
    def check(ours: Seen, plain: Seen) -> None:
        assert ours.notes == plain.notes == ["open", "close 9"]


class Refuses:
    """A pipeline that looks for a field which some items lack."""

    def process_item(self, item: Any) -> Any:
        return {**item, "asked": item["price"]}


@feature(
    SECTION,
    "a pipeline that raises, a callback that raises after it yielded items and requests",
    "as in Scrapy: the other items are stored, and the requests enter. The page becomes a dead "
    "letter with its reason (`scrapy seine dlq`); its replay brings no request twice. Where the "
    "error may be the sink's own (a connection, a timeout, an unknown class) the page is tried "
    "again first",
    workers=2,
    stats=("item_scraped_count", "item_error_count", "spider_exceptions/ValueError"),
    ITEM_PIPELINES={f"{HERE}.Refuses": 10},
)
class Raising(Shop):
    def parse(self, response: Response, **kwargs: Any) -> Yields:
        yield {"path": "no price"}
        yield self.page(response, price=1)
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.parse, errback=self.failed)
        yield {"path": self.path_of(response.url), "price": 2}
        raise ValueError("as asked")


class Quote(Item):
    path = Field()
    status = Field()


@attrs.define
class Plain:
    path: str


@feature(SECTION, "Item, attrs, dict; ItemLoader")
class Kinds(Base):
    def parse(self, response: Response, **kwargs: Any) -> Yields:
        loader = ItemLoader(Quote(), response=response)
        loader.add_value("path", self.path_of(response.url))
        loader.add_css("status", "a::text")
        yield dict(ItemAdapter(loader.load_item()))
        yield ItemAdapter(Plain("b")).asdict()


class Upper(JsonLinesItemExporter):
    """An exporter of the project's own."""

    def serialize_field(self, field: Any, name: str, value: Any) -> Any:
        return str(value).upper()


def read(folder: str) -> list[str]:
    """Lines of each file that a feed wrote, sorted."""
    files = sorted(Path(folder).glob("*.out"))
    return sorted(line for file in files for line in file.read_text("utf-8").splitlines())


class Written(Base):
    """Notes where its feeds are, which are there when the crawl is over."""

    def parse(self, response: Response, **kwargs: Any) -> Yields:
        self.notes.append(self.folder)
        yield {"path": self.path_of(response.url)}

    @staticmethod
    def check(ours: Seen, plain: Seen) -> None:
        assert read(ours.notes[0]) == read(plain.notes[0]) != []


@feature(
    SECTION,
    "FEEDS, `-o`, `-O`, FEED_EXPORTERS, `fields`, `item_filter`, FEED_URI_PARAMS",
    "[one file of all workers](items.md) when the run is over, no item lost by a kill",
    FEED_EXPORTERS={"upper": f"{HERE}.Upper"},
    FEEDS={"{folder}/%(name)s.out": {"format": "upper"}, "{folder}/t.out": {"format": "csv"}},
)
class Fed(Written):
    pass


@feature(
    SECTION,
    "FEED_EXPORT_BATCH_ITEM_COUNT, FEED_STORE_EMPTY, FEED_EXPORT_FIELDS, FEED_EXPORT_INDENT",
    "as in Scrapy; batches are of all workers' items",
    FEEDS={"{folder}/b%(batch_id)d.out": {"format": "jsonlines", "batch_item_count": 1}},
)
class Batched(Written):
    paths = ("/page/1", "/page/2")


class OwnFiles(FilesPipeline):
    """Names its files itself."""

    def file_path(self, request: Any, *args: Any, **kwargs: Any) -> str:
        return f"mine-{request.url.rpartition('/')[2]}"


@feature(
    SECTION,
    "FilesPipeline, ImagesPipeline, FILES_STORE, IMAGES_…, MEDIA_ALLOW_REDIRECTS",
    "as in Scrapy, in the worker's own folder, at the fleet's pace; the page's lease is held until "
    "its files are there. A file that fails is tried again at once, RETRY_TIMES times",
    stats=("file_count", "file_status_count/downloaded", "retry/count"),
    ITEM_PIPELINES={f"{HERE}.OwnFiles": 1},
    FILES_STORE="{folder}/files",
)
class Files(Base):
    def parse(self, response: Response, **kwargs: Any) -> Yields:
        paths = [*(f"/file/{n}" for n in range(3)), "/busy/3"]
        yield {"file_urls": [f"{self.base}{path}" for path in paths]}

    @staticmethod
    def check(ours: Seen, plain: Seen) -> None:
        names = [f"mine-{n}" for n in range(4)]
        assert [file["path"] for file in ours.items[0]["files"]] == names
