"""The catalogue crawler: product catalogues by many workers, built on the library `scrapy_seine`.

`scrapy_seine/__init__.py` describes the life of a request. The catalogue crawler adds:

- `extract` reads products and links from a page; `cleaning` normalises their values.
- `storage` takes rows from the pipelines; `stores` writes them to PostgreSQL and the archive.
- `access` detects block pages, and picks identities, proxies and the ladder's step.
- `catalogue` plans crawls: jobs, their coordinator, and their completion.
- `reads`, `dashboard` and `commands` show and control the crawl; `demo` is a shop to crawl.

The Scrapy components are in the folders beside this one: `spiders`, `middlewares`, `pipelines`.
`settings/base.py` connects all parts and explains each setting.
"""
