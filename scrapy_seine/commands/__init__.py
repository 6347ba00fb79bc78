"""The library's commands: `scrapy seine VERB`, one module a verb."""
