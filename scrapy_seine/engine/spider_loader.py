"""Scrapy's spider loader, for which a broken file is one line in the log instead of the end."""

from __future__ import annotations

from scrapy.spiderloader import SpiderLoader as ScrapySpiderLoader

from scrapy_seine.loading import walk


class SpiderLoader(ScrapySpiderLoader):
    """Finds the spiders of every module that can be imported (`scrapy_seine.loading`)."""

    def _load_all_spiders(self) -> None:
        for name in self.spider_modules:
            for module in walk(name):
                self._load_spiders(module)
        self._check_name_duplicates()
