"""Callbacks of each kind: another object's method, a function, static, class, private, a coroutine."""

import scrapy


class Helper:
    def __init__(self, tag):
        self.tag = tag

    def parse(self, response):
        yield {"helper": self.tag, "url": response.url[-9:]}

    def __call__(self, response):
        yield {"called": self.tag, "url": response.url[-9:]}


def read(response):
    yield {"function": response.url[-9:]}


class CallbackSpider(scrapy.Spider):
    name = "callbacks"

    def __init__(self, site, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [f"{site}/page/1/"]

    def parse(self, response):
        helper = Helper("one")
        made = [helper.parse, helper, read, self.fixed, CallbackSpider.fixed, self.of_class]
        made += [self.one_item, self.items_at_once, self.nothing, self.__private]
        for n, callback in enumerate(made):
            yield response.follow(f"/author/1/?n={n}", callback)

    @staticmethod
    def fixed(response):
        yield {"static": response.url[-9:]}

    @classmethod
    def of_class(cls, response):
        yield {"class": cls.name, "url": response.url[-9:]}

    def one_item(self, response):
        return {"one": response.url[-9:]}

    async def items_at_once(self, response):
        return [{"list": response.url[-9:]}]

    def nothing(self, response):
        return None

    def __private(self, response):
        yield {"private": response.url[-9:]}
