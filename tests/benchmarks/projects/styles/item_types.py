"""Items of each kind: Item, dataclass, attrs and dict, through pipelines that change them."""

import dataclasses

import attrs
import scrapy
from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem


class Plain(scrapy.Item):
    kind = scrapy.Field()
    name = scrapy.Field(serializer=str.upper)


@dataclasses.dataclass
class Data:
    kind: str
    name: str
    tags: list[str] = dataclasses.field(default_factory=list)


@attrs.define
class Attrs:
    kind: str
    name: str


class Rename:
    def process_item(self, item):
        adapter = ItemAdapter(item)
        adapter["name"] = adapter["name"].replace("Author", "Writer")
        return item


class Unique:
    def __init__(self):
        self.seen = set()

    async def process_item(self, item):
        key = (ItemAdapter(item)["kind"], ItemAdapter(item)["name"])
        if key in self.seen:
            raise DropItem("seen")
        self.seen.add(key)
        return item


class TypesSpider(scrapy.Spider):
    name = "types"
    custom_settings = {"ITEM_PIPELINES": {Rename: 100, Unique: 200}}

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [f"{site}/author/{n}/" for n in range(6)]

    def parse(self, response):
        name = response.css("h3::text").get()
        yield Plain(kind="item", name=name)
        yield Data("dataclass", name, ["a"])
        yield Attrs("attrs", name)
        yield {"kind": "dict", "name": name}
