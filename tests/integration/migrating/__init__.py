"""A scrapy-redis project of six spiders, as its authors have it: what docs/migrating.md moves."""
