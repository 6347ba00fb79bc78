"""Items of a class of their own, known by an adapter, beside dataclasses, attrs and Items from loaders."""

from dataclasses import dataclass, field
from collections import deque
import attrs
import scrapy
from itemadapter import ItemAdapter
from itemadapter.adapter import AdapterInterface, AttrsAdapter, DataclassAdapter, DictAdapter, ScrapyItemAdapter
from itemloaders.processors import Compose, Identity, Join, MapCompose, TakeFirst
from scrapy.loader import ItemLoader


class Own:
    def __init__(self, **kw):
        self.__dict__.update(kw)


class OwnAdapter(AdapterInterface):
    @classmethod
    def is_item(cls, item):
        return isinstance(item, Own)

    @classmethod
    def is_item_class(cls, item_class):
        return issubclass(item_class, Own)

    def __getitem__(self, k):
        return self.item.__dict__[k]

    def __setitem__(self, k, v):
        self.item.__dict__[k] = v

    def __delitem__(self, k):
        del self.item.__dict__[k]

    def __iter__(self):
        return iter(self.item.__dict__)

    def __len__(self):
        return len(self.item.__dict__)

    def field_names(self):
        return self.item.__dict__.keys()


ItemAdapter.ADAPTER_CLASSES = deque([*ItemAdapter.ADAPTER_CLASSES, OwnAdapter])


@dataclass
class D:
    name: str = None
    price: float = None
    tags: list = field(default_factory=list)


@attrs.define
class A:
    name: str = None
    price: float = None
    tags: list = attrs.field(factory=list)


class I(scrapy.Item):
    name = scrapy.Field(input_processor=MapCompose(str.strip), output_processor=Join("/"))
    price = scrapy.Field(serializer=lambda v: f"GBP {v}")
    tags = scrapy.Field()


class L(ItemLoader):
    default_output_processor = TakeFirst()
    name_in = MapCompose(str.strip)
    price_in = MapCompose(lambda s: s.strip("£"), float)
    tags_out = Identity()


class Pipe:
    def process_item(self, item):
        a = ItemAdapter(item)
        a["price"] = (a.get("price") or 0) + 1
        return item


class S(scrapy.Spider):
    name = "adapter_classes"
    custom_settings = {"ITEM_PIPELINES": {Pipe: 300}}

    async def start(self):
        for n in range(4):
            yield scrapy.Request(f"{self.site}/shop/cat/{n}")

    def parse(self, response):
        for i, r in enumerate(response.follow_all(css="a.book")):
            yield r.replace(callback=self.book, cb_kwargs={"kind": i % 4})

    def book(self, response, kind):
        item = [D, A, I, dict][kind]()
        l = L(item=item, response=response)
        l.add_css("name", "h1::text")
        l.add_css("price", "p.price::text")
        n = l.nested_css("body")
        n.add_xpath("tags", ".//a/text()")
        found = l.load_item()
        if kind == 3:
            found = Own(**dict(found))
        yield found
