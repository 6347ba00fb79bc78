"""Values of many types in meta and cb_kwargs, as start requests and as links."""

import datetime
import decimal
import enum
import pathlib
import re
import threading
import types
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple

import scrapy

Point = namedtuple("Point", "x y")


class Colour(enum.IntEnum):
    RED = 1


class Context:
    def __init__(self, number):
        self.number = number
        self.lock = threading.Lock()


MAKERS = {
    "bytes": lambda: b"\xff",
    "class": lambda: Context,
    "context": lambda: Context(4),
    "counter": lambda: Counter("aab"),
    "date": lambda: datetime.date(2026, 1, 2),
    "decimal": lambda: decimal.Decimal("1.10"),
    "default": lambda: defaultdict(list, a=[1]),
    "deque": lambda: deque([1]),
    "enum": lambda: Colour.RED,
    "frozen": lambda: frozenset({1}),
    "function": lambda: len,
    "generator": lambda: (n for n in range(3)),
    "infinite": lambda: float("inf"),
    "keys": lambda: {1: "a", None: 2, (1, 2): 3},
    "large": lambda: 2**70,
    "named": lambda: Point(1, 2),
    "nested": lambda: {"a": [{"b": (1, {2})}]},
    "ordered": lambda: list(OrderedDict(b=1, a=2).items()),
    "path": lambda: pathlib.Path("/a"),
    "pattern": lambda: re.compile("a+"),
    "space": lambda: types.SimpleNamespace(a=1),
    "surrogate": lambda: "\ud800",
    "time": lambda: datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
}


def shown(value):
    if isinstance(value, Context):
        return f"context {value.number}"
    if isinstance(value, types.GeneratorType):
        return list(value)
    return ascii((type(value).__name__, value))


class OddSpider(scrapy.Spider):
    name = "odd"

    async def start(self):
        for name, make in MAKERS.items():
            yield scrapy.Request(
                f"{self.site}/author/1/?start={name}", meta={"value": make(), "kind": name}
            )

    def parse(self, response):
        kind = response.meta["kind"]
        yield {"kind": kind, "meta": shown(response.meta["value"])}
        yield response.follow(
            f"/author/2/?link={kind}",
            self.parse_link,
            cb_kwargs={"kind": kind, "value": MAKERS[kind]()},
        )

    def parse_link(self, response, kind, value):
        yield {"kind": kind, "cb_kwargs": shown(value)}
